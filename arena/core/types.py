"""Words that every layer shares: seats, terminations, forfeits, time controls, results.

Time on the wire, in logs and in the database is integer milliseconds, in names that end in `_ms`;
inside, clocks run in integer nanoseconds, in names that end in `_ns`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from arena.core.errors import ConfigError

Seat: TypeAlias = int
"""A place in a game, numbered from 0. The wire knows only seats, never names."""

Ranks: TypeAlias = tuple[int, ...]
"""The rank of each seat: 1 is best, equal ranks share, and the next rank after k equal ones skips k - 1."""

Teams: TypeAlias = tuple[int, ...]
"""The team of each seat, numbered from 0 as they first come: those of a team win and lose together."""

MAX_INT: Final = 2**53 - 1  # the largest integer in a log: every language can hold it exactly

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_INT)]
"""An integer that is not negative."""

Payload: TypeAlias = dict[str, Any]
"""A map of plain values (str, int, bool, None, lists, maps), as on the wire and in logs."""

NS_PER_MS: Final = 1_000_000  # nanoseconds of a millisecond

Want: TypeAlias = Literal["view", "events", "legal"]
"""Parts of a request that a bot may ask for."""


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact that happened in a game, and who learns it."""

    data: Payload
    """The fact as bots are sent it: `event` names the kind, the rest is as the game's protocol page says."""
    to: tuple[Seat, ...] | None = None
    """The seats that are told, or None for everyone."""

    def reaches(self, seat: Seat) -> bool:
        """Returns whether `seat` is told."""
        return self.to is None or seat in self.to


class Termination(StrEnum):
    """Why a seat's game ended. All but the first and the last are forfeits, each with a guilty seat."""

    FINISHED = "finished"
    """The rules ended the game."""
    TIMEOUT = "timeout"
    """No answer by the deadline."""
    ILLEGAL_ACTION = "illegal_action"
    """An action that can be read, and is not allowed in the position."""
    MALFORMED = "malformed"
    """A message or an action that cannot be read."""
    PROTOCOL_VIOLATION = "protocol_violation"
    """A message that can be read, and is not allowed now: unasked, wrong id, oversized, a second answer."""
    DISCONNECTED = "disconnected"
    """The connection was closed while the process lived on."""
    CRASHED = "crashed"
    """The process ended."""
    OUT_OF_MEMORY = "out_of_memory"
    """The process went over its memory limit."""
    START_FAILED = "start_failed"
    """The process did not say `hello` in time, or could not be started."""
    INTERRUPTED = "interrupted"
    """The game was stopped from outside. It is nobody's fault and never rated."""


class Level(StrEnum):
    """How far a bot's process is confined, from the weakest. docs/safety.md says what each gives."""

    TRUSTED = "trusted"
    """A process of this user: for one's own bots."""
    FENCED = "fenced"
    """One process, without a sandbox: no files but its own, none to write, no network, memory watched."""
    ISOLATED = "isolated"
    """In a sandbox: no files but its own, no network, no other process, memory watched."""
    STRICT = "strict"
    """Also hard limits of memory, processes and CPU for all its processes, and no computing off turn."""
    REMOTE = "remote"
    """On its author's machine: nothing about its CPU, memory or thinking off turn can be controlled."""


class LoggedForfeit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seat that lost by its own doing, as a log tells it."""

    seat: Count
    code: str
    sentence: str
    """One sentence whose subject is the loser: "seat 1 exceeded its time by 240 ms"."""
    overloaded: bool = False
    """Whether the machine was overloaded then: the referee itself ran late, or the bot was denied its core."""
    rule: str = ""
    """The number of the protocol's rule that it broke."""
    denied_ms: Count = 0
    """Time in milliseconds that the bot could have run in the decision that it lost, and was not given a core."""


