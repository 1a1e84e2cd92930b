"""Breaks the example logs: what `protocol/vectors/logs/broken.json` holds.

A case is a function that edits a log and returns the number of the line that is wrong. Where only the rules or the
secret can find it, the play digest is made again, as a forger would do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

from tests.conformance.logs import SUM, bodies, broken, checker

DRAFT, RACE, STANDARD = "gardener-draft", "gardener-race", "samurai-standard"
FORFEITS, CRASHES, ABSENT, MEASURED = "gardener-forfeits", "samurai-forfeits", "gardener-absent", "gardener-young"


def compact(value: Any) -> str:
    """JSON as it stands in a log."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Breaker:
    """A log that is being broken, and the edits so far."""

    def __init__(self, data: bytes) -> None:
        """Takes the log's bytes."""
        self.data = data
        self.edits: list[dict[str, Any]] = []
        self.bytes: list[dict[str, Any]] = []

    @property
    def lines(self) -> list[str]:
        """The lines without their sums, after the edits."""
        return bodies(broken(self.data, {"id": "", "edits": self.edits}))

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records, after the edits."""
        return [json.loads(line + "}") for line in self.lines]

    def find(self, record: str, nth: int = 0, **fields: Any) -> int:
        """The line of the nth record of a kind that has these values."""
        found = [
            line
            for line, one in enumerate(self.records, start=1)
            if one["record"] == record and all(one.get(key) == value for key, value in fields.items())
        ]
        return found[nth]

    def start(self, line: int) -> int:
        """The offset of a line in the file."""
        return sum(len(one) for one in self.data.splitlines(keepends=True)[: line - 1])

    def replace(self, line: int, old: str, new: str) -> int:
        """Replaces a text that stands in the line once."""
        self.edits.append({"line": line, "replace": old, "with": new})
        return line

    def change(self, line: int, key: str, value: Any) -> int:
        """Gives a key of a record another value."""
        old = self.records[line - 1][key]
        return self.replace(line, f'"{key}":{compact(old)}', f'"{key}":{compact(value)}')

    def delete(self, line: int) -> int:
        self.edits.append({"line": line, "delete": True})
        return line

    def insert(self, line: int, text: str) -> int:
        """Inserts a line before another."""
        self.edits.append({"line": line, "insert": text})
        return line

    def cut(self, at: int, delete: int, insert: bytes = b"") -> None:
        """Changes bytes of the file."""
        self.bytes.append({"at": at, "delete": delete, "insert": insert.hex()})

    def seal(self) -> None:
        """Makes the play digest and the receipts again, if the records are such that they have them."""
        records = self.records
        last = len(records)
        digest = checker["play_digest"](records)
        if digest != records[-1]["play_digest"]:
            self.change(last, "play_digest", digest)
        if "receipts" in records[-1] and (receipts := checker["receipts"](records)) != records[-1]["receipts"]:
            self.change(last, "receipts", receipts)


Break = Callable[[Breaker], int]


class Case(NamedTuple):
    """A broken log."""

    id: str
    spec: str
    needs: str
    base: str
    description: str
    make: Break

    def vector(self, data: bytes) -> dict[str, Any]:
        """The vector of it, made from the base's bytes."""
        breaker = Breaker(data)
        line = self.make(breaker)
        if self.needs in ("secret", "rules"):
            breaker.seal()
        return {
            "id": self.id,
            "spec": self.spec.split(),
            "description": self.description,
            "base": f"{self.base}.jsonl",
            "edits": breaker.edits,
            "bytes": breaker.bytes,
            "line": line,
            "needs": self.needs,
        }


CASES: list[Case] = []


def case(id: str, spec: str, needs: str, base: str, description: str) -> Callable[[Break], Break]:
    """Adds a case that the decorated function makes."""

    def add(make: Break) -> Break:
        CASES.append(Case(id, spec, needs, base, description, make))
        return make

    return add


def changed(
    id: str, spec: str, needs: str, base: str, description: str, record: str, key: str, value: Any, **where: Any
) -> None:
    """Adds a case in which a key of a record has another value; `where` says which record, as `Breaker.find` does."""
    case(id, spec, needs, base, description)(lambda log: log.change(log.find(record, **where), key, value))


# Bytes and sums


