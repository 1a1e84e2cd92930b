"""Begins a tournament, or finds the unfinished one with the same settings; and closes it.

The order is that of `protocol/CHANCE.md`: the commitment is published, then others put into chance what they have, then
the games are played, then the secret is published. Each step is durable before the next begins.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import msgspec
from msgspec.structs import replace

from arena.core.errors import ArenaError, ConfigError
from arena.core.link.bots import BotSpec
from arena.core.link.confinement import require
from arena.core.link.local import LocalLink
from arena.core.link.pool import worker_pool
from arena.core.ratings.running import Rating
from arena.core.record.log import drop, plain_name
from arena.core.record.published import (
    COMMITMENT_FILE,
    CONTRIBUTIONS_FILE,
    SECRET_FILE,
    Commitment,
    CommittedBot,
    Secret,
    publish,
    published,
    sha256_of,
)
from arena.core.referee import beacon
from arena.core.referee.chance import commitment, contributions_of, new_secret, seed_secret
from arena.core.store.reader import Reader
from arena.core.store.records import Entrant, Tournament
from arena.core.store.store import Store, now
from arena.core.tournament.formats.base import Planning
from arena.core.tournament.settings import Settings
from arena.core.types import Level
from arena.core.wire.messages import Hello


class Begun(msgspec.Struct, frozen=True):
    """A tournament that is ready to be played."""

    tournament: Tournament
    done: int
    resumed: bool
    committed: Commitment
    gone: tuple[str, ...] = ()
    """The logs of finished games that are not there any more. The results stand."""


def begin(
    store: Store,
    settings: Settings,
    specs: Sequence[BotSpec],
    logs: Path,
    *,
    new: bool = False,
    starts: Sequence[Rating] = (),
) -> Begun:
    """Continues the unfinished tournament with these settings, or begins a new one.

    Args:
        specs: The entrants' manifests, by number.
        logs: The folder that holds, or will hold, the tournament's own folder of logs.
        new: Begin a new one even if one is unfinished.
        starts: By entrant the running rating that it begins with; empty if nobody was rated before.

    Raises:
        ConfigError: The settings make no tournament, or name a beacon that was out before, or its logs cannot be
            written there. Nothing is stored.
        LevelError: This machine cannot confine bots as they demand. Nothing is stored.
        BotError: A bot cannot be confined so, or would see the database, the logs or a rival. Nothing is stored.
    """
    settings.schedule()  # refuses what cannot be played before anything is made
    require(settings.level, specs, (store.path, logs))
    found = None if new else store.unfinished(settings.digest)
    if found is not None:
        if Path(found.logs) != (here := logs.resolve() / found.id):
            found = _moved(store, found, here)
        _make_folder(Path(found.logs))
        _check_commitment(found, settings)
        committed = publish_commitment(found, settings)
        drop(Path(found.logs), store.resume(found.id, found.logs))
        there = {plain_name(entry.name) for entry in os.scandir(found.logs)}
        gone = tuple(log for log in store.logs(found.id) if log not in there)
        return Begun(found, store.done(found.id), resumed=True, committed=committed, gone=gone)

    if settings.beacon is not None:
        beacon.check_future(settings.beacon)
    id = make_log_folder(logs, "", 2, store.has)
    tournament = draw_tournament(settings, id, logs.resolve() / id)
    entrants = [
        Entrant(
            number=number,
            name=bot.name,
            version=bot.version,
            digest=bot.digest,
            spec=msgspec.to_builtins(specs[number]),
            start=starts[number] if starts else Rating(),
        )
        for number, bot in enumerate(settings.bots)
    ]
    store.create(tournament, entrants)
    return Begun(tournament, 0, resumed=False, committed=publish_commitment(tournament, settings))


def _moved(store: Store, found: Tournament, here: Path) -> Tournament:
    """Returns an unfinished tournament whose folder of logs was moved or copied together with its database.

    Raises:
        ConfigError: Its logs are not all there. Nothing has changed.
    """
    before = Path(found.logs)
    committed = published(here, COMMITMENT_FILE, Commitment) if here.is_dir() else None
    is_it = committed is not None and committed.commitment == found.commitment
    there = {plain_name(entry.name) for entry in os.scandir(here)} if is_it else set()
    if is_it and (not before.exists() or there.issuperset(store.logs(found.id))):
        return replace(found, logs=str(here))
    expected = f"expected the logs of unfinished tournament {found.id}"
    if not before.exists():
        got = "those of another one" if committed is not None else "none"
        raise ConfigError(
            f"{expected} in {here}, got: {got}, and none in {before}, where they were; move that folder here, give "
            "with --logs the folder that it is in, or begin another tournament with --new"
        )
    raise ConfigError(
        f"{expected} to stay in {before.parent}, got: {here.parent}; give that folder with --logs, or begin another "
        "tournament with --new"
    )


def as_begun(store: Reader, settings: Settings) -> Settings:
    """Returns the settings by which a tournament of these goes on: what an earlier version planned stays as it is."""
    versions = (replace(settings, format=replace(settings.format, planning=version)) for version in get_args(Planning))
    return next((one for one in (settings, *versions) if store.unfinished(one.digest) is not None), settings)


def _check_commitment(tournament: Tournament, settings: Settings) -> None:
    """Checks that what was committed to before the first game is what would be played now.

    Raises:
        ConfigError: It is not. Nothing has changed.
        LogError: The commitment cannot be read.
    """
    before = published(Path(tournament.logs), COMMITMENT_FILE, Commitment)
    if before is not None and before.schedule_sha256 != sha256_of(settings.plan_document()):
        raise ConfigError(
            f"expected the schedule that tournament {tournament.id} was committed to, got another one: another version "
            "of arena began it; finish it with that version, or begin another tournament with --new"
        )


def fix_chance(store: Store, tournament: Tournament, specs: Sequence[BotSpec], value: str | None = None) -> Tournament:
    """Fixes what others than the organiser put into chance, unless it is fixed already. Returns the tournament with it.

    Args:
        tournament: A tournament whose commitment is published.
        specs: The entrants' manifests, by number. Those that contribute are started to say what.
            Where a beacon is named none is asked: whoever contributed after its value was out could try many.
        value: The value of the beacon that the settings name; None if it is not known yet, or known already.

    Raises:
        ConfigError: The value is missing, or it is another one, or no beacon was named.
    """
    settings = Settings.read(tournament.settings)
    if value is not None and settings.beacon is None:
        raise ConfigError(
            f"expected no value of a beacon, as tournament {tournament.id} was committed to none, got: {value!r:.80} "
            "- at --beacon-value; leave it out, or begin another tournament with --beacon"
        )
    if tournament.entropy is None:
        if settings.beacon is None:
            given = contributions(specs, settings.level)
        elif value is None:
            raise ConfigError(f"expected the value of {settings.beacon}, got none; give it with --beacon-value")
        else:
            beacon.check_value(settings.beacon, value)
            given = (None,) * len(specs)
        store.contribute(tournament.id, value or "", given)
        tournament = store.tournament(tournament.id)
    elif value is not None and value != tournament.beacon:
        raise ConfigError(
            f"expected {tournament.beacon!r}, with which tournament {tournament.id} began, got: {value!r:.80} "
            "- at --beacon-value; leave it out to go on"
        )
    publish_contributions(tournament)
    return tournament


def contributions(specs: Sequence[BotSpec], level: Level) -> tuple[str | None, ...]:
    """Starts the bots whose manifest says that they contribute to chance. Returns by entrant what each gave (hex).

    They are confined as in their games. A bot that fails to start gives nothing; its games will show why.
    """
    asked = [number for number, spec in enumerate(specs) if spec.entropy]
    given: list[str | None] = [None] * len(specs)
    if asked:
        pool = worker_pool()
        pool.enter("contributions", level)
        link = LocalLink(pool, [specs[number] for number in asked])
        try:
            for seat, hello in link.open().items():
                if isinstance(hello, Hello) and hello.entropy:
                    given[asked[seat]] = hello.entropy
        finally:
            link.close(keep=frozenset())
    return tuple(given)


def publish_commitment(tournament: Tournament, settings: Settings) -> Commitment:
    """Writes what is fixed before the first game beside the logs of a tournament or match, and returns it.

    Raises:
        ArenaError: It cannot be written. Show the message to the operator.
    """
    plan = settings.plan_document()
    open_settings = settings.public_document()
    document = Commitment(
        tournament=tournament.id,
        created=tournament.created,
        commitment=tournament.commitment,
        settings_sha256=sha256_of(open_settings),
        schedule_sha256=sha256_of(plan),
        deals=settings.format.deals_in_all(len(settings.bots), settings.game.players),
        games=plan["games"],
        bots=[CommittedBot(bot.name, bot.version, bot.digest) for bot in settings.bots],
        seeded=settings.seed is not None,
        settings=open_settings,
        schedule=plan,
    )
    publish_beside(tournament, COMMITMENT_FILE, document)
    return document


def publish_contributions(tournament: Tournament) -> None:
    """Writes what others put into chance beside the logs, if they put in anything.

    Raises:
        ArenaError: It cannot be written. Show the message to the operator.
    """
    entropy = tournament.entropy or ()
    if tournament.beacon or any(entropy):
        publish_beside(tournament, CONTRIBUTIONS_FILE, contributions_of(tournament.id, tournament.beacon, entropy))


def draw_tournament(settings: Settings, id: str, logs: Path) -> Tournament:
    """Draws the secret, or derives it from the seed, and returns the tournament as it is before its first game.

    Args:
        logs: Its own folder of logs, absolute.
    """
    secret = new_secret() if settings.seed is None else seed_secret(settings.seed, settings.seed_salt)
    schedule = settings.schedule(commitment(secret))
    return Tournament(
        id=id,
        created=now(),
        settings=settings.document(),
        digest=settings.digest,
        seed=settings.seed,
        secret=secret,
        commitment=commitment(secret),
        logs=str(logs),
        games=schedule.total,
        open=schedule.open,
    )


def reveal_secret(tournament: Tournament) -> None:
    """Writes the secret of a tournament or match beside its logs.

    Raises:
        ArenaError: It cannot be written. Show the message to the operator.
    """
    secret = Secret(tournament.id, tournament.secret.hex(), tournament.commitment)
    publish_beside(tournament, SECRET_FILE, secret)


def publish_beside(tournament: Tournament, file: str, document: msgspec.Struct) -> None:
    """Writes a document beside the logs of a tournament or match.

    Raises:
        ArenaError: It cannot be written. Show the message to the operator.
    """
    try:
        publish(Path(tournament.logs), file, document)
    except OSError as error:
        raise ArenaError(
            f"expected to write {file} beside the logs, got: {error.strerror} - at {tournament.logs}; "
            "fix that and give the same command again. All results are kept"
        ) from error


def make_log_folder(logs: Path, prefix: str, size: int, taken: Callable[[str], bool] = lambda id: False) -> str:
    """Makes a folder for logs and returns its name, a new identifier.

    The identifier is short: the prefix, the date and random digits. It is never derived from the secret.

    Args:
        size: How many random bytes it has.
        taken: Says whether an identifier is in use.

    Raises:
        ConfigError: The folder cannot be made or written to.
    """
    while True:
        id = f"{prefix}{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(size)}"
        if not taken(id) and _make_folder(logs / id):
            return id


def _make_folder(folder: Path) -> bool:
    """Makes sure that the folder exists and can be written to. Returns whether it is new."""
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
