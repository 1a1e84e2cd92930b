"""The messages between a league's door and its authors, typed. `protocol/LEAGUE.md` is the authority.

A test compares the classes field by field with `protocol/league.toml`, from which the page's tables are made.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from arena.core.face import Payload, wire_messages

PROTOCOL: Final = "1.0"
"""Version of this protocol, `major.minor`."""
MAX_AUTHOR_FRAME: Final = 66_560
"""Bytes of a frame from an author: a frame of a bot, and 1 KiB."""
MAX_DOOR_FRAME: Final = 1_052_672
"""Bytes of a frame from the door: a frame of a referee, and 4 KiB."""
MAX_CHUNK: Final = 49_152
"""Bytes of an archive in one `chunk`."""
MAX_PART: Final = 262_144
"""Bytes of a log or report in one `part`."""
MAX_ARCHIVE: Final = 16_777_216
"""Bytes of an archive."""
PING_S: Final = 5
"""Seconds between two pings."""
SILENCE_S: Final = 15
"""Seconds without `pong` after which an author's bots are gone."""

Version: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}\Z")]
BotName: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]
Digest: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Sitting: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Kind: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z]{1,16}\Z")]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=wire_messages.MAX_INT)]


class Hello(wire_messages.Message, frozen=True, tag="hello"):
    """Asks who the league is, and says which protocol the author's program speaks."""

    id: wire_messages.PositiveInt
    protocol: Version
    """The version of this protocol, `major.minor`."""
    client: wire_messages.Name = ""
    """The program, for people."""


class Submit(wire_messages.Message, frozen=True, tag="submit"):
    """Announces a bot's archive, or asks how much of it is there already."""

    id: wire_messages.PositiveInt
    bot: BotName
    """The bot's name."""
    digest: Digest
    """SHA-256 of the archive before its compression: what the bot is known by."""
    size: Annotated[int, Meta(ge=1, le=MAX_ARCHIVE)]
    """Bytes of the archive as it is sent."""


class Chunk(wire_messages.Message, frozen=True, tag="chunk"):
    """The next bytes of an archive."""

    id: wire_messages.PositiveInt
    upload: wire_messages.Name
    """The upload, as `upload` named it."""
    offset: Count
    """Where these bytes begin."""
    data: Annotated[bytes, Meta(min_length=1, max_length=MAX_CHUNK)]
    """The bytes."""


class Finish(wire_messages.Message, frozen=True, tag="finish"):
    """The archive is complete: it is to become a version."""

    id: wire_messages.PositiveInt
    upload: wire_messages.Name
    """The upload."""


class Retire(wire_messages.Message, frozen=True, tag="retire"):
    """Takes a bot of the author out of the league."""

    id: wire_messages.PositiveInt
    bot: BotName
    """The bot's name."""


class Status(wire_messages.Message, frozen=True, tag="status"):
    """Asks how the author's versions stand."""

    id: wire_messages.PositiveInt
    bot: wire_messages.Name = ""
    """Of this bot only."""


class Games(wire_messages.Message, frozen=True, tag="games"):
    """Asks for games of the author's versions, the latest first."""

    id: wire_messages.PositiveInt
    bot: wire_messages.Name = ""
    """Of this bot only."""
    only: Annotated[str, Meta(max_length=16)] = ""
    """`lost` or `forfeits`: those only."""
    after: wire_messages.Name = ""
    """Where the answer before ended: its `next`."""
    limit: Annotated[int, Meta(ge=1, le=100)] | None = None
    """How many at most; nil means 100. There may be fewer in one answer."""


class Standings(wire_messages.Message, frozen=True, tag="standings"):
    """Asks for the standings of the season."""

    id: wire_messages.PositiveInt
    after: Count | None = None
    """How many of its rows the author has already; nil means none."""


class Report(wire_messages.Message, frozen=True, tag="report"):
    """Asks for what a step of a version's life found."""

    id: wire_messages.PositiveInt
    version: Annotated[str, Meta(max_length=80)]
    """The version, `NAME/3`."""
    kind: Kind
    """Which: `build`, `check` or `qualify`."""
    offset: Count | None = None
    """From which byte on; nil means from the first."""


