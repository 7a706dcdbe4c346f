"""A store behind a URI, through pyarrow.fs: whole objects, with local copies.

    cache/VERSION/NAME     a copy of an object; its version is a size and a time
    scratch/NAME           a file that this process writes
    scratch/log.*          what was read of a log

An object gets its name only with its complete contents.  Object stores complete uploads
atomically; on a file system the store writes to a temporary name and renames.  Object stores have
no locks, so a lease says which build may write: an object with the build's process in it, which
that process renews.  The store's own clock tells the lease's age.
"""

import fcntl
import io
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp, mkstemp
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from kingpair.workers.errors import CannotBuild
from kingpair.workers.store.filesystem import StoreHeld, printable
from kingpair.workers.store.lease_owner import LeaseOwner
from kingpair.workers.store.segments import (
    INDEX,
    READERS,
    LogBytes,
    Range,
    Segment,
    SegmentedLog,
    index_of,
)

LEASE = ".kingpair.lease"
CHECK = ".kingpair.check"
LEASE_SECONDS = 60.0
RENEW_SECONDS = 15.0
_SCRATCH = "scratch."
_SEGMENT = "{:06d}"
_PIECE = 8 << 20
_OBJECTS = {"s3", "gcs"}  # whose uploads complete atomically
_S3_OPTIONS = {"endpoint_override", "region", "scheme", "role_arn", "session_name", "external_id"}
CONNECT_SECONDS, ANSWER_SECONDS, ATTEMPTS = 5.0, 30.0, 4


