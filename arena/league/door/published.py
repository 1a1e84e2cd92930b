"""Reads what the league publishes. That is all that the door knows of the league.

Files below `published/`; their form is that of `protocol/LEAGUE.md`, section 7:

    league.json                          the league itself: name, game, time, level, remote
    game.json                            what is played: rules as text, options, JSON Schemas of views and plays
    keys.json                            {hash of a token: author}
    standings.json                       {season, digest, items: […]}
    authors/NAME/status.json             {versions: […], notices: […]}
    authors/NAME/games-N.json            {games: […]}, a higher N later, in a file the latest last
    answers/ID.json                      the answer to an order
    logs/GAME.jsonl.zst                  what everybody may see of a game
    own/NAME/GAME.jsonl.zst              what this author may see of it, where that is more
    reports/NAME/BOT/NUMBER/KIND.json    the report of a step
    seasons/TOURNAMENT/FILE              a season: its commitment, secrets of deals, results, secret

Laws:
1. What a request costs is bounded, whatever the league has grown to: a list that is long comes in several answers, a
   search looks at so many bytes and says where to go on, and of a log only the part that is asked for is read.
2. What is kept in memory is bounded: some documents that many ask for, and no games.

No name from a message becomes a path before its form was checked, and an author's own name comes from `keys.json`.
"""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from arena.core.face import Payload, compression, errors, files, game_rows
from arena.league.door.messages import BUNDLE, Played, Table, Versions
from arena.league.door.refusals import unknown

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_SEASON: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,71}\Z")  # so that names in a tar have less than 100 bytes
_MOST_ROWS: Final = 500  # rows of the standings in one answer
_MOST_VERSIONS: Final = 500
_MOST_NOTICES: Final = 100
LOOKED_AT: Final = 512 * 1024
"""Bytes of pages after which a search for games stops and says where to go on. One page more may be begun."""
_LEAST_PAGE: Final = 8 * 1024
"""Least cost of a page in bytes: to open a file costs as much as to read these."""
_MOST_ANSWER: Final = 786_432
"""Bytes of games in one answer."""
PART: Final = 262_144
"""Bytes of a file that are read at a time."""
_PENDING: Final = frozenset({"received", "building", "checking", "qualifying"})
"""States of a version that the league leaves by itself, and soon."""
BUNDLE_BYTES: Final = 8 * files.MIB
"""Bytes of logs in one answer, unless one has more."""
MOST_KEPT: Final = 16
"""The number of documents that are kept."""
_PAGE: Final = re.compile(r"games-([0-9]{1,9})\.json")
_LOST: Final = frozenset({"lost", "forfeits"})
Print: TypeAlias = tuple[int, ...]
"""Fingerprint of a file's content that needs no reading: time, size and inode."""


class _Unreadable(errors.ArenaError):
    """A published file is not there, or cannot be used."""


class File(msgspec.Struct, frozen=True):
    """A log, a report or a file of a season."""

    path: Path
    size: int
    digest: str
    """SHA-256 of all of it."""


