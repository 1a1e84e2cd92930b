"""Checks logs one by one, on several processes, and says of each what is needed to check them as a whole."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from arena.core import plugs
from arena.core.errors import LogError, ReplayMismatch, Unchecked
from arena.core.record.log import Header
from arena.core.record.published import sha256_of
from arena.core.record.result import result_of
from arena.core.referee.verify import Publication, published_in, verify
from arena.core.standings.verdicts import UNCHECKED_LOG, Fault
from arena.core.tournament.workers import Readers
from arena.core.types import GameResult, GameSettings

FEW: Final = 40  # so few logs are examined sooner than a process is started
CHUNK: Final = 16  # how many logs a process gets at a time


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one log after it was checked by itself."""

    path: str
    fault: Fault | None = None
    """Fault of the log. Without a fault all that follows is known."""
    header: Header | None = None
    """Its first record, without the board."""
    settings_sha256: str = ""
    """Digest of what was played, the board's text left out."""
    result: GameResult | None = None
    turns: int = 0
    draws_checked: bool = False
    beside: str | None = None
    """The tournament whose commitment it was checked by, if there was one."""
    has_receipts: bool = False

    @property
    def head(self) -> Header:
        """The first record of a log without a fault."""
        assert self.header is not None
        return self.header


def examine(path: str, beside: str | None = None) -> Examined:
    """Checks one log by itself. Workers call it, each for many logs.

    Args:
        beside: The folder with what is published of its tournament; None means the log's own.
    """
    try:
        known = _published_in(beside or str(Path(path).parent))
        verdict = verify(Path(path), known)
    except ReplayMismatch as error:
        return Examined(path=path, fault=Fault(error.check, str(error)))
    except LogError as error:
        return Examined(path=path, fault=Fault(UNCHECKED_LOG if isinstance(error, Unchecked) else "log", str(error)))
    header, records = verdict.log.header, verdict.log.records
    return Examined(
        path=path,
        header=replace(header, board=None, settings=replace(header.settings, board=None)),
        settings_sha256=played_digest(header.settings),
        result=result_of(header, records, verdict.log.sha256, verdict.margins, numbers=plugs.numbers(header, records)),
        turns=verdict.turns,
        has_receipts=verdict.log.outcome.receipts is not None,
        draws_checked=verdict.draws_checked,
        beside=None if known.commitment is None else known.commitment.tournament,
    )


def examine_all(paths: Sequence[str], processes: int, beside: str | None = None) -> Iterator[Examined]:
    """Examines many logs on so many processes, and yields each result, in the order of the logs."""
    examiner = partial(examine, beside=beside)
    if processes < 2 or len(paths) < FEW:
        yield from map(examiner, paths)
        return
    with Readers(processes) as workers:
        yield from workers.map(examiner, paths, chunksize=CHUNK)


@lru_cache(maxsize=16)
def _published_in(folder: str) -> Publication:
    """Reads what is published once for all logs of a folder. What is wrong with it is told once, for the folder."""
    try:
        found = published_in(Path(folder))
    except LogError:
        return Publication(None, None, None)
    return Publication(found.commitment, None, None) if found.contradictions() else found


def played_digest(settings: GameSettings) -> str:
    """Returns the SHA-256 (hex) of what is played, the board's text left out: its hash stands for it."""
    board = settings.board
    return sha256_of(replace(settings, board=None if board is None else replace(board, text="")))


class ExaminedLogs:
    """All logs that were examined, by number, in a temporary file: memory holds only where each begins."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it goes with this object
        weakref.finalize(self, self._file.close)
        self._places: dict[int, int] = {}
        self._decode = msgspec.msgpack.Decoder(Examined).decode

    def __contains__(self, number: int) -> bool:
        return number in self._places

    def __iter__(self) -> Iterator[int]:
        """Yields the numbers in ascending order."""
        return iter(sorted(self._places))

    def __getitem__(self, number: int) -> Examined:
        self._file.seek(self._places[number])
        size = int.from_bytes(self._file.read(4), "big")
        return self._decode(self._file.read(size))

    def put(self, number: int, value: Examined) -> None:
        data = msgspec.msgpack.encode(value)
        self._places[number] = self._file.seek(0, 2)
        self._file.write(len(data).to_bytes(4, "big") + data)

    def remove(self, number: int) -> None:
        del self._places[number]
