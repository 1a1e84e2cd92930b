"""`arena tournaments`: lists, shows and removes the tournaments in the database."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import complete
from arena.cli.group import LazyGroup
from arena.cli.options import db_option, json_option
from arena.cli.output import counted, echo, say, show, show_csv, show_json, stdout_width
from arena.core.errors import ConfigError
from arena.core.text import plain
from arena.core.types import Payload

if TYPE_CHECKING:
    from arena.core.store.finding import Finder

COMMANDS = {
    "list": ("arena.core.commands.tournaments:list_", "List the tournaments in the database, the latest first."),
    "show": ("arena.core.commands.tournaments:show_", "Show what a tournament is, and where everything of it lies."),
    "strike": ("arena.core.commands.tournaments:strike", "Take back results of a finished tournament, with a reason."),
    "remove": ("arena.core.commands.tournaments:remove", "Remove tournaments from the database, with their logs."),
}
"""Commands, as `arena.cli.COMMANDS`."""


class ListingGroup(LazyGroup):
    """A group whose command is `list` if none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts `list` before options, and where nothing was typed."""
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.command(cls=ListingGroup, lazy=COMMANDS)
def tournaments() -> None:
    """List the tournaments that were played, or remove some. `arena tournament` plays one.

    Without a command it is `list`. An ID may be abbreviated to its beginning, or to that of the part after the date;
    `latest` is the latest.

    \b
    Example:
      arena tournaments
      arena tournaments show latest
      arena tournaments remove 1a2b
    """


COLUMNS = (
    *("tournament", "created", "finished", "status", "rules", "ruleset", "players", "board", "format", "entrants"),
    *("bots", "planned", "games", "seconds", "seed", "commitment", "logs", "logs_files", "logs_bytes", "level", "void"),
)
"""The columns of --csv: those of `v_tournaments`, and the size of the logs."""


@click.command("list")
@db_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def list_(db: Path, as_json: bool, as_csv: bool) -> None:
    """List the tournaments in the database, the latest first.

    GAMES are those that are done, and how many are planned if that is more. LOGS is the size of the folder of logs.
    Times are local; in --json and --csv they are UTC.

    \b
    Example:
      arena tournaments list --csv
    """
    from arena.core.show.finding import tournaments_table
    from arena.core.store.finding import open_finder
    from arena.core.tournament.steering import running

    if as_json and as_csv:
        raise ConfigError("expected --json or --csv, got: both")
    now = running(db)
    with open_finder(db) as finder:
        rows = [as_listed(row, now) for row in finder.tournaments()]
        if as_json:
            show_json({"tournaments": rows})
        elif as_csv:
            show_csv(COLUMNS, map(flat, rows))
        elif rows:
            show(tournaments_table(rows, stdout_width()))
        else:
            say(f"There is no tournament in {db}.")


def as_listed(row: Payload, running: str) -> Payload:
    """Returns a row with how it stands now, if it is not the `running` one, and the size of its logs on the disk."""
    from msgspec import to_builtins

    from arena.core.tournament.catalogue import size_of

    status = "running" if row["tournament"] == running else "finished" if row["finished"] else "unfinished"
    return {**row, "status": status, "logs_size": to_builtins(size_of(row["tournament"], Path(row["logs"])))}


def flat(row: Payload) -> dict[str, Any]:
    """Returns a row with one value in each column."""
    size = row["logs_size"] or {"files": None, "bytes": None}
    return {**row, "bots": " ".join(row["bots"]), "logs_files": size["files"], "logs_bytes": size["bytes"]}


@click.command("show")
@click.argument("tournament", metavar="ID", shell_complete=complete.tournaments)
@db_option
@json_option
def show_(tournament: str, db: Path, as_json: bool) -> None:
    """Show what a tournament is, and where everything of it lies.

    That is: what is played, by which bots, how far it is, the command that continues it or plays it again, its
    commitment, its logs, what it takes in the database and on the disk, and who forfeited.

    \b
    Example:
      arena tournaments show latest
    """
    from arena.core.show.finding import tournament_lines
    from arena.core.store.finding import open_finder

    with open_finder(db) as finder, finder.snapshot():
        document = describe(finder, finder.identify(tournament))
        if as_json:
            show_json(document)
            return
        for line in tournament_lines(document, os.path.relpath):
            echo(line)


def describe(finder: Finder, tournament: str) -> Payload:
    """Returns what `--json` prints of a tournament."""
    from msgspec import to_builtins

    from arena.core.standings.report import forfeit_counts
    from arena.core.tournament.commands import refs_of, repeat_command
    from arena.core.tournament.steering import running

    row = finder.tournament(tournament)
    entrants = finder.entrants(tournament)
    refs = refs_of([entrant.spec for entrant in entrants])
    rows, size = finder.stored(tournament)
    return {
        **as_listed(finder.overview(tournament), running(finder.path)),
        "entrants": [
            {"bot": entrant.name, "version": entrant.version, "digest": entrant.digest, "ref": ref}
            for entrant, ref in zip(entrants, refs, strict=True)
        ],
        "settings": to_builtins(row.settings),
        "beacon": row.beacon,
        "command": repeat_command(row, refs, finder.path),
        "database": {"rows": rows, "bytes": size},
        "forfeits": {name: dict(counts) for name, counts in forfeit_counts(finder, tournament).items()},
    }


@click.command("strike")
@click.argument("games", nargs=-1, required=True, metavar="GAME...", shell_complete=complete.games)
@click.option("--reason", required=True, metavar="TEXT", help="Why; everybody can read it.")
@click.option("--by", required=True, metavar="NAME", help="Who says so; everybody can read it.")
@click.option("--undo", is_flag=True, help="Let results that were taken back count again.")
@db_option
@json_option
def strike(games: tuple[str, ...], reason: str, by: str, undo: bool, db: Path, as_json: bool) -> None:
    """Take back results of a finished tournament, with a reason.

    The games stay, with their logs, and count no more: standings are made again. Who took back what, when and why
    stands in corrections.json beside the logs, in `arena standings`, on pages, and in what `arena verify` says. Where
    winners went on by a result, as in a knockout, none can be taken back.

    \b
    Example:
      arena tournaments strike latest:3 --reason "its machine lost power" --by "Kim, organiser"
    """
    from arena.core.standings.closing import correct
    from arena.core.store.finding import open_finder
    from arena.core.store.store import open_store

    with open_finder(db) as finder:
        places = [finder.place(text) for text in games]
    numbers = {place.number for place in places if place.number is not None}
    if any(place.number is None for place in places):
        raise ConfigError("expected ids of games, got: that of a tournament; `arena games` lists them")
    if len({place.tournament for place in places}) > 1:
        raise ConfigError("expected games of one tournament, got: of several; give the command for each")
    for option, text in (("--reason", reason), ("--by", by)):
        if not text.strip():
            raise ConfigError(f"expected a text that says something, got: {text!r} - at {option}")
    with open_store(db, say) as store:
        tournament = store.tournament(places[0].tournament)
        correct(store, tournament, sorted(numbers), counts=undo, reason=plain(reason), by=plain(by))
        told = store.struck(tournament.id)
    if as_json:
        show_json({"tournament": tournament.id, "struck": {f"{number}": json.loads(told[number]) for number in told}})
    else:
        done = "again" if undo else "no more"
        echo(
            f"{counted(len(numbers), 'result')} of {tournament.id} {'count' if len(numbers) > 1 else 'counts'} {done}."
        )
        say(f"arena standings --tournament {tournament.id}")


@click.command("remove")
@click.argument("tournaments", nargs=-1, required=True, metavar="ID...", shell_complete=complete.tournaments)
@click.option("--logs/--keep-logs", "with_logs", default=True, show_default=True, help="Remove the logs too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--vacuum", is_flag=True, help="Make the database's file as small as it can be, too.")
@db_option
@json_option
@click.pass_context
def remove(
    ctx: click.Context, tournaments: tuple[str, ...], with_logs: bool, yes: bool, vacuum: bool, db: Path, as_json: bool
) -> None:
    """Remove tournaments from the database, with their logs.

    You are asked first. All rows of the tournaments go in one transaction, then the files that arena wrote into their
    folders of logs, and the folders if nothing else is in them. It is refused while a tournament is played with this
    database. Room in the database's file is used for new games; --vacuum gives it back to the disk.

    \b
    Example:
      arena tournaments remove 20260101-1a2b 20260102-3c4d
      arena tournaments remove latest --yes --keep-logs
    """
    from msgspec import to_builtins

    from arena.core.store.finding import open_finder
    from arena.core.store.store import open_store
    from arena.core.tournament.catalogue import remove_logs
    from arena.core.tournament.steering import running

    now = running(db)
    with open_finder(db) as finder, finder.snapshot():
        ids = dict.fromkeys(finder.identify(text) for text in tournaments)
        rows = [as_listed(finder.overview(id), now) for id in ids]
    if not yes and not confirm(rows, with_logs=with_logs):
        say("Nothing is removed.")
        ctx.exit(1)
    before = db.stat().st_size
    with open_store(db, say) as store:
        free = store.remove(ids)
        if vacuum:
            store.vacuum()
        done = [remove_logs(row["tournament"], Path(row["logs"])) for row in rows] if with_logs else []
    logs = to_builtins(done)
    given_back = before - db.stat().st_size if vacuum else 0
    if as_json:
        show_json({"removed": list(ids), "free_bytes": free, "given_back_bytes": given_back, "logs": logs})
        return
    from arena.core.show.finding import bytes_text, removed_lines

    for line in removed_lines(rows, logs):
        echo(line)
    if vacuum:
        echo(f"{db}: smaller by {bytes_text(given_back)}")
    elif free:
        echo(f"{db}: {bytes_text(free)} are free for new games; --vacuum gives them back to the disk")


def confirm(rows: Iterable[Payload], *, with_logs: bool) -> bool:
    """Asks whether to remove tournaments, and returns the answer.

    Raises:
        ConfigError: There is no terminal on which to ask.
        click.Abort: There is no answer.
    """
    from arena.core.show.finding import bytes_text

    if not sys.stdin.isatty():
        raise ConfigError("expected --yes, because there is no terminal on which to ask whether to remove them")
    for row in rows:
        size = row["logs_size"]
        logs = "" if size is None or not with_logs else f", {bytes_text(size['bytes'])} of logs in {row['logs']}"
        bots = ", ".join(row["bots"])
        games = counted(row["games"], "game")
        say(plain(f"{row['tournament']} ({row['status']}): {games} of {bots}{logs}"))
    return click.confirm("Remove?", err=True)
