"""Checks the test vectors against messages.toml, league.toml and the schemas, with a receiver that is written from
SPEC.md and LEAGUE.md alone.

    python protocol/check_vectors.py       exit with 1 if anything is wrong, and say what

It needs Python 3.11, msgpack and jsonschema, and no program that speaks the protocols. Each file must fit
vectors/vectors.schema.json; each frame must be read, ignored or refused as its vector says; each dialogue must go as
written. Those of vectors/league are frames of a league's door. `broken_rule` and `Session` are also a plain second
opinion on what a receiver of your own does.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
from jsonschema import Draft202012Validator

FOLDER = Path(__file__).resolve().parent
DATA: dict[str, Any] = tomllib.loads((FOLDER / "messages.toml").read_text(encoding="utf-8"))
MESSAGES: dict[str, Any] = DATA["messages"]
LIMITS: dict[str, int] = DATA["limits"]
LEAGUE: dict[str, Any] = tomllib.loads((FOLDER / "league.toml").read_text(encoding="utf-8"))
CODES = {
    "§5.1-4": "oversized",
    "§5.1-5": "oversized",
    "§5.3-6": "protocol_violation",
    "§8.1-2": "bad_token",
    "§8.1-3": "unsupported_version",
}
"""By rule, the code of an `error` about a frame that breaks it; all others of §5 and §8.6 are `malformed`."""
LEAGUE_CODES = {"§D4-3": "too_large", "§5.3-6": "protocol"}
"""The same for a league's door."""


class Protocol(NamedTuple):
    """What differs between the two protocols: SPEC.md's and that of a league's door, whose frames follow its rules."""

    messages: dict[str, Any]
    limits: dict[str, int]
    codes: dict[str, str]
    oversized: dict[str, str]
    """By sender the rule that a frame breaks which is too long."""
    strict: str
    """The sender who may not send what only the other one sends."""
    more: dict[str, tuple[type, ...]]
    """By sender the kinds of values beside those of SPEC.md."""


SPEC = Protocol(MESSAGES, LIMITS, CODES, {"bot": "§5.1-4", "referee": "§5.1-5"}, "bot", {"bot": (), "referee": ()})
DOOR = Protocol(
    LEAGUE["messages"],
    LEAGUE["limits"],
    LEAGUE_CODES,
    {"author": "§D4-3", "door": "§D4-3"},
    "author",
    {"author": (bytes,), "door": (bytes,)},
)


class Refused(Exception):
    """A frame that breaks a rule."""

    def __init__(self, code: str, rule: str) -> None:
        """Says which code to answer with, and the number of the rule."""
        super().__init__(f"{code} ({rule})")
        self.code = code
        self.rule = rule


# Frames


class Map(list[tuple[Any, Any]]):
    """A map as it stands in a frame: pairs, in order, repeated keys and all."""


def read(frame: bytes, sender: str, protocol: Protocol = SPEC) -> dict[str, Any] | None:
    """Returns the message of a frame, without the fields that are not known; None for one that is ignored.

    Raises:
        Refused: The frame breaks a rule.
    """
    if rule := broken_rule(frame, sender, protocol):
        raise Refused(protocol.codes.get(rule, "malformed"), rule)
    message = msgpack.unpackb(frame)
    if not _is_of(message["type"], sender, protocol):
        return None
    return {"type": message["type"]} | _known(message, protocol.messages[message["type"]]["fields"])


