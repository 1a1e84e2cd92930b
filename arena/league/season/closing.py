"""Ends a season and begins the next one.

Laws:
1. That a season is to end is an order like any other. It is noted, and the service ends the season when no game of it
   runs any more. A kill in between changes nothing: the note is still there.
2. Its final is played first (`arena.league.season.ending`), with the settings of the season.
3. Its last matches are published before it ends, whoever ends it: afterwards nobody asks for them any more.
4. The season's end, the frozen standings with their digest, and the next season are one transaction.
5. After that the last line of the season is published, and its secret (`arena.league.public.season_files`).
6. `league.toml` is read again for the next season, which may play something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from arena.core.face import Payload, TimeControl, errors, game_rows, true_skill
from arena.league.folder import Folder
from arena.league.keeping.telling import told
from arena.league.order_context import OrderContext
from arena.league.public import documents
from arena.league.public.publishing import Publishing
from arena.league.public.ranking import Ranking
from arena.league.public.season_files import Rounds, catch_up
from arena.league.season.opening import open_season
from arena.league.settings import Settings, load, place
from arena.league.store import LeagueReader, LeagueStore
from arena.league.store.controls import Closing
from arena.league.store.records import Season
from arena.league.submissions.house import enter_house

_KEYS: Final = ("level", "players", "rules", "ruleset", "options", "board", "time", "race_window_ms")
"""What of a season's settings the operator sets, under the same names. What others follow from comes first."""


def season_close(context: OrderContext) -> Payload:
    """Notes that the open season is to end. It is named, so that an order that comes late ends no other."""
    store = context.store
    season = store.seasons.current()
    name = context.text("season")
    if season is None or season.name != name:
        there = "none" if season is None else repr(season.name)
        raise errors.Refused("season", f"expected the name of the open season, got: {name!r}; open is {there}")
    following = context.season("next", f"season-{season.number + 1}")
    if any(known.name.lower() == following.lower() for known in store.seasons.all()):
        raise errors.Refused(
            "name_taken", f"expected a new name for the next season, got: {following!r}", "use --next NAME"
        )
    wants_final = context.text("final", "yes") == "yes"
    final = season.final
    if wants_final and context.settings.season.final and final is None:
        _check_final(context)
    told(store)
    store.set_control("closing", Closing(season.name, following, wants_final))
    if final is None or not wants_final:
        for match in store.matches.running():
            store.matches.void(match.number, f"the season {season.name} ends")
    return {"season": season.name, "next": following}


def _check_final(context: OrderContext) -> None:
    """Checks that the final can be played as the season was. Raises Refused: `league.toml` has other values already."""
    try:
        _check(context.store, context.folder, context.settings, final=True)
    except errors.ConfigError as error:
        message, _, remedy = f"{error}".partition("; ")
        raise errors.Refused("settings", message, remedy) from None


def _check(store: LeagueReader, folder: Folder, settings: Settings, *, final: bool) -> None:
    """Checks that the open season, or its `final`, can be played with the settings.

    Raises:
        ConfigError: They would mix ratings in it. Show the message to the operator.
    """
    season = store.seasons.current()
    assert season is not None
    fixed = store.finder.tournament(season.tournament).settings
    try:
        check_season(settings, season.name, fixed, str(folder.settings), folder.settings_text())
    except errors.ConfigError as error:
        if not final:
            raise
        message = f"{error}".partition("; ratings of both")[0]
        close = f"arena league season close {season.name} --league {folder.path} --no-final"
        raise errors.ConfigError(
            f"{message}; set it back until the final is over, or end the season without: {close}"
        ) from None


