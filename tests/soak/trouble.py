"""Makes trouble: kills processes of the league, and takes the room on its disk."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Final

from tests.soak.room import Room
from tests.soak.scenario import Trouble
from tests.soak.stage import Stage

LITTLE: Final = 2**30  # bytes that are left free if there shall be too little room for games
NONE: Final = 32 * 2**10  # bytes that are left free if the disk shall be full


class Troublemaker:
    """Does what the scenario has, each thing for its time.

    Args:
        stage: The league.
        room: Its disk.
        seed: Which of several processes is hit.
    """

    def __init__(self, stage: Stage, room: Room, seed: int) -> None:
        self._stage = stage
        self._room = room
        self._dice = random.Random(seed)
        self._until: list[tuple[float, str]] = []
        self.done: Counter[str] = Counter()
        """How often each thing was done."""

    def make(self, trouble: Trouble) -> None:
        """Begins it."""
        until = time.monotonic() + trouble.seconds
        if trouble.blow in ("little room", "full disk"):
            if not self._room.is_own:
                return
            self._room.leave(LITTLE if trouble.blow == "little room" else NONE)
            self._until.append((until, "room"))
        else:
            found = self._stage.roles()[trouble.blow]
            if not found or not self._stage.kill(self._dice.choice(found)):
                return
            if trouble.blow in ("service", "supervisor"):
                self._until.append((until, trouble.blow))
        self.done[trouble.blow] += 1

    def look(self) -> None:
        """Ends what has lasted long enough."""
        for due in list(self._until):
            if time.monotonic() >= due[0]:
                self._until.remove(due)
                self._end(due[1])

    def end(self) -> None:
        """Ends everything."""
        for _, what in self._until:
            self._end(what)
        self._until.clear()

    def _end(self, what: str) -> None:
        if what == "service":
            self._stage.start_service()
        elif what == "supervisor":
            self._stage.start_door()
        else:
            self._room.restore()
