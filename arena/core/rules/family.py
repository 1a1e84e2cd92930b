"""A family of games: many that one package brings, each found by `FAMILY:GAME`.

A package registers its family as an entry point of the group `arena.families`: on the left its name, on the right a
subclass of `Family`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from arena.core.rules.base import Rules


class Family(ABC):
    """Many games. To make one and ask for `games` takes no time: neither loads a game, or what games need."""

    about: ClassVar[str]
    """The family in one sentence without a full stop."""

    @abstractmethod
    def games(self) -> Mapping[str, str]:
        """Returns the games by their names in the family, each in one sentence."""

    @abstractmethod
    def game(self, name: str) -> type[Rules[Any]]:
        """Returns a game of `games`. Its class has the whole name, `FAMILY:GAME`.

        Raises:
            ConfigError: It cannot be played. The message says why.
        """
