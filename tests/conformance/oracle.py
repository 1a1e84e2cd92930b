"""Which rule a frame of a bot breaks, worked out a second time and differently from `arena.wire.codec`.

It builds the whole tree of pairs first, and knows the fields by a table of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import msgpack

from arena.wire.messages import MAX_DEPTH, MAX_FRAME, MAX_INT, MAX_NOTE


class Map(list[tuple[Any, Any]]):
    """A map as it stands in a frame: pairs, in order, repeated keys and all."""


def rule_broken(frame: bytes) -> str | None:
    """Returns the number of the rule that a frame breaks, of several the first; None if it breaks none."""
    if len(frame) > MAX_FRAME:
        return "§5.1-4"
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
    return _in_value(value, 1) or _in_message(dict(value))


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
    keys: list[str] = []
    for key, _ in value:
        if not isinstance(key, str):
            return "§5.2-1"
        if key in keys:
            return "§5.2-2"
        keys.append(key)
    return next(filter(None, (_in_value(item, depth + 1) for _, item in value)), None)


def _text(longest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and len(value) <= longest


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_integer(value) and value >= 1


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and re.search(r"^[0-9]{1,4}\.[0-9]{1,4}$", value) is not None


def _is_map(value: Any) -> bool:
    return isinstance(value, Map)


def _is_want(value: Any) -> bool:
    return isinstance(value, list) and not _is_map(value) and len(value) <= 16 and all(map(_text(64), value))


def _is_note(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_maybe_integer(value: Any) -> bool:
    return value is None or _is_integer(value)


FROM_REFEREE: Final = frozenset({"welcome", "game_start", "request", "game_over", "goodbye"})
FIELDS: Final[dict[str, dict[str, Callable[[Any], bool]]]] = {
    "hello": {"token": _text(128), "protocol": _is_version, "name": _text(64), "version": _text(64), "want": _is_want},
    "ready": {"game": _is_number},
    "action": {"id": _is_number, "action": _is_map, "note": _is_note},
    "error": {"code": _text(64), "message": _text(4096), "id": _is_maybe_integer},
}
REQUIRED: Final = {"hello": {"token", "protocol"}, "ready": {"game"}, "action": {"id", "action"}, "error": {"code"}}


def _in_message(message: dict[str, Any]) -> str | None:
    kind = message.get("type")
    if not isinstance(kind, str):
        return "§5.3-1"
    if kind in FROM_REFEREE:
        return "§5.3-6"
    if kind not in FIELDS:
        return None
    for field, value in message.items():
        if field in FIELDS[kind] and not FIELDS[kind][field](value):
            if field == "want" and isinstance(value, list) and not _is_map(value) and len(value) <= 16:
                value = next(item for item in value if not _text(64)(item))
            return "§5.2-8" if isinstance(value, bool) else "§5.3-3"
    if not REQUIRED[kind] <= message.keys():
        return "§5.3-2"
    note = message.get("note")
    return "§8.6-3" if kind == "action" and note and len(note.encode()) > MAX_NOTE else None
