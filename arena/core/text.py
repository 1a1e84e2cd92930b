"""Makes text from strangers (names, notes, output, messages of bots, boards, file names) safe to show.

The one decision, for terminals, tables, CSV, JSON, pictures and errors: a character that `str.isprintable` does not
call printable is spelled out. These are control characters, escape sequences, ends of lines, characters that turn the
direction of writing or are invisible, lone surrogates, and what Unicode has not assigned.

Functions here make the text; `arena/cli/output.py` and `arena/cli/group.py` see to it that nothing else is printed.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from typing import Any, Final

_EMOJI: Final = "[\u2600-\u27bf\U0001f300-\U0001faff]"
_JOINED: Final = rf"(?<={_EMOJI})\\u200d(?={_EMOJI})|(?<=\ufe0f)\\u200d(?={_EMOJI})"
"""Matches what joins two emoji, spelled out."""
MOST_DISPLAYED: Final = 32  # the most characters of a display name
_BLANK: Final = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0e\U000e0100-\U000e01ef]"
    f"|(?<!{_EMOJI})\ufe0f"
)
"""Matches what `str.isprintable` calls printable and nobody sees."""
_MOST_MARKS: Final = 4  # the most combining marks on one character, as Unicode's security mechanisms (UTS 39) have it


def plain(text: str) -> str:
    r"""Spells out everything in an untrusted text that a terminal could act on.

    What is left is one line of visible characters. It may still hold brackets: hand it to `rich.text.Text`, never to a
    function that reads markup. What joins two emoji to one is left.

    >>> print(plain("a\nb \x1b[2J"), plain("a\u200db"), len(plain("\U0001f469\u200d\U0001f680")))
    a\nb \x1b[2J a\u200db 3
    """
    if text.isprintable():
        return text
    spelled = (char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return re.sub(_JOINED, "\u200d", "".join(spelled))


def display_fault(name: str) -> str:
    """Returns why a text cannot be a display name, in any script, beside a bot's name; empty if it can.

    >>> display_fault("Füchsin 狐"), display_fault("狐" * 33)
    ('', 'expected at most 32 characters, got: 33')
    """
    marks = (unicodedata.category(char)[0] == "M" for char in unicodedata.normalize("NFD", f"\n{name}"))
    if len(name) > MOST_DISPLAYED:
        return f"expected at most {MOST_DISPLAYED} characters, got: {len(name):,}"
    if plain(name) != name or re.search(_BLANK, name):
        return f"expected characters that can be seen and turn no text around, got: {name!a}"
    if name != name.strip():
        return f"expected no blank at its beginning or end, got: {name!r}"
    if any(is_mark and sum(1 for _ in run) > _MOST_MARKS for is_mark, run in groupby(marks)):
        return f"expected at most {_MOST_MARKS} accents and marks on a character, got: {name!a}"
    return ""


def plain_lines(text: str) -> str:
    """Returns a text of ours with several lines, each made plain."""
    return text if text.isprintable() else "\n".join(map(plain, text.split("\n")))


def plain_json(document: str, encoding: str = "utf-8") -> str:
    r"""Escapes in a JSON document what `plain` spells out, and all but ASCII if the encoding is none of Unicode.

    It means the same and shows nothing hidden.

    >>> print(plain_json('{"name": "\x9b2J \U000e0041"}'), plain_json('"±"', "ascii"))
    {"name": "\u009b2J \udb40\udc41"} "\u00b1"
    """
    whole = encoding.lower().startswith("utf")
    return "\n".join(
        line
        if line.isprintable() and (whole or line.isascii())
        else "".join(char if char.isprintable() and (whole or char.isascii()) else _units(char) for char in line)
        for line in document.split("\n")
    )


def _units(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def without_surrogates(value: Any) -> Any:
    r"""Returns a value of plain maps, lists and texts with lone surrogates spelled out: JSON cannot hold them.

    They come from names of files that are not in UTF-8.

    >>> without_surrogates({"log": ["a\udcff"]})
    {'log': ['a\\udcff']}
    """
    match value:
        case str():
            return "".join(plain(char) if "\ud800" <= char <= "\udfff" else char for char in value)
        case dict():
            return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
        case list() | tuple():
            return [without_surrogates(item) for item in value]
        case _:
            return value


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun.

    >>> counted(1, "rated game"), counted(2, "game"), counted(0, "match")
    ('1 rated game', '2 games', '0 matches')
    """
    ending = "" if number == 1 else "es" if noun.endswith(("ch", "s", "sh", "x")) else "s"
    return f"{number} {noun}{ending}"
