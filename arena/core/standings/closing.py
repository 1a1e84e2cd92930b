"""Ends a tournament whose games are all done."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from arena.core import files
from arena.core.standings.report import Report, report
from arena.core.store.reader import Reader
from arena.core.store.records import Tournament
from arena.core.store.store import Store
from arena.core.tournament.plan import reveal_secret


def close(store: Store, tournament: Tournament) -> Report:
    """Reveals the secret of a tournament whose games are all done, stores its ratings, and marks it finished.

    What killed workers have left of files is removed, since no worker writes any more.

    Returns its final standings.

    It may be called again if it was cut short.

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


def fit_rows(reader: Reader, document: Report) -> list[tuple[int, float, float | None, int]]:
    """Returns the final ratings as `Store.finish` takes them."""
    numbers = {entrant.name: entrant.number for entrant in reader.entrants(document.tournament.id)}
    return [
        (numbers[row.bot], row.rating, row.half_width, row.rank) for row in document.standings if row.rating is not None
    ]
