"""Which rule of the specification a frame of a bot breaks, and what a frame looks like to a person.

`arena.wire.codec` says that a frame is malformed, in words. Here it gets the number, by looking at the frame again.
"""

from __future__ import annotations

from typing import Any, Final

import msgpack  # type: ignore[import-untyped]
import msgspec

from arena.link.process import printable
from arena.wire.messages import MAX_DEPTH, MAX_FRAME, MAX_INT, MAX_NOTE

LONGEST_HEX: Final = 160
"""Bytes of a frame that are shown."""
LONGEST_DECODED: Final = 1_000
"""Characters of a message that are shown."""
_FROM_REFEREE: Final = frozenset({"welcome", "game_start", "request", "game_over", "goodbye"})


class Map(list[tuple[Any, Any]]):
    """A map as it stands in a frame: pairs, in order, repeated keys and all."""


def rule_broken(frame: bytes) -> str:
    """The number of the rule that a frame breaks which the codec refuses; of several the one that is read first."""
    if len(frame) > MAX_FRAME:
        return "§5.1-4"
    try:
        value = read(frame)
    except msgpack.StackError:
        return "§5.2-6"
    except UnicodeDecodeError:
        return "§5.2-4"
    except (ValueError, TypeError):
        return "§5.1-2"
    if not isinstance(value, Map):
        return "§5.1-3"
    return _in_value(value, 1) or _in_message(dict(value))


def read(frame: bytes) -> Any:
    """A frame's value, maps as `Map`.

    Raises:
        ValueError: It is not one msgpack value.
    """
    return msgpack.unpackb(frame, object_pairs_hook=Map, strict_map_key=False)


def type_is_first(frame: bytes) -> bool:
    """Whether a frame that the codec accepts begins with `type`."""
    value = read(frame)
    return bool(value) and value[0][0] == "type"


def _in_value(value: Any, depth: int) -> str | None:
    if value is None or isinstance(value, (bool, str)):
        return None
    if isinstance(value, int):
        return None if abs(value) <= MAX_INT else "§5.2-5"
    if not isinstance(value, list):
        return "§5.2-3"
    if depth > MAX_DEPTH:
        return "§5.2-6"
    if not isinstance(value, Map):
        return next(filter(None, (_in_value(item, depth + 1) for item in value)), None)
    keys = [key for key, _ in value]
    if not all(isinstance(key, str) for key in keys):
        return "§5.2-1"
    if len({*keys}) < len(keys):
        return "§5.2-2"
    return next(filter(None, (_in_value(item, depth + 1) for _, item in value)), None)


def _in_message(message: dict[str, Any]) -> str:
    kind = message.get("type")
    if not isinstance(kind, str):
        return "§5.3-1"
    if kind in _FROM_REFEREE:
        return "§5.3-6"
    required = {"hello": ("token", "protocol"), "ready": ("game",), "action": ("id", "action"), "error": ("code",)}
    if any(field not in message for field in required.get(kind, ())):
        return "§5.3-2"
    note = message.get("note")
    if kind == "action" and isinstance(note, str) and len(note.encode()) > MAX_NOTE:
        return "§8.6-3"
    # A boolean where a number or a string is due has a rule of its own.
    named = ("token", "protocol", "name", "version", "want", "game", "id", "action", "note", "code", "message")
    return "§5.2-8" if any(isinstance(message.get(field), bool) for field in named) else "§5.3-3"


def decoded(frame: bytes) -> str:
    """A frame as JSON for a person, cut off if it is long; or why it is none."""
    try:
        text = printable(_text(read(frame)))
    except RecursionError:
        return "(nests too deeply to be shown)"
    except (ValueError, TypeError) as error:
        return f"(not one msgpack value: {printable(str(error) or type(error).__name__)[:200]})"
    return text if len(text) <= LONGEST_DECODED else f"{text[:LONGEST_DECODED]}…"


def hexed(frame: bytes) -> str:
    """The bytes of a frame, in groups; only the beginning if it is long."""
    text = frame[:LONGEST_HEX].hex(" ", -4)
    return text if len(frame) <= LONGEST_HEX else f"{text} …"


def _text(value: Any) -> str:
    """JSON, but for what JSON has not: repeated keys stay, binaries and extensions are named."""
    if isinstance(value, Map):
        return "{" + ",".join(f"{_text(key)}:{_text(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, bytes):
        return f"(binary {value[:32].hex()})"
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    names = {None: "null", True: "true", False: "false"}
    return names[value] if value is None or isinstance(value, bool) else str(value)
