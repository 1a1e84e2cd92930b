"""Prints what a league tells as tables: the same for a league here and for one elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from arena.cli.output import counted, echo, say, show, stdout_width
from arena.core.face import errors, plain

if TYPE_CHECKING:
    from arena.core.face import Payload

NOTICES: Final = 10
"""How many notices are shown, the latest."""
_GAMES: Final = ("game", "match", "version", "opponents", "outcome", "rank", "turns", "forfeit", "turn", "rated")
"""The columns of a table of games."""
_EXPLAINED: Final = 5
"""For how many forfeits the cause and the commands are printed."""

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))
REMOTE = ("level", "remote")
WHOLE = 2
"""The number of first columns that are never broken: they hold names."""


class _Forfeit(msgspec.Struct):
    """A game that was forfeited, as far as it is explained."""

    game: str
    version: str
    turn: int | None = None
    sentence: str | None = None
    last_words: list[str] = []
    rerun: str | None = None


UNCONTROLLED = "uncontrolled"
"""What is shown beside the rating of a bot on its author's machine."""


def show_maps(rows: Sequence[Payload], columns: Iterable[str], nothing: str) -> None:
    """Prints what a league published as a table.

    Args:
        rows: What it published.
        columns: The fields to print; those that are empty in all rows are left out.
        nothing: What to say, on stderr, if there are no rows.
    """
    if not rows:
        say(nothing)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    found = [column for column in columns if any(_cell(row.get(column)) for row in rows)]
    for place, column in enumerate(found):
        table.add_column(column, overflow="fold", no_wrap=place < WHOLE)
    for row in rows:
        cells = (UNCONTROLLED if (column, row.get(column)) == REMOTE else _cell(row.get(column)) for column in found)
        table.add_row(*(Text(plain(cell)) for cell in cells))
    show(table)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.1f}"
        case list():
            return (" " if all(isinstance(each, str) for each in value) else " to ").join(map(_cell, value))
        case _:
            return str(value)


def _date_lines(dates: Mapping[str, datetime]) -> Iterator[tuple[str, str]]:
    """Yields what happens when, in the time zone of who reads it."""
    for name, what in (("opens", "games begin"), ("freezes", "submissions freeze"), ("closes", "the season closes")):
        if (moment := dates.get(name)) is not None:
            left = (moment.astimezone() - datetime.now().astimezone()).total_seconds()
            unit, size = next(each for each in _UNITS if left >= 2 * each[1] or each is _UNITS[-1])
            when = f"in {counted(math.ceil(left / size), unit)}" if left > 0 else "past"
            yield what, f"{moment.astimezone():%a %d %b %Y, %H:%M %Z} ({when})"


def face_lines(league: Payload, where: str, *, is_here: bool) -> Iterator[str]:
    """Yields what is played in a league, by whom, what is tried now, and how one enters.

    Args:
        league: What everybody may know of it; one elsewhere has sent it. Empty: nothing is told.
        where: The words with which a command names it.
        is_here: Whether it is a folder on this machine.

    Raises:
        DoorError: It is something else.
    """
    try:
        told = msgspec.convert(league.get("told", ()), list[tuple[str, str]])
        told += _date_lines(msgspec.convert(league.get("dates", {}), dict[str, datetime]))
    except (msgspec.ValidationError, OverflowError) as error:
        raise errors.DoorError(f"expected what a league is, got: {error}; ask its operator", "internal") from None
    if not told:
        return
    for name, text in told:
        yield f"  {name}: {text}"
    yield f"  to enter: arena league submit BOT {where}"
    if is_here and (address := league.get("address")):
        yield "  elsewhere: arena league token new NAME; here: arena league author add NAME --token NAME.hash; there:"
        yield f"    arena league submit BOT --at {address} --token NAME.token"
    if is_here:
        yield f"  to watch: arena watch {where}, or with --web for a page"
    yield ""


