"""Copies a league into one file while it runs, checks such a file, and makes a league of it again.

The file is a tar archive: the league's files by their paths, and last `SHA256SUMS`, in the form of `sha256sum`.
Unpacked into an empty folder it is the league as it was when the database was copied.

Laws:
1. Orders are copied first, then the database, in one step, then the files that it names. An order that is obeyed in
   between is in the backup twice, and is obeyed once. What the database names was written before it was named and is
   never changed, so the files that are copied after it belong to it.
2. What can be made again is left out: built bots, what is published, the site.
3. A backup is good if it holds the files of its list and no others, each with its digest, its database is whole, and
   each log is the one that the database names. Logs that were removed by the league's rule are not in it.
4. Whatever makes or checks a backup reads it once, in order: it may be larger than the memory and the rest of the disk.
5. A backup is made by another process than the league's service (`arena.core.store.database`).
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Final

import msgspec

from arena.core.face import compression, databases, errors, files, log_records, scratch
from arena.league.folder import Folder
from arena.league.keeping.retention import GameFiles
from arena.league.record.rounds import SEASONS
from arena.league.store import LeagueReader, read_league
from arena.league.store.played import NamedLog

_PLACES: Final = Folder(Path())
"""Where everything is within the league's folder."""
DATABASE: Final = str(_PLACES.database)
FIRST: Final = tuple(
    map(str, (_PLACES.settings, _PLACES.door, _PLACES.inbox, _PLACES.incoming, _PLACES.published / SEASONS))
)
"""Files that are copied as they are, before the database: settings, the door's keys, orders perhaps not obeyed yet, and
what was published of seasons."""
SUMS: Final = "SHA256SUMS"
_PART: Final = ".arena-backup-"
"""Prefix of the name of a folder in which a backup or a league is made, beside where it is to be."""


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """A backup that was found good."""

    made: str
    """When its database was copied; UTC (ISO 8601)."""
    files: int
    bytes: int
    """Of all files in it."""
    logs: int
    """Number of games whose log it has."""
    missing: list[str]
    """Archives of versions that the database needs and that are not in it, which should not happen."""


def back_up(root: Path, target: Path, *, with_logs: bool = True) -> Backup:
    """Writes a backup of the league in a folder, which may run meanwhile, and checks it.

    Args:
        target: The file to write; it replaces an older one in one step. Only this user may read it.
        with_logs: Whether to copy the games' logs, which are most of it.

    Raises:
        StoreError: The database cannot be read, or the backup did not stand its check. An older file is still there.
        OSError: A file cannot be read or written. An older file is still there.
    """
    with scratch.folder(_PART, target.parent) as folder:
        part, copy = folder / "backup.tar", folder / DATABASE
        with files.writing(part, 0o600) as file, tarfile.open(fileobj=file, mode="w|") as tar:
            sums: list[str] = []
            for name in FIRST:
                sums += _add(tar, root, [root / name, *sorted((root / name).rglob("*"))])
            databases.copy_database(root / DATABASE, copy)
            sums += _add(tar, folder, [copy])
            with read_league(copy) as league:
                sums += _add(tar, root, _named(league, root, with_logs))
            (folder / SUMS).write_text("".join(sums))
            list(_add(tar, folder, [folder / SUMS]))
        backup = check_backup(part)
        files.move(part, target)
    return backup


def _named(league: LeagueReader, root: Path, with_logs: bool) -> Iterator[Path]:
    """Yields the files that belong to a database: archives, what stands beside logs, and logs."""
    for digest in league.versions.archives():
        yield root / _PLACES.archive(digest)
    places = root / _PLACES.logs
    for folder in (places, *sorted(places.glob("*/"))):
        yield from sorted(folder.glob("*.json"))
    for log in league.played.logs() if with_logs else ():
        yield from GameFiles([(root / log_name(log)).parent]).files(log.game, log.seats)


def _add(tar: tarfile.TarFile, root: Path, paths: Iterable[Path]) -> Iterator[str]:
    """Adds those that are files, and yields a line of the list for each. What is gone meanwhile is left out."""
    for path in paths:
        if path.is_symlink() or not path.is_file():
            continue
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        with open(descriptor, "rb") as file:
            status, info = os.fstat(descriptor), tarfile.TarInfo(str(path.relative_to(root)))
            info.size, info.mtime, info.mode = status.st_size, status.st_mtime, 0o600
            hashing = _Hashing(file)
            tar.addfile(info, hashing)  # type: ignore[arg-type]  # only `read` is called
        yield f"{hashing.digest}  {info.name}\n"


def log_name(log: NamedLog) -> str:
    """Returns the path of a season's log within the league's folder, wherever that was when the log was written."""
    folder = _PLACES.logs / Path(log.folder).name if Path(log.folder).name != _PLACES.logs.name else _PLACES.logs
    return str(folder / f"{log.game}{log_records.SUFFIX}")


