"""A match: one pairing on some deals, played here and now in this process, and kept in no database."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from arena.errors import ConfigError
from arena.record.secret import reveal
from arena.referee.chance import commitment, new_secret, seed_secret
from arena.referee.worker import play
from arena.store.records import Tournament
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
    secret = new_secret() if settings.seed is None else seed_secret(settings.seed)
    created = datetime.now(UTC)
    id = f"match-{created:%Y%m%d}-{secrets.token_hex(3)}"
    folder = logs.resolve() / id
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(
            f"expected a folder for logs that can be written to, got: {error.strerror} - at {logs}; use --logs"
        ) from error
    return Tournament(
        id=id,
        created=created.isoformat(timespec="seconds"),
        settings=msgspec.to_builtins(settings),
        digest=settings.digest,
        seed=settings.seed,
        secret=secret,
        commitment=commitment(secret),
        logs=str(folder),
        games=settings.schedule().total(),
    )


def play_match(setup: Setup, match: Tournament) -> Iterator[Played]:
    """Play every game and yield its result; then, or when it is cut short, reveal the secret beside the logs."""
    try:
        for game in setup.settings.schedule():
            yield Played(game, play(setup.job(match, game)))
    finally:
        reveal(Path(match.logs), match.id, match.secret, match.commitment)
