"""Plays a match: one pairing on some deals, at once, in this process, without a database."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from arena.core.errors import ArenaError, MachineFault
from arena.core.link.confinement import require
from arena.core.referee.job import Job
from arena.core.referee.recorder import Watch
from arena.core.referee.transcript import Tap
from arena.core.referee.worker import could_not_play, play
from arena.core.store.records import PlannedGame, Played, Tournament
from arena.core.tournament import plan
from arena.core.tournament.blocks import AHEAD_GAMES, placed, started_ahead
from arena.core.tournament.settings import Setup


def begin_match(setup: Setup, logs: Path) -> Tournament:
    """Begins a match, and returns it as a tournament that can be played: its logs have a folder, its chance is fixed.

    Args:
        setup: Its settings, with as many bots as players, and the bots.
        logs: The folder in which the match's own folder of logs is made.

    Raises:
        ConfigError: The folder cannot be made. Show the message to the operator.
        LevelError: This machine cannot confine bots as the settings demand. Nothing is made.
        BotError: A bot cannot be confined so, or would see the logs or a rival. Nothing is made.
    """
    require(setup.settings.level, setup.specs, (logs,))
    id = plan.make_log_folder(logs, "match-", 3)
    match = plan.draw_tournament(setup.settings, id, logs.resolve() / id)
    plan.publish_commitment(match, setup.settings)
    match = replace(match, entropy=plan.contributions(setup.specs, setup.settings.level))
    plan.publish_contributions(match)
    return match


def _jobs(setup: Setup, match: Tournament, feed: str) -> Iterator[tuple[PlannedGame, Job]]:
    """Yields every game with its job, which says which bots to start ahead."""
    schedule = setup.settings.schedule()
    near: deque[tuple[PlannedGame, Job]] = deque()
    for game in schedule:
        job = placed(setup.job(match, game, feed), setup.settings.processes, game, serve_on=not schedule.computed)
        near.append((game, job))
        if len(near) > AHEAD_GAMES:
            yield _first(near)
    while near:
        yield _first(near)


def _first(near: deque[tuple[PlannedGame, Job]]) -> tuple[PlannedGame, Job]:
    game, job = near.popleft()
    return game, started_ahead(job, (following for _, following in near))


def play_match(
    setup: Setup, match: Tournament, watch: Watch | None = None, tap: Tap | None = None, feed: str = ""
) -> Iterator[Played]:
    """Plays every game and yields its result. At the end, even an early one, reveals the secret beside the logs.

    `watch` gets each record of each game, between decisions, and `tap` each message; `feed` is where others watch.

    Raises:
        ArenaError: A game, or the secret, cannot be written. The logs of the games before are kept.
    """
    try:
        for game, job in _jobs(setup, match, feed):
            try:
                result = play(job, watch, tap)
            except (OSError, MemoryError, MachineFault) as error:
                raise could_not_play(job.game, error, kept="The logs of the games before it are kept") from error
            yield Played(game, result)
    except BaseException:
        with suppress(ArenaError):  # the operator has to see the error that ended the match, not this one
            plan.reveal_secret(match)
        raise
    plan.reveal_secret(match)
