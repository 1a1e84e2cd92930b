"""Tune: a bot meets itself with other values of its parameters, round after round, to find better ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec

from arena.core.face import Payload, bot_manifests, errors, format_base, formats, pentanomial, progress, seat_orders
from arena.learn.tune.spsa import Spsa

if TYPE_CHECKING:
    from arena.core.face import Reader, game_rows

STEPS = 1000
"""In so many steps a range is told, about: values have no more digits than that takes."""


class Tune(format_base.Format, frozen=True, kw_only=True, tag="tune"):
    """The first two entrants are one bot, in each round with two other sets of values of its parameters.

    At a table of three or more the other entrants take the remaining seats. What the rounds show moves the values
    (`arena.learn.tune.spsa`).
    """

    text: ClassVar[str] = "arena.learn.commands.tune:progress_text"
    is_contest: ClassVar[bool] = False

    deals: int = 4
    rounds: int = 100
    tuned: dict[str, bot_manifests.Parameter] = msgspec.field(default_factory=dict)
    """The parameters to tune, by name, each with the value to begin from."""
    margin: int | None = None
    """Judge by margins, in which one seat's lead over another counts at most so much (`Margin.most`); else by wins."""

    def check(self, entrants: int, players: int) -> None:
        """Checks that every parameter is in its range.

        Raises:
            ConfigError: One is not. Show the message to the operator.
        """
        super().check(entrants, players)
        if entrants != players:
            raise errors.ConfigError(f"expected {players} bots for games of {players} players, got: {entrants}")
        if not self.tuned:
            raise errors.ConfigError("expected parameters to tune, got none; declare some in [tune] of bot.toml")
        if self.rounds < 2:
            raise errors.ConfigError(f"expected at least 2 rounds, got: {self.rounds}; use --rounds")
        formats.check_games(self.rounds * self.deals, len(seat_orders.orders(players, self.seatings)[0]), "--rounds")

    def total(self, entrants: int, players: int) -> int:
        """Returns the number of games."""
        return self.rounds * self.deals * len(seat_orders.orders(players, self.seatings)[0])

    def deals_in_all(self, entrants: int, players: int) -> int:
        """Returns how many different deals there are: a round has deals of its own."""
        return self.rounds * self.deals

    @classmethod
    def words(cls, settings: Payload, refs: Sequence[str]) -> tuple[list[str], list[str]]:
        """Returns the command that tunes the bot."""
        names = [word for name in settings["tuned"] for word in ("--parameter", name)]
        given = {name: settings[name] for name in ("rounds", "deals")}
        return ["tune", refs[0]], [*names, *cls.options(given), "--by", "margin" if "margin" in settings else "wins"]

    def progress(
        self, reader: Reader, row: game_rows.Tournament, names: Sequence[str], order: Sequence[int]
    ) -> progress.Progress:
        """Returns the values that were found so far."""
        from arena.learn.tune.report import tuning_of

        return progress.Progress(format="tune", tuned=tuning_of(reader, row).parameters)

    def parameters(self, players: int) -> Payload:
        """Returns them as the others do. `margin` is there only if it is judged by, as of a comparison."""
        parameters = super().parameters(players)
        if self.margin is None:
            del parameters["margin"]
        return parameters

    @property
    def in_order(self) -> list[tuple[str, bot_manifests.Parameter]]:
        """The parameters by name: a document that was written and read again has them in another order."""
        return sorted(self.tuned.items())

    def search(self) -> Spsa:
        """Returns the search at its beginning."""
        spans = [(one, one.high - one.low) for _, one in self.in_order]
        start = [(one.value - one.low) / span for one, span in spans]
        return Spsa(start, self.rounds, least=[one.is_whole / 2 / span for one, span in spans])

    def values(self, numbers: Sequence[float]) -> dict[str, str]:
        """Returns numbers of a search as values of the parameters, as bots are sent them."""
        values = {}
        for (name, one), number in zip(self.in_order, numbers, strict=True):
            digits = math.ceil(math.log10(STEPS / (one.high - one.low)))
            values[name] = one.text(round(one.low + number * (one.high - one.low), digits))
        return values

    def shares(self, pairs: Iterable[pentanomial.PairResult], players: int) -> Iterator[float]:
        """Yields what of each deal counts for the first entrant, from 0 to 1, where that is known."""
        return formats.shares(pairs, self.margin, players)

    def director(self, entrants: int, players: int, draw: bytes) -> format_base.Director:
        """Returns the director. It draws nothing."""
        return _Tuning(self, entrants, players)


class _Tuning(formats.Lagging):
    def __init__(self, format: Tune, entrants: int, players: int) -> None:
        super().__init__()
        self._format = format
        self._search = format.search()
        self._entrants = entrants
        self._players = players
        self._rounds = 0

    def next(self) -> format_base.Round | None:
        if self._rounds == self._format.rounds:
            return None
        chosen = map(self._format.values, self._search.ends(self._rounds))
        return format_base.Round(
            title=f"round {self._rounds + 1}",
            deals=self._format.deals,
            meetings=[format_base.Meeting(tuple(range(self._entrants)), self._rounds * self._format.deals)],
            parameters=(*chosen, *({},) * (self._entrants - 2)),
        )

    def plan(self, round: format_base.Round) -> None:
        self._rounds += 1

    def note(self, result: format_base.RoundResult) -> None:
        self._search.take(list(self._format.shares(result.meetings[0].pairs, self._players)))
