"""Reads TOML, and finds the line of a key in it, so that errors can name it."""

from __future__ import annotations

import re
from typing import Any, Final

_MOST_DOTS: Final = 200  # In a line. Of a key of 64 KiB with 32,000 dots Python's reader makes 4 GB in half a minute.


def table_of(text: str) -> dict[str, Any]:
    """Returns what a TOML file says.

    Raises:
        ValueError: It is none, or one that is costly to read.
    """
    import tomllib  # not before: most commands read none

    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise ValueError(f"more than {_MOST_DOTS} dots in line {number}; write a long array on several lines")
    try:
        return tomllib.loads(text)  # it raises ValueError for numbers that are too long, too
    except RecursionError:
        raise ValueError("one that is nested too deeply") from None


def line_of(text: str, section: str, key: str = "") -> int | None:
    r"""Returns the line, from 1, of a section or of a key in it; None if that cannot be told.

    Args:
        section: The name of the section; empty stands for what comes before the first.
        key: The key; empty stands for the section itself.

    >>> line_of("[game]\nrules = 'samurai'\n", "game", "rules")
    2
    """
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[([^\[\]]+)\]", line):
            here = re.sub(r"[\s\"']", "", header[1])
            if here == section and not key:
                return number
        elif here == section and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return None
