"""Publishes what others may see of the league, as files below `published/`.

`protocol/LEAGUE.md` says what they contain. The door and the site read them; nothing else of the league do they see.

Laws:
1. Each file follows from the database and the original logs. So it can always be written again, and a kill leaves none
   that is wrong for longer than until the next time.
2. Nothing of a match is published before its last game is over: its games share the deal.
3. A match is noted as published, with its deal's secret, after its logs are on the disk. Lists of games follow.
4. A document is written only if its content has changed.
5. The documents of an author are made again only if something of them has changed, and the ranking only if something
   has.
6. No document says where the league lies on its machine. What a bot itself printed is its author's as it was.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.face import Payload, catalogue, errors, files, log_records, warden
from arena.league import visible
from arena.league.folder import Folder
from arena.league.keeping.retention import GameFiles
from arena.league.public import documents, season_files
from arena.league.public.ranking import Ranking, ranking_of
from arena.league.settings import Settings
from arena.league.store import LeagueReader, LeagueStore
from arena.league.store.records import HOUSE, Author, Key, Match, Season, Version

PAGE: Final = 256
"""Number of matches whose games of an author stand in one file."""
AT_ONCE: Final = 32
"""How many matches are published before the service looks at everything else."""
_LOOK_S: Final = 1.0
_BUSY: Final = 0.1
"""The largest part of the time that the ranking may take, and the tables when nothing hurries."""


class Publishing:
    """Publishes the league."""

    def __init__(
        self, store: LeagueStore, folder: Folder, settings: Settings, season: Season, tell: Callable[[str], object]
    ) -> None:
        self._store = store
        self._folder = folder
        self._places = folder.places
        self._settings = settings
        self._season = season
        self._tell = tell
        self.state: Callable[[], Payload] = dict
        """Returns what the service is doing."""
        self._logs = folder.logs / season.tournament
        self._rounds = season_files.Rounds(store, folder, tell)
        self._game_files = GameFiles([self._logs])
        self._looked = 0.0
        self._due = 0.0
        self._ended = -math.inf
        """Monotonic time when tables were last published; that took `_took` seconds."""
        self._took = 0.0
        self._ranking: Ranking | None = None
        self._ranking_due = 0.0
        """When it may be computed again: that takes longer as the season grows."""
        self._ranked: int | None = None
        """How many rows this process had changed when it was computed: nobody else writes the database."""
        self._told: dict[str, tuple[object, ...]] = {}
        """Facts that each author's documents were made from."""
        self._reported: dict[int, tuple[str, str, int]] = {}
        """Author of each version, and the state in which its reports were published last."""
        self._written: dict[Path, bytes] = {}
        """Digest of each file as it was published last."""

    def catch_up(self) -> None:
        """Writes what a kill may have left out, and the game: the last matches in lists of games, files of seasons."""
        self._write(self._folder.published / "game.json", catalogue.described(self._settings.game.rules))
        remove_left(self._store, self._folder)
        season_files.catch_up(self._store, self._folder, self._rounds)
        count = self._store.matches.count()
        played = {version.reader for version in self._store.versions.all() if version.entrant is not None}
        self._pages(range(max(0, count - PAGE), count), played)

    def look(self) -> None:
        """Publishes matches that are over, and from time to time everything else."""
        now = time.monotonic()
        if now >= self._looked + _LOOK_S:
            self._looked = now
            self._matches()
            self.write_lines()
        if now >= self._due:
            self._tables()
            self._ended = time.monotonic()
            self._took = self._ended - now
            self._due = now + max(self._settings.service.publish_s, self._took / _BUSY)

    def write_lines(self) -> None:
        """Publishes what was decided. Call it before a game begins that was planned."""
        self._rounds.write(self._season)

    def hurry(self) -> None:
        """Has `look` publish everything soon: keys may have been revoked, versions submitted.

        However many orders come, publishing takes half of the time at most, and the ranking no more than ever.
        """
        self._due = min(self._due, self._ended + self._took)

    def publish(self) -> None:
        """Publishes everything now."""
        self.publish_matches()
        self._ranking_due = 0.0
        self._tables()

    # Matches

    def publish_matches(self, alive: Callable[[], object] = lambda: None) -> None:
        """Publishes all matches that are over now, and lists of games that a kill may have left without the last.

        Args:
            alive: Called again and again meanwhile: there may be thousands of them.
        """
        while self._matches():
            alive()
        self.catch_up()

    def _matches(self) -> bool:
        """Publishes some of the matches that are over. Returns whether more are left."""
        over = self._store.matches.over(AT_ONCE + 1)  # there may be many thousands, after a full disk
        some = over[:AT_ONCE]
        if not some:
            return False
        names = {version.entrant: version for version in self._store.versions.all() if version.entrant is not None}
        for match in some:
            self._store.matches.publish(match.number, self._logs_of(match, names))
        found = (names.get(entrant) for match in some for entrant in match.entrants)
        self._pages((match.number for match in some), {version.reader for version in found if version is not None})
        return len(over) > len(some)

    def _logs_of(self, match: Match, names: dict[int, Version]) -> dict[str, str]:
        """Publishes a match's logs as each may see them, compresses them, and returns by game its public SHA-256."""
        digests = {}
        for game in match.games:
            if game.status != "done":
                continue
            original = log_records.existing_log(self._logs / f"{game.game}{log_records.SUFFIX}")
            sat = [names.get(entrant) for entrant in game.entrants]
            authors = [None if one is None else one.reader for one in sat]
            try:
                log = log_records.read_log(original)
                digests[game.game] = visible.publish(log, original, self._folder.published, authors)
                self._game_files.compress(game.game, len(game.entrants))
            except errors.ArenaError as error:  # somebody has changed or removed it; its result stands
                self._tell(f"The log of game {game.game} is not published: {error}")
        return digests

    def _page(self, author: str, page: int) -> None:
        matches = range(page * PAGE, (page + 1) * PAGE)
        rows = documents.games(self._store, author=author, matches=matches)
        number = self._season.number * 100_000 + page
        over = [row for row in reversed(rows) if row["published"]]
        path = self._of_author(author) / f"games-{number}.json"
        if not over and not path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, msgspec.json.encode(self._places.hide_all({"games": over})))

    def _pages(self, matches: Iterable[int], authors: Iterable[str | None]) -> None:
        pages = sorted({number // PAGE for number in matches})
        for author in sorted(filter(None, authors)):
            for page in pages:
                self._page(author, page)

    # Tables

    def _tables(self) -> None:
        store, published = self._store, self._folder.published
        if moved := store.controls.moved:
            self._pages(range(store.matches.count()), {one.name for one in self._authors()} & {*moved})
            store.set_control("moved", [])
        ranking = self._rank()
        self.write_lines()  # whoever sees a head finds its line
        self._write(published / "league.json", documents.league(store, self._settings, self._folder))
        publish_keys(store, self._folder)
        self._write(published / "standings.json", documents.standings(store, ranking))
        self._write(published / "service.json", self.state())
        versions = defaultdict[str, list[Version]](list)
        for version in store.versions.all():
            versions[version.author].append(version)
        newest, keys, seats = store.notices.newest(), defaultdict[str, list[Key]](list), store.controls.seats
        for key in store.authors.keys_of():
            keys[key.author].append(key)
        for author in self._authors():
            own = [(one.id, one.state, one.attempts, ranking and ranking.of(one)) for one in versions[author.name]]
            facts = author, keys[author.name], newest.get(author.name), seats.get(author.name)
            if self._told.get(author.name) != (told := (*facts, own)):
                self._author(author, ranking)
                self._told[author.name] = told

    def _author(self, author: Author, ranking: Ranking | None) -> None:
        """Makes the documents of an author."""
        limits = self._settings.limits.of_author(author.quotas)
        document = {**documents.author_status(self._store, author.name, ranking), "limits": limits}
        document["seat"] = self._store.controls.seats.get(author.name, "")
        self._write(self._of_author(author.name) / "status.json", document)
        self._reports(author.name)

    def _rank(self) -> Ranking | None:
        """Returns the ranking, which is computed again if something has changed, and if there is time for that."""
        now, mark = time.monotonic(), self._store.changes
        if self._ranking is None or (now >= self._ranking_due and mark != self._ranked):
            self._ranking, self._ranked = ranking_of(self._store), mark
            self._ranking_due = now + (time.monotonic() - now) / _BUSY
        return self._ranking

    def _authors(self) -> list[Author]:
        return [author for author in self._store.authors.all() if author.name != HOUSE and author.status == "active"]

    def _reports(self, author: str) -> None:
        for version in self._store.versions.of_author(author):
            if version.is_of_house:
                continue
            seen = (author, version.state, version.attempts)
            if self._reported.get(version.id) == seen:
                continue
            self._reported[version.id] = seen
            for report in self._store.reports.of(version.id):
                folder = self._folder.published / "reports" / author / version.bot / str(version.number)
                self._write(folder / f"{report.kind}.json", documents.report(version, report))

    def _of_author(self, author: str) -> Path:
        return self._folder.published / "authors" / author

    def _write(self, path: Path, document: Any) -> None:
        data = msgspec.json.encode(self._places.hide_all(document))
        digest = hashlib.sha256(data).digest()
        if self._written.get(path) == digest and path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, data)
        self._written[path] = digest


def remove_left(reader: LeagueReader, folder: Folder) -> None:
    """Removes what only those could read who have left, or have handed the bot over.

    Raises:
        OSError: It cannot be listed.
    """
    names = {author.name for author in reader.authors.all()}
    bots = {(version.author, version.bot) for version in reader.versions.all()}
    left = [one for kind in ("authors", "own", "reports") for one in (folder.published / kind).glob("*")]
    moved = [one for one in (folder.published / "reports").glob("*/*") if (one.parent.name, one.name) not in bots]
    for path in (*moved, *(one for one in left if one.name not in names)):
        warden.remove_tree(str(path))


def remove_replays(reader: LeagueReader, folder: Folder, author: str) -> None:
    """Removes the replays of an author's games, with names of before: the site's are made again. Raises OSError."""
    names = {version.name for version in reader.versions.of_author(author)}
    for season in reader.seasons.all():
        places = [*(folder.site / season.tournament).glob("replays-*")]
        for row in reader.played.of(season.tournament, names=names) if places else ():
            number = int(row["game"].rpartition("-")[2])
            for place in places:
                (place / f"{number // 1000:03}" / f"{number:06}.js").unlink(missing_ok=True)


def publish_keys(reader: LeagueReader, folder: Folder) -> None:
    """Writes whose key each is, if that is not what is published. The door asks it: so a key becomes valid.

    Raises:
        OSError: They cannot be written.
    """
    path = folder.published / "keys.json"
    data = msgspec.json.encode(documents.keys(reader), order="sorted")
    published = None
    with suppress(errors.StoreError):  # whatever is in its place is replaced
        published = files.read(path, "the keys of authors", files.MOST_DOCUMENT, errors.StoreError)
    if published != data:
        files.write(path, data, durably=True)
