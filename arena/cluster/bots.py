"""Finds on this machine the bots that a game on another asks for, by the digest of their files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from arena.errors import BotError
from arena.link.bots import BotSpec, bundled_bots, load_bot


def here(bots: Sequence[BotSpec]) -> tuple[BotSpec, ...]:
    """Returns the same bots as they are to be started on this machine.

    Raises:
        BotError: One is not here, or differs.
    """
    return tuple(map(_here, bots))


@cache
def _here(bot: BotSpec) -> BotSpec:
    for bundled in bundled_bots():
        if bundled.digest == bot.digest:
            return load_bot(bundled.name)
    try:
        found = load_bot(bot.folder)
    except BotError as error:
        raise _absent(bot, str(error)) from None
    if found.digest != bot.digest:
        raise _absent(bot, f"other files in {bot.folder}, with the digest {found.digest[:12]}…")
    return found


def _absent(bot: BotSpec, got: str) -> BotError:
    return BotError(
        f"expected bot {bot.name} with the digest {bot.digest[:12]}… on this machine, got: {got}; copy its folder "
        "to the same place there, and build it"
    )
