"""Says what a tournament of the format `tune` has found, from its results alone."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import msgspec

from arena.core.face import Reader, game_rows, progress, tournament_settings
from arena.learn.tune.format import Tune

FEW_ROUNDS: Final = 4
"""After so many rounds without any difference it is said that there is none."""


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """Better values for a bot's parameters, as far as they are known."""

    tournament: str
    bot: str
    rounds: int
    """The number of rounds that count so far."""
    of: int
    """The number of rounds in all."""
    games: int
    parameters: tuple[progress.Tuned, ...]
    idle: bool
    """Whether rounds enough are done to tell, and whatever the values were, no deal showed a difference."""


def tuning_of(reader: Reader, row: game_rows.Tournament) -> Tuning:
    """Returns what a tournament that tunes has found so far. Rounds count when all their games are done."""
    settings = tournament_settings.Settings.read(row.settings)
    format, players = settings.format, settings.game.players
    assert isinstance(format, Tune)
    pairs = defaultdict(list)
    for pair in reader.pairs(row.id):
        pairs[pair.deal // format.deals].append(pair)
    search = format.search()
    path, seen = [], set[float]()
    done = reader.rated(row.id) * format.rounds // format.total(players, players)
    for step in range(done):
        search.take(shares := list(format.shares(pairs[step], players)))
        seen.update(shares)
        path.append(tuple(search.at))
    found = format.values(search.found())
    return Tuning(
        tournament=row.id,
        bot=settings.bots[0].name,
        rounds=done,
        of=format.rounds,
        games=reader.done(row.id),
        idle=done >= FEW_ROUNDS and seen == {0.5},
        parameters=tuple(
            progress.Tuned(
                name=name,
                low=one.text(one.low),
                high=one.text(one.high),
                began=one.text(one.value),
                found=found[name],
                path=tuple(round(at[place], 4) for at in path),
            )
            for place, (name, one) in enumerate(format.in_order)
        ),
    )
