"""The rows of the database as values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from arena.core.ratings.running import Rating
from arena.core.types import GameResult, Payload, Seat, SeatResult, Teams, sides


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
    """The rating that it begins with."""


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """What tournaments must have in common for their ratings to be comparable."""

    rules: str
    rules_version: int
    ruleset: str
    options: dict[str, str]

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
    """Everything that its games depend on."""
    digest: str
    seed: str | None
    """What the operator gave to make it reproducible."""
    secret: bytes
    """The secret from which every deal's secret is derived."""
    commitment: str
    beacon: str = ""
    """The value of a public beacon in its chance; empty if none was named."""
    entropy: tuple[str | None, ...] | None = None
    """By entrant what it put into chance (hex), or None; all None until they are asked, before the first game."""
    logs: str
    games: int
    """How many of its games are planned so far."""
    open: bool = False
    """Whether more may be planned."""
    rated: int = 0
    """How many games, in schedule order, have moved the ratings."""
    seconds: float = 0.0
    """Time spent playing, over all runs."""
    status: str = "running"
    """`running` or `finished`."""
    finished: str | None = None
    """When, in UTC (ISO 8601)."""


class PlannedGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game of the schedule."""

    number: int
    """Its place in the order, from 0."""
    block: int
    """Number of its block, from 0: the games of a block follow each other, and no deal comes twice in one."""
    deal: int
    """Number of the deal, from 0."""
    rotation: int
    """Number of the meeting's seating, from 0."""
    entrants: tuple[int, ...]
    """The numbers of the entrants, by seat."""
    parameters: tuple[dict[str, str], ...] = ()
    """By seat values of parameters that its round chooses; empty if it chooses none."""


class Played(msgspec.Struct, frozen=True):
    """A result that is in the database."""

    game: PlannedGame
    result: GameResult
    void: str = ""
    """Why it does not count, if it is void."""


class StoredRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round of a format whose rounds depend on results."""

    number: int
    title: str
    deals: int
    meetings: tuple[tuple[int, tuple[int, ...]], ...]
    """First deal and entrants of each."""
    byes: tuple[int, ...]
    """Entrants who rest in it."""
    first_game: int
    games: int
    parameters: tuple[dict[str, str], ...] = ()
    """By entrant values of parameters; empty if the format chooses none."""


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
    """The worker of a cluster that played it; empty if none did."""


class SeatRow(msgspec.Struct, frozen=True):
    """What one entrant did in one game."""

    entrant: int
    rank: int
    decisions: int
    total_ms: float
    max_ms: float
    forfeit: str | None
    """The code, if it lost by its own doing."""
    score: int | None = None
    """Its score, if the game has scores."""
    off_turn_cpu_ms: int | None = None
    """CPU time while it had no open request, if that was measured."""
    team: int | None = None
    """Its team; None if each seat played for itself."""


def teams_of(seats: Sequence[SeatResult | SeatRow]) -> Teams | None:
    """Returns the team of each seat of a game; None if each played for itself."""
    teams = tuple(seat.team for seat in seats if seat.team is not None)
    return teams or None


class Pace(msgspec.Struct, frozen=True):
    """How fast an entrant was on one worker of a cluster."""

    worker: str
    entrant: int
    games: int
    decisions: int
    total_ms: float
    """Time of all decisions."""


class Tally(msgspec.Struct, frozen=True):
    """Sums over an entrant's games that are done."""

    entrant: int
    games: int = 0
    wins: int = 0
    """Games with rank 1 alone."""
    draws: int = 0
    """Games with rank 1 shared."""
    forfeits: int = 0
    """Games lost by its own doing."""
    decisions: int = 0
    total_ms: float = 0.0
    """Time of all decisions."""
    max_ms: float = 0.0
    """Time of the slowest."""
    score: int = 0
    """The sum of its scores."""
    scored: int = 0
    """How many games had scores."""
    measured: int = 0
    """In how many games it was measured what it computed off turn."""
    off_turn_cpu_ms: int = 0
    """CPU time in those games while it had no open request."""
    others_ms: float = 0.0
    """Time of all its opponents' decisions in those games."""

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
        return Tally(
            self.entrant,
            games=self.games + other.games,
            wins=self.wins + other.wins,
            draws=self.draws + other.draws,
            forfeits=self.forfeits + other.forfeits,
            decisions=self.decisions + other.decisions,
            total_ms=self.total_ms + other.total_ms,
            max_ms=max(self.max_ms, other.max_ms),
            score=self.score + other.score,
            scored=self.scored + other.scored,
            measured=self.measured + other.measured,
            off_turn_cpu_ms=self.off_turn_cpu_ms + other.off_turn_cpu_ms,
            others_ms=self.others_ms + other.others_ms,
        )

    @classmethod
    def of(cls, entrant: int, seat: SeatResult | SeatRow, seats: Sequence[SeatResult | SeatRow]) -> Tally:
        """Returns the sums of one game.

        Args:
            entrant: The entrant.
            seat: What it did.
            seats: What all did, itself included.
        """
        teams = sides(teams_of(seats), len(seats))
        leaders = len({team for team, one in zip(teams, seats, strict=True) if one.rank == 1})
        is_measured = seat.off_turn_cpu_ms is not None
        return cls(
            entrant,
            games=1,
            wins=int(seat.rank == 1 and leaders == 1),
            draws=int(seat.rank == 1 and leaders > 1),
            forfeits=int(seat.forfeit is not None),
            decisions=seat.decisions,
            total_ms=seat.total_ms,
            max_ms=seat.max_ms,
            score=seat.score or 0,
            scored=int(seat.score is not None),
            measured=int(is_measured),
            off_turn_cpu_ms=seat.off_turn_cpu_ms or 0,
            others_ms=sum(one.total_ms for one in seats) - seat.total_ms if is_measured else 0.0,
        )


