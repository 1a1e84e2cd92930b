"""What a game of a check is: rules, seat, time."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from arena.resources import default_board
from arena.rules import find_ruleset, game, make_rules
from arena.rules.base import Rules
from arena.types import Seat, TimeControl
from arena.wire.messages import RequestClock


class Clock:
    """The time of a game's decisions, all in milliseconds."""

    def __init__(self, limit_ms: int | None, bank_ms: int | None = None, increment_ms: int = 0) -> None:
        self.control = TimeControl(bank_ms, increment_ms, limit_ms)
        self._bank_ms = bank_ms

    def request(self) -> RequestClock:
        """What the next request says of it."""
        limits = [limit for limit in (self.control.limit_ms, self._bank_ms) if limit is not None]
        return RequestClock(min(limits), self._bank_ms)

    def charge(self, used_ms: float) -> None:
        """A decision took so long."""
        if self._bank_ms is not None:
            self._bank_ms = max(0, self._bank_ms - round(used_ms)) + self.control.increment_ms


class Setting:
    """What is played, and where the bot sits."""

    def __init__(
        self, rules: str, *, ruleset: str | None = None, seats: int = 2, seat: Seat = 0, seed: int = 1
    ) -> None:
        """`seed` stands for chance, for the other seats, and for the bot's own seed."""
        name, text = default_board(rules)
        options = dict(find_ruleset(rules, ruleset).options)
        self.rules: Final[Rules[Any]] = make_rules(rules, text, name, seats, options)
        self.ruleset: Final = ruleset or next(iter(game(rules).rulesets))
        self.seat: Final = seat
        self.seed: Final = seed


def kinds_of(rules: str) -> tuple[str, ...]:
    """The kinds of decisions of a game, in the order in which they come up, whatever the ruleset."""
    kinds: dict[str, None] = {}
    for ruleset in game(rules).rulesets:
        setting = Setting(rules, ruleset=ruleset)
        engine, state, chance = setting.rules, setting.rules.start(), Random(0)
        while engine.ranks(state) is None:
            draw = engine.draw_wanted(state)
            if draw is not None:
                state = engine.draw(state, chance.randrange(draw.n))
                continue
            decision = engine.pending(state)[0]
            kinds[decision.kind] = None
            legal = engine.legal(state, decision.seat)
            state = engine.apply(state, decision.seat, legal[chance.randrange(len(legal))])
    return tuple(kinds)
