"""Prints what a league tells as tables: the same for a league here and for one elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from arena.cli.output import console, counted, echo, say, show
from arena.core.face import errors
from arena.league.commands.away import show_maps

if TYPE_CHECKING:
    from arena.core.face import Payload

NOTICES: Final = 10
"""How many notices are shown, the latest."""
_GAMES: Final = ("game", "match", "version", "opponents", "outcome", "rank", "turns", "forfeit", "turn", "rated")
"""The columns of a table of games."""
_EXPLAINED: Final = 5
"""For how many forfeits the cause and the commands are printed."""


class _Forfeit(msgspec.Struct):
    """A game that was forfeited, as far as it is explained."""

    game: str
    version: str
    turn: int | None = None
    sentence: str | None = None
    last_words: list[str] = []
    rerun: str | None = None


class _Face(msgspec.Struct):
    """What everybody may know of a league, as far as it is shown."""

    rules: str = ""
    ruleset: str = ""
    players: list[int] = []
    board: str | None = None
    time: str = ""
    level: str = ""
    limits: dict[str, int] = {}
    authors: int | None = None
    active: int | None = None
    tried: list[str] = []
    address: str | None = None


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
        face = msgspec.convert(league, _Face)
    except msgspec.ValidationError as error:
        raise errors.DoorError(f"expected what a league is, got: {error}; ask its operator", "internal") from None
    if not face.rules:
        return
    players = " and ".join(map(str, face.players))
    board = f", board {face.board}" if face.board else ""
    yield f"  plays {face.rules} {face.ruleset}, {players} players{board}, time {face.time}, level {face.level}"
    limits = [f"{face.limits[name]} {words}" for name, words in _LIMITS.items() if name in face.limits]
    yield f"  an author may have {', '.join(limits)}"
    if face.active is not None:
        names = ", ".join(face.tried[:4])
        trying = f"; now tried: {names}" if names else ""
        has = f"{counted(face.active, 'version')} of {counted(face.authors or 0, 'author')} and the house"
        yield f"  in it: {has}{trying}"
    yield f"  to enter: arena league submit BOT {where}"
    if is_here and face.address:
        yield "  from elsewhere: arena league key new NAME; here: arena league author add NAME --key NAME.pub; there:"
        yield f"    arena league submit BOT --at {face.address} --key NAME.key"
    if is_here:
        yield f"  to watch: arena watch {where}, or with --web for a page"
    yield ""


_LIMITS: Final = {"bots": "bots", "pending": "versions that wait or are tried", "submissions": "submissions a day"}
"""The limits that are told, in words."""


def show_games(games: Sequence[Payload]) -> None:
    """Prints games of versions as a table, and why those were forfeited that are so.

    Raises:
        DoorError: They are no games, but something else that a league elsewhere sent.
    """
    try:
        forfeits = msgspec.convert([game for game in games if game.get("forfeit")][:_EXPLAINED], list[_Forfeit])
    except msgspec.ValidationError as error:
        raise errors.DoorError(f"expected games of a league, got: {error}; ask its operator", "internal") from None
    show_maps(games, _GAMES, "No game is like that.")
    for game in forfeits:
        echo()
        echo(f"{game.game}, {game.version}, turn {game.turn}: {game.sentence}")
        for line in game.last_words[-3:]:
            echo(f"  | {line}")
        if game.rerun:
            echo(f"  ask it again: {game.rerun}")


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
    show(league_table(items, console().width, verbose=verbose))
    if any(item.get("provisional") for item in items):
        few = f"fewer than {document['final_matches']}" if "final_matches" in document else "few"
        say(f"Provisional: a rating from {few} matches, which may be far off.")
    if order := standings_texts.order_text(document.get("order"), items):
        show(text_tables.wrapped(order, console().width))
    if line := remaking_line(document.get("remaking")):
        say(f"The {line}.")
    if not any(item.get("games") for item in items):
        say("No game is rated yet.")


def remaking_line(remaking: Payload | None) -> str:
    """Returns a line about ratings that are made again; empty if none are.

    >>> remaking_line({"games": 90_000, "left": 1_200})
    'running ratings (MU, SIGMA) are being made again: 88,800 of 90,000 games are done'
    """
    if not remaking:
        return ""
    done = f"{remaking['games'] - remaking['left']:,} of {remaking['games']:,} games"
    return f"running ratings (MU, SIGMA) are being made again: {done} are done"


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
        show(versions_table(versions, console().width))
    else:
        say(nothing)
    if notices and versions:
        echo()
    for notice in notices[-most:]:
        first, *others = str(notice.get("text", "")).split("\n")
        echo(f"{moment(str(notice.get('at', '')))}  {first}")
        for line in others:
            echo(f"    {line}")
