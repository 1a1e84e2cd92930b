"""`arena games`: finds games in the database."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from arena.cli import complete
from arena.cli.options import db_option, json_option
from arena.cli.output import echo, say, show, show_csv, show_json, show_members, stdout_width
from arena.core.errors import ConfigError
from arena.core.text import plain
from arena.core.types import Payload, Termination

if TYPE_CHECKING:
    from arena.core.store.finding import Finder

ANY = "any"  # stands for every cause of a forfeit
CAUSES = (ANY, *(str(code) for code in Termination if code not in (Termination.FINISHED, Termination.INTERRUPTED)))
SHOWN = 20  # how many games are shown, unless --limit says otherwise
MOST_EXPLAINED = 5  # for how many forfeits commands are printed under the table; later ones get one line

_AGO = re.compile(r"([0-9]{1,4})(min|h|d|w)")
_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_since(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Returns the moment that was typed, in UTC (ISO 8601), or reports what can be typed."""
    if text is None:
        return None
    found = moment(text, datetime.now().astimezone())
    if found is None:
        raise click.BadParameter(
            "expected today, yesterday, a number of min, h, d or w (2d is two days ago), or a date such as 2026-11-21 "
            f"or 2026-11-21T18:30, got: {text!r}"
        )
    return found.astimezone(UTC).isoformat(timespec="seconds")