@case("log-byte-altered", "§L2-5", "sums", DRAFT, "A digit in a record was altered.")
def _(log: Breaker) -> int:
    line = log.find("action", 3)
    at = log.start(line) + log.lines[line - 1].index('"used_ns":') + len('"used_ns":')
    digit = log.data[at : at + 1]
    log.cut(at, 1, b"8" if digit != b"8" else b"9")
    return line


@case("log-sum-altered", "§L2-5", "sums", DRAFT, "A digit of a sum was altered.")
def _(log: Breaker) -> int:
    line = log.find("action", 5)
    at = log.start(line + 1) - 4
    log.cut(at, 1, b"0" if log.data[at : at + 1] != b"0" else b"1")
    return line


@case("log-sum-upper-case", "§L2-4", "sums", DRAFT, "A sum is written in upper case.")
def _(log: Breaker) -> int:
    line = next(n for n, line in enumerate(log.data.splitlines(), 1) if line[-10:-2].upper() != line[-10:-2])
    at = log.start(line + 1) - 11
    log.cut(at, 8, log.data[at : at + 8].upper())
    return line


@case("log-sum-missing", "§L2-4", "sums", DRAFT, "A line has no sum.")
def _(log: Breaker) -> int:
    line = log.find("chance", 4)
    log.cut(log.start(line + 1) - SUM, SUM - 2)
    return line


@case("log-sum-of-line-alone", "§L2-5", "sums", DRAFT, "A sum covers its own line, and not the lines before it.")
def _(log: Breaker) -> int:
    line, own = log.find("chance"), bodies(log.data)
    log.cut(log.start(line + 1) - 11, 8, b"%08x" % crc32(own[line - 1].encode()))
    return line


@case("log-line-missing", "§L2-5", "sums", DRAFT, "A line was taken out; the sums are as they were.")
def _(log: Breaker) -> int:
    line = log.find("action", 2)
    log.cut(log.start(line), log.start(line + 1) - log.start(line))
    return line


@case("log-line-twice", "§L2-5", "sums", DRAFT, "A line stands there twice; the sums are as they were.")
def _(log: Breaker) -> int:
    line = log.find("action", 2)
    log.cut(log.start(line + 1), 0, log.data[log.start(line) : log.start(line + 1)])
    return line + 1


@case("log-lines-exchanged", "§L2-5", "sums", DRAFT, "Two lines changed places; the sums are as they were.")
def _(log: Breaker) -> int:
    line = log.find("action", 2)
    first, second = log.data.splitlines(keepends=True)[line - 1 : line + 1]
    log.cut(log.start(line), len(first + second), second + first)
    return line


@case("log-cut-in-a-line", "§L2-2", "sums", DRAFT, "The file was cut off in its last line.")
def _(log: Breaker) -> int:
    log.cut(-30, 30)
    return len(log.lines)


@case("log-no-last-line-feed", "§L2-2", "sums", DRAFT, "The last line has no line feed.")
def _(log: Breaker) -> int:
    log.cut(-1, 1)
    return len(log.lines)


@case("log-empty", "§L2-3", "sums", ABSENT, "The file is empty.")
def _(log: Breaker) -> int:
    log.cut(0, len(log.data))
    return 1


@case("log-byte-order-mark", "§L2-1", "sums", DRAFT, "The file begins with a byte order mark.")
def _(log: Breaker) -> int:
    log.cut(0, 0, b"\xef\xbb\xbf")
    return 1


@case("log-carriage-return", "§L2-2", "sums", DRAFT, "A line ends with carriage return and line feed.")
def _(log: Breaker) -> int:
    line = log.find("action")
    log.cut(log.start(line + 1) - 1, 0, b"\r")
    return line


@case("log-blank-line", "§L2-2", "sums", DRAFT, "A blank line stands at the end.")
def _(log: Breaker) -> int:
    log.cut(len(log.data), 0, b"\n")
    return len(log.lines) + 1


@case("log-trailing-bytes", "§L2-4", "sums", DRAFT, "Something stands after the last record.")
def _(log: Breaker) -> int:
    log.cut(len(log.data), 0, b"{}\n")
    return len(log.lines) + 1


@case("log-other-beginning", "§L2-3", "sums", DRAFT, "The header does not begin with `record` and `format`.")
def _(log: Breaker) -> int:
    return log.replace(1, '"record":"header","format":3,', '"format":3,"record":"header",')


