"""Which rule a frame of a bot breaks, worked out a second time and differently from `arena.wire.codec`.

It builds the whole tree of pairs first, and knows the fields by a table of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

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
    return _in_value(value, 1) or _in_message(value)


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


Check: TypeAlias = Callable[[Any], str | None]
"""Returns the number of the rule that a value breaks, or None."""


def _bad(value: Any) -> str:
    return "§5.2-8" if isinstance(value, bool) else "§5.3-3"


def _that(allows: Callable[[Any], bool]) -> Check:
    return lambda value: None if allows(value) else _bad(value)


def _text(longest: int) -> Check:
    return _that(lambda value: isinstance(value, str) and len(value) <= longest)


def _form(pattern: str) -> Check:
    return _that(lambda value: isinstance(value, str) and re.search(pattern, value) is not None)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _array(item: Check, longest: int = 16) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, list) or isinstance(value, Map) or len(value) > longest:
            return _bad(value)
        return next(filter(None, map(item, value)), None)

    return check


def _names_by_rules(value: Any) -> str | None:
    if not isinstance(value, Map) or len(value) > 16:
        return _bad(value)
    return next(filter(None, (_text(64)(key) or _array(_text(64))(names) for key, names in value)), None)


def _fields(checks: dict[str, Check], required: set[str]) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, Map):
            return _bad(value)
        broken = next(filter(None, (checks[key](item) for key, item in value if key in checks)), None)
        return broken or (None if required <= {key for key, _ in value} else "§5.3-2")

    return check


_NUMBER: Final = _that(lambda value: _is_integer(value) and value >= 1)
_VERSION: Final = _form(r"^[0-9]{1,4}\.[0-9]{1,4}$")
_MAP: Final = _that(lambda value: isinstance(value, Map))
_NOTE: Final = _that(lambda value: value is None or isinstance(value, str))
_MAYBE_INTEGER: Final = _that(lambda value: value is None or _is_integer(value))
_NAMES: Final = _array(_text(64))
_RULES: Final = _array(_fields({"name": _text(64), "versions": _array(_NUMBER)}, {"name", "versions"}))


FROM_REFEREE: Final = frozenset({"welcome", "game_start", "request", "game_over", "goodbye"})
MESSAGES: Final[dict[str, Check]] = {
    "hello": _fields(
        {
            "token": _text(128), "protocol": _VERSION, "name": _text(64), "version": _text(64),
            "want": lambda value: (_names_by_rules if isinstance(value, Map) else _NAMES)(value), "rules": _RULES,
            "capabilities": _NAMES,
            "entropy": _that(lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None),
        },
        {"token", "protocol"},
    ),
    "ready": _fields({"game": _NUMBER}, {"game"}),
    "action": _fields({"id": _NUMBER, "action": _MAP, "note": _NOTE}, {"id", "action"}),
    "error": _fields({"code": _text(64), "message": _text(4096), "id": _MAYBE_INTEGER}, {"code"}),
}  # fmt: skip


def _in_message(message: Map) -> str | None:
    fields = dict(message)
    kind = fields.get("type")
    if not isinstance(kind, str):
        return "§5.3-1"
    if kind in FROM_REFEREE:
        return "§5.3-6"
    if kind not in MESSAGES:
        return None
    note = fields.get("note")
    return MESSAGES[kind](message) or (
        "§8.6-3" if kind == "action" and note and len(note.encode()) > MAX_NOTE else None
    )
