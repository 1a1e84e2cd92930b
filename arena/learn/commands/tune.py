"""`arena tune`: looks for better values of a bot's parameters, and compares the bot with what it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli import complete
from arena.cli.help import HOW, WHAT, WHO, option
from arena.cli.options import (
    MakeGame,
    concurrency_options,
    db_option,
    each_game_option,
    game_options,
    json_option,
    level_option,
    logs_option,
    quiet_option,
    seed_option,
)
from arena.cli.output import echo, say, show, show_json
from arena.core.face import compare_command, errors, playing_commands

IDLE = "every deal came out even: so far the values change nothing"
REMEDY = "Does the bot read them from game_start, by their names in [tune]? docs/tuning.md says how."

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from arena.core.face import Level, Reader, bot_manifests, progress
    from arena.learn.tune.report import Tuning


@click.command(cls=compare_command.CompareCommand)
@click.argument("bot", metavar="BOT", shell_complete=complete.bots)
@option(WHO, "--parameter", "names", multiple=True, metavar="NAME", help="Tune this one; repeat it.  [default: all]")
@game_options
@option(WHAT, "--players", default=2, show_default=True, metavar="N", help="Seats of a game.")
@seed_option
@option(
    compare_command.WHEN, "--rounds", default=100, show_default=True, metavar="N",
    help="Rounds, each with two sets of values.",
)  # fmt: skip
@option(
    compare_command.WHEN, "--deals", default=4, show_default=True, metavar="N",
    help="Deals of a round, each in all seatings.",
)  # fmt: skip
@option(
    compare_command.WHEN,
    "--by",
    type=click.Choice(("wins", "margin")),
    help="What is judged.  [default: margin, if the game counts one]",
)
@option(
    compare_command.WHEN, "--max-deals", default=1000, show_default=True, metavar="N",
    help="Of the comparison at the end; 0: none.",
)  # fmt: skip
@level_option
@concurrency_options
@option(HOW, "--new", is_flag=True, help="Begin anew even if there is such a tuning.")
@db_option
@logs_option("Where its folders of logs are made.")
@each_game_option
@quiet_option
@json_option
@click.pass_context
def tune(
    ctx: click.Context, bot: str, names: tuple[str, ...], make_game: MakeGame, players: int, seed: str | None,
    rounds: int, deals: int, by: str | None, max_deals: int, level: Level, concurrency: int | None, new: bool,
    db: Path, logs: Path, each_game: bool, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    """Find better values for a bot's parameters, and prove them.

    The bot's manifest declares them: [tune] depth = {value = 3, low = 1, high = 8}. In each round the bot meets itself
    on common deals, with all values moved a little up or down at once, and what wins shows where better ones are
    (SPSA). Then the bot with what was found is compared with the bot as it is. Ctrl-C keeps all games, and the same
    command goes on. docs/tuning.md has more.

    \b
    Example:
      arena tune ./mybot --rounds 50
    """
    from msgspec import to_builtins
    from msgspec.structs import replace

    from arena.core.face import (
        bot_manifests,
        formats,
        others_of,
        processor_cores,
        stores,
        tournament_settings,
    )
    from arena.learn.tune.format import Tune
    from arena.learn.tune.report import tuning_of

    spec = bot_manifests.load_bot(bot)
    game = make_game(players)
    if make_game.times:
        raise errors.ConfigError("expected one time, as a bot is tuned against itself, got: another of one - at --time")
    most = compare_command.judged_margin(game, by)
    format = Tune(deals=deals, rounds=rounds, tuned=chosen_parameters(spec, names), margin=most)
    setup = tournament_settings.set_up((bot,) * players, game, format, level=level, seed=seed)
    workers = processor_cores.games_at_a_time(concurrency, setup.cores)
    manner = playing_commands.Manner(workers=workers, logs=logs, new=new, each_game=each_game, quiet=quiet)
    tell = playing_commands.nothing if quiet else say
    with stores.open_store(db, say) as store:
        row = None if new or store.unfinished(setup.settings.digest) else store.finished(setup.settings.digest)
        if row is None:
            played = playing_commands.play_tournament(ctx, store, setup, manner, remark=how_it_stands)
            assert played is not None
            row = store.tournament(played.tournament.id)
        else:
            tell(f"This was tuned in tournament {row.id}; --new tunes again.")
        tuning = tuning_of(store, row)
        known, tuned = None, bot_manifests.with_values(spec, {one.name: one.found for one in tuning.parameters})
        if tuned != spec and max_deals:
            better = bot_manifests.read_ref(bot).bot + tuned.suffix
            entered = (better, bot, *others_of((better, bot), players))
            other_deals = None if seed is None else f"{seed} compared"
            proof = tournament_settings.set_up(
                entered, game, formats.Compare(max_deals=max_deals, margin=most), level=level, seed=other_deals
            )
            known, _ = compare_command.compared_bots(ctx, store, proof, replace(manner, new=False), tell)
    if as_json:
        show_json({**to_builtins(tuning), "comparison": known})
        return
    show(tuning_table(tuning.parameters))
    echo()
    if known is not None:
        compare_command.show_comparison(known, as_json=False)
        echo()
    if words := unseen_text(tuning):
        echo(f"After {tuning.rounds} rounds, {words}. {REMEDY}")
    if tuned == spec:
        echo("These are the values that the bot has.")
    elif known is None or known.verdict == "better":
        echo("To adopt what was found, write it into bot.toml:")
        echo("  [tune]")
        for one in tuning.parameters:
            unseen = "  # no effect seen" if one.name in tuning.unseen else ""
            echo(f"  {one.name} = {{value = {one.found}, low = {one.low}, high = {one.high}}}{unseen}")
    else:
        echo(
            "It is not shown that these values are better than the bot's own. More --rounds, or games, would tell more."
        )


def chosen_parameters(spec: bot_manifests.BotSpec, names: tuple[str, ...]) -> dict[str, bot_manifests.Parameter]:
    """Returns the parameters of a bot that are tuned, with the values that it has now.

    Raises:
        BotError: It has none.
        ConfigError: It has none of such a name.
    """
    from msgspec.structs import replace

    if not spec.tune:
        raise errors.BotError(
            f"expected a bot with parameters, got: {spec.name}, whose bot.toml declares none; "
            "add a table such as: [tune] depth = {value = 3, low = 1, high = 8}"
        )
    now = {name: spec.parameters[name] for name, _ in spec.tune}
    for name in names:
        if name not in now:
            raise errors.ConfigError(
                f"expected one of {', '.join(now)}, got: {name!r}{errors.did_you_mean(name, now)} - at --parameter"
            )
    return {
        name: replace(one, value=int(now[name]) if one.is_whole else float(now[name]))
        for name, one in spec.tune
        if not names or name in names
    }


def how_it_stands(reader: Reader, tournament: str) -> str:
    """Returns what is known so far, in a few words."""
    from arena.learn.tune.report import tuning_of

    found = tuning_of(reader, reader.tournament(tournament))
    values = ", ".join(f"{row.name} {row.found}" for row in found.parameters)
    return "; ".join(filter(None, [f"round {found.rounds}, {values}", unseen_text(found)]))


def unseen_text(tuning: Tuning) -> str:
    """Returns which parameters change nothing as far as is seen; empty if each does, or if too few rounds are done."""
    if tuning.idle or not tuning.unseen:
        return IDLE * tuning.idle
    return f"no effect of {', '.join(tuning.unseen)} is seen beyond chance (95 %)"


def progress_text(progress: progress.Progress) -> Text:
    """Returns how a tournament stands that tunes; it is as wide as it is."""
    return tuning_table(progress.tuned)


def tuning_table(rows: Sequence[progress.Tuned]) -> Text:
    """Returns each parameter with its range, its first value and what was found."""
    from arena.core.face import text_tables

    return text_tables.drawn(
        [
            text_tables.Column(title="parameter", cells=[row.name for row in rows], left=True),
            text_tables.Column(title="range", cells=[f"{row.low} to {row.high}" for row in rows]),
            text_tables.Column(title="began", cells=[row.began for row in rows]),
            text_tables.Column(title="found", cells=[row.found for row in rows]),
        ]
    )