def check_backup(path: Path) -> Backup:
    """Checks a backup.

    Raises:
        StoreError: It is not whole, was altered, or is no backup. The message says what is wrong.
        OSError: There is no room for the database, which is copied to where temporary files are.
    """
    with scratch.folder("arena-backup-") as folder:
        return _read(path, folder, everything=False)


def restore(path: Path, root: Path) -> Backup:
    """Unpacks a backup into a new folder and checks it, whole or not at all.

    Args:
        root: The folder to make; an empty one may be there.

    Raises:
        StoreError: The backup is not good, or the folder holds something. Nothing has changed.
        OSError: The folder cannot be written. Nothing is left of it.
    """
    if root.exists() and any(root.iterdir()):
        raise errors.StoreError(
            f"expected a new folder, or an empty one, got: one with files - at {root}; give another"
        )
    with scratch.folder(_PART, root.absolute().parent) as folder:
        whole = folder / "league"
        whole.mkdir(mode=0o755)
        backup = _read(path, whole, everything=True)
        _make_folders(Folder(whole))
        files.move(whole, root)
    return backup


def _make_folders(league: Folder) -> None:
    """Makes the folders that held nothing to copy."""
    league.make()
    with read_league(league.database) as reader:
        for season in reader.seasons.all():
            (league.logs / season.tournament).mkdir(exist_ok=True)
    for ending in ("-wal", "-shm"):  # of this reading: empty
        league.database.with_name(league.database.name + ending).unlink(missing_ok=True)


def _read(path: Path, folder: Path, *, everything: bool) -> Backup:
    """Checks a backup, and unpacks its database into a folder, or everything. Raises StoreError: it is not good."""
    sums: dict[str, str] = {}
    found: dict[str, str] = {}
    bytes, made, listed = 0, 0.0, None
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                place = PurePosixPath(member.name)
                if place.is_absolute() or ".." in place.parts:
                    raise ValueError(f"{member.name!r}, which leads out of the league's folder")
                content = tar.extractfile(member) if member.isreg() else None
                if content is None:
                    raise ValueError(f"{member.name!r}, which is no file")
                if member.name in sums or listed is not None:
                    twice = "is there twice" if member.name in sums else f"stands after {SUMS}"
                    raise ValueError(f"{member.name!r}, which {twice}")
                if member.name == SUMS:
                    listed = content.read().decode()
                    continue
                if log_records.SUFFIX in place.suffixes and member.size <= files.MOST_LOG:
                    name = member.name.removesuffix(compression.SUFFIX)
                    found[name] = hashlib.sha256(_expanded(content.read(), member.name)).hexdigest()
                    content.seek(0)
                sums[member.name] = _unpacked(content, folder / place, everything or member.name == DATABASE)
                bytes += member.size
                made = member.mtime if member.name == DATABASE else made
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise _broken(path, f"{error}") from None
    if DATABASE not in sums:
        raise _broken(path, f"an archive without {DATABASE}, which is no backup of a league, or the beginning of one")
    if listed is None:
        raise _broken(path, f"no {SUMS} at its end: it was cut off")
    if different := {f"{digest}  {name}" for name, digest in sums.items()} ^ set(listed.splitlines()):
        name = min(different)[66:]
        changed = "was altered" if f"  {name}\n" in f"{listed}\n" else f"is not in {SUMS}"
        raise _broken(path, f"{name!r}, which {changed if name in sums else 'is missing'}")
    databases.check_database(folder / DATABASE)
    with read_league(folder / DATABASE) as league:
        needed = [str(_PLACES.archive(digest)) for digest in league.versions.archives()]
        with_log = 0
        for log in league.played.logs():
            if (digest := found.get(log_name(log))) not in (None, log.sha256):
                raise _broken(path, f"{log_name(log)!r}, which is not what the database says")
            with_log += digest is not None
    return Backup(
        made=datetime.fromtimestamp(made, UTC).isoformat(timespec="seconds"), files=len(sums), bytes=bytes,
        logs=with_log, missing=[name for name in needed if name not in sums],
    )  # fmt: skip


def _unpacked(content: IO[bytes], target: Path, is_wanted: bool) -> str:
    """Reads a file to its end, writes it if it is wanted, and returns its SHA-256 (hex)."""
    hashing = _Hashing(content)
    if is_wanted:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with files.writing(target, 0o600) as file:
            while piece := hashing.read(files.MIB):
                file.write(piece)
    while hashing.read(files.MIB):
        pass
    return hashing.digest


class _Hashing:
    """A file to read whose digest is taken on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """Returns so many bytes, or fewer at the end."""
        data = self._file.read(size)
        self._hash.update(data)
        return data

    @property
    def digest(self) -> str:
        """The SHA-256 (hex) of what was read."""
        return self._hash.hexdigest()


def _expanded(data: bytes, name: str) -> bytes:
    try:
        return compression.expand(data, name) if compression.is_compressed(data) else data
    except errors.LogError as error:
        raise ValueError(str(error)) from None


def _broken(path: Path, got: str) -> errors.StoreError:
    return errors.StoreError(
        f"expected a whole backup of a league, got: {got} - at {path}; make another, or take an older one"
    )
