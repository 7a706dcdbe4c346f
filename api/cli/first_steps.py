"""The first lines of `kingpair serve`: its address and, if there are no tables, what to do."""

from collections.abc import Callable, Iterator

from kingpair.api.settings import Settings
from kingpair.workers.store.filesystem import printable, uri_of

Echo = Callable[[str], None]


def first_steps(settings: Settings, echo: Echo) -> Echo:
    """Prints the service's line, and after it what to do if the directory has no tables.

    Call it before the service starts, which makes a directory that is not there.
    """
    is_new = uri_of(settings.tables) is None and not settings.tables.exists()

    def announce(line: str) -> None:
        for each in (line, *_next_steps(settings, is_new)):
            echo(each)

    return announce


def _next_steps(settings: Settings, is_new: bool) -> Iterator[str]:
    from kingpair.workers.table.directory import build_command, find_tables

    if find_tables(settings.tables):
        return
    where = printable(settings.tables)
    if is_new:
        yield f"There was no directory {where}: it was made, and is empty."
    else:
        yield f"The directory {where} has no tables."
    yield "To make the first table, build KQvKR on the page, or in another terminal:"
    yield f"    {build_command('KQvKR', settings.tables)}"