class RemoteStore:
    """A `Store` (filesystem.py) in a pyarrow file system."""

    is_local = False

    def __init__(self, said: str, files: Any, base: str, root: Path) -> None:
        self._said, self._files, self._base = said, files, base.rstrip("/")
        self.root = root
        self._atomic = files.type_name in _OBJECTS
        self._scratch: Path | None = None
        self._alive: int | None = None  # the lock of the scratch, held until it is closed
        self._extended: dict[str, tuple[int, int]] = {}  # by log: its segments, and their bytes
        self._kept: set[str] = set()  # files of the scratch that agree with the store
        self._listed: dict[str, Any] = {}  # the objects when the store was last listed
        self._lost = ""
        self._lock = Lock()  # all workers of a process share one store

    @staticmethod
    def at(uri: str) -> "RemoteStore":
        said = printable(uri)
        try:
            files, base = _s3(uri) if uri.startswith("s3:") else pafs.FileSystem.from_uri(uri)
        except (OSError, pa.ArrowException, ValueError) as error:
            raise CannotBuild(f"no store at {said}: {_line(error)}") from error
        return RemoteStore(said, files, base, _cache() / _key(uri))

    def __str__(self) -> str:
        return self._said

    # ---- files ----

    def local_path(self, name: str) -> Path:
        place = self._scratch_folder() / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def _scratch_folder(self) -> Path:
        with self._lock:
            if self._scratch is None:
                self.root.mkdir(parents=True, exist_ok=True)
                _clear_left(self.root)
                self._scratch = Path(mkdtemp(prefix=_SCRATCH, dir=self.root))
                self._alive = _locked(self._scratch)
            return self._scratch

    def fetch(self, name: str) -> Path:
        if name in self._kept:
            return self.local_path(name)
        with self._translate_errors(name):
            copy = self._cached_copy(self._files.get_file_info(self._at(name)))
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                self._download_whole(name, copy)
                for older in self.root.glob(f"cache/*/{name}"):
                    if older != copy:
                        older.unlink(missing_ok=True)
        return copy

    def cached_path(self, name: str) -> Path:
        if name not in self._listed:
            raise FileNotFoundError(f"no {name} in {self}")
        return self._cached_copy(self._listed[name])

    def _cached_copy(self, info: Any) -> Path:
        if info.type != pafs.FileType.File:
            raise FileNotFoundError(f"no {info.path}")
        name: str = info.path.removeprefix(f"{self._base}/")
        return self.root / "cache" / f"{info.size:x}.{info.mtime_ns or 0:x}" / name

    def open_input(self, name: str) -> Any:
        with self._translate_errors(name):
            return self._files.open_input_file(self._at(name))

    def fetch_draft(self, name: str) -> Path:
        place = self.local_path(name)
        if name not in self._kept:
            with self._translate_errors(name):
                self._download_whole(name, place)
        return place

    def _download_whole(self, name: str, to: Path) -> None:
        """Downloads into the scratch and renames, so that a killed process leaves no torn copy."""
        fd, path = mkstemp(prefix="copy.", dir=self._scratch_folder())
        os.close(fd)
        self._download(name, Path(path), "wb")
        os.replace(path, to)

    def _download(self, name: str, to: Path, mode: str) -> None:
        with self._files.open_input_stream(self._at(name)) as source, open(to, mode) as file:
            shutil.copyfileobj(source, file, _PIECE)

    def has(self, name: str) -> bool:
        with self._translate_errors(name):
            return bool(self._files.get_file_info(self._at(name)).type == pafs.FileType.File)

    def names(self, folder: str) -> list[str]:
        with self._translate_errors(folder):
            wanted = pafs.FileSelector(self._at(folder), allow_not_found=True)
            found = {PurePosixPath(i.path).name: i for i in self._files.get_file_info(wanted)}
        if not folder:
            self._listed = found
        return sorted(found)

    def publish(self, name: str) -> None:
        with open(self.local_path(name), "rb") as source:
            self._put(name, source, os.fstat(source.fileno()).st_size)
        self._kept.add(name)

    def rename(self, name: str, new: str) -> None:
        """Publishes the file; later reads of the new name fetch it from the store."""
        self._kept.discard(name)
        os.replace(self.local_path(name), self.local_path(new))
        try:
            self.publish(new)
        finally:
            self._kept.discard(new)
            self.local_path(new).unlink()

    def remove(self, name: str) -> None:
        """Removes a file, or a log with its segments."""
        self._forget(name)
        self.local_path(name).unlink(missing_ok=True)
        with self._translate_errors(name), suppress(FileNotFoundError):
            if self._files.get_file_info(self._at(name)).type == pafs.FileType.Directory:
                self._files.delete_dir(self._at(name))
            else:
                self._files.delete_file(self._at(name))

    def _forget(self, below: str) -> None:
        with self._lock:
            self._kept -= {name for name in self._kept if name.startswith(below)}
            for name in [name for name in self._extended if name.startswith(below)]:
                del self._extended[name]

    def make_folder(self, folder: str) -> None:
        self.local_path(folder).mkdir(exist_ok=True)

    def remove_folder(self, folder: str) -> None:
        self._forget(folder)
        shutil.rmtree(self.local_path(folder), ignore_errors=True)
        with self._translate_errors(folder), suppress(FileNotFoundError):
            self._files.delete_dir(self._at(folder))

    def _put(self, name: str, source: Any, size: int) -> None:
        """Writes an object with the next `size` bytes of a file."""
        if self._lost:
            raise CannotBuild(self._lost)
        with self._translate_errors(name):
            target = self._at(name)
            partial = target if self._atomic else f"{target}.{os.getpid()}.partial"
            if not self._atomic:
                self._files.create_dir(str(PurePosixPath(target).parent), recursive=True)
            try:
                with self._files.open_output_stream(partial) as out:
                    _copy(source, out, size)
            except BaseException:
                # Closing the stream may have completed the object.
                with suppress(OSError):
                    self._files.delete_file(partial)
                raise
            if not self._atomic:
                self._files.move(partial, target)

    def _at(self, name: str) -> str:
        return f"{self._base}/{name}"

    # ---- logs ----

    def sync_log(self, name: str, fd: int, end: int, heads: Sequence[Range]) -> None:
        """Writes the index of a segment before the segment, which counts once it is there."""
        segments, start = self._extended.get(name, (0, 0))
        segment = f"{name}/{_SEGMENT.format(segments)}"
        self._write(segment + INDEX, index_of(heads, start, fd))
        with open(self.local_path(name), "rb") as source:
            source.seek(start)
            self._put(segment, source, end - start)
        self._extended[name] = segments + 1, end

    def open_log(self, name: str) -> LogBytes:
        """Opens the segments up to the first gap; segments after a gap do not count."""
        found = set(self.names(name))
        numbers = map(_SEGMENT.format, range(len(found)))
        segments = [f"{name}/{each}" for each in takewhile(found.__contains__, numbers)]
        if not segments:
            raise FileNotFoundError(f"no {name} in {self}")
        fd, path = mkstemp(prefix="log.", dir=self._scratch_folder())
        os.unlink(path)  # the space is given back when the log is closed
        with ThreadPoolExecutor(READERS) as readers:
            opened = list(readers.map(self._open_segment, segments))
        return SegmentedLog(opened, fd)

    def _open_segment(self, name: str) -> Segment:
        with self._translate_errors(name):
            with self._files.open_input_stream(self._at(name + INDEX)) as index:
                heads = index.read()
            return Segment(self._files.open_input_file(self._at(name)), heads)

    # ---- the whole ----

    def check(self) -> None:
        """Writes and removes a small object: no other question shows whether writing is allowed."""
        self._write(CHECK, b"kingpair may write here\n")
        self.remove(CHECK)

    def free_bytes(self) -> int | None:
        return None

    def close(self) -> None:
        if self._alive is not None:
            os.close(self._alive)
        self._scratch = self._alive = None
        self._kept.clear()
        _clear_left(self.root)

    def _write(self, name: str, data: bytes) -> None:
        self._put(name, io.BytesIO(data), len(data))

    @contextmanager
    def hold(self) -> Iterator[None]:
        owner = LeaseOwner.this()
        self._take(owner)
        self.root.mkdir(parents=True, exist_ok=True)
        over = Event()
        renewing = Thread(target=self._renew, args=(owner, over), name="lease", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()
            with suppress(OSError, CannotBuild):
                if self._holder() == owner:
                    self.remove(LEASE)

    def _take(self, owner: LeaseOwner) -> None:
        """Writes this process's lease if there is none or the present one has expired.

        If two processes write at once, the one whose lease is read back holds the store.
        """
        holder = self._holder()
        if holder is not None and not holder.is_gone and self._age() < LEASE_SECONDS:
            raise StoreHeld(
                f"another build is writing to {self} ({holder}); wait for it, or for a minute if "
                "it was killed, or choose another --tables"
            )
        self._write(LEASE, owner.json())
        if self._holder() != owner:
            raise StoreHeld(f"another build has just begun to write to {self}; wait for it")

    def _renew(self, owner: LeaseOwner, over: Event) -> None:
        while not over.wait(RENEW_SECONDS):
            with suppress(OSError):
                if (holder := self._holder()) != owner:
                    self._lost = f"{self} was taken over ({holder or 'no lease'}); run this again"
                    return
                self._write(LEASE, owner.json())

    def _holder(self) -> LeaseOwner | None:
        with self._translate_errors(LEASE):
            try:
                with self._files.open_input_stream(self._at(LEASE)) as file:
                    return LeaseOwner(**json.loads(file.read()))
            except (FileNotFoundError, ValueError, TypeError):
                return None

    def _age(self) -> float:
        """Seconds since the lease was renewed, by the store's clock."""
        self._write(CHECK, b"what time is it\n")
        with self._translate_errors(LEASE):
            lease, now = self._files.get_file_info([self._at(LEASE), self._at(CHECK)])
        self.remove(CHECK)
        return float((now.mtime_ns or 0) - (lease.mtime_ns or 0)) / 1e9

    @contextmanager
    def _translate_errors(self, name: str) -> Iterator[None]:
        """Raises errors of pyarrow as an OSError with an errno and a message of one line."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as error:
            number = getattr(error, "errno", None) or 5
            raise OSError(number, _line(error), f"{self}/{name}") from error


def _s3(uri: str) -> tuple[Any, str]:
    """Opens an S3 URI as pyarrow does, but with time limits and a limited number of attempts."""
    parts = urlsplit(uri)
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    if unknown := sorted(options.keys() - _S3_OPTIONS):
        raise ValueError(f"unknown option {unknown[0]!r}; use {', '.join(sorted(_S3_OPTIONS))}")
    bucket = parts.netloc.rpartition("@")[2]
    if not options.keys() & {"region", "endpoint_override"}:
        options["region"] = pafs.resolve_s3_region(bucket)
    if parts.username:
        options |= {
            "access_key": unquote(parts.username),
            "secret_key": unquote(parts.password or ""),
        }
    files = pafs.S3FileSystem(
        **options,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=ANSWER_SECONDS,
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
    )
    return files, f"{bucket}{parts.path}"


def _copy(source: Any, out: Any, size: int) -> None:
    left = size
    while left and (piece := source.read(min(left, _PIECE))):
        out.write(piece)
        left -= len(piece)
    if left:
        raise OSError(5, f"the file ended {left} bytes early")


def _line(error: BaseException) -> str:
    """The first line of an error's message, which the libraries below may make long."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split("\n")[0].split())[:300]


def _key(uri: str) -> str:
    """A name for the local copies of a store; credentials do not change it."""
    scheme, _, rest = uri.partition("://")
    host, slash, path = rest.partition("/")
    asked = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    return blake2b(asked.encode(), digest_size=8).hexdigest()


def _locked(place: Path) -> int | None:
    """Locks a scratch; None if a living process holds the lock."""
    fd = os.open(place / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _clear_left(root: Path) -> None:
    """Removes the scratches that killed processes left behind."""
    for place in root.glob(f"{_SCRATCH}*"):
        with suppress(OSError):
            if (fd := _locked(place)) is not None:
                shutil.rmtree(place, ignore_errors=True)
                os.close(fd)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home, "kingpair", "stores")
