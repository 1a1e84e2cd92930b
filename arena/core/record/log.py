"""Writes and reads the log of a game: JSON Lines, one record a line, readable by people and by any JSON parser.

What a field means stands in `protocol/LOG.md`; a test compares.

Laws:
1. A log alone is enough to play the game again: it holds the board, the options, every draw and every action.
2. Every line ends with `"sum"`: the CRC-32 of the file up to that key, 8 hex digits. If a byte is altered, the first
   line with a wrong sum is the place. Sums find accidents; the rules, the secret, and the SHA-256 of the file in the
   database find forgery.
3. The play digest covers what was played, but not who played it or when: no name, note or time. It is over canonical
   JSON, so that it can be computed again in any language (`protocol/LOG.md`, section 6).
4. A log is written when its game is over, whole or not at all: while bots play, there is no file to read.
5. A record has one form, but for the order of its keys and keys that nobody knows: with blanks, needless escapes or a
   key twice it is refused. So no two readers can read different things in one log.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias
from zlib import crc32

import msgspec

from arena.core import files
from arena.core.errors import LaterVersion, LogError, ReplayMismatch
from arena.core.record import compressed
from arena.core.types import (
    MAX_INT,
    BotIdentity,
    Count,
    Event,
    GameSettings,
    Level,
    LoggedForfeit,
    Payload,
    Seat,
    Termination,
    TimeControl,
)

FORMAT = 3
SUFFIX: Final = ".jsonl"  # what the name of a log ends with, before it is compressed
BEGUN: Final = ".begun"
"""Suffix of the file that has a line for each time that a game was begun.

It is there while the game has no log, and stays if it was begun more than once."""

Hex: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
"""32 bytes as lower-case hexadecimal digits."""


class LoggedBot(BotIdentity, frozen=True, omit_defaults=True):
    """The bot that sat at a seat."""

    digest: Hex
    bot_seed: Count
    entropy: Hex | None = None
    parameters: dict[str, str] = {}  # noqa: RUF012 - a Struct copies it
    time: TimeControl | None = None


class Header(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="header"):
    """The first record: what is played, by whom, on which deal."""

    format: int = FORMAT
    arena: str
    game: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]+$")]
    tournament: str | None
    settings: GameSettings
    board: Payload | None
    bots: list[LoggedBot]
    deal: Count
    rotation: Count
    commitment: Hex
    salt: Hex
    mix: Hex
    beacon: str = ""
    level: Level = Level.TRUSTED
    attempt: Count = 0
    chance: Count = 0
    ms: Count = 0

    def time(self, seat: Seat) -> TimeControl:
        """Returns the time that a seat has."""
        return self.bots[seat].time or self.settings.time

    @property
    def times(self) -> str:
        """The time of all seats as text, or of each."""
        times = [str(self.time(seat)) for seat in range(len(self.bots))]
        return times[0] if len({*times}) == 1 else " v. ".join(times)

    def played(self) -> Payload:
        """Returns what the play digest covers of it."""
        settings = self.settings
        return {
            "record": "header",
            "rules": settings.rules,
            "rules_version": settings.rules_version,
            "options": settings.options,
            "players": settings.players,
            "board": settings.board.hash if settings.board is not None else None,
        }


class Chance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="record", tag="chance"):
    """Chance drew. A stream `proxy/SEAT` decides for a seat that forfeited, among its legal plays."""

    stream: str
    n: Annotated[int, msgspec.Meta(ge=1, le=MAX_INT)]
    draw: Count
    tied: list[Count] | None = None
    events: list[Event]
    ms: Count

    def played(self) -> Payload:
        """Returns what the play digest covers of it."""
        draw = {"record": "chance", "stream": self.stream, "n": self.n, "draw": self.draw, "events": self.events}
        return draw if self.tied is None else draw | {"tied": self.tied}


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A seat's request and its answer."""

    seat: Count
    kind: str
    turn: Count
    action: Payload


class ActionRecord(Answered, frozen=True, kw_only=True, omit_defaults=True, tag_field="record", tag="action"):
    """A seat decided."""

    events: list[Event]
    note: str | None = None
    used_ns: Count
    ms: Count

    def played(self) -> Payload:
        """Returns what the play digest covers of it."""
        return {
            "record": "action",
            "seat": self.seat,
            "kind": self.kind,
            "turn": self.turn,
            "action": self.action,
            "events": self.events,
        }