class Forfeit(LoggedForfeit, frozen=True, kw_only=True, omit_defaults=False):
    """A forfeit with what no record of it says: its turn, and what its author needs to fix it."""

    code: Termination
    turn: int
    stderr: tuple[str, ...] = ()
    """The last lines that the process wrote to its standard error."""

    @property
    def logged(self) -> LoggedForfeit:
        """The forfeit as the log tells it."""
        return LoggedForfeit(*(getattr(self, name) for name in LoggedForfeit.__struct_fields__))


class TimeControl(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """The time a seat has, constant for a game. The running state is a `Clock`.

    A decision's time is the smaller of `limit_ms` and what is left of the bank.
    """

    bank_ms: int | None = None
    """Time for the whole game; None means no such limit."""
    increment_ms: int = 0
    """Added to the bank after each decision."""
    limit_ms: int | None = None
    """Time for one decision; None means no such limit."""
    cpu_ms: int | UnsetType = UNSET
    """CPU time of all the bot's processes for the whole game; unset means no such limit. A seat that exceeds any of
    these limits loses. Settings without this one are written as they were before it existed."""
    off: Literal[True] | UnsetType = UNSET
    """Set if the clock is off: times are measured, and no seat loses by them. Then `limit_ms` is a guide, the time in
    which a bot is to answer, so that those that think as long as they may think no longer."""

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Reads `BANK`, `BANK+INCREMENT`, `LIMIT/move`, or one of the first two and the last with a comma between.

        A time is a number of seconds, or has units: `1h30m`, `10s`, `500ms`. A bank alone needs a unit: `10` may mean
        seconds or minutes, for a game or for a move. `off` is a clock that is off, and `off,LIMIT/move` one with
        another guide for bots than 2 seconds.

        >>> TimeControl.parse("10+0.1,2/move")
        TimeControl(bank_ms=10000, increment_ms=100, limit_ms=2000)
        >>> str(TimeControl.parse("1m30s"))
        '90+0'
        >>> TimeControl.parse("off")
        TimeControl(limit_ms=2000, off=True)

        Raises:
            ConfigError: The text is none of these. Show the message to the operator.
        """
        if text == "off":
            return cls(limit_ms=_GUIDE_MS, off=True)
        is_off = text.startswith("off,")
        found = re.fullmatch(_TIME_CONTROL, text.removeprefix("off,"))
        if found:
            bank, increment, alone, limit = (None if part is None else _milliseconds(part) for part in found.groups())
            bank = alone if bank is None else bank
            times = (bank, increment, limit)
            is_allowed = bank is None if is_off else bank != 0
            if is_allowed and limit != 0 and all(time is None or time <= _LONGEST_MS for time in times):
                off: Literal[True] | UnsetType = True if is_off else UNSET
                return cls(bank_ms=bank, increment_ms=increment or 0, limit_ms=limit, off=off)
        tidy = re.sub(r"(?<=[0-9])(ms|[hms])[a-z]*", r"\1", "".join(text.lower().split()))
        near = [one for one in (tidy, f"{tidy}s") if not found and one != text and re.fullmatch(_TIME_CONTROL, one)]
        form = "BANK+INCREMENT, LIMIT/move, or both with a comma between, in seconds or with units (h, m, s, ms)"
        form = "of times above 0 and up to 999999.999 s" if found and not is_off else form
        got = f"{text!r}{f'; do you mean {near[0]}?' if near else ''}"
        raise ConfigError(
            f"expected a time control {form}, such as 10s, 1m+1, 500ms/move, 10+0.1 or 2/move, got: {got}"
        )

    def __str__(self) -> str:
        """Writes the text that `parse` reads."""
        if self.off is True:
            return "off" if self.limit_ms == _GUIDE_MS else f"off,{_seconds(self.limit_ms or 0)}/move"
        bank = "" if self.bank_ms is None else f"{_seconds(self.bank_ms)}+{_seconds(self.increment_ms)}"
        limit = "" if self.limit_ms is None else f"{_seconds(self.limit_ms)}/move"
        return ",".join(filter(None, [bank, limit]))


def times_by_bot(texts: Iterable[str]) -> dict[str, str]:
    """Returns the controls that texts such as `10+0.1` and `fox=5+0.05` give, by the name of a bot; "" is all others.

    Raises:
        ConfigError: A text names no bot, or two are for the same bots.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, control = text.rpartition("=")
        if equals and not name:
            raise ConfigError(f"expected a bot before the sign, as in fox=5+0.05, got: {text!r} - at --time")
        if name in found:
            raise ConfigError(f"expected one time of {name or 'all'}, got: {found[name]} and {control} - at --time")
        found[name] = control
    return found


def parse_cpu(text: str) -> int:
    """Reads a budget of CPU time, and returns it in milliseconds.

    >>> parse_cpu("20s")
    20000

    Raises:
        ConfigError: The text is no time. Show the message to the operator.
    """
    if re.fullmatch(_TIME, text) and 0 < (ms := _milliseconds(text)) <= _LONGEST_MS:
        return ms
    raise ConfigError(
        "expected a time above 0 in seconds or with units (h, m, s, ms), and none over 999999.999 s, such as 20s or "
        f"1m30s, got: {text!r} - at --cpu"
    )


_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,3})?"
_UNITS = rf"(?=[0-9])(?:{_NUMBER}h)?(?:{_NUMBER}m(?!s))?(?:{_NUMBER}s)?(?:[0-9]{{1,9}}ms)?"
_TIME = rf"{_NUMBER}|{_UNITS}"
_TIME_CONTROL = rf"(?=.)(?:(?:({_TIME})\+({_TIME})|({_UNITS}))(?:,(?=.)|$))?(?:({_TIME})/move)?"
_UNIT_MS: Final = {"h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1, "": 1_000}
_GUIDE_MS: Final = 2_000  # the time in which bots are to answer where the clock is off, unless another is given
_LONGEST_MS: Final = 999_999_999  # the longest time that can be given: what is written has six digits before the point


def seconds_text(ms: int) -> str:
    """Writes a time as `parse_cpu` reads it.

    >>> seconds_text(20_500)
    '20.5s'
    """
    return f"{_seconds(ms)}s"


def _milliseconds(text: str) -> int:
    """Reads a time exactly.

    >>> _milliseconds("0.25")
    250
    >>> _milliseconds("1m30s")
    90000
    """
    parts = re.findall(r"([0-9]+)\.?([0-9]*)(ms|[hms]?)", text)
    return sum(int(whole + fraction) * _UNIT_MS[unit] // 10 ** len(fraction) for whole, fraction, unit in parts)


def _seconds(ms: int) -> str:
    """Writes milliseconds as seconds, exactly.

    >>> _seconds(250)
    '0.25'
    """
    whole, fraction = divmod(ms, 1000)
    return f"{whole}.{fraction:03d}".rstrip("0").rstrip(".")


MARGIN_MS: Final = 30
"""Time in ms for the journey of messages on top of a decision's time, unless the operator says otherwise."""
RACE_WINDOW_MS: Final = 1.0
"""Distance in ms at which answers of a race still tie, unless the operator says otherwise."""


def board_hash(text: str) -> str:
    r"""Returns the SHA-256 (hex) of a board's text in UTF-8 with `\n` as line end: equal boards have equal hashes."""
    return hashlib.sha256(normalised(text).encode()).hexdigest()


def normalised(text: str) -> str:
    r"""Returns a text with `\n` as line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class BoardFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of a board file, not yet read by any game."""

    name: str
    hash: str
    text: str = ""

    @classmethod
    def of(cls, name: str, text: str) -> BoardFile:
        """Returns the board of a text."""
        return cls(name, board_hash(text), normalised(text))


class BotIdentity(msgspec.Struct, frozen=True):
    """Name, version and files of a bot."""

    name: str
    version: str
    digest: str
    """SHA-256 of its files, wherever they are (`BotSpec.identity`)."""


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A game and its options: ratings of different ones are not comparable."""

    rules: str
    rules_version: int
    ruleset: str
    options: dict[str, str]


class GameSettings(Variant, frozen=True, kw_only=True):
    """The settings of a game. Tournaments, jobs and logs hold them whole."""

    players: int
    board: BoardFile | None = None
    time: TimeControl
    race_window_ms: float = RACE_WINDOW_MS
    """Two answers of a race tie if their reaction times differ by no more than this. Chance decides ties."""
    margin_ms: int = MARGIN_MS
    """Added to every deadline for the journey of messages; milliseconds."""
    teams: Teams | UnsetType = UNSET
    """The team of each seat; unset if each plays for itself. Settings of such games are written as before there were
    teams."""

    @property
    def race_window_us(self) -> int:
        """The window in whole microseconds, as bots are told it."""
        return round(self.race_window_ms * 1_000)


def own_times(settings: Mapping[str, Any]) -> dict[str, TimeControl]:
    """Returns by entrant the time that it has, in a tournament's settings, if not that of all."""
    bots = settings.get("bots", ())
    return {bot["name"]: msgspec.convert(bot["time"], TimeControl) for bot in bots if bot.get("time")}


def sides(teams: Teams | UnsetType | None, seats: int) -> Teams:
    """Returns the team of each seat; where each plays for itself, its own."""
    return tuple(range(seats)) if teams is None or teams is UNSET else teams


def is_cooperative(teams: Sequence[int] | UnsetType | None) -> bool:
    """Tells whether all seats are of one team, so that nobody is against anybody."""
    return teams is not UNSET and teams is not None and len({*teams}) == 1


class SeatResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one seat did in one game."""

    rank: int
    """1 is best; equal ranks share."""
    decisions: int
    total_ms: float
    max_ms: float
    forfeit: Forfeit | None = None
    score: int | None = None
    margin: int | None = None
    """Its leads over all others in the end, added up, if the game counts them."""
    team: int | None = None
    """Its team; None if each seat plays for itself."""
    off_turn_cpu_ms: int | None = None
    """CPU time of all its processes while it had no open request; None where that is not measured."""
    cost: dict[str, int] | None = None
    """Cost of its decisions by its notes, under names such as `tokens_in`; None if they say nothing."""
    numbers: dict[str, int | float] | None = None
    """Numbers that wings brought (`arena.core.plugs.numbers`), by name; None if no wing brings one."""


Outcome: TypeAlias = Literal["won", "drawn", "lost"]


def outcomes(seats: Sequence[SeatResult]) -> tuple[Outcome, ...]:
    """Returns what a game was for each seat: only the first rank is won, and drawn if others share it.

    Those of a team share all. `arena.core.store.views` says the same in SQL.
    """
    first = {seat.team if seat.team is not None else -number for number, seat in enumerate(seats, 1) if seat.rank == 1}
    return tuple("lost" if seat.rank > 1 else "drawn" if len(first) > 1 else "won" for seat in seats)


class GameResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one game: what the referee returns and the store records."""

    game: str
    termination: Termination
    """FINISHED, or the first forfeit's code if a forfeit ended the game, or INTERRUPTED."""
    seats: tuple[SeatResult, ...]
    turns: int
    actions: int
    seconds: float
    """Wall time of the game, start-up of bots excluded."""
    play_digest: str
    """SHA-256 (hex) over the log without times and names: equal plays have equal digests."""
    log: str
    log_sha256: str
    transcripts: tuple[str, ...] = ()
    level: Level = Level.TRUSTED
    starts_ms: tuple[int, ...] = ()
    """Time by seat for which the game waited for its bot: for `hello`, and for `ready`. Empty if made from a log."""

    @property
    def ranks(self) -> Ranks:
        """The rank of each seat."""
        return tuple(seat.rank for seat in self.seats)
