"""`arena compare`: says which of two bots is better, and by how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import complete, options
from arena.cli.help import HOW, RESULTS, WHAT, WHO, Command, option
from arena.cli.output import say, show_json, show_line, write_file
from arena.core.commands.playing import Manner, nothing, play_tournament, when_done_option
from arena.core.errors import CheckFailed, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.core.standings.comparison import Comparison
    from arena.core.store.reader import Reader
    from arena.core.store.store import Store
    from arena.core.tournament.settings import Setup
    from arena.core.types import GameSettings, Level

WHEN = "When it stops"
OPEN = 5
"""The exit code of --ci where nothing is shown yet."""


class CompareCommand(Command):
    """Its help has a section on when it stops."""

    def sections(self, ctx: click.Context) -> tuple[str, ...]:
        """Returns the sections of options to show."""
        first, second, _, *rest = super().sections(ctx)
        return (first, second, WHEN, *rest)


@click.command(cls=CompareCommand)
@click.argument("one", metavar="A", shell_complete=complete.bots)
@click.argument("other", metavar="B", shell_complete=complete.bots)
@option(
    WHO, "--others", multiple=True, metavar="BOT", help="For further seats; repeat it.  [default: A and B]",
    shell_complete=complete.bots,
)  # fmt: skip
@options.game_options
@option(WHAT, "--players", default=2, show_default=True, metavar="N", help="Seats of a game.")
@options.seed_option
@option(WHEN, "--max-deals", default=5000, show_default=True, metavar="N", help="Stop after N deals.")
@option(
    WHEN, "--by", type=click.Choice(("wins", "margin")), default="wins", show_default=True,
    help="What is judged: who was before, or by how much.",
)  # fmt: skip
@option(WHEN, "--alpha", default=0.05, show_default=True, metavar="P", help="How likely a wrong answer may be.")
@option(WHEN, "--delta", default=0.05, show_default=True, metavar="SHARE", help="Level: a score so near to a half.")
@option(WHEN, "--sprt", type=(float, float), metavar="E0 E1", help="By a sequential test of two Elo differences.")
@options.level_option
@options.concurrency_options
@option(HOW, "--new", is_flag=True, help="Begin anew even if there is such a comparison.")
@options.db_option
@options.logs_option("Where its folder of logs is made.")
@options.each_game_option
@option(RESULTS, "--ci", is_flag=True, help="One line of Markdown; exit 3 if A is worse, 5 if that is open.")
@option(RESULTS, "--junit", type=click.Path(dir_okay=False), metavar="FILE", help="Write JUnit XML too.")
@options.quiet_option
@options.json_option
@when_done_option
@click.pass_context
def compare(
    ctx: click.Context,
    one: str,
    other: str,
    others: tuple[str, ...],
    make_game: options.MakeGame,
    players: int,
    seed: str | None,
    max_deals: int,
    by: str,
    alpha: float,
    delta: float,
    sprt: tuple[float, float] | None,
    level: Level,
    concurrency: int | None,
    new: bool,
    db: Path,
    logs: Path,
    each_game: bool,
    ci: bool,
    junit: str | None,
    quiet: bool,
    as_json: bool,
    when_done: str,
) -> None:
    """Say which of two bots is better, and by how much.

    A and B play deal after deal until it is shown, or until they are shown to be level. The answer holds however often
    one looks and whenever one stops; docs/ratings.md says why. Ctrl-C keeps all games, and the same command goes on; a
    larger --max-deals goes on after the last deal. --by margin judges by how much a bot is ahead: where games are
    close it needs fewer deals. Without --ci the exit code is 0 whatever the answer is.

    \b
    Example:
      arena compare shogun daimyo --time 0.1/move
    """
    from msgspec import to_builtins

    from arena.core.show.comparison import accepted, ci_line
    from arena.core.show.comparison import junit as junit_document
    from arena.core.standings.comparison import others_of
    from arena.core.standings.report import notify
    from arena.core.store.store import open_store
    from arena.core.tournament.formats.compare import Compare
    from arena.core.tournament.settings import set_up
    from arena.core.tournament.workers import games_at_a_time

    game = make_game(players)
    if others and players == 2:
        raise ConfigError("expected --others with games of 3 players or more, got: 2 players; use --players")
    if 0 < len(others) < players - 2:
        raise ConfigError(
            f"expected at least {players - 2} --others for games of {players} players, got: {len(others)}; name more"
        )
    format = Compare(max_deals=max_deals, alpha=alpha, delta=delta, margin=judged_margin(game, by), sprt=sprt)
    fill = others or others_of((one, other), players)
    setup = set_up((one, other, *fill), game, format, level=level, seed=seed, times=make_game.times)
    workers = games_at_a_time(concurrency, setup.cores)
    manner = Manner(workers=workers, logs=logs, new=new, each_game=each_game, quiet=quiet)
    tell = nothing if quiet else say
    with open_store(db, say) as store:
        known, is_new = compared_bots(ctx, store, setup, manner, tell)
    found = to_builtins(known)
    if junit is not None:
        write_file(junit, junit_document(found))
    if ci:
        show_json(known) if as_json else show_line(ci_line(found))
    else:
        show_comparison(known, as_json=as_json)
    if is_new:
        notify(when_done, "comparison", known.tournaments[-1], db, known, say)
    if ci and not (is_accepted := accepted(found)):
        ctx.exit(OPEN if is_accepted is None else CheckFailed.exit_code)


def judged_margin(game: GameSettings, by: str | None) -> int | None:
    """Returns the largest lead of a game if leads are judged; None if wins are. Without `by` leads are, if it has any.

    Raises:
        ConfigError: Leads are to be judged, and the game counts none.
    """
    from arena.core.catalogue import game as rules_of

    margin = rules_of(game.rules).margin(game.players, game.options)
    if by == "margin" and margin is None:
        raise ConfigError(f"expected a game that counts by how much a seat is ahead, got: {game.rules}; use --by wins")
    return None if margin is None or by == "wins" else margin.most


def compared_bots(
    ctx: click.Context, store: Store, setup: Setup, manner: Manner, tell: Callable[[str], None]
) -> tuple[Comparison, bool]:
    """Plays a comparison to its end, and says whether it was not before. `tell` is called with what is worth knowing.

    One that ended open goes on if it may have more deals now, or if the deals under way when the answer came took it
    back.
    """
    from msgspec.structs import replace

    from arena.core.standings.comparison import compared, earlier, going_on
    from arena.core.tournament.formats.compare import Compare

    format = setup.settings.format
    assert isinstance(format, Compare)
    is_new = False
    known = None if manner.new or store.unfinished(setup.settings.digest) else earlier(store, setup.settings)
    if known is not None and known.is_over(format.max_deals):
        more = "--new compares again" if known.answered else "a larger --max-deals goes on"
        tell(f"This was compared in tournament {known.tournaments[-1]}; {more}.\n")
    while known is None or not known.is_over(format.max_deals):
        if known is not None:
            tell(f"Going on after the {known.deals} deals of tournament {known.tournaments[-1]}.")
            setup = replace(setup, settings=going_on(setup.settings, known))
        played = play_tournament(ctx, store, setup, manner, remark=how_it_stands)
        assert played is not None
        is_new, known = True, compared(store, played.tournament.id)
    return known, is_new


def how_it_stands(reader: Reader, tournament: str) -> str:
    """Returns what is known so far, in a few words."""
    from arena.core.show.comparison import brief
    from arena.core.standings.comparison import so_far

    known = so_far(reader, tournament)
    return brief(known.bot, known.score, known.deals, known.evidence, known.needed, known.lead)


def show_comparison(found: Comparison, *, as_json: bool) -> None:
    """Prints what is known about two bots."""
    import msgspec

    from arena.core.show.comparison import comparison_lines

    if as_json:
        show_json(found)
        return
    for line in comparison_lines(msgspec.to_builtins(found)):
        show_line(line)
