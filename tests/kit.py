"""What tests need beside the kit for authors of games, `arena.core.testing`: tables of the games that arena brings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from arena.core.catalogue import default_board, game, make_rules, names, resolve_options
from arena.core.rules.base import Rules
from arena.core.testing import (
    Step,
    check_actions,
    check_fold,
    check_forfeits,
    check_legality,
    check_outcome,
    check_payloads,
    check_purity,
    check_secrecy,
    check_wild_actions,
    seen,
    walk,
)

__all__ = [
    "Step", "Table", "at_default_board", "check_actions", "check_fold", "check_ranks", "check_rules",
    "check_secrecy", "check_wild_actions", "samurai", "seen", "single_options", "tables", "walk",
]  # fmt: skip


class Table(msgspec.Struct, frozen=True):
    """A game as it may be played: what the kit is called with."""

    name: str
    ruleset: str
    seats: int
    option: str = ""
    """One option that differs from the ruleset's, as `NAME=VALUE`."""

    @property
    def rules(self) -> Rules[Any]:
        """The rules, on the bundled board."""
        option, _, value = self.option.partition("=")
        return at_default_board(self.name, self.seats, self.ruleset, **({option: value} if option else {}))

    def __str__(self) -> str:
        return "-".join(filter(None, (self.name, self.ruleset, f"{self.seats}p", self.option)))


def tables() -> Iterator[Table]:
    """Every ruleset of every game for every number of players."""
    for name in names():
        for ruleset in game(name).rulesets:
            for seats in game(name).seat_counts:
                yield Table(name, ruleset, seats)


def single_options() -> Iterator[Table]:
    """Every value of every option alone, beside the game's first ruleset, for two and three players."""
    for name in names():
        ruleset, first = next(iter(game(name).rulesets.items()))
        for option in game(name).option_list:
            for value in option.values:
                if value != first.options.get(option.name, option.default):
                    for seats in (2, 3):
                        yield Table(name, ruleset, seats, f"{option.name}={value}")


def samurai(seats: int = 2, ruleset: str = "standard", **overrides: str) -> Rules[Any]:
    """Samurai on the bundled board."""
    return at_default_board("samurai", seats, ruleset, **overrides)


def at_default_board(name: str, seats: int, ruleset: str, **overrides: str) -> Rules[Any]:
    """A game's rules on its bundled board."""
    return make_rules(name, seats, resolve_options(name, ruleset, overrides)[1], default_board(name))


def check_rules(rules: Rules[Any], seed: int) -> None:
    """Purity, legality, the outcome, forfeits and payloads, on random games."""
    for check in (check_purity, check_legality, check_outcome, check_forfeits, check_payloads):
        check(rules, seed)


def check_ranks(ranks: tuple[int, ...], seats: int) -> None:
    """The best rank is 1, equal ranks share, and the next one skips as many."""
    assert len(ranks) == seats
    assert all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)