def _known(value: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, item in value.items():
        if name in fields:
            inner = fields[name].get("items", fields[name])
            if "fields" in inner and isinstance(item, list):
                item = [_known(each, inner["fields"]) for each in item]
            elif "fields" in inner and isinstance(item, dict):
                item = _known(item, inner["fields"])
            found[name] = item
    return found


def _is_of(kind: str, sender: str, protocol: Protocol) -> bool:
    return kind in protocol.messages and protocol.messages[kind]["from"] in (sender, "either")


def broken_rule(frame: bytes, sender: str = "bot", protocol: Protocol = SPEC) -> str | None:
    """Returns the number of the rule that a frame breaks, of several the first; None if it breaks none.

    First comes what concerns the frame as a whole, then its values from the start, then the message's fields from the
    start, then fields that are missing.
    """
    if len(frame) > protocol.limits[f"{sender}_frame"]:
        return protocol.oversized[sender]
    try:
        value = msgpack.unpackb(frame, object_pairs_hook=Map, strict_map_key=False)
    except msgpack.StackError:
        return "§5.2-6"
    except UnicodeDecodeError:
        return "§5.2-4"
    except ValueError:
        return "§5.1-2"
    if not isinstance(value, Map):
        return "§5.1-3"
    return _in_value(value, 1, protocol, protocol.more[sender]) or _in_message(dict(value), sender, protocol)


def _in_value(value: Any, depth: int, protocol: Protocol, more: tuple[type, ...]) -> str | None:
    if value is None or isinstance(value, bool | str):
        return None
    if isinstance(value, int):
        return None if abs(value) <= protocol.limits["integer"] else "§5.2-5"
    if isinstance(value, more) and not (isinstance(value, float) and not math.isfinite(value)):
        return None
    if not isinstance(value, list):
        return "§5.2-3"
    if depth > protocol.limits["depth"]:
        return "§5.2-6"
    if not isinstance(value, Map):
        return _first(_in_value(item, depth + 1, protocol, more) for item in value)
    keys: list[str] = []
    for key, _ in value:
        if not isinstance(key, str):
            return "§5.2-1"
        if key in keys:
            return "§5.2-2"
        keys.append(key)
    return _first(_in_value(item, depth + 1, protocol, more) for _, item in value)


def _in_message(message: dict[str, Any], sender: str, protocol: Protocol) -> str | None:
    kind = message.get("type")
    if not isinstance(kind, str):
        return "§5.3-1"
    if kind not in protocol.messages:
        return None
    if not _is_of(kind, sender, protocol):
        return "§5.3-6" if sender == protocol.strict else None
    if rule := _in_fields(message, protocol.messages[kind]["fields"]):
        return rule
    note = message.get("note")
    return "§8.6-3" if kind == "action" and note and len(note.encode()) > protocol.limits["note"] else None


def _in_fields(value: dict[str, Any], fields: dict[str, Any]) -> str | None:
    wrong = _first(_in_type(item, fields[name]) for name, item in value.items() if name in fields)
    missing = any(field.get("required") and name not in value for name, field in fields.items())
    return wrong or ("§5.3-2" if missing else None)


PYTHON_TYPES: dict[str, type] = {
    "string": str, "integer": int, "boolean": bool, "array": list, "map": Map, "binary": bytes,
}  # fmt: skip


def _in_type(value: Any, kind: dict[str, Any]) -> str | None:
    """Returns the rule that a value breaks which stands where a type is wanted."""
    if value is None:
        return None if kind.get("nil") else "§5.3-3"
    if not _is_a(value, kind["type"]):
        if "or" in kind:
            return _in_type(value, kind["or"])
        return "§5.2-8" if isinstance(value, bool) else "§5.3-3"
    size = value if kind["type"] == "integer" else len(value) if kind["type"] != "boolean" else 0
    if not kind.get("at_least", size) <= size <= kind.get("at_most", size):
        return "§5.3-3"
    if "pattern" in kind and not re.search(kind["pattern"].replace("$", r"\Z"), value):
        return "§5.3-3"
    if "items" in kind:
        return _first(_in_type(item, kind["items"]) for item in value)
    if "fields" in kind:
        return _in_fields(dict(value), kind["fields"])
    pairs = value if isinstance(value, Map) else []
    anything: dict[str, Any] = {}
    return _first(
        _in_type(item, wanted)
        for pair in pairs
        for item, wanted in zip(pair, (kind.get("keys", anything), kind.get("values", anything)), strict=True)
        if wanted
    )


def _is_a(value: Any, name: str) -> bool:
    if name in ("integer", "array"):
        return isinstance(value, PYTHON_TYPES[name]) and not isinstance(value, bool | Map)
    return isinstance(value, PYTHON_TYPES[name])


def _first(rules: Iterator[str | None]) -> str | None:
    return next(filter(None, rules), None)


# Dialogues


class Session:
    """The referee's side of a session (§6): what may come and go in which state."""

    def __init__(self, token: str) -> None:
        """Begins a session in which `token` is the right one."""
        self.state = "new"
        self._token = token
        self._owed: tuple[str, int] | None = None
        self._lapsed: set[tuple[str, int]] = set()
        self._numbers = {"game_start": 0, "request": 0}

    def send(self, message: dict[str, Any]) -> str | None:
        """Takes a message of the referee. Returns what is wrong with it, or None."""
        kind = message["type"]
        after = "closed" if kind == "error" and self.state != "closed" else DATA["states"][self.state].get(kind)
        if after is None:
            return f"expected a message that may be sent in state {self.state}, got: {kind}"
        number = message.get("game", message.get("id"))
        if kind in self._numbers:
            self._numbers[kind] += 1
            if number != self._numbers[kind]:
                return f"expected number {self._numbers[kind]}, got: {number}"
            self._owed = ("ready" if kind == "game_start" else "action", self._numbers[kind])
        elif kind == "game_over":
            if number != self._numbers["game_start"]:
                return f"expected game {self._numbers['game_start']}, got: {number}"
            if self._owed is not None:
                self._lapsed.add(self._owed)
                self._owed = None
        self.state = after
        return None

    def receive(self, frame: bytes) -> dict[str, Any] | None:
        """Takes a frame of the bot. Returns the message, or None if it is ignored.

        Raises:
            Refused: It is not allowed. The state stays.
        """
        message = None if self.state == "closed" else read(frame, "bot")
        if message is None or message["type"] == "error":
            return message
        if message["type"] == "hello":
            self._greet(message)
        else:
            answer = (message["type"], message["id"] if message["type"] == "action" else message["game"])
            if answer in self._lapsed:
                self._lapsed.remove(answer)
                return None
            if answer != self._owed:
                raise Refused("protocol_violation", "§6-1")
            self._owed = None
        self.state = DATA["states"][self.state][message["type"]]
        return message

    def _greet(self, hello: dict[str, Any]) -> None:
        if self.state != "new":
            raise Refused("protocol_violation", "§8.1-1")
        if hello["token"] != self._token:
            raise Refused(CODES["§8.1-2"], "§8.1-2")
        if hello["protocol"].split(".")[0] != DATA["protocol"].split(".")[0]:
            raise Refused(CODES["§8.1-3"], "§8.1-3")


# The check


def load(path: Path) -> Any:
    """Returns the contents of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def frame_of(text: str) -> bytes:
    """Returns the bytes that a vector writes as `hex`: parts between blanks, `hex*count` for one that repeats."""
    parts = (part.partition("*") for part in text.split())
    return b"".join(bytes.fromhex(unit) * int(count or 1) for unit, _, count in parts)


SCHEMAS = {name: Draft202012Validator(load(FOLDER / "schemas" / f"{name}.json")) for name in MESSAGES}


def _with_binary(value: Any) -> Any:
    """Returns what a vector says that was decoded, with its binary values (LEAGUE.md §12)."""
    if isinstance(value, dict):
        inner = {key: _with_binary(item) for key, item in value.items()}
        return bytes.fromhex(value["$hex"]) if inner.keys() == {"$hex"} else inner
    return [_with_binary(item) for item in value] if isinstance(value, list) else value


def complaints_of_league(vector: dict[str, Any]) -> Iterator[str]:
    """Yields what is wrong with the vector of a frame of a league's door."""
    try:
        message = read(frame_of(vector["hex"]), vector["from"], DOOR)
    except Refused as refused:
        if (refused.code, refused.rule) != (vector.get("error"), vector.get("rule")):
            yield f"expected {vector.get('error', 'a message')} by {vector.get('rule')}, got: {refused}"
        return
    if "error" in vector:
        yield f"expected {vector['error']}, got: {message}"
    elif message != (wanted := _with_binary(vector["decoded"])):
        yield f"expected {wanted}, got: {message}"


def complaints_about(vector: dict[str, Any]) -> Iterator[str]:
    """Yields what is wrong with the vector of a frame."""
    try:
        message = read(frame_of(vector["hex"]), vector["from"])
    except Refused as refused:
        if refused.code != vector.get("error"):
            yield f"expected {vector.get('error', 'a message')}, got: {refused}"
        elif refused.rule not in vector["spec"]:
            yield f"expected the rule that is broken among {', '.join(vector['spec'])}, got: {refused.rule}"
        return
    if "error" in vector:
        yield f"expected {vector['error']}, got: {message}"
    elif message != vector["decoded"]:
        yield f"expected {vector['decoded']}, got: {message}"
    elif message is not None:
        for error in SCHEMAS[message["type"]].iter_errors(message):
            yield f"expected what the schema of {message['type']} says, got: {error.message}"


def complaints_in(dialogue: dict[str, Any]) -> Iterator[str]:
    """Yields what is wrong with a dialogue."""
    session, want, rules = Session(dialogue["token"]), [], ""
    for number, step in enumerate(dialogue["steps"], start=1):
        frame, decoded = frame_of(step["hex"]), step.get("decoded")
        if step["from"] == "referee":
            rules = decoded.get("rules", rules)
            wrong = [*complaints_about({**step, "spec": dialogue["spec"]}), session.send(decoded)]
            wrong.append(_sent(decoded, want.get(rules, []) if isinstance(want, dict) else want))
            yield from (f"step {number}: {text}" for text in wrong if text)
        else:
            expected = {"error": step.get("error"), "message": decoded}
            try:
                got = {"error": None, "message": session.receive(frame)}
            except Refused as refused:
                got = {"error": refused.code, "message": None}
            if got != expected:
                yield f"step {number}: expected {expected}, got: {got}"
            if (got["message"] or {}).get("type") == "hello":
                want = decoded.get("want", [])
        if session.state != step["state"]:
            yield f"step {number}: expected state {step['state']}, got: {session.state}"


def _sent(message: dict[str, Any], want: list[str]) -> str | None:
    """Returns what is wrong with a message to a bot that wants some fields (§8.5-2, §8.7-2 and -3)."""
    optional = {"view", "events", "legal"}
    if message["type"] == "request" and optional & message.keys() != optional & {*want}:
        return f"expected a request with {want}, got: {sorted(message)}"
    if message["type"] == "game_over" and ("events" in message) != ("events" in want):
        return f"expected events where they are wanted, got: {sorted(message)}"
    if message["type"] == "game_over" and (message["ranks"] == []) != (message["termination"] == "interrupted"):
        return f"expected no ranks if interrupted and only then, got: {message['ranks']}"
    return None


def complaints() -> Iterator[str]:
    """Yields what is wrong with any vector."""
    schema = Draft202012Validator(load(FOLDER / "vectors" / "vectors.schema.json"))
    for path in sorted((FOLDER / "vectors").rglob("*.json")):
        about = complaints_of_league if path.parent.name == "league" else complaints_about
        content = load(path)
        if content.get("$schema", "").endswith("vectors.schema.json"):
            for error in schema.iter_errors(content):
                yield f"{path.name}: {error.message[:200]} - at {error.json_path}"
        if "vectors" in content:
            for vector in content["vectors"]:
                yield from (f"{path.name}, {vector['id']}: {text}" for text in about(vector))
        if "steps" in content:
            yield from (f"{path.name}: {text}" for text in complaints_in(content))


def main() -> int:
    """Prints what is wrong. Returns the exit status."""
    found = list(complaints())
    for text in found:
        print(text, file=sys.stderr)
    if not found:
        print("Every vector is as messages.toml, league.toml, the schemas and section 6 of SPEC.md say.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
