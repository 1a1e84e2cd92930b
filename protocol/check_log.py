"""Checks logs of games by LOG.md, all but what only the rules of the game can tell.

    python3 check_log.py LOG... [--secret HEX] [--json]

It finds files that were cut off or altered, records that the schemas do not allow or that contradict each other, and a
wrong play digest. Where the tournament's secret is known, it computes every draw, the salt and the bots' seeds again.
The secret is given by `--secret`, or stands in `secret.json` beside the log; then it must be the one of
`commitment.json`, and what others put into chance that of `contributions.json`.

It needs Python 3.11, the schemas in `schemas/log`, and the program `zstd` for compressed logs. Exit status: 0 if every
log is right, 1 if one is not, 2 if a file cannot be read, 5 if one is of a later version, which was not checked.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from math import factorial
from pathlib import Path
from typing import Any
from zlib import crc32

FORMAT = 3
LATEST = {"format": 1, "chance": 3}
"""The versions of what is published beside logs, and of CHANCE.md."""
GONE = {"crashed", "disconnected", "out_of_memory"}
MAX_INT, MOST_BYTES = 2**53 - 1, 2**26  # the second is for a log that was compressed
NS_PER_MS = 1_000_000
HERE = Path(__file__).resolve().parent
SCHEMAS: dict[str, Any] = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (HERE / "schemas" / "log").glob("*.json")
}
"""The schema of each kind of record."""
PLAYED = {
    "header": ("rules", "rules_version", "options", "players"),
    "chance": ("stream", "n", "draw", "tied", "events"),
    "action": ("seat", "kind", "turn", "action", "events"),
    "late": ("seat", "kind", "turn", "action"),
    "forfeit": ("forfeits", "turn", "events"),
    "outcome": ("termination", "ranks", "scores", "turns", "actions"),
}
"""By kind of record, what the play digest covers."""
DECISIONS = {"samurai": ("hand",), "gardener": ("seize", "plant", "score")}
"""By game of the pages in rules/: what a seat decides first in a turn that seats may decide together, and after it."""

Record = dict[str, Any]


class Fault(Exception):
    """What is wrong with a log."""

    def __init__(self, line: int, number: str, what: str) -> None:
        """Takes the line, the number in LOG.md of the statement that it breaks, and what is wrong."""
        super().__init__(f"{line}: §L{number}: {what}")
        self.line = line
        self.number = f"§L{number}"
        self.what = what


class Later(Fault):
    """Something is of a version that this program does not know: it is refused, and not called wrong."""

    def __init__(self, what: str, got: int, known: int) -> None:
        """Takes what has a version, which, and the latest that is known."""
        super().__init__(1, "8-3", "")
        self.args = (
            f"not checked: written by a later version, with {what} {got}, where this one knows up to {known}; "
            "use the one that came with it",
        )


def main(arguments: list[str]) -> int:
    """Checks the logs that are named. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Checks logs of games by LOG.md.")
    parser.add_argument("logs", nargs="+", metavar="LOG", type=Path, help="a log of a game")
    parser.add_argument("--secret", type=bytes.fromhex, metavar="HEX", help="the tournament's secret")
    parser.add_argument("--json", action="store_true", help="print one JSON object a log")
    options = parser.parse_args(arguments)
    found_out = {0}
    for path in options.logs:
        try:
            known = published(path.parent) if options.secret is None else (options.secret, None, None)
            found: Record = {"log": str(path), "ok": True, **check(bytes_of(path), *known)}
            text = "{log}: right: {records} records, {draws} draws, {how}".format(
                **found, how="computed again" if found["draws_checked"] else "their secret is not known"
            )
        except Later as later:
            found, text = {"log": str(path), "ok": None, "what": str(later)}, f"{path}: {later}"
            found_out.add(5)
        except Fault as fault:
            found = {"log": str(path), "ok": False, "line": fault.line, "number": fault.number, "what": fault.what}
            text = f"{path}:{fault}"
            found_out.add(1)
        except (OSError, ValueError) as error:
            found = {"log": str(path), "ok": False, "what": str(error)}
            text = f"{path}: {error}"
            found_out.add(2)
        print(json.dumps(found) if options.json else text)
    return next(status for status in (2, 1, 5, 0) if status in found_out)


