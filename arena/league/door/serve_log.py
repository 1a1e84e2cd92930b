"""Tells the author of a remote bot how it fares, for weeks and in few words: changes and losses at once, sums now and
then. Pure: the time is an argument, in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

EACH_S: Final = 60.0
"""Seconds between two sums of the games that were played, if there were any."""
WAITS: Final = {
    **dict.fromkeys(("received", "building", "checking"), "waiting until the league tries it"),
    "qualifying": "the league tries it in a few games",
    "active": "waiting for games",
    "superseded": "another version of the bot plays instead",
    "suspended": "it plays no more until the operator lifts that; with other files it is a new version",
    **dict.fromkeys(("rejected", "retired"), "it plays no more; with other files it is a new version"),
}
"""By state of the version what its author is waiting for."""


class ServeLog:
    """What happens to a bot that is served."""

    def __init__(self, tell: Callable[[str], None], now: float) -> None:
        """Takes who is told, and the time."""
        self._tell = tell
        self._said_at = now
        self._said = 0
        self._state = ""
        self._journeys: list[int] = []
        """Journeys of the network since the last sum, in microseconds, one for each game."""
        self.games = 0
        """Games that are over, the lost ones included."""
        self.lost = 0
        """Games that were lost on the way: by the connection, or by the bot's end."""

    def stands(self, version: str, state: str) -> None:
        """Notes the state of the version; one that is new is told."""
        if state != self._state:
            self._state = state
            self._tell(f"{version} is served, and {state}: {WAITS.get(state, 'see `arena league status`')}")

    def over(self, network_us: int | None) -> None:
        """Notes a game that was played to its end."""
        self.games += 1
        if network_us is not None:
            self._journeys.append(network_us)

    def loses(self, reason: str) -> None:
        """Notes a game that was lost, which is told at once."""
        self.games += 1
        self.lost += 1
        self._tell(f"{reason}; a game is lost")

    def sum_up(self, now: float, *, at_once: bool = False) -> None:
        """Says how many games were played since it was served, if it is time for that and if there were more."""
        if self.games == self._said or not (at_once or now >= self._said_at + EACH_S):
            return
        self._said, self._said_at = self.games, now
        lost = f", {self.lost} of them lost on the way" if self.lost else ""
        journey = ""
        if self._journeys:
            mean = sum(self._journeys) / len(self._journeys) / 1_000
            journey = f"; the network takes {mean:.1f} ms of each decision"
            self._journeys.clear()
        self._tell(f"{self.games} game{'s' if self.games != 1 else ''} so far{lost}{journey}")
