"""The rows of the database as values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from arena.core.ratings.running import Rating
from arena.core.text import display_fault
from arena.core.types import GameResult, Payload, SeatResult, Teams, Variant, outcomes


class Entrant(msgspec.Struct, frozen=True, kw_only=True):
    """A bot in a tournament."""

    number: int
    """Counted from 0, in the order in which bots were entered."""
    name: str
    """Unique in the tournament: the second `random` is `random#2`."""
    version: str
    digest: str
    spec: Payload
    start: Rating = Rating()

    @property
    def display_name(self) -> str:
        """What people read beside its name; empty if it has none, or one that a manifest could not have."""
        told = str(self.spec.get("display_name", ""))
        return "" if display_fault(told) else told


class Pool(Variant, frozen=True, kw_only=True):
    """What tournaments must have in common for their ratings to be comparable."""

    @classmethod
    def of(cls, settings: Payload) -> Pool:
        """Returns the pool of a tournament with such settings."""
        return msgspec.convert(settings["game"], cls)

    @property
    def digest(self) -> str:
        """SHA-256 (hex): equal pools have equal digests."""
        return hashlib.sha256(canonical(self).encode()).hexdigest()


class Tournament(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament in the database."""

    id: str
    created: str
    """When, in UTC (ISO 8601)."""
    settings: Payload
    digest: str
    seed: str | None
    """Text that the operator gave to make it reproducible."""
    secret: bytes
    commitment: str
    beacon: str = ""
    """The value of a public beacon in its chance; empty if none was named."""
    entropy: tuple[str | None, ...] | None = None
    """Contribution of each entrant to chance (hex), or None; all None until they are asked, before the first game."""
    logs: str
    games: int
    open: bool = False
    """Whether more may be planned."""
    rated: int = 0
    """Number of games, in schedule order, that have moved the ratings."""
    seconds: float = 0.0
    status: str = "running"
    finished: str | None = None

    @property
    def awaits(self) -> str:
        """The public beacon that the settings name, if its value is not known yet: no game may begin before."""
        named: str | None = self.settings.get("beacon")
        return named if named and not self.beacon else ""


class PlannedGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game of the schedule."""

    number: int
    block: int
    """Number of its block, from 0: the games of a block follow each other, and no deal comes twice in one."""
    deal: int
    rotation: int
    entrants: tuple[int, ...]
    parameters: tuple[dict[str, str], ...] = ()
    """Values of parameters by seat that its round chooses; empty if it chooses none."""


class Played(msgspec.Struct, frozen=True):
    """A result that is in the database."""

    game: PlannedGame
    result: GameResult
    void: str = ""


class NamedRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round of a tournament, but for its meetings."""

    title: str
    """Name for people: `round 3`, `semi-finals`, `semi-finals, replay 1`."""
    deals: int
    byes: tuple[int, ...] = ()
    """Entrants who rest in this round."""
    parameters: tuple[dict[str, str], ...] = ()
    """Values of parameters that each entrant's bot is sent; empty if the format chooses none."""