def bytes_of(path: Path) -> bytes:
    """Returns the bytes of a log; the program `zstd` expands it if it is compressed. Raises OSError: it cannot."""
    data = path.read_bytes()
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return data
    if (zstd := shutil.which("zstd")) is None:
        raise OSError(f"expected the program zstd, which expands {path}, got none; install it, or expand the log first")
    places = (path.parent, HERE.parent.parent / "core" / "record", HERE.parent / "arena" / "core" / "record")
    known = [["-D", file.resolve()] for place in places if (file := place / "log.zdict").exists()]
    with path.open("rb") as log:
        process = subprocess.Popen([zstd, "-dcq", *(known[-1] if known else [])], stdin=log, stdout=subprocess.PIPE)
    with process as expanding:
        found = (expanding.stdout or log).read(MOST_BYTES + 1)
    if process.returncode or len(found) > MOST_BYTES:
        raise OSError(f"expected a log that zstd expands, to {MOST_BYTES} bytes at most; put log.zdict beside {path}")
    return found


def published(folder: Path) -> tuple[bytes | None, str | None, list[str] | None, int]:
    """Returns what was published beside the logs of a tournament, where it is known.

    Returns:
        The secret, the mix (hex), what bots put into it (hex), and the version of CHANCE.md.

    Raises:
        Later: A document is of a later version.
        ValueError: A key is there twice, the secret is not the one that was committed to, there is not one contribution
            for each entrant, a beacon is there that was not named or is missing, or the mix does not follow from them.
    """
    files = {}
    for name in ("commitment", "contributions", "secret"):
        file = folder / f"{name}.json"
        files[name] = json.loads(file.read_bytes(), object_pairs_hook=once) if file.exists() else None
        known_versions(files[name] or {}, "format")
    settings = files["commitment"]["settings"] if files["commitment"] else {}
    known_versions(settings, "chance")
    secret = bytes.fromhex(files["secret"]["secret"]) if files["secret"] else None
    for name in ("commitment", "secret"):
        if secret and files[name] and hashlib.sha256(secret).hexdigest() != files[name]["commitment"]:
            raise ValueError(f"expected the secret of the commitment in {name}.json, got another - at {folder}")
    if files["commitment"] is None:
        return secret, None, None, LATEST["chance"]
    given = files["contributions"] or {"beacon": "", "entropy": [None for _ in files["commitment"]["bots"]]}
    if (entries := len(given["entropy"])) != (bots := len(files["commitment"]["bots"])):
        raise ValueError(f"expected what each of {bots} entrants put into chance, got: {entries} entries - at {folder}")
    entropy = [entropy for entropy in given["entropy"] if entropy]
    named = settings.get("beacon")
    if (named is None) != (given["beacon"] == "") or (named is not None and entropy):
        raise ValueError(
            f"expected the value of the beacon {named!r} and nothing beside it, or no beacon where the commitment "
            f"names none, got: {given['beacon']!r} and {len(entropy)} contributions - at {folder}"
        )
    parts = [bytes.fromhex(entropy) for entropy in entropy]
    beacon = hashlib.sha256(given["beacon"].encode()).digest()
    mix = hashlib.sha256(b"".join([b"arena/2/mix/", beacon, *parts])).hexdigest()
    if given.get("mix", mix) != mix:
        raise ValueError(f"expected the mix {mix} of beacon and contributions, got: {given['mix']} - at {folder}")
    return secret, mix, entropy, settings.get("chance", LATEST["chance"])


