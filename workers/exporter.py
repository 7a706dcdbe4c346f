"""The worker of a table that is there and lacks its Syzygy files: it writes them."""

from kingpair.workers.worker import TableWorker


class Exporter(TableWorker):
    """The only worker of an incarnation; nothing else is asked of it."""

    open_sets_address = None  # it leaves nothing to take over
    readers = ()  # and finds nothing that others read