def show_games(games: Sequence[Payload], where: str) -> None:
    """Prints games of versions as a table, and why those were forfeited that are so.

    Raises:
        DoorError: They are no games, but something else that a league elsewhere sent.
    """
    try:
        forfeits = msgspec.convert([game for game in games if game.get("forfeit")][:_EXPLAINED], list[_Forfeit])
    except msgspec.ValidationError as error:
        raise errors.DoorError(f"expected games of a league, got: {error}; ask its operator", "internal") from None
    show_maps(games, _GAMES, "No game of the open season is like that.")
    for game in forfeits:
        echo()
        echo(f"{game.game}, {game.version}, turn {game.turn}: {game.sentence}")
        for line in game.last_words[-3:]:
            echo(f"  | {line}")
        if game.rerun:
            echo(f"  ask it again: arena league log {game.game} {where}")
            echo(f"                {game.rerun}")


def received(version: str, before: object) -> str:
    """Returns what is said of a version that a league has taken.

    >>> received("fox/1", 0), received("fox/2", 3)
    ('fox/1 is received; it is next', 'fox/2 is received; 3 versions before it')
    """
    if not isinstance(before, int):
        return f"{version} is received"
    place = f"{counted(before, 'version')} before it" if before else "it is next"
    return f"{version} is received; {place}"


def show_standings(document: Payload, *, verbose: bool = False) -> None:
    """Prints standings, and what of their order is settled.

    Args:
        document: The standings as a league tells them. One elsewhere tells no `order`.
        verbose: Whether to show all columns.
    """
    from arena.core.face import standings_texts, text_tables
    from arena.league.show import league_table

    items = document["items"]
    if not items:
        say("No bot plays yet.")
        return
    show(league_table(items, stdout_width(), verbose=verbose))
    if any(item.get("provisional") for item in items):
        few = f"fewer than {document['final_matches']}" if "final_matches" in document else "few"
        say(f"Provisional: a rating from {few} matches, which may be far off.")
    if order := standings_texts.order_text(document.get("order"), items):
        show(text_tables.wrapped(order, stdout_width()))
    if not any(item.get("games") for item in items):
        authors = {str(item.get("author") or item["name"]) for item in items}
        alone = len(authors) == 1 and any(item.get("matches") for item in items)
        why = f", as all bots are of {min(authors)}; let another author's join, or the house's" if alone else " yet"
        say(plain(f"No game is rated{why}."))


def show_final(final: Payload, indent: str = "", above: Payload | None = None) -> None:
    """Prints how far a final is, or how it ended, and how its finalists stand; `above` has the ranks of a table."""
    if final["outcome"] == "not played":
        echo(f"{indent}No final was played: {final['reason']}")
        return
    outcome = f"{final['outcome']}: {final['reason']}" if final["outcome"] else "being played"
    played = f"{final['deals']:,} of at most {final['most_deals']:,} deals"
    echo(f"{indent}Final of {counted(len(final['finalists']), 'version')}, {outcome} ({played})")
    for item in final["items"]:
        points = "" if item["points"] is None else f"  {item['points']:.1%} of the points"
        rating = "" if item["rating"] is None else f"  rating {item['rating']} ({item['low']} to {item['high']})"
        of_all = f"  (rank {above[item['name']]} of all)" if above and item["name"] in above else ""
        echo(plain(f"{indent}{item['rank']:>3}  {item['name']}{points}{rating}{of_all}"))
    if above:
        echo(f"{indent}Who played it comes first in the table above; the others follow by their ratings.")
    if final["left"]:
        echo(f"{indent}Out of it: {', '.join(final['left'])}")


def show_versions(
    versions: Sequence[Payload], notices: Sequence[Payload], nothing: str, *, most: int = NOTICES
) -> None:
    """Prints versions, and the notices below them.

    Args:
        versions: Those of a status.
        notices: Its notices, the latest last.
        nothing: What to say, on stderr, if there are no versions.
        most: How many notices are printed, the latest.
    """
    from arena.league.show import moment, versions_table

    if versions:
        show(versions_table(versions, stdout_width()))
    else:
        say(nothing)
    if notices and versions:
        echo()
    for notice in notices[-most:]:
        first, *others = str(notice.get("text", "")).split("\n")
        echo(f"{moment(str(notice.get('at', '')))}  {first}")
        for line in others:
            echo(f"    {line}")
