"""Shows tournaments and games that were found, as tables and lines for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.core.show.standings import local_time, subject_text
from arena.core.text import counted, plain

if TYPE_CHECKING:
    from rich.table import Table

LEAST_WIDTH = 24
"""Least width of the column of names in characters, if the names are that long."""
MOST_NAMES = 4


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


def games_table(games: Sequence[Mapping[str, Any]], near: Callable[[str], str], width: int) -> Table:
    """Returns games as a table: id, bots by seat with their ranks, cause, end, slowest decision, lead, level, log.

    The lead, the winner's over all others, is left out where no game counts any; the level where all were played
    as `trusted`.

    Args:
        near: Returns a path as it is called from the operator's folder.
        width: Of the terminal. What has no room is left out, the logs first: the ids stand for them.
    """
    from arena.core.show.tables import Column, folding

    def ranks(game: Mapping[str, Any]) -> str:
        return plain("  ".join(f"{seat['rank']}. {seat['bot']}" for seat in game["seats"]))

    def cause(game: Mapping[str, Any]) -> str:
        return f"{game['ended']}, taken back" if game["struck"] else str(game["ended"])

    def lead(game: Mapping[str, Any]) -> str:
        return next((f"{one['margin']}" for one in game["seats"] if one["rank"] == 1 and one["margin"] is not None), "")

    columns = [
        Column(title="game", cells=[game["game"] for game in games], left=True),
        Column(title="ranks by seat", cells=[ranks(game) for game in games], left=True),
        Column(title="cause", cells=[cause(game) for game in games], left=True),
        Column(title="ended", cells=[local_time(game["finished"]) for game in games], left=True),
        Column(title="slowest\nms", cells=[f"{game['slowest_ms']:.0f}" for game in games]),
        Column(title="ahead\nby", cells=[lead(game) for game in games]),
        Column(title="level", cells=[game["level"] for game in games], left=True),
        Column(title="log", cells=[plain(near(game["log"])) for game in games], left=True),
    ]
    if all(game["level"] == "trusted" for game in games):
        columns = [column for column in columns if column.title != "level"]
    if not any(map(lead, games)):
        columns = [column for column in columns if column.title != "ahead\nby"]
    return folding(columns, LEAST_WIDTH, width)


def void_line(game: Mapping[str, Any]) -> str:
    """Returns why a game that was played has no result; `game` is as `Finder.void` yields it."""
    return plain(f"{game['game']}: void ({', '.join(game['bots'])}): {game['reason']}")


def forfeit_lines(game: Mapping[str, Any], seat: Mapping[str, Any], commands: Mapping[str, str]) -> Iterator[str]:
    """Yields why a seat forfeited in a game of `Finder.describe`; with `commands` by purpose, its last words."""
    subject = f"seat {seat['seat']}"
    sentence = seat["sentence"].removeprefix(f"{subject} ")
    yield plain(f"{game['game']}: {seat['bot']} ({subject}, turn {seat['forfeit_turn']}) {sentence}")
    if commands:
        for line in seat["last_words"][-1:]:
            yield plain(f"  its last words: {line}")
    for what, command in commands.items():
        yield plain(f"  {what}: {command}")


def tournaments_table(tournaments: Sequence[Mapping[str, Any]], width: int) -> Table:
    """Returns the tournaments of `arena tournaments list` as a table; what has no room is left out, log sizes first."""
    from arena.core.show.tables import Column, folding

    def logs(size: Mapping[str, int] | None) -> str:
        return "none" if size is None else bytes_text(size["bytes"])

    columns = [
        Column(title="tournament", cells=[row["tournament"] for row in tournaments], left=True),
        Column(title="what", cells=[_what(row) for row in tournaments], left=True),
        Column(title="games", cells=[_done(row) for row in tournaments]),
        Column(title="status", cells=[row["status"] for row in tournaments], left=True),
        Column(title="begun", cells=[local_time(row["created"]) for row in tournaments], left=True),
        Column(title="logs", cells=[logs(row["logs_size"]) for row in tournaments], left=True),
    ]
    return folding(columns, LEAST_WIDTH, width)


def _what(row: Mapping[str, Any]) -> str:
    names = row["bots"] if len(row["bots"]) <= MOST_NAMES else row["bots"][: MOST_NAMES - 1]
    more = row["entrants"] - len(names)
    played = f"{row['rules']} {row['ruleset']}, {row['format']}"
    return plain(f"{played}: {', '.join(names)}{f' and {more} more' if more else ''}")


def _done(row: Mapping[str, Any]) -> str:
    """Returns how many games of a tournament are done, of how many if some are left."""
    left = row["planned"] - row["games"] - row["void"]
    done = f"{row['games']}/{row['planned']}" if left else f"{row['games']}"
    return done + (f" ({row['void']} void)" if row["void"] else "")


def tournament_lines(document: Mapping[str, Any], near: Callable[[str], str]) -> Iterator[str]:
    """Yields the document of `arena tournaments show` in lines; `near` says how paths are called from here."""
    id, size, stored = document["tournament"], document["logs_size"], document["database"]
    yield f"{subject_text(document['settings'])}: tournament {id}"
    yield ""
    ended = f", finished {local_time(document['finished'])}" if document["finished"] else ""
    yield f"begun      {local_time(document['created'])}{ended}, {document['seconds']:.1f} s of play"
    void = f", {document['void']} void" if document["void"] else ""
    yield f"games      {document['games']} of {document['planned']} done{void}; {document['status']}"
    yield f"format     {document['format']}"
    yield f"level      {document['level']}"
    seed = "none: chance is the system's" if document["seed"] is None else document["seed"]
    yield plain(f"seed       {seed}")
    if (beacon := document["settings"].get("beacon")) is not None:
        yield plain(f"beacon     {beacon}: {document['beacon'] or 'not out yet'}")
    yield f"commitment {document['commitment']}"
    found = "not there" if size is None else f"{counted(size['files'], 'file')}, {bytes_text(size['bytes'])}"
    yield plain(f"logs       {near(document['logs'])}: {found}")
    yield f"database   {sum(stored['rows'].values())} rows, about {bytes_text(stored['bytes'])}"
    yield ""
    for entrant in document["entrants"]:
        counts = document["forfeits"].get(entrant["bot"], {})
        codes = ", ".join(f"{code} {count}" for code, count in sorted(counts.items(), key=lambda item: -item[1]))
        version = f" {entrant['version']}" if entrant["version"] else ""
        yield plain(f"{entrant['bot']}{version}  {entrant['digest'][:12]}{codes and f'  forfeited: {codes}'}")
    yield ""
    if document["status"] != "running":
        yield "To play it again:" if document["finished"] else "To go on:"
        yield plain(f"  {document['command']}")
    yield "More:"
    for command in ("standings --tournament", "games --tournament", "verify"):
        yield f"  arena {command} {id}"


def removed_lines(rows: Sequence[Mapping[str, Any]], logs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields which tournaments (rows of `Finder.overview`) were removed, and their `logs`; these may have been kept."""
    for number, row in enumerate(rows):
        words = f"{row['tournament']}: removed with {row['games']} games"
        if logs:
            done = logs[number]
            removed = done["removed"]
            words += f", and {counted(removed['files'], 'file')} ({bytes_text(removed['bytes'])}) in {done['folder']}"
            words += f"; that folder was not removed: {done['kept']}" if done["kept"] else ""
        else:
            words += f"; its logs are still in {row['logs']}"
        yield plain(words)
