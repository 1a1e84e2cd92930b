"""Ends a tournament whose games are all done, and corrects it afterwards."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from arena.core import files
from arena.core.errors import ConfigError, LogError
from arena.core.record.published import CORRECTIONS_FILE, Correction, Corrections, published
from arena.core.standings.report import Report, report
from arena.core.store.reader import Reader
from arena.core.store.records import Tournament, game_id
from arena.core.store.store import Store, now
from arena.core.tournament.formats import FORMATS
from arena.core.tournament.plan import publish_beside, reveal_secret


def close(store: Store, tournament: Tournament) -> Report:
    """Reveals the secret of a tournament whose games are all done, stores its ratings, and marks it finished.

    What killed workers have left of files is removed, since no worker writes any more. It may be called again if it
    was cut short. Returns its final standings.

    Raises:
        StoreError: Some games are not done. Nothing is revealed.
        ArenaError: The secret cannot be written.
    """
    store.check_done(tournament.id)
    with suppress(OSError):  # it harms nobody, and if the folder is gone the next step says so
        files.remove_unfinished(Path(tournament.logs))
    reveal_secret(tournament)
    document, _ = report(store, tournament.id)
    store.finish(tournament.id, fit_rows(store, document))
    return document


def correct(
    store: Store, tournament: Tournament, games: Collection[int], *, counts: bool, reason: str, by: str
) -> None:
    """Takes results of a finished tournament back, or lets them count again, and makes its standings anew.

    The record comes first. It may be called again if it was cut short: the database then follows the record.

    Args:
        games, reason, by: Their numbers; why, for people; who says so.

    Raises:
        ConfigError: The tournament is not over, or who met in it followed from its results, or a game has no result,
            or it counts, or does not, already. Nothing has changed.
        LogError: The record of earlier corrections cannot be read, is another's, or lacks one. Nothing has changed.
        ArenaError: The record cannot be written. Nothing has changed.
    """
    row = store.tournament(tournament.id)
    what = f"tournament {row.id}"
    if row.status != "finished":
        raise ConfigError(f"expected a finished tournament, got: {row.id}, which is not over; give its command again")
    progress = report(store, row.id)[0].progress
    if progress is not None and (progress.places or not FORMATS[progress.format].is_contest):
        why = "whose winners went on" if progress.places else "whose next values followed from each result"
        raise ConfigError(f"expected results that nothing followed from, got: those of {what}, {why}; play another one")
    done = {game.number for game in store.games(row.id)}
    if without := sorted(set(games) - done):
        raise ConfigError(f"expected a game with a result, got: {game_id(row.id, without[0])}, which has none")
    folder = Path(row.logs)
    before = published(folder, CORRECTIONS_FILE, Corrections) or Corrections(tournament=row.id, corrections=[])
    struck, stored = before.struck(), store.struck(row.id)
    at = max(now(), row.created, *(one.at for one in before.corrections))  # the clock may have gone back
    told, place = {one.game for one in before.corrections}, f"at {folder / CORRECTIONS_FILE}; put its true copy there"
    if before.tournament != row.id:
        raise LogError(f"expected corrections of {row.id}, got: those of {before.tournament:.80} - {place}")
    if strange := sorted(told - done):
        raise LogError(f"expected corrections of results, got: one of game {strange[0]}, which has none - {place}")
    if lost := sorted(stored.keys() - told):  # else it would count again, and nobody would have said so
        raise LogError(f"expected who took {game_id(row.id, lost[0])} back, got: nothing of it - {place}")
    new = [Correction(game=n, counts=counts, reason=reason, by=by, at=at) for n in games if (n in struck) == counts]
    if not new and struck == stored:
        raise ConfigError(f"expected a result that {'was taken back' if counts else 'counts'}, got: none of {what}")
    document = replace(before, corrections=[*before.corrections, *new])
    publish_beside(row, CORRECTIONS_FILE, document)
    with store.transaction():
        store.strike(row.id, document.struck())
        for other in store.pool(row.id):  # ratings of a gauntlet's field, say, follow from earlier tournaments
            if other.status == "finished":
                store.finish(other.id, fit_rows(store, report(store, other.id)[0]))


def fit_rows(reader: Reader, document: Report) -> list[tuple[int, float, float | None, int]]:
    """Returns the final ratings as `Store.finish` takes them."""
    numbers = {entrant.name: entrant.number for entrant in reader.entrants(document.tournament.id)}
    return [(numbers[r.bot], r.rating, r.half_width, r.rank) for r in document.standings if r.rating is not None]