class Log(wire_messages.Message, frozen=True, tag="log"):
    """Asks for the log of a game whose match is over, as this author may see it."""

    id: wire_messages.PositiveInt
    game: Annotated[str, Meta(max_length=128)]
    """The game."""
    offset: Count | None = None
    """From which byte on; nil means from the first."""
    public: bool = False
    """Whether it is to be as everybody may see it, so that its SHA-256 is the one that is published."""


class Season(wire_messages.Message, frozen=True, tag="season"):
    """Asks for a file of a season: its commitment, its lines, and once it is closed its secret."""

    id: wire_messages.PositiveInt
    tournament: Annotated[str, Meta(max_length=128)]
    """The identifier of the season, as `welcome.league.seasons` has it."""
    file: Annotated[str, Meta(pattern=r"^[a-z]{1,16}(-[0-9]{1,9})?\.jsonl?$")]
    """The name of the file (section 7.1)."""
    offset: Count | None = None
    """From which byte on; nil means from the first."""


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


class Frame(wire_messages.Message, frozen=True, tag="frame"):
    """A frame of the protocol between referee and bot, as it is."""

    sitting: Sitting
    """The sitting."""
    seq: wire_messages.PositiveInt
    """Counts this direction's frames of the sitting, from 1."""
    data: Annotated[bytes, Meta(max_length=wire_messages.MAX_REFEREE_FRAME)]
    """The frame."""


class Welcome(wire_messages.Message, frozen=True, tag="welcome"):
    """Says who the league is."""

    id: int
    protocol: str
    """The version that the door speaks."""
    author: str
    """To whom the key belongs."""
    league: Payload
    """What the league publishes about itself: its name, game, time, level, `remote`."""
    limits: dict[str, int]
    """What this key and its author may, by the names of section 9."""


class Upload(wire_messages.Message, frozen=True, tag="upload"):
    """The archive may be sent."""

    id: int
    upload: str
    """What the upload is called."""
    have: Count
    """Bytes that are there already."""


class Have(wire_messages.Message, frozen=True, tag="have"):
    """The chunk is written."""

    id: int
    have: Count
    """Bytes that are there now."""


class Accepted(wire_messages.Message, frozen=True, tag="accepted"):
    """The league has taken the order."""

    id: int
    order: str
    """What the order is called; empty if none was needed."""
    answer: Payload | None = None
    """What the league said; nil if it did not answer yet, for instance because its service is stopped. The order is
    kept then."""


class Versions(wire_messages.Message, frozen=True, tag="versions"):
    """How the author's versions stand."""

    id: int
    versions: tuple[Payload, ...]
    """A map a version, the latest first: `version`, `bot`, `state`, `since`, and what else the league publishes."""
    notices: tuple[Payload, ...] = ()
    """What the league has to say to the author."""


class Played(wire_messages.Message, frozen=True, tag="played"):
    """Games of the author's versions."""

    id: int
    games: tuple[Payload, ...]
    """A map a game, the latest first."""
    next: str = ""
    """What to send as `after` to get more; empty if there are none. There may be more even if `games` is empty."""


class Table(wire_messages.Message, frozen=True, tag="table"):
    """Rows of the standings."""

    id: int
    season: str
    """The season."""
    items: tuple[Payload, ...]
    """A map a version, the best first."""
    total: int
    """How many rows there are in all."""
    digest: str = ""
    """Of the standings as they are now: if it changes between two answers, begin again."""


class Part(wire_messages.Message, frozen=True, tag="part"):
    """Bytes of a log or a report."""

    id: int
    total: Count
    """Bytes in all."""
    offset: Count
    """Where these begin."""
    digest: str
    """SHA-256 of all of it."""
    data: Annotated[bytes, Meta(max_length=MAX_PART)]
    """The bytes; fewer than were asked for only at the end."""


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
    path: Annotated[str, Meta(max_length=256)] = ""
    """Where in an archive."""
    have: Count | None = None
    """Bytes of the upload that are there."""


Request: TypeAlias = (
    Hello | Submit | Chunk | Finish | Retire | Status | Games | Standings | Report | Log | Season | Serve
)
"""What has an `id` and gets one answer."""
FromAuthor: TypeAlias = Request | Pong | Leave | Frame
FromDoor: TypeAlias = (
    Welcome | Upload | Have | Accepted | Versions | Played | Table | Part | Serving
    | Offer | Closed | Ping | Frame | Error
)  # fmt: skip