@case("log-other-format", "§L8-3", "sums", DRAFT, "The log is of a format that is not known.")
def _(log: Breaker) -> int:
    return log.replace(1, '"format":3,', '"format":4,')


# Shape


@case("log-no-json", "§L2-2", "shape", DRAFT, "A line is no JSON.")
def _(log: Breaker) -> int:
    line = log.find("action")
    return log.replace(line, '"kind":', '"kind"')


@case("log-half-a-surrogate-pair", "§L2-1", "shape", STANDARD, "A note has half of a surrogate pair.")
def _(log: Breaker) -> int:
    line = next(n for n, one in enumerate(log.records, 1) if "note" in one)
    return log.replace(line, '"note":"', '"note":"\\ud800')


@case("log-key-twice", "§L2-7", "form", DRAFT, "An action has two turns, the second of which is right.")
def _(log: Breaker) -> int:
    return log.replace(log.find("action", 1), '"turn":', '"turn":0,"turn":')


@case("log-blank", "§L2-9", "form", DRAFT, "A blank stands between a key and its value.")
def _(log: Breaker) -> int:
    return log.replace(log.find("action", 1), '"turn":', '"turn": ')


@case("log-escape", "§L2-9", "form", DRAFT, "A letter is escaped that need not be.")
def _(log: Breaker) -> int:
    return log.replace(log.find("action", 1), '"record":"action"', '"record":"\\u0061ction"')


@case("log-unknown-record", "§L8-2 §L3-1", "shape", DRAFT, "A kind of record that the format does not have.")
def _(log: Breaker) -> int:
    return log.insert(log.find("action"), '{"record":"x_chat","seat":0,"text":"hello","ms":5')


@case("log-key-missing", "§L3-1", "shape", DRAFT, "An action without `used_ns`.")
def _(log: Breaker) -> int:
    line = log.find("action", 1)
    return log.replace(line, f',"used_ns":{log.records[line - 1]["used_ns"]}', "")


@case("log-string-for-integer", "§L3-1", "shape", DRAFT, "A seat is a string.")
def _(log: Breaker) -> int:
    line = log.find("action", 2, seat=1)
    return log.replace(line, '"record":"action","seat":1', '"record":"action","seat":"1"')


changed("log-boolean-for-integer", "§L3-1", "shape", DRAFT, "A turn is a boolean.", "action", "turn", True, turn=1)
changed("log-null", "§L3-1", "shape", DRAFT, "A turn is null.", "action", "turn", None, turn=1)


@case("log-fraction", "§L2-6", "shape", DRAFT, "A time has a fraction.")
def _(log: Breaker) -> int:
    line = log.find("action", 2)
    return log.change(line, "used_ns", log.records[line - 1]["used_ns"] + 0.5)


changed("log-number-too-large", "§L2-6", "shape", DRAFT, "A time is 2^53.", "action", "used_ns", 2**53, nth=2)
changed("log-negative", "§L3-1", "shape", DRAFT, "A time is negative.", "action", "used_ns", -1, nth=2)


@case("log-event-without-data", "§L3-1", "shape", DRAFT, "An event has no `data`.")
def _(log: Breaker) -> int:
    line = log.find("action", 2)
    return log.change(line, "events", [{"to": [0]}])


@case("log-event-without-name", "§L3-1", "shape", DRAFT, "An event does not say what happened.")
def _(log: Breaker) -> int:
    line = log.find("action", 2)
    events = log.records[line - 1]["events"]
    del events[0]["data"]["event"]
    return log.change(line, "events", events)


changed("log-no-forfeits", "§L3-1", "shape", FORFEITS, "A record of forfeits names nobody.", "forfeit", "forfeits", [])


@case("log-forfeit-for-nothing", "§L3-1", "shape", FORFEITS, "A seat forfeits for `finished`.")
def _(log: Breaker) -> int:
    line = log.find("forfeit")
    return log.replace(line, '"code":"timeout"', '"code":"finished"')


@case("log-secret-too-short", "§L3-1", "shape", DRAFT, "A commitment has 62 digits.")
def _(log: Breaker) -> int:
    return log.change(1, "commitment", log.records[0]["commitment"][:62])


# Order


