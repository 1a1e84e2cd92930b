"""Keeps the organiser's folders out of pages: where something lies on their machine is nobody's business.

Laws:
1. What is hidden follows from the database alone. So a site is the same wherever it is made.
2. Hidden are the places of a tournament's bots, of what they run, of its logs and of its database, and all that lies
   beside them. Paths that every machine has, such as /usr/lib, say nothing and stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from arena.link.bots import COMMAND, BotSpec, bundled_folders
from arena.record.log import ActionRecord, ForfeitRecord, LateRecord, Log, Record
from arena.store.records import Entrant, Tournament

ELSEWHERE: Final = "…"
"""What is shown for a folder that has no name of its own here."""
_EVERYWHERE: Final = frozenset(
    {"bin", "dev", "etc", "home", "lib", "mnt", "opt", "proc", "run", "sbin", "srv", "sys", "tmp", "usr", "var"}
)
"""Folders below / that most machines have: by themselves they tell nothing."""


def refs_by_name(entrants: Sequence[Entrant]) -> list[str]:
    """Returns how pages name bots on the command line: bundled ones as always, others as if they lay in this folder.

    A bot that was a command line is named by its program alone.
    """
    bundled = bundled_folders()
    return [_ref(msgspec.convert(entrant.spec, BotSpec), bundled) for entrant in entrants]


def _ref(spec: BotSpec, bundled: dict[str, Path]) -> str:
    if not spec.version:  # a manifest must have one
        return f"{COMMAND}{spec.name} {ELSEWHERE}"
    own = bundled.get(spec.name)
    is_bundled = own is not None and own.parts[-2:] == Path(spec.folder).parts[-2:]  # wherever it is installed
    return spec.name if is_bundled else f"./{spec.name}"


class Places:
    """The places that the pages of a tournament must not show, as pairs: a path, and what stands for it.

    >>> Places([("/home/ann/bots/fox", "./fox")]).hide("File /home/ann/bots/fox/bot.py, in /home/ann/x: /usr/lib/y")
    'File ./fox/bot.py, in …/x: /usr/lib/y'
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self.names = tuple(names)
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

    def hide_in(self, log: Log) -> Log:
        """Returns a log without these places, in what bots said and in what is said of them."""
        return msgspec.structs.replace(log, records=[self._record(record) for record in log.records])

    def _record(self, record: Record) -> Record:
        if isinstance(record, ForfeitRecord):
            said = [msgspec.structs.replace(one, sentence=self.hide(one.sentence)) for one in record.forfeits]
            return msgspec.structs.replace(record, forfeits=said)
        if isinstance(record, ActionRecord | LateRecord) and record.note is not None:
            return msgspec.structs.replace(record, note=self.hide(record.note))
        return record


def _tells(folder: PurePosixPath) -> bool:
    """Says whether the path of a folder tells something of its machine."""
    parts = folder.parts[1:]
    return bool(parts) and (parts[0] not in _EVERYWHERE or (len(parts) > 1 and parts[0] != "usr"))


def places_of(row: Tournament, entrants: Sequence[Entrant], database: Path) -> Places:
    """Returns the places of a tournament."""
    names = [(row.logs, row.id), (str(Path(row.logs).parent), "logs"), (str(database), database.name)]
    for entrant, ref in zip(entrants, refs_by_name(entrants), strict=True):
        spec = msgspec.convert(entrant.spec, BotSpec)
        names.append((spec.folder, "." if ref.startswith(COMMAND) else ref))
        names += [(path, PurePosixPath(path).name) for path in (*spec.command, *spec.reads)]
    return Places((path, name) for path, name in names if path.startswith("/") and _tells(PurePosixPath(path)))