def known_versions(document: Record, what: str) -> None:
    """Raises `Later` if a document names a later version of something."""
    if isinstance(got := document.get(what), int) and got > LATEST[what]:
        raise Later(what, got, LATEST[what])


def once(pairs: list[tuple[str, Any]]) -> Record:
    """Returns the map of these keys and values.

    Raises:
        ValueError: A key comes twice.
    """
    found: Record = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"expected each key once, got: {key} twice")
        found[key] = value
    return found


def check(
    data: bytes,
    secret: bytes | None = None,
    mix: str | None = None,
    entropy: list[str] | None = None,
    chance: int = LATEST["chance"],
) -> Record:
    """Checks a log.

    Args:
        data: Its bytes.
        secret: The secret of its tournament, if it is known.
        mix: What others put into chance (hex), if it is known.
        entropy: What the bots of the tournament put into it (hex), if it is known.
        chance: The version of CHANCE.md that the tournament names.

    Returns:
        How many records and draws it has, and whether the draws were computed again.

    Raises:
        Fault: Something is wrong with it.
        Later: It is of a later version.
    """
    records = list(read(data))
    for line, record in enumerate(records, start=1):
        check_shape(line, record)
    check_order(records)
    if (digest := play_digest(records)) != records[-1]["play_digest"]:
        raise Fault(len(records), "6-1", f"expected the play digest {digest}, got: {records[-1]['play_digest']}")
    check_receipts(records)
    if mix is not None and records[0]["mix"] != mix:
        raise Fault(1, "3.1-6", f"expected the mix {mix}, got: {records[0]['mix']}")
    for seat, bot in enumerate(records[0]["bots"]):
        if entropy is not None and bot.get("entropy") not in (None, *entropy):
            raise Fault(1, "11-3", f"expected a contribution of the tournament in seat {seat}, got: {bot['entropy']}")
    if secret is not None:
        check_draws(records, secret, chance)
    draws = sum(record["record"] == "chance" for record in records)
    return {"records": len(records), "draws": draws, "draws_checked": secret is not None}


# Lines and sums


def read(data: bytes) -> Iterator[Record]:
    """Yields the records of a log, of which every sum is right."""
    begin = re.match(rb'\{"record":"header","format":([0-9]{1,9}),', data)
    if begin is None:
        mark = "2-1" if data.startswith(b"\xef\xbb\xbf") else "2-3"
        raise Fault(1, mark, f"expected a header and its format, got: {data[:40]!r}")
    if int(begin[1]) > FORMAT:
        raise Later("log format", int(begin[1]), FORMAT)
    if int(begin[1]) != FORMAT:
        raise Fault(1, "8-3", f"expected format {FORMAT}, got: {int(begin[1])}")
    running = 0
    *lines, rest = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        end = re.fullmatch(rb',"sum":"([0-9a-f]{8})"\}', line[-18:])
        if b"\r" in line or not line:
            raise Fault(number, "2-2", "expected a record and a line feed, got a carriage return or nothing")
        if end is None:
            raise Fault(number, "2-4", f"expected a sum at the end of the line, got: {line[-18:]!r}")
        running = crc32(line[:-18], running)
        if b"%08x" % running != end[1]:
            raise Fault(number, "2-5", f"expected the sum {running:08x}, got: {end[1].decode()}; a byte was altered")
        running = crc32(line[-18:] + b"\n", running)
        yield parse(number, line)
    if rest:
        raise Fault(len(lines) + 1, "2-2", "expected a line feed at the end, got none: the file was cut off")


