"""Reading what came from a bot, field by field. What cannot be read is malformed; the error names the place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.core.errors import MalformedAction
from arena.core.types import Payload

_KINDS = {list: "a list", str: "a string", int: "an integer", bool: "true or false"}


def field(entry: Payload, key: str, kind: type, path: str) -> Any:
    """Returns the value of a key, which must be a list, str, int or bool, as `kind` says; none is taken for another.

    Raises:
        MalformedAction: It is missing, or of another kind.
    """
    value = entry.get(key)
    if type(value) is not kind:
        got = f"got: {value!r:.40}" if key in entry else "it is missing"
        raise MalformedAction(f"expected '{key}' to be {_KINDS[kind]}, {got} - at {path}.{key}")
    return value


def named(value: Any, index: Mapping[str, Any], what: str, path: str) -> Any:
    """Returns what a name stands for in `index`; `what` says what it names, as in "a tile".

    Raises:
        MalformedAction: It is none of the names.
    """
    if not isinstance(value, str) or value not in index:
        raise MalformedAction(f"expected {what}, one of {', '.join(index)}, got: {value!r:.40} - at {path}")
    return index[value]


def maps(action: Payload, key: str, what: str) -> Iterator[tuple[str, Payload]]:
    """Yields the maps in a list, each with its place; `what` says what each is, as in "a play".

    Raises:
        MalformedAction: There is no list, or an item is no map.
    """
    for index, entry in enumerate(field(action, key, list, "$")):
        path = f"$.{key}[{index}]"
        if not isinstance(entry, dict):
            raise MalformedAction(f"expected {what} as a map, got: {entry!r:.40} - at {path}")
        yield path, entry