class StoredRound(NamedRound, frozen=True, kw_only=True):
    """A round of a format whose rounds depend on results."""

    number: int
    meetings: tuple[tuple[int, tuple[int, ...]], ...]
    """First deal and entrants of each."""
    first_game: int
    games: int


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The right to play a game: its result is accepted only with this attempt."""

    game: str
    tournament: str
    number: int
    deal: int
    rotation: int
    attempt: int
    """Counted from 1. A later claim of the same game makes this one void."""
    worker: str = ""


figures_of: Final = msgspec.json.Decoder(SeatResult).decode
"""Reads what a seat did, as `canonical` writes it and the database holds it."""


def teams_of(seats: Sequence[SeatResult]) -> Teams | None:
    """Returns the team of each seat of a game; None if each played for itself."""
    teams = tuple(seat.team for seat in seats if seat.team is not None)
    return teams or None


class Tally(msgspec.Struct, frozen=True):
    """Sums over an entrant's games that are done."""

    entrant: int
    games: int = 0
    wins: int = 0
    draws: int = 0
    forfeits: int = 0
    decisions: int = 0
    total_ms: float = 0.0
    max_ms: float = 0.0
    score: int = 0
    scored: int = 0
    measured: int = 0
    """In how many games it was measured what it computed off turn."""
    off_turn_cpu_ms: int = 0
    """CPU time in those games while it had no open request."""
    others_ms: float = 0.0
    """Time of all its opponents' decisions in those games."""

    @property
    def mean_ms(self) -> float:
        """Mean time of a decision."""
        return self.total_ms / self.decisions if self.decisions else 0.0

    @property
    def mean_off_turn_ms(self) -> float | None:
        """CPU time of a game while it had no open request; None where that was never measured."""
        return round(self.off_turn_cpu_ms / self.measured, 3) if self.measured else None

    @property
    def off_turn_share(self) -> float | None:
        """The same as a share of the time that its opponents thought: 1 is a whole core all that time."""
        return round(self.off_turn_cpu_ms / self.others_ms, 3) if self.others_ms else None

    def plus(self, other: Tally) -> Tally:
        """Returns the sums of both, as those of this entrant."""
        added = {name: getattr(self, name) + getattr(other, name) for name in SUMMED}
        return Tally(self.entrant, max_ms=max(self.max_ms, other.max_ms), **added)

    @classmethod
    def of_game(cls, entrants: Sequence[int], seats: Sequence[SeatResult]) -> Iterator[Tally]:
        """Yields the sums of one game for each of its entrants; both arguments are by seat."""
        for entrant, seat, outcome in zip(entrants, seats, outcomes(seats), strict=True):
            is_measured = seat.off_turn_cpu_ms is not None
            yield cls(
                entrant, games=1, wins=int(outcome == "won"), draws=int(outcome == "drawn"),
                forfeits=int(seat.forfeit is not None), decisions=seat.decisions, total_ms=seat.total_ms,
                max_ms=seat.max_ms, score=seat.score or 0, scored=int(seat.score is not None),
                measured=int(is_measured), off_turn_cpu_ms=seat.off_turn_cpu_ms or 0,
                others_ms=sum(one.total_ms for one in seats) - seat.total_ms if is_measured else 0.0,
            )  # fmt: skip


SUMMED: Final = tuple(name for name in Tally.__struct_fields__ if name not in ("entrant", "max_ms"))
"""Fields of a tally that add up, game by game."""


class GameRow(msgspec.Struct, frozen=True):
    """A finished game."""

    game: str
    number: int
    termination: str
    play_digest: str
    log_sha256: str
    entrants: tuple[int, ...]
    ranks: tuple[int, ...]


def game_id(tournament: str, number: int) -> str:
    """Returns the identifier of a game: the tournament's, and the game's place in the schedule."""
    return f"{tournament}-{number:06d}"


def canonical(settings: Any) -> str:
    """Returns JSON with one spelling for equal values, whether they are structs or maps."""
    return msgspec.json.encode(settings, order="sorted").decode()


PLAYED = (  # a game ends after its tournament began: the clock may have gone back
    "finished = max(?, (SELECT created FROM tournaments WHERE tournaments.id = tournament)), turns = ?, actions = ?,"
    " seconds = ?, log = ?, log_sha256 = ?, play_digest = ?, transcripts = ?, level = ?, worker = ?"
)
"""The columns of a game that was played, but for its result."""


def played_values(claim: Claim, result: GameResult, finished: str) -> tuple[object, ...]:
    """Returns the values of `PLAYED` for a game that was over at a time; UTC (ISO 8601)."""
    return (
        *(finished, result.turns, result.actions, result.seconds, result.log, result.log_sha256, result.play_digest),
        *(canonical(result.transcripts), result.level.value, claim.worker or None),
    )