class GameRow(msgspec.Struct, frozen=True):
    """A finished game."""

    game: str
    number: int
    termination: str
    play_digest: str
    log_sha256: str
    entrants: tuple[int, ...]
    """By seat."""
    ranks: tuple[int, ...]
    """By seat."""


class ForfeitRow(msgspec.Struct, frozen=True):
    """A forfeit with everything that the bot's author needs."""

    game: str
    seat: Seat
    entrant: int
    code: str
    sentence: str
    turn: int
    stderr: list[str]
    overloaded: bool
    log: str


def game_id(tournament: str, number: int) -> str:
    """Returns the identifier of a game: the tournament's, and the game's place in the schedule."""
    return f"{tournament}-{number:06d}"


def canonical(settings: Any) -> str:
    """Returns JSON with one spelling for equal values, whether they are structs or maps."""
    return msgspec.json.encode(settings, order="sorted").decode()


PLAYED = (
    "finished = ?, turns = ?, actions = ?, seconds = ?, log = ?, log_sha256 = ?, play_digest = ?, transcripts = ?,"
    " level = ?, worker = ?"
)
"""The columns of a game that was played, but for its result."""


def played_values(claim: Claim, result: GameResult, finished: str) -> tuple[object, ...]:
    """Returns the values of `PLAYED` for a game that was over at a time; UTC (ISO 8601)."""
    return (
        *(finished, result.turns, result.actions, result.seconds, result.log, result.log_sha256, result.play_digest),
        *(canonical(result.transcripts), result.level.value, claim.worker or None),
    )


def forfeit_values(seat: SeatResult) -> tuple[object, ...]:
    """Returns what is stored of a seat's forfeit."""
    if (forfeit := seat.forfeit) is None:
        return (None,) * 6
    said = canonical(forfeit.stderr)
    return (forfeit.code.value, forfeit.sentence, forfeit.turn, said, int(forfeit.overloaded), forfeit.denied_ms)