class LateRecord(Answered, frozen=True, kw_only=True, omit_defaults=True, tag_field="record", tag="late"):
    """A seat decided in a race, but faster seats had made its action illegal: it was asked again."""

    note: str | None = None
    used_ns: Count
    ms: Count

    def played(self) -> Payload:
        """Returns what the play digest covers of it."""
        return {"record": "late", "seat": self.seat, "kind": self.kind, "turn": self.turn, "action": self.action}


class ForfeitRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="forfeit"):
    """Seats forfeited, all at the same moment."""

    forfeits: list[LoggedForfeit]
    turn: Count
    events: list[Event]
    ms: Count

    def played(self) -> Payload:
        """Returns what the play digest covers of it."""
        guilty = [{"seat": forfeit.seat, "code": _what_happened(forfeit.code)} for forfeit in self.forfeits]
        return {"record": "forfeit", "forfeits": guilty, "turn": self.turn, "events": self.events}


class LoggedReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a seat that did not forfeit was given at the end."""

    seat: Count
    digest: Hex
    notes: Hex | None = None
    forfeits: Hex | None = None


class OutcomeRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="record", tag="outcome"):
    """The last record."""

    termination: str
    ranks: list[Count]
    scores: list[int] | None = None
    turns: Count
    actions: Count
    play_digest: Hex
    off_turn_cpu_ms: list[Count] | None = None
    receipts: list[LoggedReceipt] | None = None
    limit: str | None = None
    ms: Count

    def played(self) -> Payload:
        """Returns what the play digest covers of it."""
        outcome = {
            "record": "outcome",
            "termination": _what_happened(self.termination),
            "ranks": self.ranks,
            "turns": self.turns,
            "actions": self.actions,
        }
        return outcome if self.scores is None else outcome | {"scores": self.scores}


MEASURED: Final = ("off_turn_cpu_ms",)
"""Fields of an outcome that were measured, by seat. A `SeatResult` has each under the same name."""

COSTS: Final = ("tokens_in", "tokens_out", "microdollars", "retries")
"""Costs of a decision that a note can name: tokens read and written, millionths of a US dollar, answers of a model
that were of no use."""
MOST_COST: Final = 10**12
_COST: Final = r"(?:\A|\n)cost:((?: [a-z_]+=[0-9]{1,13})+)\Z"


def cost_line(cost: Mapping[str, int]) -> str:
    """Returns the last line of a note that says what a decision has cost; no text if it cost nothing.

    >>> cost_of(cost_line({"tokens_in": 812, "tokens_out": 64}))
    {'tokens_in': 812, 'tokens_out': 64}
    """
    told = [f"{name}={cost[name]}" for name in COSTS if cost.get(name)]
    return " ".join(["cost:", *told]) if told else ""


def cost_of(note: str | None) -> dict[str, int]:
    """Returns by name of `COSTS` what a note says that its decision has cost (section 3.3 of LOG.md)."""
    found = re.search(_COST, note or "")
    told = dict(one.split("=") for one in found[1].split()) if found else {}
    return {name: min(int(told[name]), MOST_COST) for name in COSTS if name in told}


Record: TypeAlias = Chance | ActionRecord | LateRecord | ForfeitRecord | OutcomeRecord

_GONE: Final = frozenset({Termination.CRASHED, Termination.DISCONNECTED, Termination.OUT_OF_MEMORY})


def _what_happened(code: str) -> str:
    """Returns what a termination means for the game.

    Whether a process is recorded as crashed, disconnected or out of memory can depend on how busy the machine was. The
    game is the same.
    """
    return "gone" if code in _GONE else code


class _Time(msgspec.Struct):
    """What a log must say of the time, since no reader knows the defaults of this program."""

    bank_ms: Count | None
    increment_ms: Count
    limit_ms: Count | None


class _Settings(msgspec.Struct):
    """What a log must say of the settings that have a default."""

    time: _Time
    race_window_ms: Annotated[float, msgspec.Meta(ge=0, le=MAX_INT)]
    margin_ms: Count


class _Bot(msgspec.Struct):
    time: _Time | None = None


class _Complete(msgspec.Struct):
    """A header in which nothing is left to a default."""

    settings: _Settings
    bots: list[_Bot]
    ms: Literal[0]


_encode = msgspec.json.Encoder().encode
_canonical = msgspec.json.Encoder(order="sorted")
_plain = msgspec.json.Decoder()
_SUM = re.compile(rb',"sum":"([0-9a-f]{8})"\}\n')
_SUM_LENGTH = len(',"sum":"01234567"}\n')


def play_digest(records: Iterable[Header | Record]) -> str:
    """Returns the SHA-256 (hex) over what was played, from the header to the outcome, without `play_digest` itself."""
    return hashlib.sha256(_canonical.encode_lines([record.played() for record in records])).hexdigest()


def canonical(value: Any) -> bytes:
    """Returns a value as canonical JSON: equal values have equal bytes, and true is not 1."""
    return _canonical.encode(value)


def canonical_lines(values: list[Any]) -> list[bytes]:
    """Returns what `canonical` does of each value, in much less time: no canonical JSON has a line feed."""
    return _canonical.encode_lines(values).splitlines()


def write_log(path: Path, records: Iterable[Header | Record], *, packed: bool = False) -> str:
    """Writes a log durably, whole or not at all, compressed if it is `packed`. Returns its SHA-256 (hex).

    Raises:
        OSError: It could not be written. Nothing is left.
    """
    data, digest = log_bytes(records)
    if packed:
        path, data = path.with_name(path.name + compressed.SUFFIX), compressed.compress(data, compressed.QUICK)
    files.write(path, data, durably=True)
    return digest


def log_bytes(records: Iterable[Header | Record]) -> tuple[bytes, str]:
    """Returns the bytes of a log, and their SHA-256 (hex)."""
    data = b"".join(_lines(records))
    return data, hashlib.sha256(data).hexdigest()


def _lines(records: Iterable[Header | Record]) -> Iterator[bytes]:
    running = 0
    for record in records:
        line = _encode(record)[:-1]
        running = crc32(line, running)
        end = b',"sum":"%08x"}\n' % running
        running = crc32(end, running)
        yield line + end


class Log(msgspec.Struct, frozen=True):
    """A log that was read: every sum is right, the first record is a header and the last an outcome."""

    source: str
    header: Header
    records: list[Record]
    sha256: str

    @property
    def outcome(self) -> OutcomeRecord:
        """The last record."""
        record = self.records[-1]
        assert isinstance(record, OutcomeRecord)
        return record


def read_log(path: Path) -> Log:
    """Reads a log, compressed or not: of one that is there only compressed `path` may be the name without that.

    Raises:
        LogError: It cannot be read, is not a log of this format, or is there with and without compression, and differs.
        ReplayMismatch: It was altered; the message names the line.
    """
    path = existing_log(path)
    data = _expanded(path)
    other = path.with_suffix("") if path.suffix == compressed.SUFFIX else Path(f"{path}{compressed.SUFFIX}")
    if other.exists() and _expanded(other) != data:
        raise LogError(f"expected one log of a game, got two that differ - at {path} and {other}; remove the false one")
    return parse_log(data, str(path))


def _expanded(path: Path) -> bytes:
    data = files.read(path, "a game's log", files.MOST_LOG, LogError)
    return compressed.expand(data, str(path)) if compressed.is_compressed(data) else data


def find_logs(folder: Path) -> list[Path]:
    """Returns the logs in a folder and in the folders below it, compressed or not, in no particular order.

    Of a log that is there in both forms, because a compression was interrupted, only the original is returned.
    """
    found: list[Path] = []
    for top, _, names in os.walk(folder):  # many times as fast as `rglob`: a folder may hold 100,000
        there = {plain_name(name): name for name in sorted(names, reverse=True)}  # the original after its other form
        found += (Path(top, there[name]) for name in there if name.endswith(SUFFIX))
    return found


def begin(log: Path) -> int:
    """Notes that a game is begun now, and returns how often that was so. A kill leaves it noted.

    Raises:
        LogError: What was noted before cannot be read.
        OSError: It could not be noted.
    """
    noted = [*begun(log), datetime.now(UTC).isoformat(timespec="seconds")]
    files.write(log.with_suffix(BEGUN), "".join(f"{line}\n" for line in noted).encode())
    return len(noted)


def begun(log: Path) -> list[str]:
    """Returns the times that are noted of a game's beginnings.

    Raises:
        LogError: They cannot be read.
    """
    path = log.with_suffix(BEGUN)
    if not path.exists():
        return []
    return (
        files.read(path, "the beginnings of a game", files.MOST_DOCUMENT, LogError)
        .decode("ascii", "replace")
        .splitlines()
    )


def drop(folder: Path, games: Collection[str]) -> None:
    """Removes the files of games that do not count, since a log is there only of those that do.

    That they were begun stays noted.
    """
    for path in folder.iterdir() if games else ():
        if path.name.lstrip(".").partition(".")[0] in games and path.suffix != BEGUN and path.is_file():
            log = path.with_name(plain_name(path.name))
            if log.suffix == SUFFIX and not log.with_suffix(BEGUN).exists():
                begin(log)
            path.unlink()


def plain_name(name: str) -> str:
    """Returns what the file of a log, by its name, is called when it is not compressed."""
    return name.removesuffix(compressed.SUFFIX)


def existing_log(path: Path) -> Path:
    """Returns where a log is now: `path`, or its compressed form if only that is there."""
    packed = Path(f"{path}{compressed.SUFFIX}")
    return packed if not path.exists() and packed.exists() else path


def parse_log(data: bytes, source: str) -> Log:
    """Reads a log's bytes; `source` names it in errors. Raises what `read_log` raises."""
    if not data.startswith(b'{"record":"header"'):
        raise LogError(f"expected a game log, which begins with a header record, got something else - at {source}")
    _check_format(data, source)
    decoder, complete = msgspec.json.Decoder(Header | Record), msgspec.json.Decoder(_Complete)  # who plays needs none
    running = 0
    records: list[Header | Record] = []
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        end = _SUM.fullmatch(line, max(0, len(line) - _SUM_LENGTH))
        if end is None:
            raise ReplayMismatch(source, number, "the line does not end with its sum: it was cut off or altered")
        running = crc32(line[: end.start()], running)
        if b"%08x" % running != end[1]:
            raise ReplayMismatch(source, number, "the sum is wrong: a byte in this line was altered")
        running = crc32(end[0], running)
        try:
            if number == 1:
                complete.decode(line)
            records.append(record := decoder.decode(line))
            has_one_form = _encode(record)[:-1] == line[: end.start()] or _encode(_plain.decode(line)) == line[:-1]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError) as error:
            raise LogError(f"expected a record of log format {FORMAT}, got: {error} - at {source}:{number}") from None
        if not has_one_form:
            raise ReplayMismatch(source, number, "it has a key twice, a blank, or an escape that need not be")
    header, *rest = records
    if not isinstance(header, Header):
        raise LogError(f"expected a header of log format {FORMAT} - at {source}:1")
    if len(header.bots) != header.settings.players:  # before anybody makes a clock for each of 2^53 players
        reason = f"expected a bot for each of {header.settings.players} seats, got: {len(header.bots)}"
        raise ReplayMismatch(source, 1, reason)
    for number, record in enumerate(rest, start=2):
        if isinstance(record, Header):
            raise LogError(f"expected one header, got another - at {source}:{number}")
        if isinstance(record, OutcomeRecord) != (number == len(records)):
            raise ReplayMismatch(source, number, "expected an outcome at the end of the log, and only there")
    if not rest:
        raise ReplayMismatch(source, 1, "the log ends after its header")
    digest = hashlib.sha256(data).hexdigest()
    return Log(source, header, [record for record in rest if not isinstance(record, Header)], digest)


def _check_format(data: bytes, source: str) -> None:
    """Refuses a log of another format before anything else of it is read."""
    format = re.match(rb'\{"record":"header","format":([0-9]{1,9}),', data)
    got = int(format[1]) if format else None
    if got is not None and got > FORMAT:
        wrote = re.match(rb'[^\n]{,200}?"arena":"([0-9A-Za-z.+-]{1,40})"', data)
        by = f"arena {wrote[1].decode()}" if wrote else "an arena"
        raise LaterVersion(f"{by} with log format {got}, where this one knows up to {FORMAT}", f"{source}:1")
    if got != FORMAT:
        raise LogError(
            f"expected a log of format {FORMAT}, got: {'none' if got is None else f'format {got}'} - at {source}:1; "
            "use the version of arena that wrote it"
        )
