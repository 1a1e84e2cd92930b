"""Shows tournaments and games that were found, as tables and lines for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from arena.text import plain

if TYPE_CHECKING:
    from rich.table import Table

MOST_NAMES = 4
"""How many bots of a tournament are named in a list."""


def local_time(utc: str) -> str:
    """Returns a stored moment as local time, to the minute."""
    return f"{datetime.fromisoformat(utc).astimezone():%Y-%m-%d %H:%M}"


def bytes_text(size: int) -> str:
    """Returns a number of bytes for people.

    >>> [bytes_text(size) for size in (999, 1_000, 123_456, 7_890_000_000)]
    ['999 B', '1.0 kB', '123 kB', '7.9 GB']
    """
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5 or unit == "GB":
            break
        value /= 1_000
    return f"{value:.1f} {unit}" if unit != "B" and value < 9.95 else f"{value:.0f} {unit}"


def games_table(games: Sequence[Mapping[str, Any]], near: Callable[[str], str]) -> Table:
    """Returns games as a table: id, end, bots by rank with their seats, cause, slowest decision, log.

    Args:
        games: What `Finder.games` returns.
        near: Returns a path as it is called from the operator's folder.
    """
    table = _table("game", "ended", "places", "cause", "slowest\nms", "log")
    for game in games:
        order = sorted(game["seats"], key=lambda seat: (seat["rank"], seat["seat"]))
        table.add_row(
            game["game"],
            local_time(game["finished"]),
            plain("  ".join(f"{seat['rank']}. {seat['bot']} (seat {seat['seat']})" for seat in order)),
            game["ended"],
            f"{game['slowest_ms']:.0f}",
            plain(near(game["log"])),
        )
    return table


def forfeit_lines(game: Mapping[str, Any], seat: Mapping[str, Any], again: str) -> Iterator[str]:
    """Yields why a seat forfeited, its last words, and the commands that show more.

    Args:
        game: The game, as `Finder.games` returns it.
        seat: One of its seats.
        again: The command that asks its bot again.
    """
    subject = f"seat {seat['seat']}"
    sentence = seat["sentence"].removeprefix(f"{subject} ")
    yield plain(f"{game['game']}: {seat['bot']} ({subject}, turn {seat['forfeit_turn']}) {sentence}")
    for line in seat["last_words"][-1:]:
        yield plain(f"  its last words: {line}")
    if seat["forfeit"] != "start_failed":
        yield plain(f"  ask it again: {again}")
    yield plain(f"  see it: {game['replay']} --seat {seat['seat']}")


def tournaments_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Returns tournaments as a table; `rows` are those of the JSON document."""
    table = _table("tournament", "begun", "game", "format", "bots", "games", "status", "logs")
    for row in rows:
        done = f"{row['games']}" if row["games"] == row["planned"] else f"{row['games']}/{row['planned']}"
        names = row["entrants"] if len(row["entrants"]) <= MOST_NAMES else row["entrants"][: MOST_NAMES - 1]
        more = len(row["entrants"]) - len(names)
        table.add_row(
            row["tournament"],
            local_time(row["created"]),
            plain(f"{row['rules']} {row['ruleset']}"),
            row["format"],
            plain(", ".join(names) + (f" and {more} more" if more else "")),
            done,
            row["status"],
            "gone" if row["logs_size"] is None else bytes_text(row["logs_size"]["bytes"]),
        )
    return table


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        title = column.partition("\n")[0]
        right = title in ("slowest", "games")
        table.add_column(column, justify="right" if right else "left", overflow="fold", vertical="top")
    return table