@case("log-no-outcome", "§L4-1", "order", DRAFT, "The outcome is missing.")
def _(log: Breaker) -> int:
    return log.delete(len(log.lines)) - 1


@case("log-header-alone", "§L4-1", "order", ABSENT, "There is nothing but a header.")
def _(log: Breaker) -> int:
    while len(log.lines) > 1:
        log.delete(2)
    return 1


@case("log-two-headers", "§L4-1", "order", ABSENT, "There are two headers.")
def _(log: Breaker) -> int:
    return log.insert(2, log.lines[0])


@case("log-two-outcomes", "§L4-1", "order", DRAFT, "There are two outcomes.")
def _(log: Breaker) -> int:
    return log.insert(log.find("action", 4), log.lines[-1])


@case("log-after-the-outcome", "§L4-1", "order", DRAFT, "The last action stands after the outcome.")
def _(log: Breaker) -> int:
    log.insert(len(log.lines) + 1, log.lines[log.find("action", -1) - 1])
    return len(log.lines) - 1


# Records that contradict each other


@case("log-bot-missing", "§L3.1-1", "consistency", DRAFT, "There is one bot for two seats.")
def _(log: Breaker) -> int:
    return log.change(1, "bots", log.records[0]["bots"][:1])


@case("log-board-text-altered", "§L3.1-2", "consistency", DRAFT, "The board's text does not have the board's hash.")
def _(log: Breaker) -> int:
    board = log.records[0]["settings"]["board"]
    return log.replace(1, f'"hash":"{board["hash"]}","text":"', f'"hash":"{board["hash"]}","text":"\\n')


@case(
    "log-board-not-shown",
    "§L3.1-2",
    "consistency",
    DRAFT,
    "The board's text is there, and the board that bots are sent is null.",
)
def _(log: Breaker) -> int:
    return log.change(1, "board", None)


@case("log-no-time", "§L3.1-3", "consistency", DRAFT, "There is neither a bank nor a limit.")
def _(log: Breaker) -> int:
    return log.replace(1, '"bank_ms":10000', '"bank_ms":null')


@case("log-seeds-equal", "§L3.1-8", "consistency", DRAFT, "Two seats were sent the same `bot_seed`.")
def _(log: Breaker) -> int:
    first, second = (bot["bot_seed"] for bot in log.records[0]["bots"])
    return log.replace(1, f'"bot_seed":{second}', f'"bot_seed":{first}')


@case("log-draw-beyond-n", "§L3.2-1", "consistency", DRAFT, "A draw is as large as the number of outcomes.")
def _(log: Breaker) -> int:
    line = log.find("chance", 2)
    return log.change(line, "draw", log.records[line - 1]["n"])


@case("log-tie-descending", "§L3.2-2", "consistency", RACE, "The tied seats descend.")
def _(log: Breaker) -> int:
    line = log.find("chance", stream="race")
    return log.change(line, "tied", log.records[line - 1]["tied"][::-1])


changed("log-tie-of-one", "§L3-1", "shape", RACE, "One seat alone is tied.", "chance", "tied", [0], stream="race")


@case("log-tie-of-too-few-orders", "§L3.2-2", "consistency", RACE, "Three seats are tied in two orders.")
def _(log: Breaker) -> int:
    line = log.find("chance", stream="race", tied=[0, 1, 2])
    log.change(line, "n", 2)
    return log.change(line, "draw", 0) if log.records[line - 1]["draw"] > 1 else line


@case(
    "log-tie-without-seats",
    "§L3.2-2",
    "consistency",
    RACE,
    "A draw of the stream `race` says of no seats that they tied.",
)
def _(log: Breaker) -> int:
    line = log.find("chance", stream="race")
    return log.replace(line, f'"tied":{compact(log.records[line - 1]["tied"])},', "")


@case(
    "log-tie-in-another-order",
    "§L4-4",
    "consistency",
    RACE,
    "Two tied seats are served in the order that was not drawn.",
)
def _(log: Breaker) -> int:
    records = log.records
    line = next(
        n
        for n, one in enumerate(records, 1)
        if one.get("tied") and all(next_one["record"] == "action" for next_one in records[n : n + 2])
    )
    first = log.lines[line]
    log.delete(line + 1)
    log.insert(line + 2, first)
    return line + 2


