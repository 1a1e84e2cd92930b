"""The requests of authors to a league: the same for a folder on this machine (`Here`) and for one elsewhere (`There`).

Each answer is a document in the form of `arena.league.public.documents`. What a league elsewhere sends was checked by
nobody: whoever prints it checks it first.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import asdict

from arena.cli.output import say
from arena.core.face import errors, files, plain
from arena.league.commands.here import Elsewhere, folder_of, order, reading

if TYPE_CHECKING:
    from arena.author.archives import PackedBot
    from arena.core.face import Payload
    from arena.league.door.client import Client
    from arena.league.store.played import Only

STEPS = ("build", "check", "qualify")
"""The steps of which there are reports, in their order."""
_AWAY_S: Final = 120
"""Longest silence of a league while a version is followed, in seconds: a door that falls opens again in a minute."""
_AGAIN_S: Final = 5


class Here:
    """A league in a folder."""

    look_s = 0.2
    """Seconds between two looks at a version that is waited for."""
    wait_s = 0
    """Seconds that a look may take, until the version is tried."""

    def __init__(self, path: Path | None, author: str | None) -> None:
        self._path = path
        self._folder = folder_of(path)
        self.options: Sequence[str] = ("--league", str(path))
        """The words with which a command names it."""
        self._author = author

    @property
    def hint(self) -> str:
        """A sentence about what has to be done before a bot is tried; empty if nothing has, or if that is not known."""
        if self._folder.is_running:
            return ""
        return f"It is tried when the league runs: {shlex.join(['arena', 'league', 'run', str(self._path)])}"

    def status(self, bot: str) -> Payload:
        """Returns how versions stand, of one bot or of all, with the notices for their author."""
        from arena.league.public import documents
        from arena.league.settings import as_begun, load

        with reading(self._folder) as reader:
            try:
                settings = load(self._folder)
            except errors.ConfigError as error:
                season = reader.seasons.current()
                if season is None:
                    raise
                say(f"{plain(str(error))}. Until then, a service that runs goes on with what it read last.")
                row = reader.finder.tournament(season.tournament)
                settings = as_begun(self._folder.path.name, row.settings)
            if self._author is None and not bot:
                return documents.status(reader, settings, self._folder)
            author = self._author or reader.versions.named(bot).author
            document = documents.author_status(reader, reader.authors.known(author).name)
        if bot:
            document["versions"] = [version for version in document["versions"] if version["bot"] == bot]
        return document

    def games(self, bot: str, only: Only | None, most: int) -> list[Payload]:
        """Returns a row for each seat of versions in games, the latest first."""
        from arena.league.public import documents

        with reading(self._folder) as reader:
            name = None if self._author is None else reader.authors.known(self._author).name
            return documents.games(reader, author=name, bot=bot or None, only=only, limit=most)

    def standings(self, season: str | None) -> tuple[Payload, str]:
        """Returns the standings of a season, None for the open one, and their heading."""
        from arena.league.public import documents
        from arena.league.show import season_text

        with reading(self._folder) as reader:
            seasons = {each.name: each for each in reader.seasons.all()}
            if season is None:
                document = documents.standings(reader)
                season = str(document["season"])
            else:
                found = seasons.get(season)
                if found is None or found.standings is None:
                    closed = ", ".join(each.name for each in seasons.values() if each.closed) or "none"
                    why = "" if found is None else ", which is open: leave it out"
                    raise errors.ConfigError(
                        f"expected a season that is closed, got: {season!r}{why}; there are: {closed}"
                    )
                document = {**found.standings, "season": found.name, "digest": found.digest}
            return document, season_text(season, reader.finder.tournament(seasons[season].tournament).settings)

    def reports(self, version: str, kind: str | None) -> Payload:
        """Returns the reports on a version, or on a bot's newest one, with its state."""
        from arena.league.public import documents

        with reading(self._folder) as reader:
            found = documents.reports(reader, version, kind)
            about = reader.versions.named(version)
            history = [
                {"at": change.at, "state": change.new, "reason": change.reason}
                for change in reader.versions.history(about.id)
            ]
        return {"version": about.name, "state": about.state, "history": history, "reports": found}

    def log(self, game: str) -> bytes:
        """Returns the log of a game, compressed."""
        from arena.league.door.published import Published
        from arena.league.door.refusals import Refusal

        try:
            found = Published(self._folder.published).log(self._author or "", game)
        except Refusal as refusal:
            raise errors.DoorError(f"{refusal.problem.detail}; {refusal.problem.remedy}", refusal.code) from None
        return files.read(found.path, "a log", files.MOST_DOCUMENT, errors.StoreError)

    def submit(self, packed: PackedBot) -> Payload | None:
        """Sends a bot, and returns the answer; None if it has not come yet, which was said then."""
        from arena.league.season.opening import LOCAL

        arguments = {"author": self._author or LOCAL, "bot": packed.manifest.name, "digest": packed.digest}
        return order(self._path, "submit", arguments, packed.data)

    def state(self, version: str, wait_s: int = 0) -> str:
        """Returns the state of a version."""
        with reading(self._folder) as reader:
            return reader.versions.named(version).state

    def ordered(self, verb: str, **arguments: str) -> Payload | None:
        """Gives an order of an author, and returns the answer; None if it has not come yet, which was said then."""
        from arena.league.season.opening import LOCAL

        return order(self._path, verb, {"author": self._author or LOCAL, **arguments})


