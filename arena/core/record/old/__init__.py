"""Brings documents of released versions into the present form, one function a form. Nobody imports it on the way of a
game: only who finds an older `format` in a document that was read.

Never change what is here: `tests/data/releases` has records of each release, and `docs/durability.md` promises that
they can be checked for ever. The logs of games have had one form (format 3) since the first release.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import Final

from arena.core.types import Payload, Seat


def unnumbered(document: Payload) -> Payload:
    """Returns a document from before documents had a `format` (0.2.0), in the present form but for that number.

    The first of them did not say when a tournament was committed to.
    """
    return ({"created": ""} if "schedule_sha256" in document else {}) | document | {"format": 0}


FORMS: Final[Mapping[int, Callable[[Payload], Payload]]] = {0: unnumbered}
"""Converter of a format into the next one, by format."""
GONE_SETTINGS: Final = {("logs", "last_games"): "logs of a version's last games are kept like those of others"}
"""Keys of `league.toml` that were released and mean nothing any more, by section and key, with what holds now."""


def bot_seed_2(tournament_secret: bytes, deal: int, seat: Seat) -> int:
    """Returns a bot's seed as version 2 of `protocol/CHANCE.md` derived it: all games of a deal had the same."""
    key = hmac.digest(tournament_secret, f"arena/2/bot-seeds/{deal}".encode(), "sha256")
    return int.from_bytes(hmac.digest(key, f"arena/2/seat/{seat}".encode(), "sha256")[:8]) >> 11
