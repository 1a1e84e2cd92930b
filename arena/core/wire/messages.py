"""The messages of the protocol, typed. One class is one message; `protocol/SPEC.md` is the authority.

A test compares them field by field with `protocol/messages.toml`, from which the specification's tables are made.
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
"""How deeply maps and arrays may nest; the message itself is depth 1."""
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
Milliseconds: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_INT)]


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Any message: a map with string keys, `type` first."""


class RulesPlayed(Struct, frozen=True):
    """Rules that a bot plays."""

    name: Name
    """Their name, such as `samurai`."""
    versions: Annotated[tuple[PositiveInt, ...], Meta(max_length=16)]
    """The versions of them that it plays."""


class Hello(Message, frozen=True, tag="hello"):
    """The bot's first message: it is here, and says what it wants to be sent."""

    token: Annotated[str, Meta(max_length=128)]
    """The value of the environment variable `ARENA_TOKEN`."""
    protocol: Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}\Z")]
    """The protocol version that the bot speaks, `major.minor`."""
    name: Name = ""
    """The bot's own name for itself; shown nowhere to opponents."""
    version: Name = ""
    """The bot's own version."""
    want: Names | Annotated[dict[Name, Names], Meta(max_length=16)] = ()
    """What each request shall carry: any of `view`, `events`, `legal`. Other names are ignored. Or a map from the name
    of rules to that: what requests of these rules shall carry, and those of other rules nothing."""
    rules: Annotated[tuple[RulesPlayed, ...], Meta(max_length=16)] = ()
    """The rules that the bot plays. Without any it is asked to play whatever its operator chose."""
    capabilities: Names = ()
    """What the bot can do beyond this version (§11). Names that the referee does not know are ignored."""
    entropy: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)] = ""
    """32 random bytes as hex, the bot's contribution to chance."""

    def wants(self, rules: str) -> frozenset[str]:
        """Returns what requests of some rules shall carry."""
        return frozenset(self.want.get(rules, ()) if isinstance(self.want, dict) else self.want)

    def plays(self, rules: str, version: int) -> bool:
        """Returns whether the bot plays a version of some rules, as far as it says."""
        return not self.rules or any(rules == played.name and version in played.versions for played in self.rules)


class Welcome(Message, frozen=True, tag="welcome"):
    """The referee accepts the bot; games follow."""

    protocol: str
    """The protocol version that the referee speaks."""
    max_frame: int
    """Bytes that a message from the bot may have."""
    max_note: int
    """Bytes that a note may have."""
    capabilities: Names = ()
    """Those of the bot's capabilities that the referee has too."""


class Time(Struct, frozen=True, omit_defaults=True):
    """The time control of a game. A limit that does not exist is nil."""

    bank_ms: int | None
    """Time for the whole game."""
    increment_ms: int
    """Added to the bank after each decision."""
    limit_ms: int | None
    """Time for one decision."""
    margin_ms: int
    """Added to every deadline for the journey of messages."""
    window_us: int | None
    """How far apart, in microseconds, the times of a race may be and still be tied; nil if the rules have no race."""
    cpu_ms: PositiveInt | None = None
    """CPU time for the whole game; missing where there is no such limit."""
    off: bool | None = None
    """True if the clock is off; missing where it is on."""


class GameStart(Message, frozen=True, tag="game_start"):
    """A game begins. The bot prepares, and answers `ready`."""

    game: PositiveInt
    """The number of the game in this session, counted from 1."""
    rules: str
    """The game's rules, such as `samurai` or `gardener`."""
    rules_version: int
    """Their version."""
    ruleset: str
    """The named set of options, or `custom` where single options were set beside it."""
    options: dict[str, str]
    """Every option with its value."""
    seat: int
    """The bot's seat, counted from 0."""
    seats: int
    """How many seats there are."""
    board: Payload | None
    """The board, as the page of the game's rules says; nil for a game without boards."""
    time: Time
    """The time control."""
    commitment: str
    """SHA-256 (hex) of a salt, which no other game has, and the deal's secret."""
    bot_seed: Annotated[int, Meta(ge=0, le=MAX_INT)]
    """A number for the bot's own randomness, different for each seat, the same whenever this deal is played again."""
    parameters: dict[str, str] = {}
    """The bot's own parameters, each with its value as text; missing where it has none."""


