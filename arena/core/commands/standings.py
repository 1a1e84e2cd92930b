"""`arena standings`: prints the standings of a tournament in the database, or of a pool of tournaments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import complete
from arena.cli.options import columns_option, db_option, json_option
from arena.cli.output import counted, echo, say, show, show_csv, show_json, show_line, stdout_width
from arena.core import plugs
from arena.core.errors import ConfigError

if TYPE_CHECKING:
    from arena.core.store.reader import Reader


@click.command()
@db_option
@click.option(
    "--tournament", metavar="ID", help="Which tournament.  [default: the latest]", shell_complete=complete.tournaments
)
@click.option("--rules", help="The latest tournament of these rules.", shell_complete=complete.rules)
@click.option("--ruleset", help="The latest tournament of this ruleset.", shell_complete=complete.rulesets)
@click.option("--pool", is_flag=True, help="All tournaments of its rules, ruleset and options together.")
@click.option("--anchor", "anchors", multiple=True, metavar="BOT=RATING", help="A rating that is given; repeatable.")
@click.option("--without", multiple=True, metavar="BOT", help="Leave out its games; may be repeated.")
@columns_option
@click.option("--crosstable", is_flag=True, help="Make the cross-table of more than 100 bots too.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the standings as CSV; with --crosstable the cross-table.")
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Draw them as FILE.svg or FILE.png instead.",
)  # fmt: skip
@json_option
def standings(
    db: Path,
    tournament: str | None,
    rules: str | None,
    ruleset: str | None,
    pool: bool,
    anchors: tuple[str, ...],
    without: tuple[str, ...],
    verbose: bool,
    crosstable: bool,
    as_csv: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Print the standings of a tournament that was played. It may still be running.

    \b
    #              rank: 1, and 1 for each bot that is shown to be better; 2= is
                   shared; of a knockout it is the place reached
    ranks          where shared ones do not tell: those that the games leave
                   open for it. With 95 % all true ranks lie in theirs
    rating         strength, from all results at once; only differences count
    95 %           the true rating is this close to it, in 95 cases of 100
    mu, sigma      TrueSkill, the rating that moves game by game
    points         mean share against opponents; an equal rank counts a half
    games          how many it has played
    forfeits       games lost by the bot's own doing

    \b
    With -v:
    ahead of next  how likely the bot is better than the one below it
    course         how mu moved from the first game to the last, all bots on one
                   scale
    W D L          games won with rank 1 alone, drawn with it shared, others
    mean score     of a game, where the game has scores
    mean, max ms   time of a decision: the mean, and the slowest
    off turn ms    CPU time of a game while others were to move, where it is
                   measured: at all levels above trusted

    docs/ratings.md explains them. As the terminal gets narrower, columns leave in this order: version, max ms, mean
    score, W D L, off turn ms, course, mean ms, ahead of next and ranks, forfeits, games, mu and sigma, points,
    95 %. --csv and --json have everything.

    The cross-table has each bot's points against each other bot. Of games on a cluster it is shown on which worker a
    bot was quickest and slowest; --json has all of them.

    --pool rates the bots of all tournaments with the same rules, ruleset and options together. A bot is the same in
    two tournaments if its files are the same; two versions are two bots. Ratings have the mean 25, unless --anchor
    gives some.

    --plot draws each rating with its interval, and beside them how the running ratings moved.

    \b
    Example:
      arena standings --db arena.db --rules gardener --ruleset draft
      arena standings --pool --anchor greedy=25 --csv
      arena standings --plot standings.svg
    """
    from arena.core.standings.report import courses
    from arena.core.store.finding import identified
    from arena.core.store.store import open_reader

    if as_csv and as_json:
        raise click.UsageError("expected one of --csv and --json, got: both")
    if plot is not None:
        check_plot(plot, as_csv or as_json)
    wanted: dict[str, Any] = {"rules": rules, "ruleset": ruleset, "crosstable": crosstable, "anchors": given(anchors)}
    if without:
        if pool:
            raise click.UsageError("expected --without of one tournament, got: --pool too; leave one out")
        wanted["without"] = without
    with open_reader(db) as reader:
        if tournament is not None:
            tournament = identified(reader, tournament)
        document, heading, remark = (of_pool if pool else of_tournament)(reader, tournament, wanted)
        moved = None if pool else courses(reader, document.tournament.id)
        if plot is not None:
            write_plot(plot, document, heading, None if pool else reader)
            return
        if as_json:
            show_json(document)
        elif as_csv:
            print_csv(document, crosstable=crosstable)
        else:
            echo(heading)
            echo()
            print_tables(document, verbose=verbose, courses=moved)
    if remark:
        say(remark)


