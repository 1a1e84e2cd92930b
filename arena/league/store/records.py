"""The rows of a league as values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal, TypeAlias

import msgspec

from arena.core.face import Payload, value_types
from arena.league.store.states import PENDING, Actor, State

LEAGUE: Final = "league"
"""The format of a season, as its tournament's settings name it."""
HOUSE: Final = "house"
"""The author of the bots that every league has from the start. They never leave."""

Kind: TypeAlias = Literal["build", "check", "qualify"]
"""A step between a submission and the first rated game."""


class Author(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who may submit bots."""

    name: str
    status: Literal["active", "removed"]
    quotas: dict[str, int]
    """Limits that differ from those of the league, by name."""
    created: str


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A public key by which an author is known at the door."""

    public_key: str
    author: str
    label: str
    made: str
    revoked: str | None


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a bot: what was submitted, and where it stands."""

    id: int
    author: str
    bot: str
    number: int
    """Counted from 1 for each bot."""
    digest: str
    """The content's digest, by which its archive and its built folder are named."""
    manifest: Payload
    size: int
    """Bytes of the archive."""
    level: str
    """How it is confined; `remote` if it plays from its author's machine."""
    received: str
    state: State
    since: str
    """When it came into its state; UTC (ISO 8601)."""
    attempts: int
    """How many faults of the machine its present step has met."""
    entrant: int | None
    """Its number in the season's tournament; None if it has not been active in this season."""
    first_game: int
    """The first game of the season since it is active. Earlier forfeits do not count against it."""

    @property
    def name(self) -> str:
        """What people call it: `fox/3`."""
        return f"{self.bot}/{self.number}"

    @property
    def is_pending(self) -> bool:
        """Whether the service still has to do something about it."""
        return self.state in PENDING

    @property
    def is_of_house(self) -> bool:
        """Whether it came with the league."""
        return self.author == HOUSE

    @property
    def reader(self) -> str | None:
        """The author, who may read more of it than others; None if it is the house's, or if they have left."""
        return None if self.is_of_house or self.author.startswith("(") else self.author


class Received(msgspec.Struct, frozen=True):
    """What a submission became."""

    version: Version
    before: int
    """How many versions wait before it."""
    same: bool
    """Whether this content was there already: then nothing has changed."""


class Verdict(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "failed"
    """By the bot: its author has to change it."""
    MACHINE = "machine"
    """The machine could not do it. It is not the bot's fault: try again."""


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a step."""

    kind: Kind
    verdict: Verdict
    finding: str = ""
    """What was expected, what was got, and what to do; empty if it passed. It may quote the bot: escape it."""
    seconds: float = 0.0
    """How long it took."""
    memory_mib: int = 0
    """The most memory of the bot's processes that was seen."""
    output: bytes = b""
    """The last of what the bot's processes printed, as it was: escape it before it is shown."""
    detail: Payload = {}
    """What else the step found, as plain values."""
    tree_digest: str = ""
    """After a build: SHA-256 (hex) over the files that it left."""
    command_to_repeat: str = ""
    """What the author types to see the same on their machine."""
    attempt: int = 1
    """Counted from 1. The database says this, and the next."""
    at: str = ""
    """When it was stored; UTC (ISO 8601)."""


class ChangeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A change that a version made."""

    version: str
    """Its name."""
    old: State | None
    new: State
    actor: Actor
    reason: str
    at: str


class MatchGame(msgspec.Struct, frozen=True, kw_only=True):
    """A game of a match."""

    game: str
    number: int
    rotation: int
    entrants: tuple[int, ...]
    """By seat."""
    status: str
    """`planned`, `running`, `done` or `void`."""
    worker: str | None = None
    """The worker elsewhere that played it; None if none did."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """One deal in its seatings."""

    tournament: str
    number: int
    """Counted from 0 in its season."""
    players: int
    deal: int
    why: str
    rated: bool
    state: Literal["playing", "over", "void"]
    reason: str | None
    """Why games of it are void, if some are."""
    entrants: tuple[int, ...]
    """Who meets, by number."""
    together: int
    """The number of the first of the matches that were planned together."""
    games: tuple[MatchGame, ...]
    planned: str
    published: str | None


class SeasonFinal(msgspec.Struct, frozen=True, kw_only=True):
    """The final of a season: its last matches, between its best versions."""

    began: str
    """When; UTC (ISO 8601)."""
    entrants: tuple[int, ...]
    """Who plays it, the best of the season first. None if it is not played."""
    left: tuple[int, ...] = ()
    """Those of them who are out of it: they were suspended or retired, or could not play any more."""
    deals: int
    """The most deals that it may take."""
    first_match: int
    """Its first match. All later ones of the season belong to it."""
    first_game: int
    """Its first game, likewise."""
    outcome: Literal["settled", "not settled", "not played"] | None = None
    """None while it is being played."""
    reason: str = ""
    """Why it ended so, for people."""

    @property
    def playing(self) -> tuple[int, ...]:
        """Those who are still in it."""
        return tuple(entrant for entrant in self.entrants if entrant not in self.left)


class FinalMatch(msgspec.Struct, frozen=True):
    """A match of a final, as far as the final has to know it."""

    deal: int
    table: tuple[int, ...]
    """Who meets, in rising order."""
    over: bool
    """Whether no game of it is planned or running."""
    whole: bool
    """Whether each of its games has a result that counts. If not, seats may not have been equal."""


class Season(msgspec.Struct, frozen=True, kw_only=True):
    """A season: one tournament of the league."""

    number: int
    """Counted from 1."""
    tournament: str
    name: str
    opened: str
    closed: str | None = None
    standings: Payload | None = None
    digest: str | None = None
    """SHA-256 (hex) over all results, and the digest of the season before."""
    digest_before: str = ""
    final: SeasonFinal | None = None
    """Its final; None before that, and if it has none."""


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an author, or the operator, should know."""

    id: int
    version: str | None
    """The version that it is about, by name."""
    kind: str
    text: str
    at: str
    read: str | None


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """An active version as the matchmaker sees it. Matches are those of the season, running ones included."""

    entrant: int
    """Its number among the season's entrants."""
    author: str | None
    """Whose it is. None for a bot of the house, which helps nobody: two of these may meet rated."""
    mu: float
    """Its running rating."""
    matches: int = 0
    """How many it has played."""
    last: int = 0
    """The number of the last match that it is in. Of one that became active after that: how many matches there were."""
    seats: Mapping[int, int] = {}
    """By number of players how many matches it has played."""
    met: tuple[tuple[int, ...], ...] = ()
    """Whom it met in its last meetings, the newest last."""

    @property
    def side(self) -> str | int:
        """Those with the same side do not meet rated."""
        return self.entrant if self.author is None else self.author


class VersionStanding(Candidate, frozen=True, kw_only=True):
    """An active version of the open season."""

    version: int
    name: str
    waits_since: int
    """Number of the first match since it has waited: that after its last one, or after it became active."""
    playing: int
    """How many of its matches are being played."""


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """How a version did in its last games since it is active."""

    games: int
    """How many of its games were looked at."""
    forfeits: tuple[tuple[str, value_types.Forfeit], ...]
    """Each with its game, the latest first."""
    in_a_row: int
    """How many of the last games, without a gap, it forfeited."""
