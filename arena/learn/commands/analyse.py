"""`arena analyse`: which decisions of a game cost most."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import complete
from arena.cli.options import json_option
from arena.cli.output import console, echo, say, show, show_json
from arena.core.face import errors, log_options, log_records, progress_lines


@click.command()
@click.argument("log", metavar="LOG|ID", shell_complete=complete.games)
@click.option("--seat", type=click.IntRange(min=0), metavar="N", help="Whose decisions.  [default: the seat that lost]")
@click.option(
    "--judge", metavar="NAME",
    help="Who says what was better: a bundled Python bot that plays the game, or random.  [default: the game's]",
)  # fmt: skip
@click.option(
    "--budget", type=click.FloatRange(min=0), default=8.0, show_default=True, metavar="SECONDS",
    help="How long to look: more time, more trials, narrower intervals.",
)  # fmt: skip
@click.option("--replay", is_flag=True, help="Step through the game on this terminal, with what was found.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the game as a page for a browser, with what was found.",
)  # fmt: skip
@log_options.db_option
@log_options.moved_option
@json_option
def analyse(
    log: str, seat: int | None, judge: str | None, budget: float, replay: bool, html: Path | None, db: Path,
    logs: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Say which decisions of a game cost most, and what was better.

    A judge says at each decision of a seat what it would have done. Where that is something else, the game is played on
    from there many times with both actions, by quick bots in every seat, in worlds that the seat could not tell from
    the true one: nothing that it did not know is used. What cost most is looked at closely. So a cost is by how much
    the judge's action did better, in the unit of the game's margin, and it comes with an interval; at most three
    decisions are marked, and only where the difference is shown. docs/analysis.md says how, and how often it is right.

    \b
    Example:
      arena analyse latest:7
      arena analyse game.jsonl --seat 1 --replay
      arena analyse game.jsonl --budget 60 --html game.html
    """
    from arena.core.face import Stepper, need, processor_cores, replay_command, terminals
    from arena.learn.analysis.analyse import analyse as analysed
    from arena.learn.analysis.words import AnalysisWords

    if html is not None:
        need("pages", "--html")
    screen = console()
    if replay and not terminals.can_step(screen):
        raise errors.ConfigError("expected a terminal of 80 columns or more for --replay, got: none; use --html")
    path = log_options.find_game(log, db, logs)
    game = log_records.read_log(path)
    log_options.check_seat(game, seat)
    seat = _loser(game) if seat is None else seat
    with progress_lines.moving_line(quiet=as_json) as tell:
        found = analysed(
            game,
            seat,
            judge=judge,
            budget_s=budget,
            processes=processor_cores.available_cores(),
            tell=tell and (lambda decisions, trials, s: tell(f"{decisions} decisions, {trials} trials, {s:.0f} s")),
        )
    report = AnalysisWords(game, found)
    if html is not None:
        replay_command.write_page(game, html, remarks=report.remarks())
    if as_json:
        show_json({**found.document(), "log": str(path)})
    elif replay:
        replay_command.step_through(Stepper([path], 0, None, report.remarks()), screen)
    elif not found.decisions:
        say(f"Seat {seat} had no choice in this game: there is nothing to analyse.")
    else:
        width = min(screen.width, 100)
        for line in report.heading(width):
            show(line)
        echo()
        show(report.table(screen.width))
        echo()
        for line in report.costly(width):
            show(line)


def _loser(game: log_records.Log) -> int:
    """Returns the first of the seats with the worst rank."""
    ranks = game.outcome.ranks or [0]
    return ranks.index(max(ranks))
