"""Copies a league into one file while it runs, checks such a file, and makes a league of it again.

The file is a tar archive: the league's files by their paths, and last `backup.json`, which has the SHA-256 of each of
them. Unpacked into an empty folder it is the league as it was when the database was copied.

Laws:
1. Orders are copied first, then the database, in one step, then the files that it names. An order that is obeyed in
   between is in the backup twice, and is obeyed once. What the database names was written before it was named and is
   never changed, so the files that are copied after it belong to it.
2. A log that retention has removed is left out, and listed. So is an archive that is missing, which should not happen.
3. What can be made again is left out: built bots, what is published, the site.
4. Every byte of a backup is compared with `backup.json`, and that with the database, before it is called good.
5. A backup is made by another process than the league's service (`arena.store.snapshot`).
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

import msgspec

from arena import files, scratch
from arena.errors import LogError, StoreError
from arena.league.folder import Folder
from arena.league.retention import Shelf
from arena.record import compressed
from arena.record.log import SUFFIX
from arena.store.league import read_league
from arena.store.league.named import NamedLog, archives, logs
from arena.store.snapshot import check_database, copy_database

FORMAT: Final = 1
_PLACES: Final = Folder(Path())
"""Where everything is within the league's folder."""
DATABASE: Final = str(_PLACES.database)
FIRST: Final = tuple(map(str, (_PLACES.settings, _PLACES.door, _PLACES.inbox, _PLACES.incoming)))
"""What is copied as it is, before the database: settings, the door's keys, orders that may not be obeyed yet."""
SEASON_FILES: Final = ("*.json", "deals.jsonl")
"""What stands beside the logs of a season: what was committed to, and secrets that were revealed. They are copied
without the logs too: the league's ledger is made again from them."""
CONTENTS: Final = "backup.json"
_PART: Final = ".arena-backup-"
"""How the name of a folder begins in which a backup or a league is made, beside where it is to be."""
MOST_FILE: Final = 2**42
"""Bytes of a file in a backup; more than any database has."""


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a backup: its last entry."""

    format: int
    made: str
    """When it was begun; UTC (ISO 8601)."""
    with_logs: bool
    """Whether the games' logs were copied."""
    files: dict[str, str]
    """By path the SHA-256 (hex) of the file."""
    missing: list[str]
    """What the database names and was not there."""


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """A backup that was found good."""

    made: str
    """When it was begun; UTC (ISO 8601)."""
    files: int
    """How many files it holds."""
    bytes: int
    """Of all files in it."""
    missing: list[str]
    """What the database names and was not there."""


def back_up(root: Path, target: Path, made: str, *, with_logs: bool = True) -> Backup:
    """Writes a backup of the league in a folder, which may run meanwhile, and checks it.

    Args:
        root: The league's folder.
        target: The file to write; it replaces an older one in one step. Only this user may read it.
        made: The time now; UTC (ISO 8601).
        with_logs: Whether to copy the games' logs, which are most of it.

    Raises:
        StoreError: Something cannot be read, or the backup did not stand its check. An older file is still there.
        OSError: It cannot be written. An older file is still there.
    """
    with scratch.folder(_PART, target.parent) as folder:
        part = folder / "backup.tar"
        with files.writing(part, 0o600) as file, tarfile.open(fileobj=file, mode="w|") as tar:
            _Writer(tar, root).write(folder / DATABASE, made, with_logs)
        backup = check_backup(part)
        files.move(part, target)
    return backup


