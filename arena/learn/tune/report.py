"""Says what a tournament of the format `tune` has found, from its results alone."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from operator import mul
from typing import Final

import msgspec

from arena.core.face import Reader, game_rows, progress, tournament_settings
from arena.learn.tune.format import Tune
from arena.learn.tune.spsa import period, ways

FEW_ROUNDS: Final = 4  # in fewer nothing is said of what a parameter changes
Z_95: Final = 1.96  # deviations


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
    unseen: tuple[str, ...]
    """The parameters whose moves up and down do not differ by more than chance (95 %), once rounds enough are done."""


def tuning_of(reader: Reader, row: game_rows.Tournament) -> Tuning:
    """Returns what a tournament that tunes has found so far. Rounds count when all their games are done."""
    settings = tournament_settings.Settings.read(row.settings)
    format, players = settings.format, settings.game.players
    assert isinstance(format, Tune)
    pairs = defaultdict(list)
    for pair in reader.pairs(row.id):
        pairs[pair.deal // format.deals].append(pair)
    search = format.search()
    path, rounds = [], list[list[float]]()
    done = reader.rated(row.id) * format.rounds // format.total(players, players)
    for step in range(done):
        search.take(shares := list(format.shares(pairs[step], players)))
        rounds.append(shares)
        path.append(tuple(search.at))
    found = format.values(search.found())
    order = format.in_order
    return Tuning(
        tournament=row.id,
        bot=settings.bots[0].name,
        rounds=done,
        of=format.rounds,
        games=reader.done(row.id),
        idle=done >= FEW_ROUNDS and {share for shares in rounds for share in shares} == {0.5},
        unseen=tuple(order[place][0] for place in without_effect(rounds, len(order))),
        parameters=tuple(
            progress.Tuned(
                name=name,
                low=one.text(one.low),
                high=one.text(one.high),
                began=one.text(one.value),
                found=found[name],
                path=tuple(round(at[place], 4) for at in path),
            )
            for place, (name, one) in enumerate(order)
        ),
    )


def without_effect(rounds: Sequence[Sequence[float]], count: int) -> list[int]:
    """Returns which of so many parameters show no effect: rounds with either way have like shares but for chance.

    Only whole periods count, in which the effects of all parameters are told apart.

    Args:
        rounds: Of each round the shares of its deals, from 0 to 1, of the side that goes the `ways` of the round.
    """
    whole = len(rounds) - len(rounds) % period(count)
    moves = [(ways(count, step), share - 0.5) for step in range(whole) for share in rounds[step]]
    free = len(moves) - count
    if whole < FEW_ROUNDS or free < 1:
        return []
    effects = [math.fsum(way[place] * ahead for way, ahead in moves) / len(moves) for place in range(count)]
    rests = (ahead - math.fsum(map(mul, way, effects)) for way, ahead in moves)
    chance = Z_95 * math.sqrt(math.fsum(rest**2 for rest in rests) / free / len(moves))
    return [place for place, effect in enumerate(effects) if abs(effect) <= chance]
