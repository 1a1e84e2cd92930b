"""What a seat is worth: each seat's share of wins between equal bots, and what rotating the seats makes of it.

For each game, ruleset and number of players, games of one bot against itself: the bundled `greedy`, run in this
process on the rules as a library. One decision in ten it takes at random, by a generator of its own that follows the
bot and not the seat: else equal bots would play the very same game again when they change seats, and rotation would
come out even by arithmetic. Where seats race, chance says who is first.

Two lines for each number of players:

- `by seat`: independent deals, every bot stays in its seat. The share of a seat is what the seat is worth: where its
  interval lies clear of the even share, who sits there has an advantage, or the opposite.
- `rotated`: as a tournament plays them, every deal once per rotation. A column is now a bot, which has had every
  seat: whatever the seats are worth, the even share should lie within the interval. How much narrower it is than the
  one above is what rotation saves in games.

A win that k seats share counts 1/k to each. Intervals are of 95 %: Wilson's over games, and over the means of deals
for `rotated`, since the games of one deal depend on each other. Of 20 intervals one misses by chance alone. What a
seat is worth depends on who plays: stronger bots may make more of it, or less. Draws come from a fixed seed: the same
program prints the same figures. All of it takes about half an hour on two processors.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import lru_cache
from itertools import chain
from random import Random
from typing import Any

import msgspec
from shares import mean_interval, wilson

from arena.core import catalogue as games
from arena.core.referee.chance import NO_MIX, Deal, bot_seed, deal_secret, seed_secret
from arena.core.resources import bots_folder
from arena.core.rules.base import Decision, Outcome, Rules
from arena.core.rules.course import Accepted, Answers, Ask, Chance, Course, Late, Over
from arena.core.tournament.formats.seating import orders as seatings
from arena.core.types import Payload, Ranks

SECRET = seed_secret("fairness")
LAPSES = 0.1
"""How often a bot decides at random."""
CHUNK = 20
"""Deals that a process plays before it is given more."""

Shares = tuple[float, ...]
"""Each bot's share of the win."""


class Table(msgspec.Struct, frozen=True):
    """What is played, by how many, and whether they change seats."""

    rules: str
    ruleset: str
    players: int
    rotated: bool


