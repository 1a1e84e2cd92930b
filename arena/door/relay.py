"""Makes the bot that a worker runs in the seat of a remote version: the relay program `relay_seat.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from arena.door import relay_seat
from arena.link.bots import BotSpec

START_MS: Final = 30_000
"""Time for the `hello` of a remote bot: its start and two journeys."""


def remote_bot(folder: Path, name: str, digest: str, *, language: str = "", rules: tuple[str, ...] = ()) -> BotSpec:
    """Returns what plays in the seat of a remote version.

    Args:
        folder: The league's folder.
        name: The version, `NAME/3`.
        digest: The version's digest.
        language: What the author says.
        rules: What the author says.
    """
    program = Path(relay_seat.__file__)
    door = folder.resolve() / "door"
    return BotSpec(
        name=name,
        version="",
        language=language,
        command=(sys.executable, str(program), str(door / "relay.sock"), name),
        folder=str(door),
        rules=rules,
        digest=digest,
        start_ms=START_MS,
        reads=(str(program),),
    )
