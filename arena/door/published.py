"""Reads what the league publishes. That is all that the door knows of the league.

Files below `published/`; their form is that of `protocol/LEAGUE.md`, section 7:

    league.json                          the league itself: name, game, time, level, remote
    keys.json                            {public key: author}
    standings.json                       {season, digest, items: […]}
    authors/NAME/status.json             {versions: […], notices: […]}
    authors/NAME/games-N.json            {games: […]}, a higher N later, in a file the latest last
    answers/ID.json                      the answer to an order
    logs/GAME.jsonl.zst                  what everybody may see of a game
    own/NAME/GAME.jsonl.zst              what this author may see of it, where that is more
    reports/NAME/BOT/NUMBER/KIND.json    the report of a step

No name from a message becomes a path before its form was checked, and an author's own name comes from `keys.json`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from arena import files
from arena.door.messages import MAX_PART, FromDoor, Part, Played, Table, Versions
from arena.door.refusals import Refusal, unknown
from arena.errors import ArenaError
from arena.types import Payload

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_MOST_ROWS: Final = 500
"""Rows of the standings in one answer."""
_MOST_VERSIONS: Final = 500
_MOST_NOTICES: Final = 100
_KEPT: Final = 512
"""Documents that are kept in memory, as long as their files stay as they are."""
_LOST: Final = frozenset({"lost", "forfeits"})


class _Unreadable(ArenaError):
    """A published file is not there, or cannot be used."""


class Published:
    """The folder `published/` of a league."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[Path, tuple[tuple[int, ...], Any]] = {}
        self._digests: dict[Path, tuple[tuple[int, ...], str]] = {}

    def league(self) -> Payload:
        """Returns what the league says about itself; nothing if it has not published yet."""
        return self._document(self._folder / "league.json")

    def author_of(self, key: str) -> str | None:
        """Returns the author to whom a public key belongs now, or None."""
        author = self._document(self._folder / "keys.json").get(key)
        return author if isinstance(author, str) and _NAME.match(author) else None

    def versions(self, author: str) -> list[Payload]:
        """Returns the author's versions, as published."""
        return _maps(self._status(author), "versions")

    def status(self, author: str, bot: str, number: int) -> FromDoor:
        """Returns how the author's versions stand."""
        versions = [each for each in self.versions(author) if bot in ("", each.get("bot"))]
        notices = _maps(self._status(author), "notices")
        return Versions(id=number, versions=tuple(versions[:_MOST_VERSIONS]), notices=tuple(notices[-_MOST_NOTICES:]))

    def games(self, author: str, *, bot: str, only: str, after: str, limit: int, number: int) -> FromDoor:
        """Returns a page of the author's games, the latest first.

        Raises:
            Refusal: `after` or `only` is none.
        """
        if only and only not in _LOST:
            raise unknown("`lost` or `forfeits`, or nothing", only)
        found: list[Payload] = []
        last = ""
        for place, game in self._games(author, after):
            if bot in ("", game.get("bot")) and (not only or _is(game, only)):
                if len(found) == limit:
                    return Played(id=number, games=tuple(found), next=last)
                found.append(game)
            last = place
        return Played(id=number, games=tuple(found))

    def standings(self, after: int, number: int) -> FromDoor:
        """Returns a page of the standings."""
        document = self._document(self._folder / "standings.json")
        items = _maps(document, "items")
        return Table(
            id=number,
            season=str(document.get("season", "")),
            items=tuple(items[after : after + _MOST_ROWS]),
            total=len(items),
            digest=str(document.get("digest") or ""),
        )

    def answer(self, order: str) -> Payload | None:
        """Returns the league's answer to an order, or None if there is none yet."""
        path = self._folder / "answers" / f"{order}.json"
        try:
            return _parsed(files.read(path, "an answer", files.MIB, _Unreadable, links=False))
        except _Unreadable:
            return None

    def log(self, author: str, game: str, offset: int, number: int) -> Part:
        """Returns a part of a game's log, as this author may see it.

        Raises:
            Refusal: There is no such log that is public.
        """
        if not _NAME.match(game):
            raise unknown("a game that is over", game)
        name = f"{game}.jsonl.zst"
        for path in (self._folder / "own" / author / name, self._folder / "logs" / name):
            if path.is_file():
                return self._part(path, files.MOST_LOG, offset, number)
        raise unknown("a game whose match is over", game)

    def report(self, author: str, version: str, kind: str, offset: int, number: int) -> Part:
        """Returns a part of the report on a version of this author.

        Raises:
            Refusal: There is no such report of this author's.
        """
        bot, _, count = version.partition("/")
        path = self._folder / "reports" / author / bot / count / f"{kind}.json"
        if not (_NAME.match(bot) and count.isascii() and count.isdigit() and len(count) < 10 and path.is_file()):
            raise unknown("a version of yours with such a report", f"{version} {kind}")
        return self._part(path, files.MOST_DOCUMENT, offset, number)

    # Files

    def _status(self, author: str) -> Payload:
        return self._document(self._folder / "authors" / author / "status.json")

    def _games(self, author: str, after: str) -> Iterator[tuple[str, Payload]]:
        """Yields the author's games, the latest first, with their places; all that come after a place."""
        first, _, second = after.partition(".")
        if after and not (first.isdigit() and second.isdigit() and after.isascii() and len(after) < 32):
            raise unknown("the `next` of an answer", after)
        pages = sorted(self._pages(author), reverse=True)
        for page in pages:
            if after and page > int(first):
                continue
            games = _maps(self._document(self._folder / "authors" / author / f"games-{page}.json"), "games")
            for index in range(len(games) - 1, -1, -1):
                if not (after and page == int(first) and index >= int(second)):
                    yield f"{page}.{index}", games[index]

    def _pages(self, author: str) -> Iterator[int]:
        try:
            with os.scandir(self._folder / "authors" / author) as entries:
                names = [entry.name for entry in entries]
        except OSError:
            return
        for name in names:
            if found := re.fullmatch(r"games-([0-9]{1,9})\.json", name):
                yield int(found[1])

    def _document(self, path: Path) -> Payload:
        """Returns a JSON object, which is read again when its file has changed; an empty one if there is none."""
        try:
            status = path.stat(follow_symlinks=False)
        except OSError:
            self._kept.pop(path, None)
            return {}
        print_ = (status.st_mtime_ns, status.st_size, status.st_ino)
        kept = self._kept.get(path)
        if kept is not None and kept[0] == print_:
            document: Payload = kept[1]
            return document
        try:
            document = _parsed(files.read(path, "what the league publishes", files.MOST_DOCUMENT, _Unreadable))
        except _Unreadable:
            return {}
        while len(self._kept) >= _KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[path] = (print_, document)
        return document

    def _part(self, path: Path, most: int, offset: int, number: int) -> Part:
        try:
            data = files.read(path, "what the league publishes", most, _Unreadable, links=False)
        except _Unreadable:
            raise unknown("a file that is published", path.name) from None
        if offset > len(data):
            raise Refusal("unknown", f"expected an offset up to {len(data)}, got: {offset}", "ask again from offset 0")
        return Part(
            id=number,
            total=len(data),
            offset=offset,
            digest=hashlib.sha256(data).hexdigest(),
            data=data[offset : offset + MAX_PART],
        )


def _parsed(data: bytes) -> Payload:
    try:
        document = json.loads(data)
    except ValueError:
        raise _Unreadable("not JSON") from None
    if not isinstance(document, dict):
        raise _Unreadable("no object")
    return document


def _maps(document: Payload, name: str) -> list[Payload]:
    items = document.get(name, [])
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _is(game: Payload, only: str) -> bool:
    return bool(game.get("lost" if only == "lost" else "forfeit"))