class _Writer:
    """Writes the files of a league into an archive."""

    def __init__(self, tar: tarfile.TarFile, root: Path) -> None:
        self._tar = tar
        self._root = root
        self._digests: dict[str, str] = {}
        self._missing: list[str] = []

    def write(self, copy: Path, made: str, with_logs: bool) -> None:
        """Writes everything, and the list of it; the database is copied to `copy` on the way."""
        for name in FIRST:
            self._add_all([self._root / name, *sorted((self._root / name).rglob("*"))])
        copy_database(self._root / DATABASE, copy)
        self._add(copy, DATABASE)
        with read_league(copy) as league:
            for digest in archives(league):
                self._add_named(str(_PLACES.archive(digest)))
            places = self._root / _PLACES.logs
            for folder in (places, *sorted(places.glob("*/"))):
                for pattern in SEASON_FILES:
                    self._add_all(sorted(folder.glob(pattern)))
            if with_logs:
                self._add_logs(logs(league))
        contents = Contents(
            format=FORMAT, made=made, with_logs=with_logs, files=self._digests, missing=self._missing
        )  # fmt: skip
        data = msgspec.json.encode(contents)
        self._tar.addfile(_info(CONTENTS, len(data)), io.BytesIO(data))

    def _add_logs(self, named: Iterable[NamedLog]) -> None:
        for log in named:
            name = log_name(log)
            found = list(Shelf([(self._root / name).parent]).files(log.game, log.seats))
            if not any(path.name.startswith(f"{log.game}{SUFFIX}") for path in found):
                self._missing.append(name)
            self._add_all(found)

    def _add_named(self, name: str) -> None:
        if not self._add_all([self._root / name]):
            self._missing.append(name)

    def _add_all(self, paths: Iterable[Path]) -> int:
        """Adds those that are files, and says how many. What is gone meanwhile is left out."""
        return sum(
            self._add(path, str(path.relative_to(self._root)))
            for path in paths
            if path.is_file() and not path.is_symlink()
        )

    def _add(self, path: Path, name: str) -> bool:
        with ExitStack() as stack:
            opening = files.opened(path, "a file of the league", MOST_FILE, StoreError, links=False)
            try:
                source = opening.__enter__()
            except StoreError:
                if path.exists():
                    raise
                return False
            # Not as a context: an error of writing the archive is none of reading this file.
            stack.callback(opening.__exit__, None, None, None)
            stream = _Hashing(source.chunks())
            self._tar.addfile(_info(name, source.size), stream)  # type: ignore[arg-type]  # only `read` is called
        self._digests[name] = stream.digest
        return True


def log_name(log: NamedLog) -> str:
    """Returns the path of a season's log within the league's folder, wherever that was when the log was written."""
    folder = _PLACES.logs / Path(log.folder).name if Path(log.folder).name != _PLACES.logs.name else _PLACES.logs
    return str(folder / f"{log.game}{SUFFIX}")


def check_backup(path: Path) -> Backup:
    """Checks a backup: every file, the database, and that the database's files are there.

    Raises:
        StoreError: It is not whole, was altered, or is no backup. The message says what is wrong.
        OSError: There is no room for the database, which is copied to where temporary files are.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(scratch.folder("arena-backup-"))
        source = stack.enter_context(files.opened(path, "a backup", MOST_FILE, StoreError))
        try:
            found = _read(source.chunks(), folder / DATABASE)
        except (tarfile.TarError, EOFError, ValueError, msgspec.MsgspecError) as error:
            raise _broken(path, f"{error}") from None
        contents = found.contents
        if contents is None or contents.format != FORMAT:
            raise _broken(path, f"no {CONTENTS} of format {FORMAT} at its end: it was cut off, or is something else")
        if altered := [name for name, digest in contents.files.items() if found.digests.get(name) != digest]:
            raise _broken(path, f"{altered[0]!r}, which is missing or was altered")
        if found.digests.keys() != contents.files.keys() or DATABASE not in found.digests:
            raise _broken(path, f"files that {CONTENTS} does not name, or no {DATABASE}")
        check_database(folder / DATABASE)
        if lost := next(_lost(folder / DATABASE, contents, found.logs), None):
            raise _broken(path, f"{lost!r}, which is missing, or is not what the database says")
    return Backup(made=contents.made, files=len(contents.files), bytes=found.bytes, missing=contents.missing)


def _lost(database: Path, contents: Contents, played: dict[str, str]) -> Iterator[str]:
    """Yields what the database names and the backup neither holds nor calls missing."""
    excused = set(contents.missing)
    with read_league(database) as league:
        for digest in archives(league):
            name = str(_PLACES.archive(digest))
            if name not in contents.files and name not in excused:
                yield name
        for log in logs(league) if contents.with_logs else ():
            name = log_name(log)
            if name not in excused and played.get(name) != log.sha256:
                yield name


def restore(path: Path, root: Path) -> Backup:
    """Checks a backup, and unpacks it into a new folder, whole or not at all.

    Args:
        path: The backup.
        root: The folder to make; an empty one may be there.

    Raises:
        StoreError: The backup is not good, or the folder holds something. Nothing has changed.
        OSError: The folder cannot be written. Nothing is left of it.
    """
    if root.exists() and any(root.iterdir()):
        raise StoreError(f"expected a new folder, or an empty one, got: one with files - at {root}; give another")
    backup = check_backup(path)
    with scratch.folder(_PART, root.absolute().parent) as folder:
        whole = folder / "league"
        whole.mkdir(mode=0o755)
        with files.opened(path, "a backup", MOST_FILE, StoreError) as source, _reading(source.chunks()) as tar:
            for member in tar:
                content = tar.extractfile(member)
                if content is not None and member.name != CONTENTS:
                    target = whole / member.name
                    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    with files.writing(target, 0o600) as file:
                        for piece in _pieces(content):
                            file.write(piece)
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


class _Found(msgspec.Struct):
    """What was read of a backup."""

    contents: Contents | None = None
    digests: dict[str, str] = {}
    logs: dict[str, str] = {}
    """By path, without the compression's ending, the SHA-256 (hex) of the log itself."""
    bytes: int = 0