class Ready(Message, frozen=True, tag="ready"):
    """The bot is ready to play the game."""

    game: PositiveInt
    """The number of the game, repeated."""


class RequestClock(Struct, frozen=True):
    """The time that the bot has."""

    limit_ms: int
    """Time for this decision: after it the bot forfeits."""
    bank_ms: int | None
    """What is left of the bank before this decision, or nil where there is none."""


class Request(Message, frozen=True, tag="request"):
    """The referee asks for a decision."""

    id: PositiveInt
    """The number of the request in this session, counted from 1."""
    kind: str
    """Which decision, as the page of the game's rules says."""
    clock: RequestClock
    """The time for it."""
    view: Payload | None = None
    """Everything the seat may know now, if wanted."""
    events: list[Payload] | None = None
    """What the seat has learnt since its last request in this game, if wanted."""
    legal: list[Payload] | None = None
    """The legal first plays as products (§8.5), if wanted."""


class Action(Message, frozen=True, tag="action"):
    """The bot's decision."""

    id: PositiveInt
    """The request's number, repeated."""
    action: Payload
    """The decision: `plays`, an array of plays (§8.6), and what the page of the game's rules adds."""
    note: str | None = None
    """What the bot was thinking, at most 1024 bytes. Kept in the log; no opponent sees it during the game."""


class ForfeitNotice(Struct, frozen=True, omit_defaults=True):
    """A seat that forfeited."""

    seat: int
    """Which seat."""
    code: str
    """The termination."""
    overloaded: bool = False
    """Whether the machine was overloaded at that moment."""
    denied_ms: Annotated[int, Meta(ge=0)] = 0
    """How long its bot could have run in that decision and was given no core, in milliseconds."""


class ReceiptNotice(Struct, frozen=True, omit_defaults=True):
    """What the seat saw and did, as the referee has it (section 8.10)."""

    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    """SHA-256 (hex) of what the seat saw and did."""
    notes: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")] | None
    """SHA-256 (hex) of its notes; nil if it had none."""
    used_ns: list[int]
    """The time that was charged for each of its answers, in nanoseconds."""
    forfeits: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")] | None = None
    """SHA-256 (hex) of all forfeits, with their marks; missing or nil if there were none."""


class GameOver(Message, frozen=True, tag="game_over"):
    """The game has ended."""

    game: PositiveInt
    """The number of the game."""
    termination: str
    """Why it ended: `finished`, the code of the forfeit that ended it, or `interrupted`."""
    ranks: list[int]
    """The rank of each seat, 1 is best; equal ranks share. Empty if interrupted."""
    forfeits: list[ForfeitNotice]
    """The seats that forfeited, in order."""
    events: list[Payload] | None = None
    """What the seat has learnt since its last request, if wanted."""
    scores: list[int] | None = None
    """The score of each seat, if the game has scores."""
    receipt: ReceiptNotice | None = None
    """The seat's receipt, so that the bot can keep what the log must say."""


class Goodbye(Message, frozen=True, tag="goodbye"):
    """The session ends. The bot exits within a second, with status 0."""

    reason: str
    """Why, for people."""


class Error(Message, frozen=True, tag="error"):
    """The sender's complaint. From the referee it ends the game, and the session, for the bot."""

    code: Name
    """One of the specification's error codes; a bot may use its own."""
    message: Annotated[str, Meta(max_length=4096)] = ""
    """What was expected and what was got, for people."""
    id: int | None = None
    """The request it is about, if any."""


FromBot: TypeAlias = Hello | Ready | Action | Error
FromReferee: TypeAlias = Welcome | GameStart | Request | GameOver | Goodbye | Error

ErrorCode: TypeAlias = Literal[
    "malformed", "illegal_action", "protocol_violation", "timeout", "bad_token", "unsupported_version", "oversized"
]
