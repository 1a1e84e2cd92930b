"""Shows a league's standings and versions as tables, as those of a tournament look.

The rows may come from a league elsewhere: they are read here, field by field, before anything is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import defstruct
from msgspec.structs import asdict, fields

from arena.core.face import Level, counted, errors, plain, ranking_tables, standings_texts, text_tables

if TYPE_CHECKING:
    from rich.text import Text

    from arena.core.face import Payload


def _row(**more: tuple[Any, ...]) -> type[msgspec.Struct]:
    """Returns a Struct with what a tournament's row has, none of which a league must tell, and more fields."""
    own: dict[str, tuple[Any, ...]] = {one.name: (one.type | None, None) for one in fields(ranking_tables.Standing)}
    own |= {"level": (str, ""), "provisional": (bool | None, None)}
    return defstruct("Row", [(name, *field) for name, field in (own | more).items()], kw_only=True)


ITEM: Final = _row(rank=(int,), name=(str,), author=(str, ""), display_name=(str, ""))
"""A row of the standings, as far as it is shown."""
_VERSION: Final = _row(version=(str,), state=(str, ""), since=(str, ""))
"""A version as a status has it, as far as it is shown."""


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


def read(rows: Sequence[Payload], kind: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """Returns rows of a document, with None for what is missing. Raises DoorError: they are not such rows."""
    try:
        return [asdict(row) for row in msgspec.convert(rows, list[kind])]  # type: ignore[valid-type]
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
    rows = [{**item, "bot": item["name"], "version": "", "mean_off_turn_ms": None} for item in read(items, ITEM)]
    authors = text_tables.Column(
        title="author", cells=[plain(row["author"]) for row in rows], leaves=7, extra=True, left=True
    )
    return standings_texts.standings_table(
        rows, width, verbose=verbose, more=(authors, _confinement(rows), _provisional(rows))
    )


def versions_table(versions: Sequence[Payload], width: int) -> Text:
    """Returns versions with their states and ratings as a table. Raises DoorError: as for `read`."""
    found = read(versions, _VERSION)

    def column(title: str, name: str, form: Callable[[Any], str], leaves: int) -> text_tables.Column:
        cells = ["" if row[name] is None else form(row[name]) for row in found]
        return text_tables.Column(title=title, cells=cells, leaves=leaves)

    columns = [
        text_tables.Column(title="state", cells=[plain(row["state"]) for row in found], left=True),
        _confinement(found),
        _provisional(found),
        column("rating", "rating", "{:.1f}".format, 6),
        column("95 %", "half_width", standings_texts.interval_text, 5),
        column("games", "games", str, 4),
        column("forfeits", "forfeits", str, 3),
        column("since", "since", moment, 1),
    ]
    return text_tables.fitted(
        [columns[0], *(column for column in columns[1:] if any(column.cells))], [row["version"] for row in found], width
    )


def moment(at: str) -> str:
    """Returns a moment that a league has told as local time; what is none, as it is."""
    try:
        return standings_texts.local_time(at)
    except (ValueError, OverflowError):
        return plain(at)


def _confinement(rows: Sequence[Mapping[str, Any]]) -> text_tables.Column:
    """Returns the column that says which versions are uncontrolled, or less confined than others. It never leaves."""
    said = {str(Level.REMOTE): "uncontrolled"}
    if any(row["level"] != Level.FENCED for row in rows):  # else the heading says it
        said[str(Level.FENCED)] = str(Level.FENCED)
    return text_tables.Column(title="level", cells=[said.get(row["level"], "") for row in rows], left=True)


def _provisional(rows: Sequence[Mapping[str, Any]]) -> text_tables.Column:
    """Returns the column that says whose rating rests on few matches. It never leaves."""
    return text_tables.Column(
        title="so far", cells=["provisional" if row["provisional"] else "" for row in rows], left=True
    )
