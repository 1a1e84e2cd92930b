"""Seasons of a league that bots in memory play, for the tests of what is published of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from arena.core.link.bots import BotSpec
from arena.league.folder import Folder
from arena.league.matches.planning import seatings_of
from arena.league.matches.supply import Jobs
from arena.league.public.publishing import Publishing
from arena.league.season.closing import close_season
from arena.league.season.opening import make_league
from arena.league.service.inbox import give, new_order
from arena.league.settings import Bots, Game, Season, Settings, load
from arena.league.store import LeagueStore, open_league
from arena.league.store.records import Version
from tests import league_kit
from tests.audit_kit import play


def cup(folder: Path, season: Season | None = None) -> Folder:
    """A league of games that bots in memory can play."""
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    return make_league(
        folder / "cup", Settings(name="cup", game=game, bots=Bots(level="trusted"), season=season or Season())
    )


def match(
    store: LeagueStore,
    folder: Folder,
    *versions: Version,
    rated: bool = True,
    begun: Callable[[], object] = lambda: None,
) -> int:
    """Plays a match of these versions to its end, and returns its number. `begun` is called while a game runs."""
    settings, season = load(folder), league_kit.season(store)
    entrants = [version.entrant for version in versions if version.entrant is not None]
    number = store.matches.count()
    planned = store.matches.plan([seatings_of(entrants, number)], "a test", rated)[0]
    for _ in planned.games:
        claimed = league_kit.claim(store)
        begun()
        if not claimed:
            break
        [claim] = claimed
        game = store.matches.game(claim.number)
        job = Jobs(store, spec, settings, store.games.tournament(season.tournament), folder.feed)(claim, game)
        store.games.record(claim, play(job), game.entrants, 0.1)
    return number


def spec(version: Version) -> BotSpec:
    """What stands for a version in a game."""
    return BotSpec(name=version.bot, version=str(version.number), command=("x",), folder="/", digest=version.digest)


def close(folder: Folder, name: str = "first") -> None:
    """Closes a season without a final, or whose final is over."""
    give(folder, load(folder), new_order("season_close", {"season": name, "final": "no"}))
    with open_league(folder.database) as store:
        close_season(store, folder, print)


def publish(store: LeagueStore, folder: Folder) -> None:
    """Publishes what is over."""
    season = league_kit.season(store)
    Publishing(store, folder, load(folder), season, print).publish()


def closed(folder: Path, *, final: Sequence[str] = (), new_version: bool = False) -> Folder:
    """A closed season of four versions: matches that count, one that does not, one that is struck, a void one.

    Of one bot a new version may come, with a match.
    """
    league = cup(folder)
    with open_league(league.database) as store:
        store.authors.add("anna")
        fox, owl = (league_kit.active(store, bot) for bot in ("fox", "owl"))
        random, greedy = (one for one in store.versions.active() if one.is_of_house)
        for one, other in ((fox, random), (owl, greedy), (fox, greedy), (owl, random), (random, greedy)):
            match(store, league, one, other)
        match(store, league, fox, owl, rated=False)
        struck = match(store, league, fox, random)
        store.matches.strike([struck], "the machine was short of memory")
        store.matches.void(store.matches.count() - 1, "it is not needed")
        if new_version:
            match(store, league, league_kit.active(store, "owl", "new"), greedy)
        if final:
            finalists = [one for one in (fox, owl, random, greedy) if one.bot in final]
            entrants = [one.entrant for one in finalists if one.entrant is not None]
            publish(store, league)
            store.seasons.begin_final(entrants, 100)
            match(store, league, *finalists)
            publish(store, league)
            store.seasons.end_final("not settled", "a test")
    close(league)
    return league
