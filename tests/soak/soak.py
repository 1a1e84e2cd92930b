"""One soak: runs a league through a scenario, and returns what came of it."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.core.errors import ArenaError
from arena.league.door.addresses import address
from arena.league.door.client import Client
from arena.league.door.tokens import read_token
from tests.soak import bots, evidence, judge, watch
from tests.soak.couriers import Couriers
from tests.soak.judge import Finding
from tests.soak.room import Room
from tests.soak.scenario import Scenario
from tests.soak.stage import Stage
from tests.soak.trouble import Troublemaker

TICK_S: Final = 0.1
ASK_S: Final = 5.0  # how often an author asks the door
PATIENCE: Final = 300.0
"""How long the league may take at the end until everything that was submitted has come to its state."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a soak."""

    scenario: Scenario
    level: str
    seconds: float
    findings: tuple[Finding, ...]
    troubles: dict[str, int]
    """How often each kind of trouble was made."""
    own_disk: bool
    """Whether the disk could be filled."""
    failed: int
    """How many tries to submit failed."""
    asked: int
    """How many questions the door answered,"""
    unanswered: int
    """and how many it did not."""
    refused: int
    """How often the service was started on a full disk, and said so and ended."""
    met_full_disk: int
    """How often the service said that it could not write."""
    states: dict[str, int]
    """How often the service was seen in each state."""


def soak(
    scenario: Scenario,
    folder: Path,
    disk: Path,
    room: Room,
    *,
    level: str,
    workers: int,
    tell: Callable[[str], object] = lambda sentence: None,
) -> Outcome:
    """Runs a scenario, and judges what is left.

    Args:
        scenario: What happens.
        folder: Where everything is made but the league.
        disk: Where the league is made.
        room: The disk's file system.
        level: How bots are confined.
        workers: Games at a time.
        tell: Called with a sentence about what is going on.
    """
    began = time.monotonic()
    stage = Stage(folder, disk, scenario, level, workers)
    with ExitStack() as stack:
        stack.callback(stage.end)
        stage.start_service()
        stage.start_door()
        stage.wait_for_door()
        wakes = time.time() + scenario.wakes
        couriers = Couriers(stage, lambda arrival: bots.make(folder / "bots", arrival, wakes))
        stack.callback(couriers.end)
        troublemaker = Troublemaker(stage, room, scenario.seed)
        stack.callback(room.restore)
        run = Run(scenario, stage, couriers, troublemaker, tell)
        with watch.Watch(stage.roles, stage.cup / "league.db") as seen:
            run.disturbed()
            troublemaker.end()
            run.to_the_end()
        tell("stops the league, and looks at what it has left")
        stage.stop()
    left = stage.left()
    found = evidence.collect(stage.cup, processes=max(1, (os.cpu_count() or 2) // 2))
    return Outcome(
        scenario=scenario,
        level=level,
        seconds=time.monotonic() - began,
        findings=(
            *judge.judge(found, couriers.accepted, seen.told),
            Finding(
                promise="every submission is accepted in the end",
                seen=f"{couriers.failed} tries failed, and were made again",
                wrong=tuple(f"{name} was not: {couriers.last}" for name in couriers.busy),
            ),
            Finding(promise="nothing ends by itself", seen="the service and the door", wrong=tuple(stage.wrong)),
            Finding(promise="no process, socket or temporary file is left", seen="the machine", wrong=tuple(left)),
            *watch.growth(seen.samples),
        ),
        troubles=dict(troublemaker.done),
        own_disk=room.is_own,
        failed=couriers.failed,
        asked=run.asked,
        unanswered=run.unanswered,
        refused=stage.refused,
        met_full_disk=stage.met_full_disk,
        states=run.states,
    )


class Run:
    """The time in which the league is up."""

    def __init__(
        self,
        scenario: Scenario,
        stage: Stage,
        couriers: Couriers,
        troublemaker: Troublemaker,
        tell: Callable[[str], object],
    ) -> None:
        self._scenario = scenario
        self._stage = stage
        self._couriers = couriers
        self._troublemaker = troublemaker
        self._tell = tell
        self._began = time.monotonic()
        self._asks = 0.0
        self._told = 0.0
        self.asked = 0
        self.unanswered = 0
        self.states: dict[str, int] = {}

    def disturbed(self) -> None:
        """Lets everything happen when it is due."""
        arrivals, troubles = list(self._scenario.arrivals), list(self._scenario.troubles)
        while (now := time.monotonic() - self._began) < self._scenario.seconds:
            while arrivals and arrivals[0].at <= now:
                self._couriers.send(arrivals.pop(0))
            while troubles and troubles[0].at <= now:
                self._tell(f"{now:.0f} s: {troubles[0].blow}")
                self._troublemaker.make(troubles.pop(0))
            self._troublemaker.look()
            self._look()

    def to_the_end(self) -> None:
        """Waits until everything that was submitted has come to its state."""
        end = time.monotonic() + PATIENCE
        while (self._couriers.busy or self._pending()) and time.monotonic() < end:
            self._look()

    def _look(self) -> None:
        self._couriers.look()
        self._stage.look()
        now = time.monotonic()
        if now >= self._asks:
            self._asks = now + ASK_S
            self._ask()
            self._note_state()
        time.sleep(TICK_S)

    def _ask(self) -> None:
        """Asks the door as an author: for the standings, and their own games."""
        authors = self._scenario.authors
        author = authors[(self.asked + self.unanswered) % len(authors)]
        try:
            token = read_token(self._stage.tokens / f"{author}.token")
            with Client(address(self._stage.address), token) as client:
                client.standings()
                list(client.games(most=20))
            self.asked += 1
        except ArenaError:
            self.unanswered += 1

    def _note_state(self) -> None:
        with suppress(OSError, ValueError):
            document: Any = json.loads((self._stage.cup / "published" / "service.json").read_text())
            state = str(document["state"])
            self.states[state] = self.states.get(state, 0) + 1

    def _pending(self) -> int:
        """Returns how many versions have not come to a state in which they stay."""
        hostile = judge.hostile_of(self._couriers.accepted)
        with suppress(sqlite3.Error):
            database = sqlite3.connect(f"file:{self._stage.cup / 'league.db'}?mode=ro", uri=True, timeout=5)
            try:
                rows = database.execute(
                    "SELECT bots.name, state FROM versions JOIN bots ON bots.id = versions.bot"
                ).fetchall()
            finally:
                database.close()
            return sum(state not in (judge.OUT if bot in hostile else judge.GOOD) for bot, state in rows)
        return 1


def in_folder(scenario: Scenario, folder: Path, *, level: str, workers: int, own_disk: bool, **more: Any) -> Outcome:
    """Runs a soak in a folder that is empty. With `own_disk` the process is one that `room.wrap` has started."""
    disk = folder / "disk"
    disk.mkdir()
    room = Room(disk if own_disk else None)
    return partial(soak, scenario, folder, disk, room, level=level, workers=workers)(**more)
