"""Plays games in this process, one after another. Executors get `play` and `attend` as their functions."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from arena.core.catalogue import rules_of
from arena.core.errors import BotError, MachineFault
from arena.core.link.local import LocalLink
from arena.core.link.pool import worker_pool
from arena.core.link.unchanged import check_files
from arena.core.record.log import Header, Record, drop
from arena.core.referee.feed import Feed
from arena.core.referee.game import Game
from arena.core.referee.job import Job
from arena.core.referee.recorder import Watch
from arena.core.referee.transcript import Tap
from arena.core.types import GameResult


def play(job: Job, watch: Watch | None = None, tap: Tap | None = None) -> GameResult:
    """Plays one game. Bots that did not fail are kept for later games of its block, on deals that are new to them.

    Args:
        watch: Called with each record, between decisions, for onlookers in this process.
        tap: Called with each message, in the same way.

    Raises:
        ConfigError: The job describes no game.
        BotError: A bot's files are not those that were committed to: before the game, or after it. There is no result.
        OSError: The log cannot be written.
    """
    rules = rules_of(job.settings)
    bots = dict.fromkeys(job.bots)
    pool = worker_pool()
    begins = pool.enter(job.block, job.level)
    for bot in bots if begins else dict.fromkeys(pool.missing(job.bots, job.met)):
        check_files(bot)  # before one is started: to read large files may take longer than a start
    with ExitStack() as stack:
        if job.feed:
            feed = _feed(job.feed)
            stack.callback(feed.flush)
            stack.callback(feed.abandon)  # runs before `flush`; does nothing after a game that is over
            watch = feed if watch is None else _both(watch, feed)
        result = Game(job, rules, LocalLink(pool, job.bots, job.met, job.ahead, job.ahead_met), watch, tap).play()
    try:
        for bot in bots:
            check_files(bot)  # it may have read one at any time of the game
    except BotError:
        drop(Path(job.logs), {job.game})
        raise
    return result


def _both(one: Watch, other: Watch) -> Watch:
    def watch(record: Header | Record) -> None:
        one(record)
        other(record)

    return watch


def attend() -> None:
    """Answers the heartbeats of the bots that wait in this process, and buries the dead. Call it between games.

    Watchers are sent what they could not take before.
    """
    worker_pool().tidy()
    for feed in _feeds.values():
        feed.flush()


_feeds: dict[str, Feed] = {}  # the feed of this process, by its folder: what one game could not send goes with the next


def _feed(folder: str) -> Feed:
    if folder not in _feeds:
        for feed in _feeds.values():
            feed.close()
        _feeds.clear()
        _feeds[folder] = Feed(Path(folder))
    return _feeds[folder]


def could_not_play(game: str, error: OSError | MemoryError | MachineFault, *, kept: str) -> MachineFault:
    """Returns the error for a game that the system did not let us play, for example because the disk is full.

    Args:
        kept: What is not lost, as the beginning of a sentence.
    """
    what = str(error) or "out of memory"
    return MachineFault(f"game {game} could not be played: {what}. {kept}: fix that and give the same command again")
