"""Checks the ledger of a league with what it publishes of its seasons, and with heads that were seen before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from arena.core.face import DiskTable, errors, game_rows, record_files, verdicts
from arena.league.record import ledger, merkle
from arena.league.record.ledger import LEDGER, Entry, Head
from arena.league.record.season import DEALS, RESULTS, SEASONS, DealRevealed, Result, pages, read_lines

PROMISES: Final[Mapping[str, str]] = {
    "entries": "every entry is whole, and no game is there twice",
    "head": "the head is that of the entries",
    "seen": "every head that was seen is that of the first entries: nothing was changed or left out since",
    "seasons": "the ledger has every game of the seasons that are here, as they have it",
}
"""The promise that each check holds, by its name."""
_WRONG: Final = (ValueError, RecursionError)
"""What a strange line may raise."""

S = TypeVar("S", bound=msgspec.Struct)


class LedgerAudit(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one ledger."""

    folder: str
    entries: int
    """How many games it has."""
    head: Head
    """The head over all of them."""
    seen: int
    """With how many heads that were seen before it was compared."""
    seasons: int
    """With how many seasons."""
    faults: tuple[verdicts.Fault, ...]
    unchecked: dict[str, str]
    """By check that could not be made why not: a later version of arena wrote what it needs."""


def audit_ledger(published: Path, seen: Mapping[str, Head]) -> LedgerAudit:
    """Checks a ledger.

    Args:
        published: The folder with `ledger`, and with `seasons` if there are any.
        seen: Heads of it that were seen before, by where they are from.

    Raises:
        LogError: There is no ledger.
    """
    if not (published / LEDGER).is_dir():
        raise errors.LogError(f"expected a folder with the ledger of a league, got none - at {published}")
    auditor = _Auditor(published / LEDGER, seen)
    auditor.read()
    seasons = published / SEASONS
    folders = sorted(one for one in seasons.iterdir() if one.is_dir()) if seasons.is_dir() else []
    for folder in folders:
        auditor.compare(folder)
    return LedgerAudit(
        folder=str(published),
        entries=auditor.head.size,
        head=auditor.head,
        seen=len(seen),
        seasons=len(folders),
        faults=tuple(fault for fault in auditor.faults if fault.check not in auditor.unchecked),
        unchecked=auditor.unchecked,
    )


class _Auditor:
    """Reads a ledger once, and compares it."""

    def __init__(self, folder: Path, seen: Mapping[str, Head]) -> None:
        self._folder = folder
        self._seen = seen
        self.faults: list[verdicts.Fault] = []
        self.unchecked: dict[str, str] = {}
        self.head = ledger.EMPTY
        self._entries: defaultdict[str, DiskTable[Entry]] = defaultdict(lambda: DiskTable(Entry))
        """By season the entries of its games, by number."""

    def _fault(self, check: str, reason: str) -> None:
        self.faults.append(verdicts.Fault(check, reason))

    def read(self) -> None:
        """Reads the entries, and compares the heads."""
        expected = {where: ("seen", head) for where, head in self._seen.items()}
        try:
            expected[str(self._folder / ledger.HEAD_FILE)] = ("head", ledger.head_of(self._folder))
        except errors.LaterVersion as error:
            self.unchecked = dict.fromkeys(PROMISES, str(error).removeprefix("not checked: "))
        except errors.LogError as error:
            self._fault("head", str(error))
        sizes = {head.size for _, head in expected.values()}
        roots: dict[int, str] = {0: ledger.EMPTY.root}
        builder = merkle.Builder()
        try:
            for line in ledger.lines(self._folder):
                self._take(builder.size, line)
                for _ in builder.add(merkle.leaf_hash(line)):
                    pass
                if builder.size in sizes:
                    roots[builder.size] = builder.root().hex()
        except errors.LogError as error:
            self._fault("entries", str(error))
        self.head = Head(builder.size, builder.root().hex())
        for where, (check, head) in expected.items():
            if head.size not in roots:
                self._fault(check, f"{where}: expected at least {head.size} entries, got: {builder.size}")
            elif roots[head.size] != head.root:
                self._fault(
                    check,
                    f"{where}: expected the root {head.root} over the first {head.size} entries, "
                    f"got: {roots[head.size]}",
                )

    def _take(self, index: int, line: bytes) -> None:
        at = f"{self._folder / ledger.page(index)}:{index % ledger.PAGE + 1}"
        try:
            entry = ledger.decoded(line)
        except _WRONG as error:
            self._fault("entries", f"{at}: expected an entry, got: {error}")
            return
        tournament, _, tail = entry.game.rpartition("-")
        number = int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 12 else -1
        if entry.game != game_rows.game_id(tournament, number):
            self._fault("entries", f"{at}: expected a game, got: {entry.game!r:.80}")
        elif number in self._entries[tournament]:
            self._fault("entries", f"{at}: game {entry.game} is there twice")
        else:
            self._entries[tournament].put(number, entry)

    def compare(self, folder: Path) -> None:
        """Compares the ledger with what is published of a season."""
        entries, missing = self._entries[folder.name], {*self._entries[folder.name]}
        try:
            for at, deal in _lines(folder, DEALS, DealRevealed):
                for number in deal.games:
                    game = game_rows.game_id(folder.name, number)
                    missing.discard(number)
                    if number not in entries:
                        self._fault("seasons", f"{at}: game {game} is not in the ledger")
                    elif entries[number].log != deal.logs.get(game):
                        self._fault("seasons", f"{at}: the log of game {game} is another than in the ledger")
            for number in sorted(missing)[:1] if pages(folder, RESULTS) else ():
                self._fault(
                    "seasons",
                    f"{folder}: expected game {game_rows.game_id(folder.name, number)} of the ledger, got none",
                )
            for at, result in _lines(folder, RESULTS, Result):
                self._compare(at, result, entries)
        except errors.LaterVersion as error:
            self.unchecked.setdefault("seasons", str(error).removeprefix("not checked: "))
        except errors.LogError as error:
            self._fault("seasons", str(error))

    def _compare(self, at: str, result: Result, entries: DiskTable[Entry]) -> None:
        if result.number not in entries:
            self._fault("seasons", f"{at}: game {result.number} is not in the ledger")
            return
        entry = entries[result.number]
        for name in ("status", "entrants", "ranks", "play_digest"):
            if getattr(result, name) != getattr(entry, name):
                self._fault(
                    "seasons",
                    f"{at}: expected the {name} of the ledger, {getattr(entry, name)!s:.80}, "
                    f"got: {getattr(result, name)!s:.80}",
                )


def _lines(folder: Path, kind: str, shape: type[S]) -> Iterator[tuple[str, S]]:
    """Yields what the lines of a kind say, each with its place. The line about a final is left out.

    Raises:
        LogError: One cannot be read.
    """
    for path in pages(folder, kind):
        for number, line in enumerate(read_lines(path, f"{kind} of a season"), start=1):
            if kind == RESULTS and line.startswith(b'{"deals"'):
                continue
            try:
                record_files.check_form(line, f"{path}:{number}")
                yield f"{path}:{number}", msgspec.json.decode(line, type=shape)
            except _WRONG as error:
                raise errors.LogError(f"expected {kind} of a season, got: {error} - at {path}:{number}") from None
