"""Beginning a tournament, or finding the unfinished one with the same settings; and closing it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from arena.errors import ConfigError
from arena.link.bots import BotSpec
from arena.record.secret import reveal
from arena.referee.chance import commitment, new_secret, seed_secret
from arena.store.records import Entrant, PlannedGame, Tournament, canonical
from arena.store.store import Store, now
from arena.tournament.settings import Settings


class Begun(msgspec.Struct, frozen=True):
    """A tournament that can be played."""

    tournament: Tournament
    done: int
    """Games that are done already."""
    resumed: bool
    """Whether it was in the database before."""


def begin(store: Store, settings: Settings, specs: Sequence[BotSpec], logs: Path, *, new: bool = False) -> Begun:
    """Continue the unfinished tournament with these settings, or begin one.

    Args:
        store: Where it is kept.
        settings: Its settings.
        specs: The entrants' manifests, by number.
        logs: The folder in which it has, or gets, a folder of logs that is named after it.
        new: Begin one in any case.

    Raises:
        ConfigError: There can be no such tournament, or its logs cannot be written there.
    """
    schedule = settings.schedule()
    found = None if new else store.unfinished(settings.digest)
    if found is not None:
        if Path(found.logs) != logs.resolve() / found.id:
            raise ConfigError(
                f"expected the logs of unfinished tournament {found.id} to stay in {Path(found.logs).parent}, "
                f"got: {logs.resolve()}; give that folder with --logs, or begin another tournament with --new"
            )
        _make_folder(Path(found.logs))
        _remove_unrecorded(Path(found.logs), store.resume(found.id))
        return Begun(found, store.done(found.id), resumed=True)

    id = new_id(logs, "", 2, store.has)
    tournament = describe(settings, id, logs.resolve() / id)
    entrants = [
        Entrant(
            number=number,
            name=bot.name,
            version=bot.version,
            digest=bot.digest,
            spec=msgspec.to_builtins(specs[number]),
        )
        for number, bot in enumerate(settings.bots)
    ]
    store.create(
        tournament, entrants, (PlannedGame(game.number, game.pairing, game.deal, game.rotation) for game in schedule)
    )
    return Begun(tournament, 0, resumed=False)


def describe(settings: Settings, id: str, logs: Path) -> Tournament:
    """A tournament as it is before its first game: its secret is new, or that of the seed.

    Args:
        settings: Its settings.
        id: Its identifier.
        logs: Its own folder of logs, absolute.
    """
    secret = new_secret() if settings.seed is None else seed_secret(settings.seed)
    return Tournament(
        id=id,
        created=now(),
        settings=msgspec.json.decode(canonical(settings)),
        digest=settings.digest,
        seed=settings.seed,
        secret=secret,
        commitment=commitment(secret),
        logs=str(logs),
        games=settings.schedule().total(),
    )


def close(store: Store, tournament: Tournament) -> None:
    """Reveal the secret of a tournament whose games are all done, and mark it finished.

    It may be called again if it was cut short.

    Raises:
        StoreError: Some are not done. Nothing is revealed.
    """
    store.check_done(tournament.id)
    reveal(Path(tournament.logs), tournament.id, tournament.secret, tournament.commitment)
    store.finish(tournament.id)


def new_id(logs: Path, prefix: str, size: int, taken: Callable[[str], bool] = lambda id: False) -> str:
    """A short identifier, and its folder; random apart from prefix and date, and never derived from the secret.

    Args:
        logs: Where the folder is made.
        prefix: How the identifier begins.
        size: Its random bytes.
        taken: Whether an identifier is in use.

    Raises:
        ConfigError: The folder cannot be made, or not be written to.
    """
    while True:
        id = f"{prefix}{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(size)}"
        if not taken(id) and _make_folder(logs / id):
            return id


def _make_folder(folder: Path) -> bool:
    """Make sure that the folder is there and can be written to; whether it is new."""
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise ConfigError(
            f"expected a folder for logs that can be written to, got: {error.strerror} - at {folder}; use --logs"
        ) from error
    return new


def _remove_unrecorded(folder: Path, games: Sequence[str]) -> None:
    """Remove what dropped games left: a log is there only if its game counts."""
    if not games:
        return
    for file in folder.iterdir():
        if file.name.lstrip(".").partition(".")[0] in games and file.is_file():
            file.unlink()
