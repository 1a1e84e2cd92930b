"""An order, and what obeying it takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from arena.core.face import Payload, bot_manifests, errors
from arena.league.bounds import MOST_NAME, MOST_NUMBER, MOST_TEXT, is_season_name
from arena.league.door.limits import MOST_ARCHIVE_MIB
from arena.league.folder import Folder
from arena.league.settings import Limits, Settings
from arena.league.store import LeagueStore
from arena.league.store.states import Actor


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


class OrderContext(msgspec.Struct, frozen=True, kw_only=True):
    """What obeying an order takes. Its methods return arguments; they raise `Refused` for what is missing, or wrong."""

    store: LeagueStore
    folder: Folder
    settings: Settings
    order: Order
    archive: Path | None

    @property
    def actor(self) -> Actor:
        """Who gives the order."""
        return Actor.OPERATOR if self.order.author is None else Actor.AUTHOR

    def text(self, name: str, default: str | None = None) -> str:
        """Returns a text of the arguments."""
        value = self.order.arguments.get(name, default)
        if not isinstance(value, str) or len(value) > MOST_TEXT or (default is None and not value):
            raise self._wrong(name, f"a text of at most {MOST_TEXT} characters", value)
        return value

    def number(self, name: str) -> int:
        """Returns a number of the arguments."""
        value = self.order.arguments.get(name)
        if type(value) is not int or not 0 <= value <= MOST_NUMBER:
            raise self._wrong(name, "a number", value)
        return value

    def name(self, name: str, whose: str) -> str:
        """Returns a name that may become a part of a path; `whose` says of what it is the name."""
        value = self.text(name)
        try:
            bot_manifests.check_name(value, whose)
        except errors.BotError as error:
            raise errors.Refused("argument", str(error)) from None
        return value

    def season(self, name: str, default: str | None = None) -> str:
        """Returns the name of a season."""
        value = self.text(name, default)
        if not is_season_name(value):
            raise self._wrong(name, f"a season's name of at most {MOST_NAME} characters on one line", value)
        return value

    def key(self) -> str:
        """Returns the hash of a token of the arguments."""
        from arena.league.door.tokens import is_hash  # with ZeroMQ, which other orders do without

        value = self.text("key")
        if not is_hash(value):
            raise self._wrong("key", "the hash of a token, of 40 characters (Z85)", value)
        return value

    def quotas(self) -> dict[str, int]:
        """Returns limits of an author."""
        value = self.order.arguments.get("quotas", {})
        if not isinstance(value, dict) or any(
            type(each) is not int or not 0 <= each <= MOST_NUMBER for each in value.values()
        ):
            raise self._wrong("quotas", "names with numbers", value)
        for name in value:
            if reason := unknown_quota(name):
                raise errors.Refused("argument", f"{reason} - at quotas of {self.order.verb}")
        if value.get("archive_mib", 1) not in range(1, MOST_ARCHIVE_MIB + 1):
            raise self._wrong("archive_mib", f"a number from 1 to {MOST_ARCHIVE_MIB}", value["archive_mib"])
        return value

    def _wrong(self, name: str, expected: str, value: object) -> errors.Refused:
        return errors.Refused("argument", f"expected {expected} as {name} of {self.order.verb}, got: {value!r:.80}")


Verb: TypeAlias = Callable[[OrderContext], Payload]
"""Obeys an order, in the caller's transaction, and returns the answer. It raises `Refused`."""


def unknown_quota(name: str) -> str:
    """Returns why there is no quota of this name; empty if there is one."""
    known = Limits.__struct_fields__
    return (
        ""
        if name in known
        else f"expected one of {', '.join(known)}, got: {name!r:.80}{errors.did_you_mean(name, known)}"
    )


def read_order(data: bytes) -> Order:
    """Reads an order's file. Raises ValueError: it is none."""
    try:
        return msgspec.json.decode(data, type=Order)
    except RecursionError:
        raise ValueError("one that is nested too deeply") from None
