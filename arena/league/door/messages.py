"""What a league's door answers over HTTP, and the messages of remote bots over its WebSocket, typed.

`protocol/LEAGUE.md` is the authority on the messages. A test compares their classes field by field with
`protocol/league.toml`, from which the page's tables are made. The answers are what the door writes, what the client
reads and what `openapi.json` describes.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from arena.core.face import Payload, files, log_records, wire_messages

API: Final = "/api/v1"
"""Where the requests are, at the league's address."""
SUBPROTOCOL: Final = "arena.league.1"
"""The messages of remote bots, as a WebSocket names them."""
PROTOCOL: Final = "1.0"
"""Version of these messages, `major.minor`."""
MAX_AUTHOR_FRAME: Final = 66_560
"""Bytes of a message from an author: a frame of a bot, and 1 KiB."""
MAX_DOOR_FRAME: Final = 1_052_672
"""Bytes of a message from the door: a frame of a referee, and 4 KiB."""
MAX_ARCHIVE: Final = files.MOST_ARCHIVE
"""Bytes of the largest archive that a league may take."""
MAX_WAIT_S: Final = 60
"""How long `versions` waits for a version to be tried, in seconds."""
BUNDLE: Final = 500
"""Logs of a season in one answer, at most."""
PING_S: Final = 5
"""Seconds between two pings."""
SILENCE_S: Final = 15
"""Seconds without `pong` after which an author's bots are gone."""

BotName: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]
Digest: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Sitting: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=wire_messages.MAX_INT)]
Cost: TypeAlias = Annotated[int, Meta(ge=0, le=log_records.MOST_COST)] | UnsetType


# What a request over HTTP may ask for, behind the question mark


class VersionsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which versions."""

    bot: wire_messages.Name = ""
    """Of this bot only."""
    wait: Annotated[int, Meta(ge=0, le=MAX_WAIT_S)] = 0
    """Seconds to wait at most, until the newest of them is tried."""


class GamesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which games."""

    bot: wire_messages.Name = ""
    """Of this bot only."""
    only: Literal["", "lost", "forfeits"] = ""
    """Those only."""
    after: wire_messages.Name = ""
    """Where the answer before ended: its `next`."""
    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    """How many at most. There may be fewer in one answer."""


class StandingsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows of the standings."""

    after: Count = 0
    """How many of its rows the author has already."""


class LogQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which form of a log."""

    public: Literal["", "1", "true"] | None = None
    """If it is there, the log is as everybody may see it, so that its SHA-256 is the one that is published."""


class LogsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which logs of a season."""

    games: Annotated[
        str, Meta(pattern=r"^[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*\Z", max_length=8_192)
    ] = "0-499"
    """The numbers of games: `0-99,105`. Of more than 500 the first 500."""


class SubmitQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sent."""

    digest: Digest | None = None
    """The digest of an archive of arena. With it an upload goes on where it stopped."""


class MatchQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Against whom."""

    against: Annotated[str, Meta(min_length=1, max_length=100)]
    """A bot that plays, or a version of one: `owl/2`."""


class AuthorQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The author who is to have the bot."""

    author: BotName
    """Name of who gets it; your own if it was offered to you, or if you offer it no more."""


class DisplayQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A bot's display name."""

    display_name: Annotated[str, Meta(max_length=100)]
    """In any script, 32 characters at most; empty: none."""


class SeatQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Against whom, and where."""

    against: Annotated[str, Meta(min_length=1, max_length=100)]
    """A bot that plays, or a version of one: `owl/2`."""
    seat: Annotated[int, Meta(ge=0, le=63)] = 0
    """Your seat. The bot has all others."""


class WaitQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A wait for news of a seat."""

    wait: Annotated[int, Meta(ge=0, le=MAX_WAIT_S)] = 0
    """Seconds to wait at most, until you are asked or the game is over."""


class SeatCost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Costs of the decision, as far as you know them."""

    tokens_in: Cost = UNSET
    tokens_out: Cost = UNSET
    microdollars: Cost = UNSET
    retries: Cost = UNSET


class SeatSaid(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer of an author in their seat."""

    do: Literal["play", "resign"] = "play"
    """Whether to play, or to give the game up."""
    request: Count = 0
    """The number of the request that the plays answer."""
    plays: Annotated[list[Payload], Meta(max_length=64)] = []
    """One play, made from a product of `legal`."""
    note: Annotated[str, Meta(max_length=wire_messages.MAX_NOTE)] = ""
    """Your thoughts, for the log: nobody sees them during the game."""
    cost: SeatCost = SeatCost()


