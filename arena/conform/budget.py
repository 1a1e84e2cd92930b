"""How long a check waits for what. Every wait of a check is one of these, so that it always ends."""

from __future__ import annotations

import msgspec


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The waits of a check, in milliseconds. The time for `hello` and `ready` is the bot's own (`limits.start_ms`)."""

    limit_ms: int = 100
    """What the requests of a check allow; but for those about time, nothing is held against a bot that takes longer."""
    patience_ms: int = 3_000
    """How long an answer is awaited where time is not what is checked."""
    bank_ms: int = 1_000
    """The bank of a game that is played by one."""
    increment_ms: int = 20
    """What each decision of that game adds to it."""
    game_ms: int = 2_000
    """A game in which a bot has used so much time is broken off: so that a bot that thinks long is checked too."""
    farewell_ms: int = 1_000
    """Time to end after `goodbye` (§4.3-3)."""
    error_ms: int = 1_000
    """Time to end after `error`."""
    quiet_ms: int = 50
    """How long the referee listens for what should not come."""
    total_ms: int = 60_000
    """After so long no further check is begun."""
