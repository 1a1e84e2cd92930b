"""The standings of a league's open season."""

from __future__ import annotations

from pathlib import Path

from arena.live.scores import Board
from arena.store.league import league_of
from arena.store.reader import Reader
from arena.text import plain


def season_board(database: Path, name: str) -> Board:
    """Returns the standings of whatever season is open in a league.

    Args:
        database: The league's database.
        name: What the league is called.
    """

    def which(reader: Reader) -> str | None:
        season = league_of(reader).seasons.current()
        return None if season is None else season.tournament

    return Board(database, which, title=plain(name), endless=True)
