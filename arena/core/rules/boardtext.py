"""What the files of all boards have in common: a header of `key: value` lines, then a section that a person draws.

A reader goes on after a problem so as to find the others, each with its line and column. `boards/README.md` describes
the formats.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from arena.core.errors import BoardError

LONGEST: Final = 500
"""Characters that a value of the header may have."""


def find_section(lines: Sequence[str], section: str) -> int | None:
    """Returns the index of the line with which a section begins, or None."""
    start = re.compile(rf"{section}\s*:")
    return next((index for index, line in enumerate(lines) if start.match(line)), None)


class BoardText:
    """Reads one text. A game's own reader knows the section, and further keys."""

    section: ClassVar[str]
    """Its name: `map` for a line `map:`."""
    keys: ClassVar[tuple[str, ...]] = ("name", "source")
    """The keys that a header must have, each once."""
    more_keys: ClassVar[tuple[str, ...]] = ()
    """Beginnings of other entries, which `read_other` reads."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.lines = self.text.split("\n")
        self.found: list[BoardError] = []
        self.header: dict[str, str] = {}
        head = find_section(self.lines, self.section)
        if head is None:
            end = len(self.text.rstrip("\n").split("\n"))
            expected = f"a line `{self.section}:` with the {self.section} below it"
            self.problem(end, 1, expected, "the end of the file", "add both")
        else:
            self._read_header(head)
            self.read_section(head)
        self.problems = sorted(self.found, key=lambda problem: (problem.line, problem.column))

    def problem(self, line: int, column: int, expected: str, got: str, remedy: str) -> None:
        """Notes what is wrong at a place; line and column count from 1."""
        self.found.append(BoardError(self.source, line, column, f"expected {expected}, got {got}: {remedy}"))

    def read_section(self, head: int) -> None:
        """Reads what is below line `head`, counted from 0, of the section's name."""
        raise NotImplementedError

    def read_value(self, line: int, column: int, key: str, value: str) -> None:
        """Reads the value of one of `keys`."""

    def read_other(self, line: int, column: int, key: str, value: str) -> None:
        """Reads an entry whose key begins like one of `more_keys`."""
        raise NotImplementedError

    def _read_header(self, end: int) -> None:
        for number, line in enumerate(self.lines[:end], start=1):
            if line.strip() and not line.startswith("#"):
                self._read_entry(number, line)
        for key in self.keys:
            if key not in self.header:
                self.problem(end + 1, 1, f"a line `{key}: ...` above `{self.section}:`", "none", "add it")
        if extra := self.lines[end].partition(":")[2].strip():
            column = self.lines[end].index(extra) + 1
            remedy = f"start the {self.section} on the next line"
            self.problem(end + 1, column, f"nothing after `{self.section}:`", repr(extra), remedy)

    def _read_entry(self, number: int, line: str) -> None:
        key, colon, value = line.partition(":")
        column = len(line) - len(value.lstrip()) + 1
        key, value = key.strip(), value.strip()
        known = (*self.keys, *self.more_keys, self.section)
        if not colon:
            expected = f"`key: value`, a `#` comment or `{self.section}:`"
            self.problem(number, 1, expected, repr(key), "write it as one of these")
        elif self.more_keys and key.startswith(self.more_keys):
            self._check_shown(number, column, value)
            self.read_other(number, column, key, value)
        elif key not in self.keys:
            from difflib import get_close_matches

            close = get_close_matches(key.lower(), known, n=1)
            remedy = f"did you mean `{close[0]}`?" if close else "remove it, or make it a comment with `#`"
            self.problem(number, 1, f"one of the keys {', '.join(known)}", repr(key), remedy)
        elif key in self.header:
            self.problem(number, 1, f"the key `{key}` once", "it again", "remove one of the two lines")
        else:
            self.header[key] = value
            self._check_shown(number, column, value)
            if value:
                self.read_value(number, column, key, value)
            else:
                self.problem(number, column, f"a value after `{key}:`", "nothing", "write one")

    def _check_shown(self, number: int, column: int, value: str) -> None:
        """Checks a value that will be shown to people, in tables and pictures."""
        hidden = next((at for at, char in enumerate(value) if not char.isprintable()), None)
        if hidden is not None:
            self.problem(number, column + hidden, "visible characters", ascii(value[hidden]), "remove it")
        elif len(value) > LONGEST:
            self.problem(number, column + LONGEST, f"at most {LONGEST} characters", str(len(value)), "shorten it")
