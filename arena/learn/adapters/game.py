"""A game at one table as numbers: what environments of other libraries are made of."""

from __future__ import annotations

import copyreg
import random
import sys
from collections.abc import Iterable
from functools import reduce
from math import prod
from operator import index
from typing import Any, Final, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
import numpy.typing as npt
from msgspec import UnsetType

from arena.core.face import (
    Seat,
    Table,
    catalogue,
    courses,
    errors,
    game_kit,
    layouts,
    log_records,
    numbering,
    presenters,
)

Rewards: TypeAlias = Literal["scores", "ranks"]
Observations: TypeAlias = Literal["numbers", "one_hot"]
RenderMode: TypeAlias = Literal["ansi", "human", "rgb_array"]
Array: TypeAlias = npt.NDArray[Any]

WIDTH: Final = 100  # characters in a line of what is rendered
_MANY: Final = 400  # more plays than these numpy marks faster than Python
# It pickles as a name that is looked for in every module: one that cannot say that it lacks it (SuperSuit) stops that.
copyreg.pickle(UnsetType, lambda _: (UnsetType, ()))


def known(value: str | None, kind: Any, name: str) -> Any:
    """Returns a value that is one of a few.

    Raises:
        ConfigError: It is none of them.
    """
    if value is not None and value not in get_args(kind):
        raise errors.ConfigError(f"expected {name} to be one of {', '.join(get_args(kind))}, got: {value!r}")
    return value


class _Numbering(numbering.Numbering):
    def marks(self, products: Iterable[game_kit.Product]) -> bytearray:
        """Returns a 1 for each of some plays, among all."""
        marks = bytearray(len(self))
        array = np.frombuffer(marks, np.int8)
        for product in products:
            first, places = self._places[product.make]
            if product.size > _MANY and product.size == prod(len(own) for own, _ in places):
                marks[first : first + product.size] = b"\1" * product.size
                continue
            axes = []
            for values, (_, place) in zip(product.choices, places, strict=True):
                if len(values) == 1:  # as most of them: no list for one
                    first += place[values[0]]
                else:
                    axes.append([place[value] for value in values])
            if product.size > _MANY and len(axes) > 1:
                array[reduce(np.add.outer, axes, np.array(first))] = 1
                continue
            *outer, last = sorted(axes, key=len) or [[0]]
            numbers = [first]
            for steps in outer:
                numbers = [number + step for number in numbers for step in steps]
            for number in numbers:
                for step in last:
                    marks[number + step] = 1
        return marks