# Answers over HTTP


class SeatState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an author's seat stands. What does not fit the phase is absent."""

    phase: Literal["waiting", "asked", "over", "gone"]
    """Whether you are asked; `waiting`: for the game to begin, or for others; `gone`: you have forfeited."""
    request: int = 0
    """The number of the request that is open, or was last."""
    game: str = ""
    """The game's name: its log is yours once `phase` is `over` or `gone`, a moment later."""
    start: Payload = {}
    """Facts that you were told when the game began, such as the board; not in the answer to what you say."""
    kind: str = ""
    """The kind of decision that is asked for."""
    events: list[Payload] | None = None
    """Events since the last request."""
    legal: list[Payload] = []
    """The legal plays, as products: under each key a list, of which a play has one value."""
    view: Payload = {}
    """All that you may know, as of the last request."""
    clock: int | None = None
    """Milliseconds that are left for the decision."""
    result: Payload = {}
    """How it ended, once it is over: `termination`, `ranks` by seat (1 is best), `scores`, `forfeits`, your `seat`."""
    why: str = ""
    """Why the seat is gone."""


class Welcome(Struct, frozen=True, kw_only=True):
    """Who the league is, and who asks."""

    protocol: str
    """The version of the messages of remote bots."""
    author: str
    """To whom the token belongs."""
    league: Payload
    """What the league publishes about itself: its name, game, time, level, `remote`."""
    limits: dict[str, int]
    """What this token and its author may, by the names of section 9 of LEAGUE.md."""


class Versions(Struct, frozen=True, kw_only=True):
    """How the author's versions stand."""

    versions: tuple[Payload, ...]
    """A map a version, the latest first: `version`, `bot`, `state`, `since`, and what else the league publishes."""
    notices: tuple[Payload, ...] = ()
    """What the league has to say to the author."""
    kept: Payload = {}
    """Data that it keeps of the author beside that: since when, quotas, hashes of tokens."""
    seat: str = ""
    """Name of the game in which the author has a seat, or waits for one; empty if in none."""


class Played(Struct, frozen=True, kw_only=True):
    """Games of the author's versions."""

    games: tuple[Payload, ...]
    """A map a game, the latest first."""
    next: str = ""
    """What to send as `after` to get more; empty if there are none. There may be more even if `games` is empty."""


class Table(Struct, frozen=True, kw_only=True):
    """Rows of the standings."""

    season: str
    """The season."""
    items: tuple[Payload, ...]
    """A map a version, the best first."""
    total: int
    """How many rows there are in all."""
    digest: str = ""
    """Of the standings as they are now: if it changes between two answers, begin again."""


class Submitted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The league has a bot. Only `order` is there if it has not answered yet; the order is kept."""

    order: str = ""
    """The order's name; absent if none was needed."""
    version: str = ""
    """The version that the bot is, `NAME/3`."""
    state: str = ""
    """Its state in the league."""
    digest: str = ""
    """SHA-256 of its archive before compression: what the bot is known by."""
    before: int | None = None
    """How many versions wait before it."""
    same: bool | None = None
    """Whether these files were this version already."""


class Ordered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of an order. Only `order` is there if the league has not answered yet; the order is kept."""

    order: str = ""
    """The order's name. The games of a match on request are `match-ORDER-0` and so on."""
    retired: tuple[str, ...] | None = None
    """The versions that play no more."""
    version: str = ""
    """The version of the author that will meet ..."""
    against: str = ""
    """... this one."""
    before: int | None = None
    """Number of such matches that wait before it; of a seat, of games that end before it begins."""
    game: str = ""
    """The name of the game of a seat."""
    author: str = ""
    """The author of the bot now; or the pseudonym of who has left."""
    offered: str = ""
    """Name of the author to whom the bot is offered."""
    display_name: str | None = None
    """The bot's display name now."""


class OrderKind(NamedTuple):
    """An order of an author over HTTP. What stands in its path and behind the question mark are its arguments."""

    verb: str
    method: str
    path: str
    summary: str
    query: type[Struct] | None = None