def of_tournament(reader: Reader, tournament: str | None, wanted: dict[str, Any]) -> tuple[Any, str, str]:
    """Returns a tournament's document, its heading, and remarks: that it is not finished, which games do not count."""
    from arena.core.show.standings import subject_text
    from arena.core.standings.report import report

    document, row = report(reader, tournament, **wanted)
    heading = f"{subject_text(row.settings)}: tournament {row.id}"
    if without := wanted.get("without"):
        heading += f", without the games of {', '.join(without)}"
    left = f"Tournament {row.id} is not finished: {document.games} of {row.games} games are done."
    remarks = [
        "" if row.status == "finished" else left,
        *(f"{told}." for told in (document.void, document.struck) if told),
    ]
    return document, heading, "\n".join(filter(None, remarks))


def of_pool(reader: Reader, tournament: str | None, wanted: dict[str, Any]) -> tuple[Any, str, str]:
    """Returns a pool's document and its heading."""
    import msgspec

    from arena.core.show.standings import game_text
    from arena.core.standings.pool import pool_report

    document = pool_report(reader, tournament, **wanted)
    played = game_text({"game": msgspec.to_builtins(document.pool)})
    players = " and ".join(map(str, document.players))
    together = f"{counted(len(document.tournaments), 'tournament')}, {counted(document.games, 'game')}"
    return document, f"{played}, {players} players: {together}", ""


def check_plot(path: Path, is_printed: bool) -> None:
    """Checks that standings can be drawn into a file.

    Raises:
        ConfigError: What draws is not installed, or the file is of another form.
    """
    from arena.core.extras import need

    if is_printed:
        raise click.UsageError("expected one of --plot, --csv and --json, got: two")
    if path.suffix not in (".svg", ".png"):
        raise ConfigError(f"expected a file that ends with .svg or .png, got: {str(path)!r} - at --plot")
    need("pages", "--plot")


def write_plot(path: Path, document: Any, title: str, reader: Reader | None) -> None:
    """Draws standings into a file, with the course of the running ratings if there is a database to read it from."""
    from arena.core import files

    picture = plugs.plot(document, title, path.suffix[1:], reader)
    try:
        files.write(path, picture)
    except OSError as error:
        raise ConfigError(f"expected a file that can be written, got: '{path}': {error.strerror}") from None
    say(f"{path} is written")


def given(anchors: tuple[str, ...]) -> dict[str, float]:
    """Returns the ratings that were given, by bot.

    Raises:
        ConfigError: One has another form.
    """
    ratings = {}
    for anchor in anchors:
        name, equals, number = anchor.rpartition("=")
        try:
            ratings[name] = float(number)
        except ValueError:
            equals = ""
        if not (name and equals and math.isfinite(ratings[name])):
            raise ConfigError(f"expected BOT=RATING, got: {anchor!r} - at --anchor; give a bot and a number: greedy=25")
    return ratings


def print_tables(
    document: object, *, verbose: bool = False, courses: Mapping[str, Sequence[float]] | None = None
) -> None:
    """Prints standings, what of them is settled, and the cross-table."""
    import msgspec

    from arena.core.progress import Progress
    from arena.core.show.standings import crosstable_table, off_turn_lines, order_text, standings_table
    from arena.core.show.tables import paces_table, wrapped
    from arena.core.standings.report import progress_text
    from arena.core.tournament.formats import FORMATS

    plain = msgspec.to_builtins(document)
    rows, width = plain["standings"], stdout_width()
    progress = None if plain.get("progress") is None else msgspec.convert(plain["progress"], Progress)
    if progress is not None and not FORMATS[progress.format].is_contest:
        show(progress_text(progress, width))
        return
    show(standings_table(rows, width, verbose=verbose, courses=courses))
    if order := order_text(plain["order"], rows):
        places = (plain.get("progress") or {}).get("places")
        show(wrapped(f"# is the place reached. {order}" if places else order, width))
    for line in off_turn_lines(rows):
        show(wrapped(line, width))
    if progress is not None:
        echo()
        show(progress_text(progress, width))
    echo()
    if plain["crosstable"] is None:
        show(f"{len(rows)} bots: --crosstable prints the cross-table, --csv --crosstable all of it as CSV.")
    else:
        show(crosstable_table(plain["crosstable"], width))
    if (paces := paces_table(plain.get("workers") or (), width)) is not None:
        echo()
        show(paces)
    if plain.get("processes") == "tournament":
        show_line("\nBot processes were kept for all games (--keep-bots): a bot could recognise deals it had met.")


def print_csv(document: object, *, crosstable: bool) -> None:
    """Prints the standings, or the cross-table, as CSV."""
    import msgspec

    from arena.core.show.standings import CROSSTABLE_COLUMNS, crosstable_rows, standings_columns

    plain = msgspec.to_builtins(document)
    if crosstable:
        show_csv(CROSSTABLE_COLUMNS, crosstable_rows(plain["crosstable"]))
    else:
        show_csv(standings_columns(plain["standings"]), plain["standings"])