class Published:
    """The folder `published/` of a league."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept = lru_cache(MOST_KEPT)(_read)

    def league(self) -> Payload:
        """Returns what the league says about itself; nothing if it has not published yet."""
        return self._document(self._folder / "league.json")

    def author_of(self, key: str) -> str | None:
        """Returns the author whose token has a hash now, or None."""
        author = self._document(self._folder / "keys.json").get(key)
        return author if isinstance(author, str) and _NAME.match(author) else None

    def has(self, author: str) -> bool:
        """Tells whether the league has an author of this name: one with a token, or of whom it says something."""
        return author in self._document(self._folder / "keys.json").values() or bool(self._status(author))

    def versions(self, author: str) -> list[Payload]:
        """Returns the author's versions, as published."""
        return _maps(self._status(author), "versions")

    def retired(self, author: str, bot: str) -> tuple[str, ...]:
        """Returns the versions of an author's bot that are retired."""
        versions = self.versions(author)
        return tuple(str(one["version"]) for one in versions if (one.get("bot"), one.get("state")) == (bot, "retired"))

    def limits(self, author: str) -> dict[str, int]:
        """Returns the league's own limits for an author, by name; none if it has not published them yet."""
        limits = self._status(author).get("limits") or self.league().get("limits")
        if not isinstance(limits, dict):
            return {}
        return {str(name): value for name, value in limits.items() if type(value) is int and value >= 0}

    def status(self, author: str, bot: str = "") -> Versions:
        """Returns how the author's versions stand, of one bot or of all."""
        versions = [each for each in self.versions(author) if bot in ("", each.get("bot"))]
        status = self._status(author)
        notices = _maps(status, "notices")
        kept = status.get("kept")
        return Versions(
            versions=tuple(versions[:_MOST_VERSIONS]),
            notices=tuple(notices[-_MOST_NOTICES:]),
            kept=kept if isinstance(kept, dict) else {},
            seat=self.seat(author),
        )

    def seat(self, author: str) -> str:
        """Returns the name of the game in which an author has asked for a seat, until it is over; empty if none."""
        return str(self._status(author).get("seat") or "")

    def is_pending(self, author: str, bot: str) -> bool:
        """Tells whether the newest version of a bot, or of all bots, is still to be tried."""
        newest = next(iter(self.status(author, bot).versions), None)
        return newest is not None and newest.get("state") in _PENDING

    def games(self, author: str, *, bot: str = "", only: str = "", after: str = "", limit: int = 100) -> Played:
        """Returns some of the author's games, the latest first, and where to go on: not always as many as there are.

        Raises:
            Refusal: `after` or `only` is none.
        """
        if only and only not in _LOST:
            raise unknown("`lost` or `forfeits`, or nothing", only)
        begin = _place(after)
        if bot and all(each.get("bot") != bot for each in self.versions(author)):
            return Played(games=())
        found: list[Payload] = []
        looked_at = size = 0
        for page in self._pages(author):
            if begin is not None and (page, 0) >= begin:
                continue
            path = self._of(author) / f"games-{page}.json"
            games = _maps(self._document(path, keep=False), "games")
            end = begin[1] if begin is not None and page == begin[0] else None
            for index in range(len(games[:end]) - 1, -1, -1):
                game = games[index]
                if bot not in ("", game.get("bot")) or (only and not game.get("lost" if only == "lost" else "forfeit")):
                    continue
                more = len(msgspec.json.encode(game))
                if len(found) == limit or (found and size + more > _MOST_ANSWER):
                    return Played(games=tuple(found), next=f"{page}.{index + 1}")
                found.append(game)
                size += more
            looked_at += max((*_print(path)[1:2], _LEAST_PAGE))
            if looked_at >= LOOKED_AT:
                return Played(games=tuple(found), next=f"{page}.0")
        return Played(games=tuple(found))

    def standings(self, after: int = 0) -> Table:
        """Returns a page of the standings."""
        document = self._document(self._folder / "standings.json")
        items = _maps(document, "items")
        return Table(
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

    def log(self, author: str, game: str) -> File:
        """Returns a game's log, as this author may see it; as everybody may, if `author` is empty.

        Raises:
            Refusal: There is no such log that is public.
        """
        if not _NAME.match(game):
            raise unknown("a game that is over", game)
        name = f"{game}.jsonl.zst"
        own = [self._folder / "own" / author / name] if author else []
        for path in (*own, self._folder / "logs" / name):
            if path.is_file():
                return self._file(path)
        raise unknown("a game whose match is over", game)

    def logs(self, tournament: str, games: str) -> list[tarfile.TarInfo]:
        """Returns the public logs that are there of some games, as members of a tar: the first, to `BUNDLE_BYTES`.

        Raises:
            Refusal: There is no such season.
        """
        if not (_SEASON.match(tournament) and (self._folder / "seasons" / tournament).is_dir()):
            raise unknown("a season that is published", tournament)
        found: list[tarfile.TarInfo] = []
        left = BUNDLE_BYTES
        ranges = (each.partition("-") for each in games.split(","))
        numbers = (number for first, _, last in ranges for number in range(int(first), int(last or first) + 1))
        for number in islice(numbers, BUNDLE):
            one = tarfile.TarInfo(f"{game_rows.game_id(tournament, number)}.jsonl.zst")
            one.size = sum(_print(self._folder / "logs" / one.name)[1:2])
            if found and one.size > left:
                break
            found += [one] * (one.size > 0)
            left -= one.size
        return found

    def dictionary(self) -> File:
        """Returns what `zstd -D` needs to expand a log."""
        return self._file(compression.DICTIONARY)

    def game(self, rules: str) -> File:
        """Returns the description of the game that the league plays.

        Raises:
            Refusal: It plays another.
        """
        path = self._folder / "game.json"
        if self._document(path).get("rules") != rules:
            raise unknown("the game that this league plays", rules)
        return self._file(path)

    def season(self, tournament: str, name: str) -> File:
        """Returns a file of a season.

        Raises:
            Refusal: There is no such file.
        """
        path = self._folder / "seasons" / tournament / name
        if not (_NAME.match(tournament) and _NAME.match(name) and path.is_file()):
            raise unknown("a file of a season that is published", f"{tournament} {name}")
        return self._file(path)

    def report(self, author: str, version: str, kind: str) -> File:
        """Returns the report on a version of this author.

        Raises:
            Refusal: There is no such report of this author's.
        """
        bot, _, count = version.partition("/")
        path = self._folder / "reports" / author / bot / count / f"{kind}.json"
        if not (_NAME.match(bot) and count.isascii() and count.isdigit() and len(count) < 10 and path.is_file()):
            raise unknown("a version of yours with such a report", f"{version} {kind}")
        return self._file(path)

    # Files

    def _status(self, author: str) -> Payload:
        return self._document(self._of(author) / "status.json")

    def _pages(self, author: str) -> Iterator[int]:
        """Yields the numbers of the pages of an author's games, the latest first."""
        try:
            with os.scandir(self._of(author)) as entries:
                found = (_PAGE.fullmatch(entry.name) for entry in entries)
                return iter(sorted((int(each[1]) for each in found if each), reverse=True))
        except OSError:
            return iter(())

    def _of(self, author: str) -> Path:
        return self._folder / "authors" / author

    def _document(self, path: Path, *, keep: bool = True) -> Payload:
        """Returns a JSON object, which is read again when its file has changed; an empty one if there is none."""
        try:
            return self._kept(path, _print(path)) if keep else _read(path)
        except _Unreadable:
            return {}

    def part(self, file: File, begin: int) -> bytes:
        """Returns the next bytes of a file.

        Raises:
            ConnectionError: It is another file now, so that what was sent of it has no end.
        """
        try:
            with _opened(file.path) as opened:
                if _digest(file.path, opened.print) != file.digest:
                    raise _Unreadable(f"{file.path.name} has changed")
                return opened.part(begin, PART)
        except _Unreadable as error:
            raise ConnectionError(str(error)) from None

    def _file(self, path: Path) -> File:
        try:
            with _opened(path) as opened:
                return File(path, opened.size, _digest(path, opened.print))
        except _Unreadable:
            raise unknown("a file that is published", path.name) from None


def _opened(path: Path) -> AbstractContextManager[files.Limited]:
    return files.opened(path, "what the league publishes", files.MOST_DOCUMENT, _Unreadable, links=False)


@lru_cache(256)
def _digest(path: Path, print_: Print) -> str:
    """Returns the SHA-256 of a file, for which it is read once, as long as it stays as it is."""
    whole = hashlib.sha256()
    with _opened(path) as file:
        if file.print != print_:
            raise _Unreadable(f"{path.name} has changed")
        for chunk in file.chunks():
            whole.update(chunk)
    return whole.hexdigest()


def _read(path: Path, print_: Print = ()) -> Payload:
    """Returns a JSON object. `print_` is for whoever keeps it."""
    return _parsed(files.read(path, "what the league publishes", files.MOST_DOCUMENT, _Unreadable))


def _print(path: Path) -> Print:
    """Returns the print of a file; nothing if it is not there."""
    try:
        status = path.stat(follow_symlinks=False)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _parsed(data: bytes) -> Payload:
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _Unreadable("not JSON") from None
    if not isinstance(document, dict):
        raise _Unreadable("no object")
    return document


def _maps(document: Payload, name: str) -> list[Payload]:
    items = document.get(name, [])
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _place(after: str) -> tuple[int, int] | None:
    """Returns the page and the row in it before which a list goes on; None means at the latest game.

    Raises:
        Refusal: It is none.
    """
    if not after:
        return None
    page, _, row = after.partition(".")
    if not (page.isdigit() and row.isdigit() and after.isascii() and len(after) < 32):
        raise unknown("the `next` of an answer", after)
    return int(page), int(row)