class Game:
    """A game at one table, and how it is told in numbers."""

    def __init__(self, rules: str, players: int, rewards: str, observations: str, settings: dict[str, Any]) -> None:
        self.rewards_by: Rewards = known(rewards, Rewards, "rewards")
        self.one_hot = known(observations, Observations, "observations") == "one_hot"
        self.settings = catalogue.make_settings(rules, players, **settings)
        self.rules = catalogue.rules_of(self.settings)
        if limits := courses.LIMITS.keys() & self.settings.options.keys():
            raise errors.ConfigError(
                f"expected no limit of games, got: {', '.join(limits)}; give max_cycles, or count steps"
            )
        every = self.rules.every_play()
        sample = self.rules.numbers(self.rules.view(self.rules.start(), 0))
        if every is None or sample is None:
            how = "let its rules override that"
            if every is not None and any("tensor" in option.values for option in self.rules.option_list):
                how = 'give overrides=["view=tensor"], with which they are what its view has as `tensor`'
            raise errors.ConfigError(
                f"expected a game that says what programs learn from, got: {rules}, without "
                f"{'`every_play`' if every is None else '`numbers`'}; {how}"
            )
        self.numbering = _Numbering(every)
        self.actions = len(self.numbering)
        self.agents = [f"seat_{seat}" for seat in range(players)]
        bounds, span = self.rules.bounds().numbers, np.iinfo(np.int32)
        low, high = np.array(bounds or [(span.min, span.max)] * len(sample), np.int32).T
        if self.one_hot:
            if bounds is None:
                raise errors.ConfigError(
                    f'expected bounds of the numbers of {rules}, got: none; give observations="numbers"'
                )
            sizes = high - low + 1
            self.first = np.cumsum(sizes) - sizes - low
            self.space: Any = gymnasium.spaces.Box(0, 1, (int(sizes.sum()),), np.int8)
        else:
            self.space = gymnasium.spaces.Box(low, high, dtype=np.int32)
        self.chance: random.Random | None = None

    def reset(self, seed: int | None) -> None:
        """Begins a game. Chance goes on as it was where no seed is given; at first it is the system's.

        Raises:
            ValueError: The seed is below 0.
            TypeError: It is no whole number.
        """
        if seed is not None and index(seed) < 0:
            raise ValueError(f"expected a seed of 0 or more, got: {seed}")
        if seed is not None or self.chance is None:
            self.chance = random.Random(None if seed is None else index(seed))
        self.table = Table(self.rules)
        self._go_on()

    def _go_on(self) -> None:
        table = self.table
        while table.draws is not None:
            table.draw(self.chance.randrange(table.draws))  # type: ignore[union-attr]
        self.due: Seat | None = table.due[0] if table.due else None
        self._marks: bytearray | None = None

    @property
    def marks(self) -> bytearray:
        """A 1 for each action that the seat that is due may take; made when it is first asked for."""
        if self._marks is None:
            due, shown = self.due, self.table.shown
            self._marks = self.numbering.marks(() if due is None else self.rules.relative(shown, due).products)
        return self._marks

    @property
    def mask(self) -> Array:
        """The same as a new array."""
        return np.frombuffer(self.marks, np.int8).copy()

    def make(self, number: int) -> None:
        """Makes a play of the seat that is due."""
        self.table.make(self.rules.absolute(self.table.shown, self.table.due[0], self.numbering.play(number)))
        self._go_on()

    def make_any(self) -> None:
        """Makes a play of the seat that is due, as chance draws it."""
        legal = self.rules.legal(self.table.shown, self.table.due[0])
        self.table.make(legal[self.chance.randrange(len(legal))])  # type: ignore[union-attr]
        self._go_on()

    def act(self, action: dict[str, Any]) -> None:
        """Makes a whole decision of the seat that is due."""
        self.table.act(action)
        self._go_on()

    def number(self, action: Any) -> int:
        """Returns an action as a number.

        Raises:
            ValueError: There is no such action.
        """
        try:
            number: Any = index(action)
        except TypeError:
            number = repr(action)
        if isinstance(number, str) or not 0 <= number < self.actions:
            raise ValueError(f"expected an action, a whole number from 0 to {self.actions - 1}, got: {number}")
        return int(number)

    def refusal(self, number: int) -> str | None:
        """Returns why the seat that is due may not take an action, or None if it may."""
        if self.marks[number]:
            return None
        shown, seat = self.table.shown, self.table.due[0]
        try:
            play = self.rules.absolute(shown, seat, self.numbering.play(number))
            self.rules.check(shown, seat, play)
        except errors.IllegalAction as error:
            return str(error)
        return "another number stands for the same play"

    def observe(self, seat: Seat) -> Array:
        """Returns what a seat may know."""
        numbers = np.array(self.rules.observe(self.table.shown, seat), np.int32)
        if not self.one_hot:
            return numbers
        found = np.zeros(self.space.shape, np.int8)
        found[self.first + numbers] = 1
        return found

    def rewards(self) -> list[float]:
        """Returns what each seat gets in the end."""
        outcome, teams = self.table.outcome, self.settings.teams
        if self.rewards_by == "ranks" and outcome is not None and not (teams and len(set(teams)) == 1):
            return outcome.worth
        return list(self.rules.returns(self.table.state))

    def render(self, mode: RenderMode) -> str | Array | None:
        """Returns what the seat that is due sees, or prints it; after the end, what the first sees."""
        seat = self.due or 0
        views = {seat: self.rules.view(self.table.shown, seat)}
        seated = [log_records.LoggedBot(agent, "", "0" * 64, 0) for agent in self.agents]
        header = presenters.header_of("", self.settings, seated)
        drawn = presenters.presenter(self.settings.rules)(header, self.rules, ())
        lines = drawn.draw(views, views, (), WIDTH)
        if mode == "rgb_array":
            return np.array(layouts.picture(lines, WIDTH))
        text = "\n".join(line.plain for line in lines)
        if mode == "human":
            sys.stdout.write(f"{text}\n")
        return {"ansi": text, "human": None}.get(mode)
