"""One game with a person at the table: who sits where, and the work for the worker that plays it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from arena.core.face import (
    GameSettings,
    Job,
    Seat,
    bot_manifests,
    chance,
    errors,
    log_records,
    make_log_folder,
    presenters,
    tournament_settings,
)


class Table(msgspec.Struct, frozen=True):
    """A game that can begin."""

    job: Job
    header: log_records.Header
    """What a presenter needs to know: the settings, and who sits where. The secrets of the deal are not in it."""
    seat: Seat

    @property
    def log(self) -> Path:
        """Where the log will be."""
        return Path(self.job.logs) / f"{self.job.game}.jsonl"


def set_table(
    bots: Sequence[str],
    make_game: Callable[[int], GameSettings],
    person: bot_manifests.BotSpec,
    logs: Path,
    *,
    players: int | None = None,
    seat: Seat = 0,
    seed: str | None = None,
) -> Table:
    """Returns a table with a person and bots.

    Args:
        bots: The opponents in the order of their seats; if they are too few, they are taken again from the first on.
        make_game: Makes the settings for a number of players.
        person: The person's seat.
        logs: Where the game's own folder is made.
        players: How many sit at the table; None means the bots and the person.
        seat: The person's seat.
        seed: Source of the deal; None means the system's random generator.

    Raises:
        ConfigError: Something cannot be used. Show the message to the operator.
    """
    count = len(bots) + 1 if players is None else players
    settings = make_game(count)
    if not 0 <= seat < count:
        raise errors.ConfigError(f"expected a seat in 0..{count - 1}, got: {seat}; use --seat")
    if len(bots) >= count:
        raise errors.ConfigError(
            f"expected at most {count - 1} bots at a table of {count}, got: {len(bots)}; "
            "leave some out, or use --players"
        )
    others = [bot_manifests.load_bot(bots[number % len(bots)]) for number in range(count - 1)]
    for bot in others:
        if bot.rules and settings.rules not in bot.rules:
            raise errors.ConfigError(
                f"expected bots that play {settings.rules}, got: {bot.name}, which plays {', '.join(bot.rules)}"
            )
    specs = (*others[:seat], person, *others[seat:])
    names = tournament_settings.enter(specs)
    id = make_log_folder(logs, "play-", 3)
    job = Job(
        game=id,
        tournament=None,
        settings=settings,
        bots=tuple(msgspec.structs.replace(spec, name=bot.name) for spec, bot in zip(specs, names, strict=True)),
        deal=0,
        rotation=0,
        secret=chance.new_secret() if seed is None else chance.seed_secret(seed),
        logs=str(logs.resolve() / id),
    )
    return Table(job, presenters.header_of(id, settings, job.bots), seat)
