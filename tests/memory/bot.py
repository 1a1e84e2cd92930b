"""Plays Samurai Gardener as greedy does, and tells its own output which process met which deal, and whether again."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[2] / "bots" / "python"
sys.path[1:1] = [str(PYTHON / "greedy"), str(PYTHON)]

from arena_bot import Bot, run  # noqa: E402
from gardener_player import GardenerPlayer  # noqa: E402

PROCESS = hashlib.sha256(os.environ["ARENA_TOKEN"].encode()).hexdigest()[:16]


class Remembers(Bot):
    want = ("view", "legal", "events")

    def __init__(self):
        self.met = set()
        """What was seen of each deal before the first decision."""

    def start(self, game):
        self.player = GardenerPlayer(game)
        self.is_new = True

    def decide(self, request):
        if self.is_new:
            self.is_new = False
            came = [event for event in request["events"] if event["event"] in ("garden", "turned_up")]
            deal = "-".join(str(event["card"]) for event in sorted(came, key=lambda event: event["event"]))
            meets = "again" if deal in self.met else "first"
            print("process", PROCESS, "deal", deal, meets, file=sys.stderr, flush=True)
            self.met.add(deal)
        plays, note = getattr(self.player, request["kind"])(request["view"], request["legal"])
        return {"plays": plays}, note


run(Remembers())
