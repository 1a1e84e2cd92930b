"""The messages of the protocol, typed. One class is one message; `protocol/SPEC.md` is the authority.

What a field means stands in `protocol/messages.toml`, from which the specification's tables are made; a test compares.
Unknown fields are ignored in both directions, so that a later minor version can add some.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from arena.core.types import Payload

PROTOCOL = "1.0"
"""Version of the protocol, `major.minor`. The number lives here and nowhere else in the package."""

MAX_FRAME = 65_536
"""Bytes that a message from a bot may have."""
MAX_REFEREE_FRAME = 1_048_576
"""Bytes that a message from the referee may have."""
MAX_DEPTH = 16
"""Depth to which maps and arrays may nest; the message itself is depth 1."""
MAX_NOTE = 1_024
"""Bytes (UTF-8) that a note may have."""
MAX_IGNORED = 1_000
"""A bot forfeits with this many messages from one `game_over` to the next that the referee ignores (unknown types,
`error`): enough for any later version of the protocol, too few to keep a referee busy."""
MAX_INT = 2**53 - 1
"""No integer is larger in absolute value, so that every language reads it exactly."""

Name: TypeAlias = Annotated[str, Meta(max_length=64)]
Names: TypeAlias = Annotated[tuple[Name, ...], Meta(max_length=16)]
PositiveInt: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_INT)]


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Any message: a map with string keys, `type` first."""


class RulesPlayed(Struct, frozen=True):
    """Rules that a bot plays."""

    name: Name
    versions: Annotated[tuple[PositiveInt, ...], Meta(max_length=16)]


class Hello(Message, frozen=True, tag="hello"):
    """The bot's first message: it is here, and says what it wants to be sent."""

    token: Annotated[str, Meta(max_length=128)]
    protocol: Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}\Z")]
    name: Name = ""
    version: Name = ""
    want: Names | Annotated[dict[Name, Names], Meta(max_length=16)] = ()
    rules: Annotated[tuple[RulesPlayed, ...], Meta(max_length=16)] = ()
    capabilities: Names = ()
    entropy: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)] = ""

    def wants(self, rules: str) -> frozenset[str]:
        """Returns what requests of some rules shall carry."""
        return frozenset(self.want.get(rules, ()) if isinstance(self.want, dict) else self.want)

    def plays(self, rules: str, version: int) -> bool:
        """Returns whether the bot plays a version of some rules, as far as it says."""
        return not self.rules or any(rules == played.name and version in played.versions for played in self.rules)


class Welcome(Message, frozen=True, tag="welcome"):
    """The referee accepts the bot; games follow."""

    protocol: str
    max_frame: int
    max_note: int
    capabilities: Names = ()


class Time(Struct, frozen=True, omit_defaults=True):
    """The time control of a game. A limit that does not exist is nil."""

    bank_ms: int | None
    increment_ms: int
    limit_ms: int | None
    margin_ms: int
    window_us: int | None
    cpu_ms: PositiveInt | None = None
    off: bool | None = None


class GameStart(Message, frozen=True, tag="game_start"):
    """A game begins. The bot prepares, and answers `ready`."""

    game: PositiveInt
    rules: str
    rules_version: int
    ruleset: str
    options: dict[str, str]
    seat: int
    seats: int
    board: Payload | None
    time: Time
    commitment: str
    bot_seed: Annotated[int, Meta(ge=0, le=MAX_INT)]
    parameters: dict[str, str] = {}


class Ready(Message, frozen=True, tag="ready"):
    """The bot is ready to play the game."""

    game: PositiveInt


class RequestClock(Struct, frozen=True):
    """The time that the bot has."""

    limit_ms: int
    bank_ms: int | None


class Request(Message, frozen=True, tag="request"):
    """The referee asks for a decision."""

    id: PositiveInt
    kind: str
    clock: RequestClock
    view: Payload | None = None
    events: list[Payload] | None = None
    legal: list[Payload] | None = None


class Action(Message, frozen=True, tag="action"):
    """The bot's decision."""

    id: PositiveInt
    action: Payload
    note: str | None = None


class ForfeitNotice(Struct, frozen=True, omit_defaults=True):
    """A seat that forfeited."""

    seat: int
    code: str
    overloaded: bool = False
    denied_ms: Annotated[int, Meta(ge=0)] = 0


class ReceiptNotice(Struct, frozen=True, omit_defaults=True):
    """What the seat saw and did, as the referee has it (section 8.10)."""

    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    notes: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")] | None
    used_ns: list[int]
    forfeits: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")] | None = None


class GameOver(Message, frozen=True, tag="game_over"):
    """The game has ended."""

    game: PositiveInt
    termination: str
    ranks: list[int]
    forfeits: list[ForfeitNotice]
    events: list[Payload] | None = None
    scores: list[int] | None = None
    receipt: ReceiptNotice | None = None


class Goodbye(Message, frozen=True, tag="goodbye"):
    """The session ends. The bot exits within a second, with status 0."""

    reason: str


class Error(Message, frozen=True, tag="error"):
    """The sender's complaint. From the referee it ends the game, and the session, for the bot."""

    code: Name
    message: Annotated[str, Meta(max_length=4096)] = ""
    id: int | None = None


FromBot: TypeAlias = Hello | Ready | Action | Error
FromReferee: TypeAlias = Welcome | GameStart | Request | GameOver | Goodbye | Error

ErrorCode: TypeAlias = Literal[
    "malformed", "illegal_action", "protocol_violation", "timeout", "bad_token", "unsupported_version", "oversized"
]
