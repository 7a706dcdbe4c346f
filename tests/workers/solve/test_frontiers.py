"""Facts about frontiers as they travel: Arrow record batches, which copy nothing when read."""

import pyarrow as pa

from kingpair.workers.number_types import Partition
from kingpair.workers.solve.frontiers import SCHEMA, PackedFrontier

STREAMS = [b"seven", b"", b"eleven"]
FRONTIER = PackedFrontier(
    [Partition(3), Partition(1), Partition(461)], [5, 5, 11], pa.py_buffer(b"".join(STREAMS))
)


def test_a_frontier_that_travels_is_the_same_when_it_arrives() -> None:
    arrived = PackedFrontier.from_ipc(FRONTIER.to_ipc())
    assert (arrived.partitions, arrived.ends) == (FRONTIER.partitions, FRONTIER.ends)
    assert [bytes(stream) for _, stream in arrived.each()] == STREAMS
    assert arrived.streams.size == FRONTIER.streams.size


def test_any_reader_of_arrow_can_look_at_a_frontier() -> None:
    table = pa.ipc.open_stream(FRONTIER.to_ipc()).read_all()
    assert table.schema == SCHEMA
    assert table.to_pydict() == {"partition": [3, 1, 461], "stream": STREAMS}


def test_a_frontier_that_arrives_lies_in_the_buffer_that_was_sent() -> None:
    sent = FRONTIER.to_ipc()
    arrived = PackedFrontier.from_ipc(sent).streams
    assert (
        sent.address
        <= arrived.address
        <= arrived.address + arrived.size
        <= sent.address + sent.size
    )


def test_a_frontier_of_nothing_travels_too() -> None:
    arrived = PackedFrontier.from_ipc(PackedFrontier([], [], pa.py_buffer(b"")).to_ipc())
    assert arrived.partitions == arrived.ends == []
