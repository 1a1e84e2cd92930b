"""Shows a league's standings and versions as tables, as those of a tournament look.

The rows may come from a league elsewhere: they are read here, field by field, before anything is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from arena.core.face import Level, counted, errors, plain, standings_texts, text_tables

if TYPE_CHECKING:
    from rich.text import Text

    from arena.core.face import Payload

R = TypeVar("R", bound=msgspec.Struct)


class Rated(msgspec.Struct, frozen=True, kw_only=True):
    """What a row of the standings and one of a status have in common."""

    level: str = ""
    rating: float | None = None
    half_width: float | None = None
    mu: float | None = None
    sigma: float | None = None
    games: int | None = None
    forfeits: int | None = None
    provisional: bool | None = None


class Item(Rated, frozen=True, kw_only=True):
    """A row of the standings, as far as it is shown. What is missing is not shown."""

    rank: int
    name: str
    author: str = ""
    ahead_of_next: float | None = None
    points: float | None = None
    wins: int | None = None
    draws: int | None = None
    losses: int | None = None
    mean_score: float | None = None
    mean_ms: float | None = None
    max_ms: float | None = None
    tokens: int | None = None
    dollars: float | None = None
    retries: int | None = None
    display_name: str = ""


class VersionRow(Rated, frozen=True, kw_only=True):
    """A version as a status has it, as far as it is shown."""

    version: str
    state: str = ""
    since: str = ""


def season_text(name: str, settings: Mapping[str, Any]) -> str:
    """Returns a heading for a season: `Season first: samurai standard, 2 and 4 players, board japan, isolated`."""
    players = " and ".join(str(game["players"]) for game in settings.get("games", [settings["game"]]))
    board = settings["game"]["board"]
    on = f", board {board['name']}" if board else ""
    return plain(
        f"Season {name}: {standings_texts.game_text(settings)}, {players} players{on}, "
        f"{settings.get('level', 'trusted')}"
    )


def service_line(state: Mapping[str, Any], goal: int | None = None) -> str:
    """Returns what a league's service does at this moment.

    >>> state = {"state": "playing", "rated_games": 7, "games_per_s": 1.5, "running": 2, "step": "check of fox/1"}
    >>> service_line(state, 20)
    'playing: 7 of 20 rated games, 1.5/s, 2 running; check of fox/1'
    """
    games = f"{state['rated_games']} of {goal} rated games" if goal else counted(state["rated_games"], "rated game")
    step = f"; {state['step']}" if state["step"] else ""
    return plain(f"{state['state']}: {games}, {state['games_per_s']:.1f}/s, {state['running']} running{step}")


def read(rows: Sequence[Payload], kind: type[R]) -> list[R]:
    """Returns rows of a document. Raises DoorError: they are not such rows."""
    try:
        return msgspec.convert(rows, list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError as error:
        raise errors.DoorError(
            f"expected a document of a league, got: {plain(str(error))}; its `arena` and yours may be too far apart",
            "unreadable",
        ) from None


def league_table(items: Sequence[Payload], width: int, *, verbose: bool = False) -> Text:
    """Returns a league's standings as a table; the columns are those of a tournament's, and each version's author.

    Args:
        items: The rows, the best first; at least one.

    Raises:
        DoorError: As for `read`.
    """
    found = read(items, Item)
    rows: list[dict[str, Any]] = [
        {**msgspec.structs.asdict(item), "bot": item.name, "version": "", "mean_off_turn_ms": None} for item in found
    ]
    authors = text_tables.Column(
        title="author", cells=[plain(item.author) for item in found], leaves=7, extra=True, left=True
    )
    return standings_texts.standings_table(
        rows, width, verbose=verbose, more=(authors, _confinement(found), _provisional(found))
    )


def versions_table(versions: Sequence[Payload], width: int) -> Text:
    """Returns versions with their states and ratings as a table. Raises DoorError: as for `read`."""
    found = read(versions, VersionRow)

    def column(title: str, cell: Callable[[VersionRow], object], leaves: int) -> text_tables.Column:
        told = [cell(row) for row in found]
        return text_tables.Column(
            title=title, cells=["" if each is None else str(each) for each in told], leaves=leaves
        )

    columns = [
        text_tables.Column(title="state", cells=[plain(row.state) for row in found], left=True),
        _confinement(found),
        _provisional(found),
        column("rating", lambda row: None if row.rating is None else f"{row.rating:.1f}", 6),
        column(
            "95 %", lambda row: None if row.half_width is None else standings_texts.interval_text(row.half_width), 5
        ),
        column("games", lambda row: row.games, 4),
        column("forfeits", lambda row: row.forfeits, 3),
        column("since", lambda row: moment(row.since), 1),
    ]
    return text_tables.fitted(
        [columns[0], *(column for column in columns[1:] if any(column.cells))], [row.version for row in found], width
    )


def moment(at: str) -> str:
    """Returns a moment that a league has told as local time; what is none, as it is."""
    try:
        return standings_texts.local_time(at)
    except (ValueError, OverflowError):
        return plain(at)


def _confinement(rows: Sequence[Rated]) -> text_tables.Column:
    """Returns the column that says which versions are uncontrolled, or less confined than others. It never leaves."""
    said = {str(Level.REMOTE): "uncontrolled"}
    if any(row.level != Level.FENCED for row in rows):  # else the heading says it
        said[str(Level.FENCED)] = str(Level.FENCED)
    return text_tables.Column(title="level", cells=[said.get(row.level, "") for row in rows], left=True)


def _provisional(rows: Sequence[Rated]) -> text_tables.Column:
    """Returns the column that says whose rating rests on few matches. It never leaves."""
    return text_tables.Column(
        title="so far", cells=["provisional" if row.provisional else "" for row in rows], left=True
    )