def _reading(chunks: Iterator[bytes]) -> tarfile.TarFile:
    stream: Any = _Hashing(chunks)  # of a file only `read` is called
    return tarfile.open(fileobj=stream, mode="r|")


def _read(chunks: Iterator[bytes], database: Path) -> _Found:
    """Reads a backup to its end. The database is written to a file."""
    found = _Found()
    with _reading(chunks) as tar:
        for member in tar:
            place = PurePosixPath(member.name)
            if place.is_absolute() or ".." in place.parts:
                raise ValueError(f"{member.name!r}, which leads out of the league's folder")
            if not member.isreg() or member.name in found.digests or found.contents is not None:
                raise ValueError(f"{member.name!r}, which is no file, is there twice, or stands after {CONTENTS}")
            content = tar.extractfile(member)
            assert content is not None
            if member.name == CONTENTS:
                found.contents = msgspec.json.decode(content.read(), type=Contents)
                continue
            hashed = _Hashing(_pieces(content))
            if member.name == DATABASE:
                with files.writing(database, 0o600) as file:
                    while chunk := hashed.read(files.MIB):
                        file.write(chunk)
            elif SUFFIX in Path(member.name).suffixes and member.size <= files.MOST_LOG:
                data = hashed.read(member.size)
                name = member.name.removesuffix(compressed.SUFFIX)
                found.logs[name] = hashlib.sha256(_expanded(data, member.name)).hexdigest()
            while hashed.read(files.MIB):
                pass
            found.digests[member.name] = hashed.digest
            found.bytes += member.size
    return found


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(files.MIB):
        yield piece


def _expanded(data: bytes, name: str) -> bytes:
    try:
        return compressed.expand(data, name) if compressed.is_compressed(data) else data
    except LogError as error:
        raise ValueError(str(error)) from None


def _broken(path: Path, got: str) -> StoreError:
    return StoreError(
        f"expected a whole backup of a league, got: {got} - at {path}; make another, or take an older one"
    )


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


class _Hashing:
    """A file to read, made of chunks, whose digest is taken on the way."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""
        self._hash = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """Returns so many bytes, or fewer at the end."""
        while len(self._rest) < size and (chunk := next(self._chunks, b"")):
            self._rest += chunk
        data, self._rest = self._rest[:size], self._rest[size:]
        self._hash.update(data)
        return data

    @property
    def digest(self) -> str:
        """The SHA-256 (hex) of what was read."""
        return self._hash.hexdigest()
