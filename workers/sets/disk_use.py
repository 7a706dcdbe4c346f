"""The use of a disk by sets that are not in memory."""

from typing import NamedTuple


class DiskUse(NamedTuple):
    """Bytes read and written, and the seconds that threads waited for that."""

    read: int = 0
    written: int = 0
    seconds: float = 0.0

    def plus(self, other: "DiskUse") -> "DiskUse":
        seconds = self.seconds + other.seconds
        return DiskUse(self.read + other.read, self.written + other.written, seconds)

    def since(self, before: "DiskUse") -> "DiskUse":
        seconds = self.seconds - before.seconds
        return DiskUse(self.read - before.read, self.written - before.written, seconds)


NO_DISK_USE = DiskUse()
