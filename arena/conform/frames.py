"""What a frame looks like to a person, whatever is wrong with it."""

from __future__ import annotations

from typing import Any, Final

import msgpack  # type: ignore[import-untyped]
import msgspec

from arena.text import plain

LONGEST_HEX: Final = 160
"""Bytes of a frame that are shown."""
LONGEST_DECODED: Final = 1_000
"""Characters of a message that are shown."""


class Map(list[tuple[Any, Any]]):
    """A map as it stands in a frame: pairs, in order, repeated keys and all."""


def _read(frame: bytes) -> Any:
    """A frame's value, maps as `Map`.

    Raises:
        ValueError: It is not one msgpack value.
    """
    return msgpack.unpackb(frame, object_pairs_hook=Map, strict_map_key=False)


def type_is_first(frame: bytes) -> bool:
    """Whether a frame that the codec accepts begins with `type`."""
    value = _read(frame)
    return bool(value) and value[0][0] == "type"


def decoded(frame: bytes) -> str:
    """A frame as JSON for a person, cut off if it is long; or why it is none."""
    try:
        text = plain(_text(_read(frame)))
    except RecursionError:
        return "(nests too deeply to be shown)"
    except (ValueError, TypeError) as error:
        return f"(not one msgpack value: {plain(str(error) or type(error).__name__)[:200]})"
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
