"""A match: one pairing on some deals, played here and now in this process, and kept in no database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.record.secret import reveal
from arena.referee.scribe import Watch
from arena.referee.transcript import Tap
from arena.referee.worker import play
from arena.store.records import Tournament
from arena.tournament.plan import describe, new_id
from arena.tournament.runner import Played
from arena.tournament.settings import Settings
from arena.tournament.setup import Setup


def begin_match(settings: Settings, logs: Path) -> Tournament:
    """A match that can be played.

    Args:
        settings: Its settings, with as many bots as players.
        logs: The folder in which it gets a folder of logs that is named after it.

    Raises:
        ConfigError: That cannot be made. Show the message to the operator.
    """
    id = new_id(logs, "match-", 3)
    return describe(settings, id, logs.resolve() / id)


def play_match(setup: Setup, match: Tournament, watch: Watch | None = None, tap: Tap | None = None) -> Iterator[Played]:
    """Play every game and yield its result; then, or when it is cut short, reveal the secret beside the logs.

    `watch` is told of each record of each game, between decisions, and `tap` of each message.
    """
    try:
        for game in setup.settings.schedule():
            yield Played(game, play(setup.job(match, game), watch, tap))
    finally:
        reveal(Path(match.logs), match.id, match.secret, match.commitment)