class There:
    """A league elsewhere, to which a connection stands. Its requests are those of `Here`."""

    look_s = 0.5
    wait_s = 3
    hint = ""

    def __init__(self, elsewhere: Elsewhere, client: Client) -> None:
        self.options = elsewhere.options
        self._client = client

    def status(self, bot: str) -> Payload:
        found = self._client.status(bot)
        told = {"kept": found.kept, "league": self._client.hello().league}
        return {"versions": found.versions, "notices": found.notices, **told}

    def games(self, bot: str, only: Only | None, most: int) -> list[Payload]:
        return list(self._client.games(bot=bot, only=only or "", most=most))

    def standings(self, season: str | None) -> tuple[Payload, str]:
        if season is not None:
            raise errors.ConfigError(
                f"expected the open season of a league elsewhere, got: {season!r}; a closed one has its standings in "
                f"what this fetches: arena league season get {season} {shlex.join(self.options)}"
            )
        from arena.league.show import ITEM, read

        name, items = self._client.standings()
        level = self._client.hello().league.get("level", "")
        read(items, ITEM)
        return {"season": name, "items": items}, plain(f"Season {name}, {level}".removesuffix(", "))

    def reports(self, version: str, kind: str | None) -> Payload:
        kinds = STEPS if kind is None else (kind,)
        name = version if "/" in version else self._newest(version)
        found: list[Payload] = []
        for one in kinds:
            try:
                found.append(self._client.report(name, one))
            except errors.DoorError as error:
                if error.refusal != "unknown" or (one == kinds[-1] and not found and not self.state(name)):
                    raise
        return {"version": name, "state": found[-1].get("state", "") if found else self.state(name), "reports": found}

    def _newest(self, bot: str) -> str:
        """Returns the name of a bot's newest version; the bot's own name if the league knows no version of it."""
        names = [str(each.get("version", "")) for each in self._client.status(bot).versions]
        return max(names, key=lambda name: int(name.rpartition("/")[2] or 0), default=bot)

    def log(self, game: str) -> bytes:
        return self._client.log(game)

    def submit(self, packed: PackedBot) -> Payload | None:
        found = self._client.submit(packed.data, packed.manifest.name, packed.digest, _progress(len(packed.data)))
        if found is None:
            say("The league has the bot and has not answered yet; its service may be stopped. Ask: arena league status")
        return None if found is None else asdict(found)

    def state(self, version: str, wait_s: int = 0) -> str:
        until = time.monotonic() + (_AWAY_S if wait_s else 0)
        while True:
            try:
                versions = self._client.status(version.partition("/")[0], wait_s).versions
                break
            except errors.DoorError as error:
                if error.refusal not in ("nobody", "no_answer") or time.monotonic() > until:
                    raise
                say(plain(f"{error}. Asked again in {_AGAIN_S} s."))
                time.sleep(_AGAIN_S)
        return next((str(each.get("state", "")) for each in versions if each.get("version") == version), "")

    def ordered(self, verb: str, **arguments: str) -> Payload | None:
        if arguments.pop("reason", ""):
            raise errors.ConfigError("expected --reason for a league on this machine, got it with --at; leave it out")
        found = self._client.ordered(verb, **arguments)
        if found is None:
            say("The league has the order, and has not answered yet; its service may be stopped.")
        return None if found is None else asdict(found)


League: TypeAlias = Here | There
"""A league, as its authors use it."""


@contextmanager
def opened(folder: Path | None, elsewhere: Elsewhere | None, author: str | None = None) -> Iterator[League]:
    """Yields the league in a folder, or the one elsewhere.

    Args:
        elsewhere: The league elsewhere, which comes first.
        author: Whose versions are meant, in a folder. Elsewhere the token says it.

    Raises:
        ConfigError: There is no league, or an author is given for one elsewhere.
    """
    if elsewhere is None:
        yield Here(folder, author)
    elif author is not None:
        raise errors.ConfigError(
            "expected --author for a league on this machine, got it with --at; the token says who you are"
        )
    else:
        with elsewhere.client() as client:
            yield There(elsewhere, client)


def _progress(size: int) -> Callable[[int], None]:
    """Returns what says how much of an archive was sent, about once for each MiB; nothing of a small one."""
    told = 0

    def tell(have: int) -> None:
        nonlocal told
        if have - told >= files.MIB or (told and have == size):
            told = have
            say(f"sent {have:,} of {size:,} bytes")

    return tell