@case(
    "log-proxy-of-a-seat-that-plays",
    "§L3.2-3",
    "consistency",
    STANDARD,
    "Chance decides for a seat that has not forfeited.",
)
def _(log: Breaker) -> int:
    line = next(n for n, one in enumerate(log.records, 1) if one.get("stream", "").startswith("stack/"))
    return log.change(line, "stream", "proxy/0")


@case("log-seat-beyond-players", "§L4-5", "consistency", DRAFT, "A seat decides that there is not.")
def _(log: Breaker) -> int:
    line = log.find("action", 2, seat=1)
    return log.replace(line, '"record":"action","seat":1', '"record":"action","seat":2')


@case("log-told-beyond-players", "§L4-5", "consistency", STANDARD, "A seat is told something that there is not.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="hand", seat=0)
    return log.replace(line, '"to":[1]', '"to":[1,2]')


@case("log-told-descending", "§L5-1", "consistency", "samurai-forfeits", "The seats that were told descend.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="hand", seat=0)
    return log.replace(line, '"to":[1,2]', '"to":[2,1]')


@case("log-turn-falls", "§L4-2", "consistency", DRAFT, "A turn is followed by an earlier one.")
def _(log: Breaker) -> int:
    return log.change(log.find("action", 1, turn=3), "turn", 2)


@case("log-too-slow", "§L3.3-4", "consistency", "samurai-summary", "A seat used more than its limit and the margin.")
def _(log: Breaker) -> int:
    line = log.find("action", -1)
    settings = log.records[0]["settings"]
    over = (settings["time"]["limit_ms"] + settings["margin_ms"]) * 1_000_000 + 1
    return log.change(line, "used_ns", over)


@case("log-before-the-record-above", "§L4-6", "consistency", DRAFT, "Chance drew before the action above it.")
def _(log: Breaker) -> int:
    records = log.records
    line = next(
        n for n, one in enumerate(records, 1) if one["record"] == "chance" and records[n - 2]["record"] == "action"
    )
    return log.change(line, "ms", records[line - 2]["ms"] - 1)


@case("log-forfeits-twice", "§L3.5-1", "consistency", FORFEITS, "A seat forfeits twice at once.")
def _(log: Breaker) -> int:
    line = log.find("forfeit")
    forfeits = log.records[line - 1]["forfeits"]
    return log.change(line, "forfeits", [forfeits[0], *forfeits])


@case("log-forfeits-again", "§L3.5-1", "consistency", FORFEITS, "A seat that forfeited forfeits later once more.")
def _(log: Breaker) -> int:
    line = log.find("forfeit")
    later = log.find("action", -1)
    again = log.records[line - 1] | {"turn": log.records[later - 1]["turn"], "ms": log.records[-1]["ms"]}
    return log.insert(later, compact(again)[:-1])


@case("log-forfeits-descending", "§L3.5-1", "consistency", FORFEITS, "The seats that forfeit descend.")
def _(log: Breaker) -> int:
    line = log.find("forfeit")
    return log.change(line, "forfeits", log.records[line - 1]["forfeits"][::-1])


@case(
    "log-forfeit-between-answers",
    "§L3.5-4",
    "consistency",
    FORFEITS,
    "Two of four seats forfeit before one has answered that was asked with them.",
)
def _(log: Breaker) -> int:
    line = log.find("forfeit")
    log.insert(line - 1, log.lines[line - 1])
    log.delete(line + 1)
    return line - 1


@case(
    "log-forfeit-before-answers",
    "§L3.5-4",
    "consistency",
    FORFEITS,
    "Two of four seats forfeit as soon as they fail, before any of those that were asked with them has answered.",
)
def _(log: Breaker) -> int:
    line = log.find("forfeit")
    log.insert(line - 2, log.lines[line - 1])
    log.delete(line + 1)
    return line - 2


FAILED = '{"record":"forfeit","forfeits":[{"seat":%d,"code":"crashed","sentence":"x"}],"turn":%d,"events":[],"ms":%d'


@case(
    "log-forfeit-in-a-hand",
    "§L3.5-4",
    "consistency",
    CRASHES,
    "One of three seats forfeits before another has chosen its hand.",
)
def _(log: Breaker) -> int:
    line = log.delete(log.find("action", kind="hand", seat=1))
    return log.insert(line, FAILED % (1, 0, log.records[line - 2]["ms"]))


@case(
    "log-forfeit-in-a-race",
    "§L3.5-4",
    "consistency",
    RACE,
    "One of three seats forfeits before the others have seized a card.",
)
def _(log: Breaker) -> int:
    line = log.find("action", kind="seize", turn=2)
    return log.insert(line, FAILED % (0, 2, log.records[line - 2]["ms"]))


@case("log-acts-after-forfeit", "§L3.5-2", "consistency", FORFEITS, "A seat that forfeited decides.")
def _(log: Breaker) -> int:
    later = log.find("action", -1)
    seat = log.records[later - 1]["seat"]
    gone = log.records[log.find("forfeit") - 1]["forfeits"][0]["seat"]
    return log.replace(later, f'"record":"action","seat":{seat}', f'"record":"action","seat":{gone}')


@case("log-ranks-skip", "§L3.6-1", "consistency", DRAFT, "Of two seats one has rank 1 and one rank 3.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "ranks", [1, 3])


changed("log-rank-missing", "§L3.6-1", "consistency", DRAFT, "A seat has no rank.", "outcome", "ranks", [1])


@case("log-score-missing", "§L3.6-2", "consistency", DRAFT, "A seat has no score.")
def _(log: Breaker) -> int:
    last = len(log.lines)
    return log.change(last, "scores", log.records[-1]["scores"][:1])


@case("log-off-turn-missing", "§L3.6-7", "consistency", MEASURED, "A seat has no CPU time off turn, and the other has.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "off_turn_cpu_ms", [0])


@case("log-receipt-other", "§L3.6-8", "digest", STANDARD, "A seat was given another receipt.")
def _(log: Breaker) -> int:
    receipts = log.records[-1]["receipts"]
    return log.change(len(log.lines), "receipts", [receipts[0], receipts[1] | {"digest": receipts[0]["digest"]}])


@case("log-receipt-missing", "§L3.6-8", "digest", FORFEITS, "A seat that played to the end has no receipt.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "receipts", log.records[-1]["receipts"][1:])


@case("log-receipts-dropped", "§L3.6-8", "digest", STANDARD, "It says its version of CHANCE, and has no receipts.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "receipts", None)


@case("log-attempt-dropped", "§L3.6-8", "digest", STANDARD, "It says its version of CHANCE, and no `attempt`.")
def _(log: Breaker) -> int:
    log.change(1, "attempt", 0)
    return len(log.lines)


@case("log-of-a-version-before", "§L3.6-8", "digest", FORFEITS, "As of 0.2.0, with `chance` and no digest of forfeits.")
def _(log: Breaker) -> int:
    log.change(1, "arena", "0.2.0")
    receipts = [{key: value for key, value in one.items() if key != "forfeits"} for one in log.records[-1]["receipts"]]
    return log.change(len(log.lines), "receipts", receipts)


@case("log-receipt-of-a-forfeit", "§L3.6-8", "digest", FORFEITS, "A seat that forfeited has a receipt.")
def _(log: Breaker) -> int:
    receipts = log.records[-1]["receipts"]
    return log.change(len(log.lines), "receipts", [receipts[0], receipts[0] | {"seat": 1}, *receipts[1:]])


@case("log-note-edited", "§L3.6-8", "digest", STANDARD, "A note is another than the bot sent.")
def _(log: Breaker) -> int:
    line = next(line for line, one in enumerate(log.records, start=1) if one.get("note"))
    log.change(line, "note", "never said")
    return len(log.lines)


@case("log-time-moved", "§L3.6-8", "digest", STANDARD, "A decision took less time than it did.")
def _(log: Breaker) -> int:
    log.change(log.find("action", 9), "used_ns", 77)
    return len(log.lines)


@case("log-actions-miscounted", "§L3.6-3", "consistency", DRAFT, "The outcome counts an action too many.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "actions", log.records[-1]["actions"] + 1)


changed("log-turns-miscounted", "§L3.6-3", "consistency", DRAFT, "The outcome counts no turns.", "outcome", "turns", 0)


changed("log-no-plays", "§L3.3-2", "consistency", DRAFT, "An action is empty.", "action", "action", {})


@case("log-other-termination", "§L3.6-4", "consistency", DRAFT, "A game that the rules ended ends for a timeout.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "termination", "timeout")


@case("log-finished-by-forfeit", "§L3.6-4", "consistency", ABSENT, "A game that a forfeit ended is finished.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "termination", "finished")


# Digest


@case("log-digest-altered", "§L3.6-5 §L6-1", "digest", DRAFT, "The play digest is another.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "play_digest", "0" * 64)


@case(
    "log-digest-with-exact-code",
    "§L6-1 §L6-2",
    "digest",
    "samurai-forfeits",
    "The play digest tells `crashed` from other ends of a process.",
)
def _(log: Breaker) -> int:
    play_line, canonical = checker["play_line"], checker["canonical"]
    text = b"".join(canonical(play_line(record)) + b"\n" for record in log.records)
    assert b'"gone"' in text
    return log.change(len(log.lines), "play_digest", hashlib.sha256(text.replace(b'"gone"', b'"crashed"')).hexdigest())


# Secret


@case("log-other-commitment", "§L3.1-6", "secret", DRAFT, "The commitment is of another deal.")
def _(log: Breaker) -> int:
    return log.change(1, "deal", log.records[0]["deal"] + 1)


changed("log-other-mix", "§L3.1-6", "secret", DRAFT, "The mix is another.", "header", "mix", "0" * 64)
changed("log-other-salt", "§L3.1-6", "secret", DRAFT, "The salt is another.", "header", "salt", "0" * 64)


@case("log-other-seed", "§L3.1-6", "secret", DRAFT, "A bot was sent another seed.")
def _(log: Breaker) -> int:
    seed = log.records[0]["bots"][1]["bot_seed"]
    return log.replace(1, f'"bot_seed":{seed}', f'"bot_seed":{seed + 1}')


@case(
    "log-tie-drawn-otherwise", "§L7-1", "secret", RACE, "A tie was decided in an order that the secret does not give."
)
def _(log: Breaker) -> int:
    """Of two seats that want different cards, so that the game goes the same way."""
    records = log.records
    line = next(
        n
        for n, one in enumerate(records, 1)
        if one.get("tied") and one["n"] == 2 and all(next_one["record"] == "action" for next_one in records[n : n + 2])
    )
    log.change(line, "draw", 1 - records[line - 1]["draw"])
    first = log.lines[line]
    log.delete(line + 1)
    log.insert(line + 2, first)
    return line


# Rules


@case("log-other-rules-version", "§L3.1-4", "rules", DRAFT, "The rules are of another version.")
def _(log: Breaker) -> int:
    version = log.records[0]["settings"]["rules_version"]
    return log.replace(1, f'"rules_version":{version}', f'"rules_version":{version + 1}')


@case("log-other-board-shown", "§L3.1-5", "rules", DRAFT, "The board that bots are sent is not that of the text.")
def _(log: Breaker) -> int:
    board = log.records[0]["board"]
    return log.replace(1, f'"board":{compact(board)}', f'"board":{compact(board | {"cards": board["cards"][::-1]})}')


@case("log-other-draw-asked", "§L3.2-4", "rules", DRAFT, "Chance drew one of more outcomes than the rules ask for.")
def _(log: Breaker) -> int:
    line = log.find("chance", 1)
    return log.change(line, "n", log.records[line - 1]["n"] + 1)


@case("log-not-owed", "§L3.3-1", "rules", DRAFT, "A seat decides out of its turn.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="seize", turn=1)
    return log.replace(line, '"record":"action","seat":0', '"record":"action","seat":1')


@case("log-action-twice", "§L3.3-1", "rules", STANDARD, "A turn is played twice.")
def _(log: Breaker) -> int:
    line = log.find("action", 3, kind="turn")
    log.insert(line + 1, log.lines[line - 1])
    last = len(log.lines)
    log.change(last, "actions", log.records[-1]["actions"] + 1)
    return line + 1


@case("log-illegal", "§L3.3-2", "rules", DRAFT, "A card is taken that was not turned up.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="seize", turn=1)
    return log.change(line, "action", {"plays": [{"card": log.records[1]["events"][0]["data"]["card"]}]})


@case("log-action-with-unknown-key", "§L3.3-2", "rules", DRAFT, "An action has a key that the rules do not know.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="plant", turn=1)
    return log.change(line, "action", log.records[line - 1]["action"] | {"x_mood": "fine"})


@case("log-late-and-was-not", "§L3.4-1", "rules", RACE, "A claim that could be granted was too late.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="seize", turn=1)
    record = log.records[line - 1]
    log.replace(line, '{"record":"action"', '{"record":"late"')
    log.replace(line, f'"events":{compact(record["events"])},', "")
    last = len(log.lines)
    log.change(last, "actions", log.records[-1]["actions"] - 1)
    return line


@case("log-late-of-another-kind", "§L3.4-2", "rules", RACE, "A late claim is of a decision that the seat did not owe.")
def _(log: Breaker) -> int:
    return log.change(log.find("late", 1), "kind", "plant")


@case("log-record-missing", "§L3.2-4", "rules", STANDARD, "A draw is missing.")
def _(log: Breaker) -> int:
    return log.delete(log.find("chance", 3))


@case("log-forfeit-without-debt", "§L3.5-3", "rules", DRAFT, "A seat forfeits that owed nothing.")
def _(log: Breaker) -> int:
    last, turn = len(log.lines), log.records[-2]["turn"]
    forfeit = {"seat": 1, "code": "timeout", "sentence": "seat 1 did not answer in time"}
    events = [{"data": {"event": "forfeited", "seat": 1}}]
    record = {"record": "forfeit", "forfeits": [forfeit], "turn": turn, "events": events, "ms": log.records[-1]["ms"]}
    log.change(last, "termination", "timeout")
    return log.insert(last, compact(record)[:-1])


@case("log-other-winner", "§L3.6-6", "rules", DRAFT, "Winner and loser changed places.")
def _(log: Breaker) -> int:
    return log.change(len(log.lines), "ranks", log.records[-1]["ranks"][::-1])


@case("log-other-score", "§L3.6-6", "rules", DRAFT, "A score is higher.")
def _(log: Breaker) -> int:
    scores = log.records[-1]["scores"]
    return log.change(len(log.lines), "scores", [scores[0] + 1, *scores[1:]])


@case(
    "log-order-of-seats",
    "§L4-3",
    "rules",
    DRAFT,
    "Of two seats that decided at the same time, the second is served first.",
)
def _(log: Breaker) -> int:
    """What the second of them brought about stands after the first, as if that had come last."""
    line = log.find("action", kind="plant", turn=1)
    first, second = log.records[line - 1 : line + 1]
    own = [event for event in second["events"] if event["data"].get("seat") == second["seat"]]
    first["events"] += [event for event in second["events"] if event not in own]
    second["events"] = own
    log.delete(line)
    log.delete(line)
    log.insert(line, compact(first)[:-1])
    log.insert(line, compact(second)[:-1])
    return line + 1


@case("log-option-missing", "§L3.1-4", "rules", DRAFT, "An option of the rules is missing.")
def _(log: Breaker) -> int:
    options = log.records[0]["settings"]["options"]
    rest = {key: value for key, value in options.items() if key != "target"}
    return log.replace(1, f'"options":{compact(options)}', f'"options":{compact(rest)}')


@case("log-teams-invented", "§L3.1-4", "rules", DRAFT, "There are teams in a game in which each plays for itself.")
def _(log: Breaker) -> int:
    margin_ms = f'"margin_ms":{log.records[0]["settings"]["margin_ms"]}'
    return log.replace(1, margin_ms, f'{margin_ms},"teams":[0,1]')


@case("log-event-missing", "§L5-4", "rules", STANDARD, "An event is missing.")
def _(log: Breaker) -> int:
    line = log.find("action", 4, kind="turn")
    return log.change(line, "events", log.records[line - 1]["events"][:-1])


@case("log-event-invented", "§L5-4", "rules", DRAFT, "An event did not happen.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="seize", turn=2)
    scored = {"data": {"event": "bonus", "seat": 0, "kinds": 4, "points": 10}}
    return log.change(line, "events", [*log.records[line - 1]["events"], scored])


@case("log-event-of-another-type", "§L5-4", "rules", DRAFT, "An event has true for 1.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="seize", turn=1, seat=1)
    return log.replace(line, '"event":"seized","seat":1', '"event":"seized","seat":true')


@case("log-secret-told", "§L5-4", "rules", STANDARD, "A hand that only its owner was told of was told to all.")
def _(log: Breaker) -> int:
    line = log.find("action", kind="hand", seat=0)
    return log.replace(line, ',"to":[0]', "")
