"""Lets a checked bot play its first games: against `random`, which plays any game, and without losing by its own doing.

It need not win. A bot that crashes here would crash against everybody, and its opponents would rise by it.

A step that was cut short goes on where it was, by the logs that are there: else no bot would get in on a machine that
is stopped again and again. A game counts if the same files played it with the same settings, and the bot did not
forfeit.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import (
    FilesChanged,
    GameResult,
    GameSettings,
    Job,
    Level,
    Payload,
    Seat,
    Termination,
    bot_manifests,
    confining,
    errors,
    game_worker,
    log_records,
    result_of,
)
from arena.league.keeping.retention import GameFiles
from arena.league.store.records import StepReport
from arena.league.submissions.steps.step_report import Stopwatch

MATCHES: Final = 4
"""Deals, each of which is played in every seating. With more numbers of players there is one for each."""
OPPONENT: Final = "random"


class _Game(msgspec.Struct, frozen=True):
    """A game to play."""

    settings: GameSettings
    deal: int
    seat: int
    """The bot's; the opponent has all others."""

    def bots(self, bot: bot_manifests.BotSpec, opponent: bot_manifests.BotSpec) -> tuple[bot_manifests.BotSpec, ...]:
        """Returns who plays, by seat."""
        return tuple(bot if seat == self.seat else opponent for seat in range(self.settings.players))


def qualify(
    folder: Path | bot_manifests.BotSpec, settings: Sequence[GameSettings], level: Level, logs: Path, series: str = ""
) -> StepReport:
    """Plays a bot's first games: it passes if it forfeits none of them.

    Args:
        folder: The bot's folder; or what it is started with, if it has none here.
        settings: What the league plays, for each number of players. All are played, in turn.
        logs: The folder for the logs of these games, which exists.
        series: What the names of its games have in common: those that are there already are not played again. Empty
            for a name that nobody else has.

    Returns:
        The report. `detail` has `games`: each with its log, the bot's seat and rank, and its forfeit if there was one.
    """
    watch = Stopwatch("qualify")
    return watch.guarded(lambda: _qualify(watch, folder, schedule(settings), level, logs, series))


def schedule(settings: Sequence[GameSettings]) -> list[_Game]:
    """Returns the games in the order in which they are played."""
    return [
        _Game(played, deal, seat)
        for deal in range(max(MATCHES, len(settings)))
        for played in [settings[deal % len(settings)]]
        for seat in range(played.players)
    ]


def _qualify(
    watch: Stopwatch,
    folder: Path | bot_manifests.BotSpec,
    schedule: Sequence[_Game],
    level: Level,
    logs: Path,
    series: str,
) -> StepReport:
    try:
        bot = folder if isinstance(folder, bot_manifests.BotSpec) else bot_manifests.load_bot(str(folder))
        opponent = bot_manifests.load_bot(OPPONENT)
        _repeat(watch, bot, schedule[0])
        confining.require(level, (bot, opponent), (logs,))
    except errors.BotError as error:
        return watch.failed(str(error).replace(f"{folder}/", ""))
    series, secret = series or secrets.token_hex(6), secrets.token_bytes(32)
    games: list[Payload] = []
    for number, game in enumerate(schedule):
        following = schedule[number + 1 : number + 2]
        job = Job(
            game=f"qualify-{series}-{number}", tournament=None, settings=game.settings, bots=game.bots(bot, opponent),
            deal=game.deal, rotation=game.seat, secret=secret, logs=str(logs), level=level, block=f"{series}-{number}",
            ahead=tuple(spec for later in following for spec in later.bots(bot, opponent)),
        )  # fmt: skip
        if (before := _played_before(job, game.seat)) is not None:
            games.append(_told(before, game.seat))
            continue
        try:
            result = game_worker.play(job)
        except FilesChanged as error:  # at level trusted a bot can write into its folder, above it only the operator
            own = level is Level.TRUSTED and error.bot == (bot.name, bot.version)
            return (watch.failed if own else watch.machine)(str(error).replace(f" in {folder}", ""))
        _compress(job)
        games.append(_told(result, game.seat))
        report = _verdict(watch, result, game, bot, games, len(schedule))
        if report is not None:
            return report
    return watch.passed(detail={"games": games})


