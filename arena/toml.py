"""Finds the line of a key in a TOML file, so that errors can name it."""

from __future__ import annotations

import re


def line_of(text: str, section: str, key: str = "") -> int | None:
    r"""Returns the line, from 1, of a section or of a key in it; None if that cannot be told.

    Args:
        text: The file.
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
