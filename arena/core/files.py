"""Reads files that somebody else made, and writes files where somebody else can write too.

Laws:
1. Only regular files are read. A pipe would be waited for without end, and a device such as `/dev/zero` has no end.
2. Whatever is read has a limit, so that no file fills the memory.
3. A file is written under a fresh name, which nobody can have planted, and then renamed. So a symbolic link in the
   place of the file, or of its temporary name, is never followed.

Nothing else under `arena/` opens files: `tests/meta/test_files.py` lists the exceptions and says why.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from arena.core.errors import ArenaError

MIB: Final = 2**20
MOST_ARCHIVE: Final = 300 * MIB  # Bytes of a bot's archive that a league may take, and of one that it has taken.
MOST_LOG: Final = 64 * MIB  # Bytes of a game's log. The logs of the games of arena have less than a hundredth of that.
MOST_DOCUMENT: Final = 16 * MIB  # bytes of what is published beside logs
MOST_TEXT: Final = MIB  # bytes of what people write: boards, manifests, settings
MOST_PROGRAM: Final = 4096 * MIB  # Bytes of a file of a bot. It is read piece by piece.

_TEMPORARY: Final = r"(\.[0-9a-f]{16})?\.part\Z"
"""Suffix of a file's name while it is written. Earlier versions wrote no digits."""

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link",
}
_REMEDIES: Final = {
    errno.ENOENT: "give the path of one that is there",
    errno.EACCES: "make it readable for this user",
    errno.EPERM: "make it readable for this user",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "close other programs, or raise the machine's limit of open files",
}


def read(path: Path, what: str, most: int, error: type[ArenaError], *, links: bool = True) -> bytes:
    """Returns the content of a regular file.

    Args:
        what: What it should be, for the error: `a game's log`.
        most: The most bytes that it may have.
        error: The class of the error if it cannot be read.
        links: Whether the file may be a symbolic link. Folders on the way to it always may.

    Raises:
        ArenaError: Of the class `error`: the file is not there, is not a regular file, is too large, or cannot be
            read. The message names the place and the remedy.
    """
    with opened(path, what, most, error, links=links) as file:
        return file.read()


def read_text(path: Path, what: str, most: int, error: type[ArenaError], *, links: bool = True) -> str:
    """Returns the text of a regular file as `text_of` does. Arguments and errors are those of `read`.

    It is an error as well if the file is not in UTF-8.
    """
    return text_of(read(path, what, most, error, links=links), what, str(path), error)