def meet(
    bots: tuple[bot_manifests.BotSpec, bot_manifests.BotSpec],
    settings: GameSettings,
    level: Level,
    logs: Path,
    series: str,
    secret: bytes,
    seat: Seat | None = None,
) -> StepReport:
    """Plays one deal between two bots, of which the second has all seats but one: in all rotations, or from one seat.

    Returns:
        The report, with `detail` as that of `qualify`. It passes whoever forfeits.
    """
    watch, games = Stopwatch("qualify"), list[Payload]()

    def play() -> StepReport:
        confining.require(level, bots, (logs,))
        for game in (_Game(settings, 0, own) for own in range(settings.players) if seat in (None, own)):
            job = Job(
                game=f"match-{series}-{game.seat}", tournament=None, settings=settings, bots=game.bots(*bots),
                deal=0, rotation=game.seat, secret=secret, logs=str(logs), level=level,
            )  # fmt: skip
            result = _played_before(job, None) or game_worker.play(job)
            if result.termination is Termination.INTERRUPTED:
                return watch.machine(f"expected game {result.game} to be played to its end, got: an interruption")
            _compress(job)
            games.append(_told(result, game.seat))
        return watch.passed(detail={"games": games})

    return watch.guarded(play)


def _played_before(job: Job, seat: Seat | None) -> GameResult | None:
    """Returns the result of a game that was played before the step was cut short; None if it is to be played.

    What is left of one that does not count, such as one that `seat` forfeited, is removed.
    """
    place = log_records.existing_log(Path(job.logs) / f"{job.game}{log_records.SUFFIX}")
    with suppress(errors.LogError):
        log = log_records.read_log(place)
        header = log.header
        now = (job.settings, job.level, job.deal, job.rotation, [bot.digest for bot in job.bots])
        same = now == (header.settings, header.level, header.deal, header.rotation, [bot.digest for bot in header.bots])
        result = result_of(header, log.records, log.sha256)
        forfeited = seat is not None and result.seats[seat].forfeit is not None
        if same and result.termination is not Termination.INTERRUPTED and not forfeited:
            return result
    for file in Path(job.logs).glob(f"{job.game}.*"):
        file.unlink()
    return None


def _compress(job: Job) -> None:
    """Compresses what was written of a game, as the league does with every game. What cannot be read stays as it is."""
    with suppress(errors.LogError):
        GameFiles([Path(job.logs)]).compress(job.game, job.settings.players)


def _repeat(watch: Stopwatch, bot: bot_manifests.BotSpec, game: _Game) -> None:
    """Notes how its author plays such games at home."""
    opponents = " ".join([OPPONENT] * (game.settings.players - 1))
    watch.command_to_repeat = f"arena match {bot.name} {opponents}"


def _told(result: GameResult, seat: int) -> Payload:
    forfeit = result.seats[seat].forfeit
    told: Payload = {"game": result.game, "log": result.log, "seat": seat, "rank": result.seats[seat].rank}
    if forfeit is not None:
        told["forfeit"] = {"code": forfeit.code.value, "sentence": forfeit.sentence, "turn": forfeit.turn}
    return told


def _verdict(
    watch: Stopwatch, result: GameResult, game: _Game, bot: bot_manifests.BotSpec, games: list[Payload], due: int
) -> StepReport | None:
    """Returns the report if this game ends the step."""
    forfeit = result.seats[game.seat].forfeit
    if result.termination is Termination.INTERRUPTED:
        return watch.machine(f"expected game {result.game} to be played to its end, got: an interruption")
    if forfeit is None:
        return None
    words = "\n".join(forfeit.stderr).encode()
    if forfeit.overloaded:
        return watch.machine(
            f"expected a machine that lets every bot run, got: one that was overloaded when {forfeit.sentence}",
            detail={"games": games},
            output=words,
        )
    watch.command_to_repeat = f"arena bot rerun {result.log} {bot.name} --seat {game.seat}"
    return watch.failed(
        f"{forfeit.sentence} - in game {len(games)} of {due} against {OPPONENT}, "
        f"of {game.settings.players} players, turn {forfeit.turn}",
        detail={"games": games},
        output=words,
    )
