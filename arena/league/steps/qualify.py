"""Lets a checked bot play its first games: against `random`, which plays any game, and without losing by its own doing.

It need not win. A bot that crashes here would crash against everybody, and its opponents would rise by it.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from arena.errors import BotError
from arena.league.steps.base import StepReport, Stopwatch
from arena.link.bots import BotSpec, load_bot
from arena.link.sandbox.doctor import require
from arena.referee.job import Job
from arena.referee.worker import play
from arena.types import GameResult, GameSettings, Level, Payload, Termination

MATCHES: Final = 4
"""Deals, each of which is played in every seating."""
OPPONENT: Final = "random"


def qualify(folder: Path | BotSpec, settings: GameSettings, level: Level, logs: Path) -> StepReport:
    """Plays a bot's first games: it passes if it forfeits none of them.

    Args:
        folder: The bot's folder; or what it is started with, if it has none here.
        settings: What the league plays.
        level: How far the bots are confined.
        logs: The folder for the logs of these games, which exists.

    Returns:
        The report. `detail` has `games`: each with its log, the bot's seat and rank, and its forfeit if there was one.
    """
    watch = Stopwatch("qualify")
    return watch.guarded(lambda: _qualify(watch, folder, settings, level, logs))


def _qualify(watch: Stopwatch, folder: Path | BotSpec, settings: GameSettings, level: Level, logs: Path) -> StepReport:
    try:
        bot = folder if isinstance(folder, BotSpec) else load_bot(str(folder))
        opponent = load_bot(OPPONENT)
        watch.command_to_repeat = f"arena match {bot.name} {' '.join([OPPONENT] * (settings.players - 1))}"
        require(level, (bot, opponent), (logs,))
    except BotError as error:
        return watch.failed(str(error).replace(f"{folder}/", ""))
    series, secret = secrets.token_hex(6), secrets.token_bytes(32)
    games: list[Payload] = []
    for number in range(MATCHES * settings.players):
        deal, seat = divmod(number, settings.players)
        seats = tuple(bot if place == seat else opponent for place in range(settings.players))
        job = Job(
            game=f"qualify-{series}-{number}",
            tournament=None,
            settings=settings,
            bots=seats,
            deal=deal,
            rotation=seat,
            secret=secret,
            logs=str(logs),
            level=level,
            block=f"{series}-{number}",
            ahead=_next(bot, opponent, number + 1, settings.players),
        )
        result = play(job)
        games.append(_told(result, seat))
        report = _verdict(watch, result, seat, bot, games)
        if report is not None:
            return report
    return watch.passed(detail={"games": games})


def _next(bot: BotSpec, opponent: BotSpec, number: int, players: int) -> tuple[BotSpec, ...]:
    """Returns the bots of the game after this one, to be started ahead; none after the last."""
    return (bot, *[opponent] * (players - 1)) if number < MATCHES * players else ()


def _told(result: GameResult, seat: int) -> Payload:
    forfeit = result.seats[seat].forfeit
    told: Payload = {"game": result.game, "log": result.log, "seat": seat, "rank": result.seats[seat].rank}
    if forfeit is not None:
        told["forfeit"] = {"code": forfeit.code.value, "sentence": forfeit.sentence, "turn": forfeit.turn}
    return told


def _verdict(watch: Stopwatch, result: GameResult, seat: int, bot: BotSpec, games: list[Payload]) -> StepReport | None:
    """Returns the report if this game ends the step."""
    forfeit = result.seats[seat].forfeit
    if result.termination is Termination.INTERRUPTED:
        return watch.machine(f"expected game {result.game} to be played to its end, got: an interruption")
    if forfeit is None:
        return None
    words = "\n".join(forfeit.stderr).encode()
    if forfeit.overloaded:
        return watch.machine(
            f"expected a machine that lets every bot run, got: one that was overloaded ({forfeit.sentence})",
            detail={"games": games},
            output=words,
        )
    watch.command_to_repeat = f"arena bot rerun {result.log} {bot.name} --seat {seat}"
    return watch.failed(
        f"expected {MATCHES * len(result.seats)} games against {OPPONENT} without a forfeit, got: {forfeit.sentence} "
        f"- in game {len(games)}, turn {forfeit.turn}",
        detail={"games": games},
        output=words,
    )
