"""An order, and what obeying it takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from arena.errors import Refused, did_you_mean
from arena.league.folder import Folder
from arena.league.settings import Settings
from arena.store.league import LeagueStore
from arena.store.league.states import Actor
from arena.types import Payload

MOST_TEXT: Final = 1_000
"""Characters of a text in an order."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants the league to do."""

    id: str
    """Chosen by who gives it: random, so that no two are the same."""
    verb: str
    author: str | None = None
    """On whose behalf the door gives it; None is the operator."""
    arguments: Payload = {}
    at: str
    """When it was given; UTC (ISO 8601)."""


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """What obeying an order takes."""

    store: LeagueStore
    folder: Folder
    settings: Settings
    order: Order
    archive: Path | None
    """The archive that came with it."""

    @property
    def actor(self) -> Actor:
        """Who gives the order."""
        return Actor.OPERATOR if self.order.author is None else Actor.AUTHOR

    def text(self, name: str, default: str | None = None) -> str:
        """Returns a text of the arguments.

        Raises:
            Refused: It is missing, or no text.
        """
        value = self.order.arguments.get(name, default)
        if not isinstance(value, str) or len(value) > MOST_TEXT or (default is None and not value):
            raise self._wrong(name, f"a text of at most {MOST_TEXT} characters", value)
        return value

    def number(self, name: str) -> int:
        """Returns a number of the arguments.

        Raises:
            Refused: It is missing, or no number.
        """
        value = self.order.arguments.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
            raise self._wrong(name, "a number", value)
        return value

    def quotas(self) -> dict[str, int]:
        """Returns limits of an author.

        Raises:
            Refused: They are none.
        """
        known = type(self.settings.limits).__struct_fields__
        value = self.order.arguments.get("quotas", {})
        if not isinstance(value, dict) or any(type(each) is not int or each < 0 for each in value.values()):
            raise self._wrong("quotas", "names with numbers", value)
        for name in value:
            if name not in known:
                raise self._wrong("quotas", f"one of {', '.join(known)}", f"{name}{did_you_mean(name, known)}")
        return value

    def _wrong(self, name: str, expected: str, value: object) -> Refused:
        return Refused("argument", f"expected {expected} as {name} of {self.order.verb}, got: {value!r:.80}")


Verb: TypeAlias = Callable[[Desk], Payload]
"""Obeys an order, in the caller's transaction, and returns the answer. It raises `Refused`."""


def read_order(data: bytes) -> Order:
    """Reads an order's file.

    Raises:
        ValueError: It is none.
    """
    return msgspec.json.decode(data, type=Order)