ORDERS: Final = (
    OrderKind("retire", "delete", "/bots/{bot}", "Takes a bot out of the league"),
    OrderKind("match", "post", "/bots/{bot}/matches", "Asks for an unrated match", MatchQuery),
    OrderKind("seat", "put", "/seat", "Asks for a seat in an unrated game", SeatQuery),
    OrderKind("bot_author", "put", "/bots/{bot}/author", "Offers a bot to an author, or takes one", AuthorQuery),
    OrderKind("bot_display", "put", "/bots/{bot}/display", "Gives a bot another display name", DisplayQuery),
    OrderKind("author_remove", "delete", "/authors/{name}", "Leaves the league, for ever"),
)


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request is not granted (RFC 9457)."""

    title: str
    """The status in words."""
    status: int
    """The status of HTTP."""
    detail: str
    """What was expected and what was got, for people."""
    code: str
    """What, for programs (section 8 of LEAGUE.md)."""
    remedy: str
    """What to do."""
    type: str = "about:blank"
    """Always `about:blank`, and therefore absent: `code` says more."""
    limit: str = ""
    """The limit that is reached."""
    retry_after_s: int | None = None
    """After how many seconds it may be tried again."""
    rule: str = ""
    """The rule that is broken."""
    path: str = ""
    """Where in an archive."""
    have: int | None = None
    """Bytes of the upload that are there."""


# Messages over the WebSocket


class Serve(wire_messages.Message, frozen=True, tag="serve"):
    """Offers a bot that plays from the author's machine."""

    id: wire_messages.PositiveInt
    bot: BotName
    """The bot's name."""
    digest: Digest
    """What the author's program computes over the bot's files: a new one makes a new version."""
    version: wire_messages.Name = ""
    """The bot's own version."""
    language: wire_messages.Name = ""
    """What it is written in."""
    rules: Annotated[tuple[wire_messages.Name, ...], Meta(max_length=16)] = ()
    """The rules that it plays."""


class Pong(wire_messages.Message, frozen=True, tag="pong"):
    """Answers `ping` at once."""

    number: wire_messages.PositiveInt
    """The ping's number, repeated."""


class Leave(wire_messages.Message, frozen=True, tag="leave"):
    """The bot of a sitting has ended, or cannot be started."""

    sitting: Sitting
    """The sitting."""
    reason: Annotated[str, Meta(max_length=400)] = ""
    """Why, the rest of a sentence: `exited with status 1`."""


class Withdraw(wire_messages.Message, frozen=True, tag="withdraw"):
    """Says that no game of the connection's bots is to begin any more. Those that run go on."""


class Frame(wire_messages.Message, frozen=True, tag="frame"):
    """A frame of the protocol between referee and bot, as it is."""

    sitting: Sitting
    """The sitting."""
    seq: wire_messages.PositiveInt
    """Counts this direction's frames of the sitting, from 1."""
    data: Annotated[bytes, Meta(max_length=wire_messages.MAX_REFEREE_FRAME)]
    """The frame."""


class Serving(wire_messages.Message, frozen=True, tag="serving"):
    """The bot is known, and will be offered sittings."""

    id: int
    version: str
    """Which version it is, `NAME/3`."""
    state: str
    """Its state in the league."""


class Offer(wire_messages.Message, frozen=True, tag="offer"):
    """A game begins for a bot that is served. Its frames follow."""

    sitting: Sitting
    """128 random bits, new for each game and seat."""
    bot: str
    """The bot that is to play."""


class Closed(wire_messages.Message, frozen=True, tag="closed"):
    """A sitting is over. Nothing more is taken from it."""

    sitting: Sitting
    """The sitting."""
    reason: str
    """Why, for people."""
    lost: bool
    """Whether the author's side ended it: that costs the game."""
    network_us: int | None = None
    """The journey there and back, the median of the pings in this sitting, in microseconds; nil without any."""


class Ping(wire_messages.Message, frozen=True, tag="ping"):
    """Measures the journey there and back."""

    number: wire_messages.PositiveInt
    """Counts pings of this connection."""


class Error(wire_messages.Message, frozen=True, tag="error"):
    """Something was refused."""

    code: wire_messages.Name
    """What, for programs (section 8)."""
    message: Annotated[str, Meta(max_length=1024)]
    """What was expected and what was got, for people."""
    remedy: Annotated[str, Meta(max_length=1024)]
    """What to do."""
    id: int | None = None
    """The request's number; nil if it could not be read, or there was none."""
    limit: wire_messages.Name = ""
    """The limit that is reached."""
    retry_after_s: Count | None = None
    """After how many seconds it may be tried again."""
    rule: wire_messages.Name = ""
    """The rule that is broken."""


FromAuthor: TypeAlias = Serve | Pong | Leave | Withdraw | Frame
FromDoor: TypeAlias = Serving | Offer | Closed | Ping | Frame | Error