@lru_cache(maxsize=1)
def greedy() -> Any:
    """The class of the bundled bot. Its folder does not stay on the path."""
    path = sys.path[:]
    try:
        place = bots_folder() / "python" / "greedy" / "bot.py"
        spec = importlib.util.spec_from_file_location("greedy_bot", place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.Greedy
    finally:
        sys.path[:] = path


@lru_cache(maxsize=1)
def rules_of(table: Table) -> Rules[Any]:
    return games.rules_of(games.make_settings(table.rules, table.players, ruleset=table.ruleset))


class Player:
    """Greedy at a seat, with lapses."""

    def __init__(self, table: Table, deal: int, seat: int, seed: str, lapses: float = LAPSES) -> None:
        self._rules = rules_of(table)
        self._seat = seat
        self._random = Random(seed)
        self._lapses = lapses
        self._bot = greedy()()
        board = self._rules.board
        self._bot.start(
            {
                "rules": table.rules,
                "rules_version": self._rules.version,
                "ruleset": table.ruleset,
                "options": dict(self._rules.options),
                "seat": seat,
                "seats": table.players,
                "board": None if board is None else board.payload(),
                "bot_seed": bot_seed(SECRET, str(deal), "", NO_MIX, seat),
            }
        )

    def decide(self, course: Course, decision: Decision) -> Payload:
        """Returns its action."""
        rules, state, seat = self._rules, course.state, self._seat
        if self._random.random() < self._lapses:
            legal = rules.legal(state, seat)
            return rules.write_action([legal[self._random.randrange(len(legal))]])
        request = {"kind": decision.kind, "view": rules.view(state, seat), "legal": rules.write_legal(state, seat)}
        action = self._bot.decide(request)
        return action[0] if isinstance(action, tuple) else action


def play(table: Table, deal: int, bots: Sequence[int], seed: str) -> Ranks:
    """Plays one game. Returns the rank of each seat."""
    return played(table, deal, bots, seed)[0].ranks


def played(
    table: Table, deal: int, bots: Sequence[int], seed: str, lapses: Sequence[float] | None = None
) -> tuple[Outcome, tuple[int, ...] | None]:
    """Plays one game. Returns its outcome and its margins.

    `bots` is by seat; a bot's lapses follow it from seat to seat, and `lapses` says by seat how often. Who races is as
    fast as all others: chance says who comes first, who next, and so on.
    """
    course, chance, first = Course(rules_of(table)), Deal(deal_secret(SECRET, deal)), Random(f"{seed} first")
    often = [LAPSES] * len(bots) if lapses is None else lapses
    players = [Player(table, deal, seat, f"{seed} bot {bot}", often[seat]) for seat, bot in enumerate(bots)]
    actions: dict[int, Payload] = {}
    while not isinstance(due := course.due, Over):
        match due:
            case Chance():
                course.draw(chance.draw(due.draw.stream, due.draw.n))
            case Ask():
                decisions = list(course.ask().decisions)
                if decisions[0].race:
                    first.shuffle(decisions)
                actions |= {decision.seat: players[decision.seat].decide(course, decision) for decision in decisions}
            case Answers():
                seat = next(seat for seat in actions if seat in due.seats)
                answered = course.answer(seat, actions.pop(seat))
                assert isinstance(answered, Accepted | Late), answered
            case _:
                raise AssertionError(due)
    return due.outcome, course.margins


def shares(table: Table, deal: int) -> Shares:
    """Each bot's share of the wins on one deal."""
    players = table.players
    circles = seatings(players, "cyclic")
    orders = circles[deal % len(circles)] if table.rotated else (tuple(range(players)),)
    won = [0.0] * players
    for rotation, bots in enumerate(orders):
        ranks = play(table, deal, bots, f"{table} deal {deal} rotation {rotation}")
        for bot, rank in zip(bots, ranks, strict=True):
            won[bot] += (rank == 1) / ranks.count(1) / len(orders)
    return tuple(won)


def some_shares(table: Table, deals: range) -> list[Shares]:
    """The work of a process."""
    return [shares(table, deal) for deal in deals]


def measure(pool: Executor, table: Table, games: int) -> list[Shares]:
    """The shares of all deals that so many games take."""
    deals = -(-games // table.players) if table.rotated else games
    chunks = [range(first, min(first + CHUNK, deals)) for first in range(0, deals, CHUNK)]
    return list(chain.from_iterable(pool.map(some_shares, [table] * len(chunks), chunks)))


def cells(table: Table, measured: list[Shares]) -> Iterator[str]:
    """A share with its interval, for each seat or bot."""
    for column in zip(*measured, strict=True):
        share = statistics.fmean(column)
        low, high = mean_interval(column) if table.rotated else wilson(share, len(column))
        yield f"   {share:5.1%} ({low:5.1%} to {high:6.1%})"


def tables(rules: str | None, ruleset: str | None, players: int | None) -> Iterator[tuple[str, str, int]]:
    """What there is to measure, or the part of it that was asked for."""
    for name in games.names():
        game = games.game(name)
        for each in game.rulesets:
            for seats in game.seat_counts:
                if rules in (None, name) and ruleset in (None, each) and players in (None, seats):
                    yield name, each, seats


def main() -> None:
    parser = argparse.ArgumentParser(description="What a seat is worth, with and without rotation.")
    parser.add_argument("--games", type=int, default=1000, help="games for each line (1000)")
    parser.add_argument("--rules", choices=games.names(), help="only this game")
    parser.add_argument("--ruleset", help="only this ruleset")
    parser.add_argument("--players", type=int, help="only this number of players")
    options = parser.parse_args()
    chosen = list(tables(options.rules, options.ruleset, options.players))
    if not chosen:
        parser.error("there is no such ruleset of the game, or it is not for so many players: see arena rules list")
    headed = ""
    with ProcessPoolExecutor(2) as pool:
        for rules, ruleset, players in chosen:
            if rules != headed:
                headed = rules
                heads = "".join(f"   seat or bot {n:<11}" for n in range(games.game(rules).seat_counts.stop - 1))
                print(f"\n{rules}: shares of the wins, with intervals of 95 %; {options.games} games a line")
                print(f"{'ruleset':8}  {'players':7}  {'even':6}  {'':7}{heads.rstrip()}")
            for rotated in (False, True):
                table = Table(rules, ruleset, players, rotated)
                row = "".join(cells(table, measure(pool, table, options.games)))
                how = "rotated" if rotated else "by seat"
                print(f"{ruleset:8}  {players:<7}  {1 / players:<6.1%}  {how}{row}", flush=True)


if __name__ == "__main__":
    main()