def moment(text: str, now: datetime) -> datetime | None:
    """Returns the moment that a text means at `now`, in the time zone of `now`; None if it means none.

    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> for text in ("yesterday", "2d", "2026-11-01", "2026-11-01T18:30", "2026-11-01T18:30+02:00"):
    ...     print(moment(text, noon))
    2026-11-20 00:00:00+00:00
    2026-11-19 12:00:00+00:00
    2026-11-01 00:00:00+00:00
    2026-11-01 18:30:00+00:00
    2026-11-01 18:30:00+02:00
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return midnight - timedelta(days=text == "yesterday")
    try:
        if ago := _AGO.fullmatch(text):
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=now.tzinfo) if found.tzinfo is None else found
    except (ValueError, OverflowError):
        return None


@click.command()
@click.option("--bot", metavar="NAME", help="Games of this bot.", shell_complete=complete.entrants)
@click.option("--against", metavar="NAME", help="Games against this bot.", shell_complete=complete.entrants)
@click.option("--won", "outcome", flag_value="won", help="It had rank 1 alone.")
@click.option("--drawn", "outcome", flag_value="drawn", help="It shared rank 1.")
@click.option("--lost", "outcome", flag_value="lost", help="It had another rank.")
@click.option(
    "--forfeited", "cause", is_flag=False, flag_value=ANY, type=click.Choice(CAUSES), metavar="[CAUSE]",
    help=f"It lost by its own doing; CAUSE is {', '.join(CAUSES[1:])}.",
)  # fmt: skip
@click.option("--slow", "slow_ms", type=click.FloatRange(min=0), metavar="MS", help="A decision took at least this.")
@click.option(
    "--tournament",
    metavar="ID",
    help="Games of this tournament; `latest` is the latest.",
    shell_complete=complete.tournaments,
)
@click.option(
    "--since", callback=read_since, metavar="WHEN", help="Ended then or later: today, yesterday, 2d, 3h, or a date."
)
@click.option("--where", metavar="SQL", help="An expression over the columns of v_seats (docs/database.md).")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"The most games.  [default: {SHOWN}; all for --json, --jsonl and --csv]",
)
@db_option
@json_option
@click.option("--jsonl", "as_lines", is_flag=True, help="Print a line of JSON for each game, but for void ones.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line for each seat of each game.")
def games(
    bot: str | None,
    against: str | None,
    outcome: Literal["won", "drawn", "lost"] | None,
    cause: str | None,
    slow_ms: float | None,
    tournament: str | None,
    since: str | None,
    where: str | None,
    limit: int | None,
    db: Path,
    as_json: bool,
    as_lines: bool,
    as_csv: bool,
) -> None:
    """Find games of tournaments, the latest first. `arena league games` finds those of a league.

    All that is said of a bot must be true of one seat: --bot ronin --lost --slow 500 finds games that ronin lost and in
    which it took half a second for a decision. Without --bot, games in which any seat fits are found. Under the games
    are the commands that ask a bot again where it forfeited, and the games that are void because the machine was
    overloaded; with --bot and --lost also the one that says which decisions cost most. What is printed as an id,
    `arena replay`, `arena analyse`, `arena verify` and `arena bot rerun` take. Times are local; in --json,
    --jsonl and --csv they are UTC.

    \b
    Example:
      arena games --bot ronin --lost --since yesterday
      arena games --forfeited timeout --tournament latest
      arena games --where "turns > 40 AND ruleset = 'basic'" --csv
    """
    from arena.core.store.finding import Wanted, open_finder

    forms = [name for name, given in (("--json", as_json), ("--jsonl", as_lines), ("--csv", as_csv)) if given]
    if len(forms) > 1:
        raise ConfigError(f"expected one of --json, --jsonl and --csv, got: {' and '.join(forms)}")
    if limit is None and not forms:
        limit = SHOWN
    if not db.exists() and (matches := of_matches()):
        raise ConfigError(f"expected a database, got no such file - at {db}; {matches}")
    with open_finder(db) as finder, finder.snapshot():
        wanted = Wanted(
            bot=bot, against=against, outcome=outcome, forfeited=cause is not None,
            code=None if cause == ANY else cause, slow_ms=slow_ms,
            tournament=None if tournament is None else finder.identify(tournament), since=since, where=where,
        )  # fmt: skip
        found = finder.find(wanted)
        shown = finder.describe(islice(found, limit))
        more = cache(lambda: any(True for _ in found))  # asked once all that is shown is read
        if as_json:
            show_members({"games": shown, "more": more, "void": lambda: finder.void(wanted, limit)})
        elif as_lines:
            for game in shown:
                show_json(game, indent=-1)
        elif as_csv:
            show_csv(SEAT_COLUMNS, seat_rows(shown))
        else:
            listed = list(shown)
            print_games(finder, listed, finder.void(wanted, limit), db)
            if bot is not None and outcome == "lost":
                print_lost(listed, bot, db)
        is_cut = limit is not None and more()
    if is_cut:
        say(f"There are more: --limit shows more than {limit}.")


def of_matches() -> str:
    """Returns where the games of the latest match are, which no database has; empty if there is none here."""
    matches = sorted(Path("logs").glob("match-*"), key=lambda folder: folder.stat().st_mtime)
    return plain(f"games of `arena match` are logs alone: `arena replay {matches[-1]}` shows them") if matches else ""


def print_lost(found: list[Payload], bot: str, db: Path) -> None:
    """Prints the command that says where a bot lost the latest of the games that it played to their end."""
    from arena.core.tournament.commands import analyse_command

    for game in found:
        for seat in game["seats"]:
            if seat["bot"] == bot and seat["outcome"] == "lost" and seat["forfeit"] is None:
                echo()
                echo(plain(f"where it lost the latest: {analyse_command(game['game'], seat['seat'], db)}"))
                return


SEAT_COLUMNS = (
    *("game", "tournament", "number", "finished", "rules", "ruleset", "deal", "seat", "bot", "version", "rank"),
    *("outcome", "score", "margin", "decisions", "total_ms", "max_ms"),
    *("forfeit", "sentence", "forfeit_turn", "overloaded"),
    *("ended", "turns", "log", "denied_ms", "level", "off_turn_cpu_ms"),
)
"""The columns of --csv: those of `v_seats` that hold one value."""


def seat_rows(found: Iterable[Payload]) -> Iterator[dict[str, Any]]:
    """Yields a row for each seat of each game."""
    for game in found:
        for seat in game["seats"]:
            yield {**game, **seat}


def print_games(finder: Finder, found: list[Payload], void: list[Payload], db: Path) -> None:
    """Prints games as a table, and under it what the authors of bots that forfeited need, and which games are void."""
    from arena.core.show.finding import forfeit_lines, games_table, void_line
    from arena.core.tournament.commands import refs_of, replay_command, rerun_command

    if not found and not void:
        say(f"No game is like that{(matches := of_matches()) and f' in the database; {matches}'}.")
        return
    if found:
        show(games_table(found, os.path.relpath, stdout_width()))
    forfeits = [(game, seat) for game in found for seat in game["seats"] if seat["forfeit"] is not None]
    if forfeits:
        echo()
    for number, (game, seat) in enumerate(forfeits):
        commands = {}
        if number < MOST_EXPLAINED:
            entrants = {entrant.name: entrant.spec for entrant in finder.entrants(game["tournament"])}
            [ref] = refs_of([entrants[seat["bot"]]])
            if seat["forfeit"] != Termination.START_FAILED:
                commands["ask it again"] = rerun_command(game["game"], ref, seat["seat"], db)
            commands["see it"] = replay_command(game["game"], seat["seat"], db)
        for line in forfeit_lines(game, seat, commands):
            echo(line)
    if void and found:
        echo()
    for game in void:
        echo(void_line(game))
