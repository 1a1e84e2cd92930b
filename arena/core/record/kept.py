"""Compares the receipts that a bot has kept with the logs of its games (`protocol/SPEC.md`, section 8.10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec

from arena.core import files
from arena.core.errors import LaterVersion, LogError
from arena.core.record.log import Hex, Log
from arena.core.record.published import check_form
from arena.core.record.receipts import Receipt, receipts_of
from arena.core.types import Count, Seat, Termination

MOST_KEPT = 256 * files.MIB  # bytes of a file of receipts: a million games


class Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line that a client keeps of a game."""

    bot_seed: Count
    seat: Annotated[int, msgspec.Meta(ge=0)]
    own: Hex | None
    """The digest that the client computed itself; None if it could not."""
    told: Hex | None
    """The digest that it was sent; None if it was sent none."""
    notes: Hex | None
    termination: str
    ranks: list[int]
    forfeits: Hex | None = None
    """The digest of all forfeits, if there were any and the client knows of it."""
    format: Count = 0


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Where a receipt and a log differ."""

    receipt: str
    log: str
    game: str
    seat: Seat
    reason: str

    def __str__(self) -> str:
        return f"{self.log}: game {self.game}, seat {self.seat}: {self.reason} - receipt at {self.receipt}"


class Receipts:
    """The receipts that were kept. Give it each log."""

    def __init__(self, path: Path) -> None:
        """Reads them.

        Args:
            path: A file, or a folder with files `*.jsonl` of nothing else.

        Raises:
            LogError: One cannot be read.
        """
        self._kept: defaultdict[tuple[int, Seat], list[tuple[str, Kept]]] = defaultdict(list)
        self.compared: set[str] = set()  # the receipts of which there was a log
        self.begun = 0  # how often a game of these logs was begun and thrown away, as the receipts say
        self.later: list[str] = []  # what to say of the lines that a later version wrote: they are not compared
        paths = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        for file in paths:
            for number, line in enumerate(files.lines(file, "kept receipts", MOST_KEPT, LogError), start=1):
                at = f"{file}:{number}"
                try:
                    check_form(line, at)
                    kept = msgspec.json.decode(line, type=Kept)
                except LaterVersion as error:
                    self.later.append(str(error))
                    continue
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    raise LogError(f"expected a receipt, got: {error} - at {at}; give what a client kept") from None
                self._kept[kept.bot_seed, kept.seat].append((at, kept))
        if not self._kept and not self.later:
            raise LogError(f"expected receipts, got none - at {path}; give the file that `receipts` of the bot names")

    @property
    def unknown(self) -> list[str]:
        """The receipts of which there was no log."""
        return [at for lines in self._kept.values() for at, _ in lines if at not in self.compared]

    def differences(self, log: Log) -> Iterator[Difference]:
        """Yields where receipts of a game differ from its log.

        Of a game that was begun more than once, one receipt proves the log; the others are of games that do not count.
        """
        header, outcome = log.header, log.outcome
        found: list[Receipt | None] = []
        thrown_away = 0
        for seat, bot in enumerate(header.bots):
            lines = self._kept.get((bot.bot_seed, seat), ())
            if lines and not found:
                found = receipts_of(header, log.records, outcome.termination, outcome.ranks, outcome.scores)
            differs = {at: tuple(_reasons(kept, found[seat], log)) for at, kept in lines}
            proven = () in differs.values()
            told = partial(Difference, log=log.source, game=header.game, seat=seat)
            in_vain = []
            for at, kept in lines:
                fits_itself = kept.own in (None, kept.told)
                if kept.termination == Termination.INTERRUPTED or (
                    proven and differs[at] and header.attempt != 1 and fits_itself
                ):
                    in_vain.append(at)
                else:
                    yield from (told(receipt=at, reason=reason) for reason in differs[at])
            if header.attempt and len(in_vain) >= header.attempt:
                reason = (
                    f"its bot was told the end of {len(in_vain)} games that were interrupted or do not count, "
                    f"the log says that it was begun {header.attempt} times in all"
                )
                yield told(receipt=in_vain[-1], reason=reason)
            self.compared.update(differs)
            thrown_away = max(thrown_away, len(in_vain))
        self.begun += thrown_away


def _reasons(kept: Kept, receipt: Receipt | None, log: Log) -> Iterator[str]:
    outcome = log.outcome
    if kept.own is not None and kept.own != kept.told:
        yield f"its messages give the receipt {kept.own}, and it was told {kept.told}"
    if (kept.termination, kept.ranks) != (outcome.termination, outcome.ranks):
        yield (
            f"it was told the end {kept.termination!r:.40} with the ranks {kept.ranks}, "
            f"the log says {outcome.termination!r:.40} and {outcome.ranks}"
        )
    if receipt is None:
        yield "it was told the end of the game, and the log says that it forfeited before"
        return
    for what, digest in (("its own messages", kept.own), ("what it was told", kept.told)):
        if digest not in (None, receipt.digest):
            yield f"the log has another course of the game than {what}: {receipt.digest}, not {digest}"
    if kept.forfeits is not None and kept.forfeits != receipt.forfeits:
        yield (
            f"the log has other forfeits, or marks of an overloaded machine, than it was told: {receipt.forfeits}, "
            f"not {kept.forfeits}"
        )
    logged = next((one.notes for one in outcome.receipts or () if one.seat == receipt.seat), None)
    if kept.notes != (notes := receipt.notes or logged):
        yield f"the log has other notes than it sent: {notes}, not {kept.notes}"
