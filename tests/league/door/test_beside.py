"""Twenty authors are answered while others attack the door.

What a machine with nothing else to do must reach, an answer within a second, is for `make test-thorough`. Elsewhere the
law counts: each request has its one answer, and it comes while the attack goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq

from arena.league.door.codec import decode_from_door
from arena.league.door.messages import Versions
from tests.league.door.attacker import ATTACKS, pack
from tests.league.door.curve import sodium
from tests.league.door.stage import Stage
from tests.thorough import THOROUGH

AUTHORS = 20
ROUNDS = 8  # requests of each author; 20 at once are allowed
GUARD_S = 60  # whoever has no answer by then gets none
ANSWER_S = 1.0
NAMES = [name for name in ATTACKS if sodium() is not None or name != "P3 endless messages"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("league") / "cup")
    stage.league.publish("standings.json", {"season": "s", "items": [{"rank": n, "x": "x" * 900} for n in range(600)]})
    yield stage
    stage.kill()


@contextmanager
def attacked(stage: Stage, *names: str) -> Iterator[dict[str, int]]:
    """Attacks the door from another process. At the end it says how often each attack has struck."""
    pair = stage.author()
    command = [sys.executable, "-m", "tests.league.door.attacker", str(stage.address), pair.public, pair.secret, *names]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=Path(__file__).parents[3])
    assert process.stdout is not None
    counts: dict[str, int] = {}
    with process:
        try:
            assert {process.stdout.readline().strip() for _ in names} == set(names), "all have begun"
            yield counts
            counts |= json.loads(process.communicate("end\n", timeout=GUARD_S)[0])
        finally:
            process.kill()


def asked(stage: Stage) -> float:
    """Has all authors ask at the same time, several times, and returns the longest that one waited, in seconds."""
    longest = 0.0
    with ExitStack() as held:
        dealers = [held.enter_context(stage.dealer(stage.author())) for _ in range(AUTHORS)]
        poller = zmq.Poller()
        for dealer in dealers:
            poller.register(dealer, zmq.POLLIN)
            dealer.send(pack(type="hello", id=999, protocol="1.0"))
            dealer.recv()  # the handshake is over
        for number in range(1, ROUNDS + 1):
            for dealer in dealers:
                dealer.send(pack(type="status", id=number))
            began = time.monotonic()
            waiting = set(dealers)
            while waiting and time.monotonic() < began + GUARD_S:
                for dealer, _ in poller.poll(1_000):
                    answer: Any = decode_from_door(dealer.recv())
                    assert isinstance(answer, Versions)
                    assert answer.id == number
                    waiting.remove(dealer)
                    longest = max(longest, time.monotonic() - began)
            assert not waiting, f"{len(waiting)} authors without an answer in round {number}"
        assert not poller.poll(0), "one answer for each request"
    return longest


@pytest.mark.parametrize("names", [NAMES, *([name] for name in NAMES)] if THOROUGH else [NAMES])
def test_twenty_authors_are_answered_while_attacks_go_on(stage: Stage, names: list[str]) -> None:
    """All attacks at once; with `make test-thorough`, which measures, each alone as well."""
    with attacked(stage, *names) as counts:
        longest = asked(stage)
        assert stage.resident_mib() < 200
    assert min(counts.values()) > 1, counts
    if THOROUGH:
        print(f"{', '.join(names)}: {counts}, the longest answer took {longest * 1_000:.0f} ms")
        assert longest < ANSWER_S
    stage.check()
