"""Keeps the organiser's folders out of text for others: where something lies on their machine is nobody's business.

Hidden are paths that the caller names, and all that lies beside them. Paths that every machine has, such as /usr/lib,
say nothing and stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final

ELSEWHERE: Final = "…"  # what is shown for a folder that has no name of its own here
_EVERYWHERE: Final = frozenset(
    {"bin", "dev", "etc", "home", "lib", "mnt", "opt", "proc", "run", "sbin", "srv", "sys", "tmp", "usr", "var"}
)
"""Folders below / that most machines have: by themselves they tell nothing."""


class Places:
    """Places that nobody is told of, as pairs: a path, and what stands for it.

    >>> Places([("/home/ann/bots/fox", "./fox")]).hide("File /home/ann/bots/fox/bot.py, in /home/ann/x: /usr/lib/y")
    'File ./fox/bot.py, in …/x: /usr/lib/y'
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self.names = tuple((path, name) for path, name in names if _tells(PurePosixPath(path)))
        shown: dict[str, str] = {}
        for path, name in self.names:
            shown.setdefault(path, name)
        for path, _ in self.names:
            for above in PurePosixPath(path).parents:
                if _tells(above):
                    shown.setdefault(str(above), ELSEWHERE)
        self._shown = shown
        longest_first = sorted(shown, key=lambda path: -len(path))
        paths = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<![\w.~-])(?:{paths})(?![\w-])") if paths else None

    def hide(self, text: str) -> str:
        """Returns a text without these places."""
        if self._pattern is None or "/" not in text:
            return text
        return self._pattern.sub(lambda found: self._shown[found[0]], text)

    def hide_all(self, value: Any) -> Any:
        """Returns a value of plain maps, lists and texts without these places."""
        match value:
            case str():
                return self.hide(value)
            case dict():
                return {key: self.hide_all(item) for key, item in value.items()}
            case list() | tuple():
                return [self.hide_all(item) for item in value]
            case _:
                return value


def _tells(folder: PurePosixPath) -> bool:
    """Says whether the path of a folder tells something of its machine."""
    parts = folder.parts[1:]
    return bool(parts) and (parts[0] not in _EVERYWHERE or (len(parts) > 1 and parts[0] != "usr"))