def parse(line: int, text: bytes) -> Record:
    """Returns the record on a line."""
    try:
        record = json.loads(text.decode("utf-8"))
        canonical(record)
    except UnicodeError as error:
        raise Fault(line, "2-1", f"expected UTF-8, and no half of a surrogate pair, got: {error}") from None
    except (ValueError, RecursionError) as error:
        raise Fault(line, "2-2", f"expected a JSON object, got: {error}") from None
    if not isinstance(record, dict):
        raise Fault(line, "2-2", f"expected a JSON object, got: {record!r}")
    for key, number in numbers("", record):
        if (not isinstance(number, int) and key != "race_window_ms") or not abs(number) <= MAX_INT:
            raise Fault(line, "2-6", f"expected an integer within ±(2^53 - 1) as {key}, got: {number}")
    try:
        json.loads(text, object_pairs_hook=once)
    except ValueError as error:
        raise Fault(line, "2-7", str(error)) from None
    if json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() != text:
        raise Fault(line, "2-9", "expected a record without blanks, and no escape that need not be, got another form")
    return record


def numbers(key: str, value: Any) -> Iterator[tuple[str, int | float]]:
    """Yields every number in a value, with the key of the map that holds it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers(name, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(key, inner)
    elif isinstance(value, int | float):
        yield key, value


# Shape


def check_shape(line: int, record: Record) -> None:
    """Checks a record against the schema of its kind."""
    kind = record.get("record")
    if not isinstance(kind, str) or kind not in SCHEMAS:
        raise Fault(line, "8-2", f"expected a kind of record out of {', '.join(SCHEMAS)}, got: {kind!r}")
    for place, what in misfits(record, SCHEMAS[kind], SCHEMAS[kind], "$"):
        raise Fault(line, "3-1", f"{what} - at {place}")
    plays = record["action"].get("plays") if "action" in record else []
    if not isinstance(plays, list) or not all(isinstance(play, dict) for play in plays):
        raise Fault(line, "3.3-2", f"expected an action as a list `plays` of maps, got: {record['action']}")


TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def misfits(value: Any, schema: Any, root: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yields where a value departs from a schema, and how. It knows the words that the schemas of logs use."""
    if "$ref" in schema:
        yield from misfits(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, place)
    if "anyOf" in schema:
        found = [list(misfits(value, one, root, place)) for one in schema["anyOf"]]
        if all(found):
            yield found[0][0]
    kind = schema.get("type")
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield place, f"expected {kind}, got: {json.dumps(value)[:80]}"
        return
    if "const" in schema and value != schema["const"]:
        yield place, f"expected {schema['const']!r}, got: {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield place, f"expected one of {', '.join(schema['enum'])}, got: {value!r}"
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        yield place, f"expected {schema['pattern']}, got: {value!r}"
    if kind in ("integer", "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield place, f"expected a number from {schema['minimum']}, got: {value}"
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield place, f"expected at least {schema['minItems']} elements, got: {len(value)}"
        if schema.get("uniqueItems") and len({*map(str, value)}) < len(value):
            yield place, f"expected every element once, got: {value}"
        for index, inner in enumerate(value):
            yield from misfits(inner, schema.get("items", {}), root, f"{place}[{index}]")
    if isinstance(value, dict):
        for key in schema.get("required", ()):
            if key not in value:
                yield place, f"expected the key {key}, got none"
        for key, inner in value.items():
            known = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            yield from misfits(inner, known, root, f"{place}.{key}")


# Order, and records that contradict each other


def check_order(records: list[Record]) -> None:
    """Checks that the records of a log do not contradict each other."""
    for line, record in enumerate(records, start=1):
        if (record["record"] == "header") != (line == 1):
            raise Fault(line, "4-1", "expected one header, and it first")
        if (record["record"] == "outcome") != (line == len(records)):
            raise Fault(line, "4-1", "expected one outcome, and it last")
    check_header(records[0])
    course = Course(records[0])
    for line, record in enumerate(records[1:], start=2):
        course.check(line, record)
    check_outcome(records, course.turn)


def check_header(header: Record) -> None:
    """Checks that the header does not contradict itself."""
    settings = header["settings"]
    if len(header["bots"]) != settings["players"]:
        raise Fault(1, "3.1-1", f"expected {settings['players']} bots, got: {len(header['bots'])}")
    board = settings["board"]
    if board is not None and hashlib.sha256(board["text"].encode()).hexdigest() != board["hash"]:
        raise Fault(1, "3.1-2", "expected the SHA-256 of the board's text, got another hash")
    if (board is None) != (header["board"] is None):
        raise Fault(1, "3.1-2", "expected a board and its text, or neither")
    if any(time["bank_ms"] is None and time["limit_ms"] is None for time in times_of(header)):
        raise Fault(1, "3.1-3", "expected a bank or a limit, got neither")
    seeds = [bot["bot_seed"] for bot in header["bots"]]
    if len({*seeds}) < len(seeds):
        raise Fault(1, "3.1-8", f"expected another bot_seed for each seat, got: {seeds}")


def times_of(header: Record) -> list[Record]:
    """Returns by seat the time control: its own, or that of all."""
    return [bot.get("time") or header["settings"]["time"] for bot in header["bots"]]


class Course:
    """Who may still act, record by record."""

    def __init__(self, header: Record) -> None:
        settings = header["settings"]
        self.players = settings["players"]
        self.times = times_of(header)
        self.margin_ms = settings["margin_ms"]
        self.ms = 0
        """When the latest of the records happened."""
        self.bank_ns = [time["bank_ms"] and time["bank_ms"] * NS_PER_MS for time in self.times]
        """The most that each seat can have in its bank: when an increment is added, only the rules know for certain."""
        self.turn = 0
        """The turn of the last record."""
        self.gone: set[int] = set()
        """The seats that forfeited."""
        self.refused: set[int] = set()
        """The seats that were passed over when it was their turn to be served."""
        self.order: list[int] = []
        """The tied seats that are still to be served."""
        self.kinds = DECISIONS.get(settings["rules"], ())
        self.alone = {"seize"} if settings["options"].get("seize") == "draft" else set()
        """What seats decide one after another."""
        self.decisions = [0] * self.players
        """By seat, how many of `kinds` it has decided in this turn."""
        self.closed: dict[str, int] = {}
        """The kinds that nobody decides any more in this turn, as seats forfeited who owed it: the line of that."""

    def check(self, line: int, record: Record) -> None:
        """Checks the next record against those before it."""
        for seat in seats_of(record):
            if seat >= self.players:
                raise Fault(line, "4-5", f"expected a seat from 0 to {self.players - 1}, got: {seat}")
        for event in record.get("events", ()):
            if (to := event.get("to") or []) != sorted(to):
                raise Fault(line, "5-1", f"expected the seats ascending, got: {to}")
        turn = record.get("turn", self.turn)
        if turn < self.turn:
            raise Fault(line, "4-2", f"expected turn {self.turn} or a later one, got: {turn}")
        if turn > self.turn:
            self.decisions, self.closed = [0] * self.players, {}
        self.turn = turn
        if record["record"] not in ("action", "late") and record["ms"] < self.ms:
            raise Fault(line, "4-6", f"expected a moment {self.ms} ms after the start or later, got: {record['ms']}")
        self.ms = max(self.ms, record["ms"])
        match record["record"]:
            case "chance":
                self.chance(line, record)
            case "action" | "late":
                if closed := self.closed.get(record["kind"]):
                    raise Fault(closed, "3.5-4", f"expected this behind line {line}: forfeits come last")
                self.decided(line, record["seat"])
                if record["record"] == "action" and record["kind"] in self.kinds:
                    self.decisions[record["seat"]] = self.kinds.index(record["kind"]) + 1
                self.charge(line, record["seat"], record["used_ns"])
            case "forfeit":
                self.forfeit(line, [forfeit["seat"] for forfeit in record["forfeits"]])

    def chance(self, line: int, record: Record) -> None:
        """Checks a draw."""
        stream, n, tied = record["stream"], record["n"], record.get("tied")
        if record["draw"] >= n:
            raise Fault(line, "3.2-1", f"expected a draw from 0 to {n - 1}, got: {record['draw']}")
        if (stream == "race") != (tied is not None):
            raise Fault(line, "3.2-2", f"expected tied seats in the stream 'race' and only there, got: {stream!r}")
        if tied is not None:
            if tied != sorted(tied) or n != factorial(len(tied)) or record["events"]:
                raise Fault(line, "3.2-2", f"expected the order of ascending seats without events, got: {record}")
            self.order = tie_order(tied, record["draw"])
        proxy = re.fullmatch("proxy/([0-9]+)", stream)
        if proxy and int(proxy[1]) not in self.gone:
            raise Fault(line, "3.2-3", f"expected chance to decide for a seat that forfeited, got: {stream!r}")

    def decided(self, line: int, seat: int) -> None:
        """Checks that a seat may decide now."""
        if seat in self.gone:
            raise Fault(line, "3.5-2", f"expected a seat that is in the game, got seat {seat}, which forfeited")
        while self.order and seat != (served := self.order.pop(0)):
            self.refused.add(served)
        if seat in self.refused:
            raise Fault(line, "4-4", f"expected the tied seats in the order that was drawn, got seat {seat}")

    def charge(self, line: int, seat: int, used_ns: int) -> None:
        """Checks that a seat had the time that it used."""
        time = self.times[seat]
        if time.get("off"):
            return
        limit_ms, bank_ns = time["limit_ms"], self.bank_ns[seat]
        had_ns = min(ns for ns in (limit_ms and limit_ms * NS_PER_MS, bank_ns) if ns is not None)
        if used_ns > had_ns + self.margin_ms * NS_PER_MS:
            raise Fault(line, "3.3-4", f"expected at most {had_ns} ns and the margin, got: {used_ns}")
        if bank_ns is not None:
            self.bank_ns[seat] = max(0, bank_ns - used_ns) + time["increment_ms"] * NS_PER_MS

    def forfeit(self, line: int, seats: list[int]) -> None:
        """Checks that seats may forfeit."""
        if seats != sorted({*seats}) or self.gone & {*seats}:
            raise Fault(line, "3.5-1", f"expected seats ascending that have not forfeited, got: {seats}")
        self.gone |= {*seats}
        self.refused -= {*seats}
        self.order = []
        if line > 2:  # else they did not come to the game
            owed = {kind for seat in seats for kind in self.kinds[self.decisions[seat] :][:1]}
            self.closed |= dict.fromkeys(owed - self.alone, line)


def seats_of(record: Record) -> Iterator[int]:
    """Yields every seat that a record names."""
    yield from record.get("tied") or ()
    yield from (forfeit["seat"] for forfeit in record.get("forfeits", ()))
    for event in record.get("events", ()):
        yield from event.get("to") or ()
    if "seat" in record:
        yield record["seat"]


def tie_order(tied: list[int], draw: int) -> list[int]:
    """Returns the order of tied seats that a draw means."""
    left, order = list(tied), []
    while left:
        at, draw = divmod(draw, factorial(len(left) - 1))
        order.append(left.pop(at))
    return order


def check_outcome(records: list[Record], turn: int) -> None:
    """Checks the outcome against the other records."""
    line, last, before, players = len(records), records[-1], records[-2], records[0]["settings"]["players"]
    ranks = last["ranks"]
    if len(ranks) != players or any(rank != 1 + sum(other < rank for other in ranks) for rank in ranks):
        raise Fault(line, "3.6-1", f"expected a rank for each of {players} seats, got: {ranks}")
    if last.get("scores") is not None and len(last["scores"]) != players:
        raise Fault(line, "3.6-2", f"expected a score for each of {players} seats, got: {last['scores']}")
    actions = sum(record["record"] == "action" for record in records)
    if last["actions"] != actions or last["turns"] < turn:
        raise Fault(line, "3.6-3", f"expected {actions} actions and {turn} turns or more, got: {last}")
    ended = before["forfeits"][0]["code"] if before["record"] == "forfeit" else "finished"
    if last["termination"] != ended:
        raise Fault(line, "3.6-4", f"expected the termination {ended}, got: {last['termination']}")
    off_turn = last.get("off_turn_cpu_ms")
    if off_turn is not None and len(off_turn) != players:
        raise Fault(line, "3.6-7", f"expected a CPU time for each of {players} seats, got: {off_turn}")


# The play digest


def play_digest(records: list[Record]) -> str:
    """Returns the SHA-256 (hex) over what was played."""
    return hashlib.sha256(b"".join(canonical(play_line(record)) + b"\n" for record in records)).hexdigest()


def play_line(record: Record) -> Record:
    """Returns what the play digest covers of a record."""
    kind = record["record"]
    source = record["settings"] if kind == "header" else record
    played = {key: source[key] for key in PLAYED[kind] if source.get(key) is not None} | {"record": kind}
    if kind == "header":
        played["board"] = source["board"] and source["board"]["hash"]
    if "events" in played:
        played["events"] = [
            {key: event[key] for key in ("data", "to") if event.get(key) is not None} for event in played["events"]
        ]
    if "forfeits" in played:
        played["forfeits"] = [{"seat": one["seat"], "code": what_happened(one["code"])} for one in played["forfeits"]]
    if "termination" in played:
        played["termination"] = what_happened(played["termination"])
    return played


def what_happened(code: str) -> str:
    """Returns what a termination means for the game: how a process went may depend on how busy the machine was."""
    return "gone" if code in GONE else code


def canonical(value: Any) -> bytes:
    """Returns the canonical JSON of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


# Receipts


WITHOUT_MARKS = ("0.1.0", "0.2.0")
"""The versions of arena whose receipts do not say which forfeits were the machine's."""
UNMARKED: Record = {"code": "", "denied_ms": 0, "overloaded": False, "seat": 0}


def receipts(records: list[Record]) -> list[Record]:
    """Returns the receipts of a log as its outcome has them: of each seat that did not forfeit."""
    header, outcome = records[0], records[-1]
    forfeits = [one for record in records for one in record.get("forfeits", ())]
    over = {"forfeits": [{"seat": one["seat"], "code": one["code"]} for one in forfeits]}
    over |= {key: outcome.get(key) for key in ("ranks", "scores", "termination")}
    found = []
    for seat in sorted({*range(header["settings"]["players"])} - {one["seat"] for one in forfeits}):
        own = [record for record in records if record["record"] in ("action", "late") and record["seat"] == seat]
        start = {key: header["settings"][key] for key in ("options", "rules", "rules_version", "ruleset")}
        start |= {"board": header["board"], "bot_seed": header["bots"][seat]["bot_seed"]}
        start |= {"seat": seat, "seats": header["settings"]["players"]}
        answers = [{"action": ordered(one["action"]), "kind": one["kind"], "used_ns": one["used_ns"]} for one in own]
        events = [event for record in records for event in record.get("events", ())]
        told = [event["data"] for event in events if event.get("to") is None or seat in event["to"]]
        seen = {"answers": answers, "events": told, "over": over, "start": start}
        notes = [record.get("note") for record in own]
        found.append({"seat": seat, "digest": digest(seen)} | ({"notes": digest(notes)} if any(notes) else {}))
        if forfeits:
            found[-1]["forfeits"] = digest(
                [{**UNMARKED, **{key: one[key] for key in UNMARKED if key in one}} for one in forfeits]
            )
    return found


def ordered(action: Record) -> Record:
    """Returns an action with every array that is a value in a play in the order of its elements' canonical JSON."""
    plays = [
        {key: sorted(value, key=canonical) if isinstance(value, list) else value for key, value in play.items()}
        for play in action["plays"]
    ]
    return action | {"plays": plays}


def check_receipts(records: list[Record]) -> None:
    """Checks that the receipts follow from the records. The notes of a seat may have been left out for its reader."""
    header, logged, line = records[0], records[-1].get("receipts"), len(records)
    missing = ["receipts"] * (logged is None) + ["an `attempt`"] * (not header.get("attempt"))
    if header.get("chance") and missing:
        raise Fault(line, "3.6-8", f"expected {missing[0]}, as the log says its version of CHANCE, got none")
    if logged is None:
        return
    right = receipts(records)
    if [one["seat"] for one in logged] != [one["seat"] for one in right]:
        raise Fault(line, "3.6-8", f"expected the receipts of the seats that did not forfeit, got: {logged}")
    for one, other in zip(logged, right, strict=True):
        if "forfeits" not in one and header["arena"] in WITHOUT_MARKS and not header.get("chance"):
            other.pop("forfeits", None)
        if (
            one["digest"] != other["digest"]
            or one.get("forfeits") != other.get("forfeits")
            or other.get("notes", one.get("notes")) != one.get("notes")
        ):
            raise Fault(line, "3.6-8", f"expected the receipt {other}, got: {one}")


def digest(value: Any) -> str:
    """Returns the SHA-256 (hex) of a value's canonical JSON."""
    return hashlib.sha256(canonical(value)).hexdigest()


# Chance


def check_draws(records: list[Record], secret: bytes, chance: int) -> None:
    """Checks what follows from the tournament's secret: the deal, the salt, the bots' seeds, every draw."""
    header = records[0]
    known_versions(header, "chance")
    number = header["deal"]
    deal = mac(secret, f"arena/2/deal/{number}/".encode() + bytes.fromhex(header["mix"]))
    if hashlib.sha256(deal).hexdigest() != header["commitment"]:
        raise Fault(1, "3.1-6", "expected the commitment of the deal that the secret gives, got another")
    if mac(secret, f"arena/2/salt/{header['game']}".encode()).hex() != header["salt"]:
        raise Fault(1, "3.1-6", "expected the salt that the secret gives, got another")
    own = header["game"].removeprefix(f"{header['tournament']}-") if header["tournament"] else ""
    version = header.get("chance") or chance
    of = f"arena/3/bot-seeds/{own}/".encode() + bytes.fromhex(header["mix"])
    key = mac(secret, of if version > 2 else f"arena/2/bot-seeds/{number}".encode())
    for seat, bot in enumerate(header["bots"]):
        seed = uint64(mac(key, f"arena/{version}/seat/{seat}".encode())) >> 11
        if bot["bot_seed"] != seed:
            raise Fault(1, "3.1-6", f"expected the seed {seed} for seat {seat}, got: {bot['bot_seed']}")
    drawn: dict[str, int] = {}
    for line, record in enumerate(records, start=1):
        if record["record"] == "chance":
            stream = record["stream"]
            count = drawn.get(stream, 0)
            drawn[stream] = count + 1
            right = draw(deal, stream, count, record["n"])
            if record["draw"] != right:
                raise Fault(line, "7-1", f"expected draw {count} of {stream!r} to be {right}, got: {record['draw']}")


def draw(deal: bytes, stream: str, number: int, n: int) -> int:
    """Returns a draw of a deal: one of 0 to n - 1."""
    attempt = 0
    while True:
        x = uint64(mac(deal, f"arena/2/draw/{stream}/{number}/{attempt}".encode()))
        if x < 2**64 - 2**64 % n:
            return x % n
        attempt += 1


def mac(key: bytes, message: bytes) -> bytes:
    """Returns an HMAC-SHA-256."""
    return hmac.digest(key, message, "sha256")


def uint64(text: bytes) -> int:
    """Returns the first 8 bytes as a number."""
    return int.from_bytes(text[:8], "big")


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # `| head` ends it without a traceback
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
