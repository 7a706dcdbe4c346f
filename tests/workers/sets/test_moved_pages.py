"""Facts about memory that is moved: its bytes come along, and the source is empty then."""

from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PAGESIZE, mmap

import numpy as np

from kingpair.workers.sets.memory import move_pages


def test_moved_memory_takes_its_bytes_along() -> None:
    memory = mmap(-1, 4 * PAGESIZE, flags=MAP_PRIVATE | MAP_ANONYMOUS)
    held = np.frombuffer(memory, np.uint8)
    held[:PAGESIZE], held[2 * PAGESIZE :] = 7, 9
    start = held.ctypes.data
    assert move_pages(start, start + 2 * PAGESIZE, PAGESIZE)
    pages = held.reshape(4, PAGESIZE)
    assert [sorted({*page.tolist()}) for page in pages] == [[0], [0], [7], [9]]