def text_of(data: bytes, what: str, path: str, error: type[ArenaError]) -> str:
    """Returns a text that people wrote: its line ends are those of Unix, and a BOM at its beginning is none of it.

    Args:
        what: What it should be, for the error.
        path: What the error calls the file.
        error: The class of the error if it is not in UTF-8.

    Raises:
        ArenaError: Of the class `error`. The message names the line.
    """
    data = data.removeprefix(BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        got = "UTF-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else f"the byte 0x{data[fault.start]:02x}"
        raise error(f"expected {what} in UTF-8, got: {got} - at {path}:{line}; save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def opened(path: Path, what: str, most: int, error: type[ArenaError], *, links: bool = True) -> Iterator[Limited]:
    """Yields a regular file that is open for reading. Arguments and errors are those of `read`."""
    try:
        _check(os.stat(path, follow_symlinks=links))  # first: merely to open a device may start something
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            yield Limited(file, _check(status), most, (status.st_mtime_ns, status.st_size, status.st_ino))
    except (OSError, ValueError) as fault:
        raise _unreadable(path, what, error, fault) from None


class Limited:
    """A file that is open for reading, no further than its limit."""

    def __init__(self, file: BinaryIO, size: int, most: int, print_: tuple[int, int, int]) -> None:
        self.size = size  # its size in bytes when it was opened
        self.print = print_  # when it was changed last, its size and its inode: a file with others has another content
        self._file = file
        self._left = most
        self._most = most
        if size > most:
            raise self._too_large()

    def read(self) -> bytes:
        """Returns what is left of it."""
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        """Yields what is left of it, piece by piece."""
        while chunk := self._file.read(min(MIB, self._left + 1)):
            self._left -= len(chunk)
            if self._left < 0:  # it grew, or it is one of those that tell no size
                raise self._too_large()
            yield chunk

    def part(self, offset: int, most: int) -> bytes:
        """Returns bytes from an offset on, fewer than `most` only at its end."""
        self._file.seek(offset)
        return self._file.read(most)

    def _too_large(self) -> _Unfit:
        return _Unfit(f"more than {_size(self._most)}, the most that is read", "give a smaller file")


class _Unfit(OSError):
    """A file is there, and is not read. `args` are what it is, and what to do."""


def _check(status: os.stat_result) -> int:
    """Returns the size of a regular file, or of /dev/null, by which people name an empty one."""
    if not stat.S_ISREG(status.st_mode) and not os.path.samestat(status, os.stat(os.devnull)):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise _Unfit(f"{kind}, not a regular file", "give a regular file")
    return status.st_size


def _unreadable(path: Path, what: str, error: type[ArenaError], fault: OSError | ValueError) -> ArenaError:
    if isinstance(fault, _Unfit):
        reason, remedy = fault.args
    elif isinstance(fault, OSError):
        reason, remedy = fault.strerror or str(fault), _REMEDIES.get(fault.errno or 0, "give another file")
    else:  # a NUL character in the name
        reason, remedy = str(fault), "give another name"
    return error(f"expected {what}, got: {reason} - at {str(path)!r}; {remedy}")


def _size(count: int) -> str:
    return f"{count // MIB} MiB" if count >= MIB else f"{count} bytes"


def allocate(path: Path, size: int) -> None:
    """Makes a file of a given size that really takes this room on the disk; it replaces an older file.

    Raises:
        OSError: There is no room for it. Nothing is left of it.
    """
    with _replacing(path) as file:
        os.posix_fallocate(file.fileno(), 0, size)


@contextmanager
def writing(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Yields a file to write to, which replaces `path` in one step when the block ends, and durably.

    Args:
        mode: Its permissions, less those that the process's umask takes.

    Raises:
        OSError: It could not be written. Nothing is left of it, as after any other error in the block.
    """
    with _replacing(path, mode) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def move(source: Path, target: Path) -> None:
    """Renames a file durably, within one disk; it replaces an older file in one step.

    Raises:
        OSError: It could not be renamed.
    """
    source.replace(target)
    _sync_folder(target.parent)


@contextmanager
def _replacing(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Yields a file under a fresh name, and renames it at the end."""
    part = _fresh(path)
    with open(os.open(part, _NEW, mode), "wb") as file:
        try:
            yield file
            file.flush()
            os.rename(part, path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise


def _fresh(path: Path) -> str:
    return f"{path}.{os.urandom(8).hex()}.part"


def write(path: Path, data: bytes, *, durably: bool = False, mode: int = 0o666) -> None:
    """Writes a file whole or not at all; that replaces an older file, or a link in its place, in one step.

    Args:
        durably: Whether it is on the disk when this returns, even if the power fails.
        mode: Who may read and write it, before the process's umask.

    Raises:
        OSError: It could not be written. Nothing is left of it.
    """
    part = _fresh(path)
    descriptor = os.open(part, _NEW, mode)  # plain calls: a file object asks the system for six things more
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        if durably:
            os.fsync(descriptor)
        os.rename(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    if durably:
        _sync_folder(path.parent)


def create(path: Path, chunks: Iterable[bytes], mode: int) -> None:
    """Writes a file that is not there yet, piece by piece. Its folder must be one that nobody else writes to.

    Args:
        mode: Its permissions, whatever the process's umask.

    Raises:
        OSError: It is there already, or cannot be written. It may be left incomplete.
    """
    with open(os.open(path, _NEW, 0o600), "wb") as file:
        for chunk in chunks:
            file.write(chunk)
        os.fchmod(file.fileno(), mode)


def final_name(name: str) -> str:
    """Returns what a file is called when it is written: of a temporary name, which a kill can leave, the rest."""
    return re.sub(_TEMPORARY, "", name)


def remove_unfinished(folder: Path) -> None:
    """Removes the files of a folder that `write` was killed over. Call it when nobody writes there.

    Names without digits stay: others may have given them.

    Raises:
        OSError: One cannot be removed.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            found = re.search(_TEMPORARY, entry.name)
            if found and found[1] and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append(path: Path, data: bytes) -> None:
    """Adds to the end of a file, which is made if it is missing. It is on the disk when this returns.

    Raises:
        OSError: It could not be written, or is a link. A part of `data` may be there.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags, 0o666), "ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def append_lines(path: Path, data: bytes) -> None:
    """Adds lines to the end of a file, which is made if it is missing. They are on the disk when this returns.

    A last line that is there and has no end was not written whole, on a full disk say: it is removed.

    Raises:
        OSError: They could not be written, or it is a link. A part of `data` may be there.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags, 0o666), "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - MIB))
        tail = file.read()
        file.seek(end - len(tail) + tail.rfind(b"\n") + 1)
        file.truncate()
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def lines(path: Path, what: str, most: int, error: type[ArenaError]) -> Iterator[bytes]:
    """Yields the whole lines of a regular file, each with its end, without reading all of it at once.

    Arguments and errors are those of `read`. A last line without an end is left out.
    """
    left = b""
    with opened(path, what, most, error) as file:
        for chunk in file.chunks():
            *whole, left = (left + chunk).split(b"\n")
            yield from (line + b"\n" for line in whole)
