"""`arena standings`: prints the standings of a tournament in the database."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import complete
from arena.cli.options import db_option, json_option
from arena.cli.output import say, show, show_json


@click.command()
@db_option
@click.option(
    "--tournament",
    metavar="ID",
    help="Which tournament.  [default: the latest]",
    shell_complete=complete.tournaments,
)
@click.option("--rules", help="The latest tournament of these rules.", shell_complete=complete.rules)
@click.option("--ruleset", help="The latest tournament of this ruleset.", shell_complete=complete.rulesets)
@json_option
def standings(db: Path, tournament: str | None, rules: str | None, ruleset: str | None, as_json: bool) -> None:
    """Print the standings of a tournament in the database.

    It may still be running. Bots are sorted by rating, which is the conservative mu - 3 sigma of TrueSkill. W, D and L
    are games won with rank 1 alone, drawn with rank 1 shared, and otherwise lost; forfeits are games lost by the bot's
    own doing; ms is time per decision; mean score, where the game has scores, is that of a game. The cross-table has
    each bot's share against each other: that of their common games in which it had the better rank, equal ranks
    counting half.

    \b
    Example:
      arena standings --db arena.db --rules gardener --ruleset draft
    """
    from arena.show.standings import subject_text
    from arena.store.store import open_reader, update
    from arena.tournament.report import report

    update(db)
    with open_reader(db) as reader:
        document, row = report(reader, tournament, rules=rules, ruleset=ruleset)
    if as_json:
        show_json(document)
    else:
        click.echo(f"{subject_text(row.settings)}: tournament {row.id}\n")
        print_tables(document)
    if row.status != "finished":
        say(f"Tournament {row.id} is not finished: {document.games} of {row.games} games are done.")


def print_tables(document: object) -> None:
    """Prints standings and cross-table."""
    import msgspec

    from arena.show.standings import crosstable_table, standings_table

    plain = msgspec.to_builtins(document)
    show(standings_table(plain["standings"]))
    click.echo()
    show(crosstable_table(plain["crosstable"]))
    if plain["processes"] == "tournament":
        click.echo("\nBot processes were kept for all games (--keep-bots): a bot could recognise deals it had met.")
