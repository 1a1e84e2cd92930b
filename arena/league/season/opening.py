"""Makes a league, and opens its seasons.

Law: when a league is made, `league.toml` is written last. So a folder with one is a whole league. One whose making was
broken off is made by giving the command again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from arena.core.face import Payload, beacons, chance, errors, files, game_rows, record_files, stores, true_skill
from arena.league.folder import SETTINGS, Folder
from arena.league.order_context import OrderContext
from arena.league.public.season_files import Rounds, catch_up, write_beacon, write_commitment
from arena.league.season.template import text
from arena.league.settings import Settings, parse
from arena.league.store import LeagueStore, open_league
from arena.league.store.records import Season
from arena.league.submissions.house import check_house, enter_house


def open_season(
    store: LeagueStore,
    folder: Folder,
    settings: Settings,
    name: str,
    starts: Mapping[int, true_skill.Rating] | None = None,
) -> Season:
    """Opens the next season, with a new secret, and publishes the commitment to it. All active versions are in it.

    Args:
        starts: By version's id the rating that it begins with; a new rating for the others.

    Raises:
        Refused: A season is open, or there was one of that name.
        ConfigError: The settings cannot be used. Show the message to the operator.
        OSError: The commitment cannot be published.
    """
    id = f"{settings.name}-{len(store.seasons.all()) + 1}"
    secret = chance.new_secret()
    document = settings.season_settings()
    logs = folder.logs / id
    logs.mkdir(parents=True, exist_ok=True)
    tournament = game_rows.Tournament(
        id=id, created=stores.now(), settings=document, digest=record_files.sha256_of(document), seed=None,
        secret=secret, commitment=chance.commitment(secret), logs=str(logs), games=0, open=True,
    )  # fmt: skip
    season = store.seasons.open(name, tournament, starts=starts)
    write_commitment(folder, season, tournament)
    return season


def season_beacon(context: OrderContext) -> Payload:
    """Takes the value of the beacon that the open season names. Its games begin then."""
    store, value = context.store, context.text("value")
    season = store.seasons.current()
    tournament = None if season is None else store.games.tournament(season.tournament)
    if season is None or tournament is None or not tournament.awaits:
        has = "none is open" if tournament is None else "its value is known" if tournament.beacon else "it names none"
        raise errors.Refused("season", f"expected a season that awaits the value of its beacon, got: {has}")
    try:
        beacons.check_value(tournament.awaits, value, "VALUE")
    except errors.ConfigError as error:
        message, _, remedy = f"{error}".partition("; ")
        raise errors.Refused("argument", message, remedy) from None
    store.games.contribute(tournament.id, value, [])
    write_beacon(context.folder, store.games.tournament(tournament.id))
    return {"season": season.name}


FIRST_SEASON: Final = "first"
LOCAL: Final = "local"
"""The author of bots that are submitted on the league's machine, unless another is named."""
_LOCAL_QUOTAS: Final = {"bots": 1_000, "pending": 1_000, "submissions": 100_000}


def make_league(path: Path, settings: Settings) -> Folder:
    """Makes a league in a folder that does not exist, or is empty.

    Args:
        settings: What was chosen. What `league.toml` does not take from it has its default.

    Raises:
        ConfigError: The folder is used, or something that was chosen cannot be used. Show the message to the operator.
    """
    folder = Folder(path.absolute())
    if folder.settings.exists():
        raise errors.ConfigError(f"expected a folder without a league, got: {str(path)!r}, which has a {SETTINGS}")
    if path.is_dir() and any(path.iterdir()) and not folder.database.exists():
        raise errors.ConfigError(
            f"expected a new or an empty folder for a league, got: {str(path)!r}, which has other files"
        )
    written = text(settings)
    settings = parse(written, SETTINGS)
    check_house(settings)
    folder.make()
    with open_league(folder.database) as store:
        with store.transaction():
            if store.seasons.current() is None:
                open_season(store, folder, settings, FIRST_SEASON)
            enter_house(store, settings)
            if store.authors.get(LOCAL) is None:
                store.authors.add(LOCAL, _LOCAL_QUOTAS)
        catch_up(store, folder, Rounds(store, folder))
    files.write(folder.settings, written.encode(), durably=True)
    return folder
