"""Lets only so many bots at once use what a machine has few of, such as a GPU. It does no I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from arena.core.errors import ConfigError
from arena.core.store.records import Claim, PlannedGame

USUAL: Final = 1  # how many bots may use something at once unless the operator says otherwise


def read_most(texts: Iterable[str]) -> dict[str, int]:
    """Reads how many bots may use what at once, each as `NAME=N`.

    Raises:
        ConfigError: One is not of that form.
    """
    found = [re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)=([1-9][0-9]{0,3})", text) for text in texts]
    if None in found:
        raise ConfigError(f"expected NAME=N with N from 1, such as gpu=2, got: {', '.join(texts)} - at --resource")
    return {one[1]: int(one[2]) for one in found if one}


class ScarceUse:
    """Who uses what now. Games that are claimed together are played one after another, by the same bots.

    Args:
        uses: By entrant what its manifest says that it uses.
        most: How many bots may use each at once. A game whose own bots are more plays while no other uses it.
        game: Returns a game by its number.
    """

    def __init__(
        self, uses: Sequence[Sequence[str]], most: Mapping[str, int], game: Callable[[int], PlannedGame]
    ) -> None:
        self.is_scarce = any(uses)
        self._uses = uses
        self._most = most
        self._game = game
        self._held: dict[str, tuple[int, Counter[str]]] = {}
        """First game of the claim, and what its bots use, by game that is claimed."""

    def fits(self, number: int) -> bool:
        """Says whether a game may be claimed now."""
        used: Counter[str] = Counter()
        for needs in dict(self._held.values()).values():
            used += needs
        return all(not used[k] or used[k] + n <= self._most.get(k, USUAL) for k, n in self._needs(number).items())

    def claim(self, claims: Sequence[Claim]) -> None:
        """Notes that games were claimed together."""
        for claim in claims if self.is_scarce else ():
            self._held[claim.game] = claims[0].number, self._needs(claim.number)

    def end(self, claim: Claim) -> None:
        """Notes that a game is over, or given back."""
        self._held.pop(claim.game, None)

    def _needs(self, number: int) -> Counter[str]:
        return Counter(name for entrant in self._game(number).entrants for name in self._uses[entrant])