def close_season(
    store: LeagueStore, folder: Folder, tell: Callable[[str], object], alive: Callable[[], object] = lambda: None
) -> Season:
    """Ends the season that is to end, and begins the next. No game may be running. Returns the season that ended.

    Games that were not begun go, and matches that are over by that, too, are published.

    Args:
        tell: Called with a sentence about what could not be published.
        alive: Called again and again while matches are published: after a full disk there may be thousands.

    Raises:
        ConfigError: `league.toml` cannot be used. Nothing has changed.
        Refused: No season is to end, games are running, or its final is not over. The season is still open.
        OSError: Its last matches cannot be published, for instance on a full disk. The season is still open; or it is
            closed, and its results and its secret are published when the service starts again.
    """
    closing = store.controls.closing
    season = store.seasons.current()
    if closing is None or season is None:
        raise errors.Refused(
            "season", "expected a season that is to end, got: none", "order it: `arena league season close`"
        )
    settings = load(folder)
    store.seasons.stop()
    Publishing(store, folder, settings, season, tell).publish_matches(alive)
    with store.transaction():
        ranking = Ranking(store, season, costs=False)
        standings = documents.standings(store, ranking)
        fit, fits = ranking.fit, []
        if fit is not None:
            items = {item["name"]: item["rank"] for item in standings["items"] if item["rating"] is not None}
            for entrant in store.games.entrants(season.tournament):
                if entrant.name in items:
                    place = entrant.number
                    fits.append((place, fit.ratings[place], fit.half_width[place], items[entrant.name]))
        starts = _starts(store, settings, season)
        closed = store.seasons.close(standings, fits)
        open_season(store, folder, settings, closing.next, starts)
        enter_house(store, settings)
        store.set_control("closing", None)
    catch_up(store, folder, Rounds(store, folder, tell))
    return closed


def _starts(store: LeagueReader, settings: Settings, season: Season) -> dict[int, true_skill.Rating]:
    """Returns by version the rating that it begins the next season with; nothing if all begin anew."""
    if settings.season.start == "anew":
        return {}
    ratings = store.finder.ratings(season.tournament)
    return {
        version.id: true_skill.inherit(ratings[version.entrant])
        for version in store.versions.active()
        if version.entrant is not None
    }


def settings_now(store: LeagueReader, folder: Folder) -> Settings:
    """Returns the settings for what is left of the open season. They may be those of the next one if nothing is.

    Raises:
        ConfigError: They cannot be used, or a game of the season is still to be played with others.
    """
    closing, season, settings = store.controls.closing, store.seasons.current(), load(folder)
    if season is None:
        return settings
    if closing is not None:
        over = season.final is not None and season.final.outcome is not None
        if over or not closing.final or (season.final is None and not settings.season.final):
            return settings
    _check(store, folder, settings, final=closing is not None)
    return settings


def check_season(settings: Settings, season: str, fixed: Payload, where: str, text: str) -> None:
    """Checks that a season can go on with these settings: that no rating would be mixed with one of another game.

    Args:
        fixed: What it began with: its tournament's settings.
        where: How errors call the file.

    Raises:
        ConfigError: Something that ratings depend on has changed. The message names it, and how a season is started.
    """
    for key, old, new in _differences(fixed, settings.season_settings()):
        began, now = game_rows.canonical(old), game_rows.canonical(new)
        if key == "time" and old.get("cpu_ms") == new.get("cpu_ms"):
            began, now = (str(msgspec.convert(time, TimeControl)) for time in (old, new))
        told = f"expected {key} as when the season {season!r} began, {began}, got: {now}"
        if key not in _KEYS:
            raise errors.ConfigError(
                f"{told}, by which this version of arena plays; finish the season with the version that began it, or "
                "end it with `arena league season close`"
            )
        raise errors.ConfigError(
            f"{told} - at {place(where, text, 'bots' if key == 'level' else 'game', key)}; ratings of both would be "
            "mixed: set it back, or end the season with `arena league season close`, and the next one begins with it"
        )


def _differences(old: Payload, new: Payload) -> Iterator[tuple[str, Any, Any]]:
    """Yields what differs between two settings of a season: its name, the old value, the new one.

    How long a bot's process is kept is the season's to the end, whatever this version of arena would do. Its chance is
    that of the version that plays, which `arena verify` knows.
    """
    players = [[game["players"] for game in each["games"]] for each in (old, new)]
    if players[0] != players[1]:
        yield "players", players[0], players[1]
        return
    for one, other in zip(old["games"], new["games"], strict=True):
        for key in sorted({**one, **other}, key=lambda key: _KEYS.index(key) if key in _KEYS else len(_KEYS)):
            if one.get(key) != other.get(key):
                yield key, one.get(key), other.get(key)
    for key in {**old, **new}:
        if key not in ("game", "games", "processes", "chance", "beacon") and old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)
