"""Twenty authors are answered while others attack the door, and a remote bot stays connected.

What a machine with nothing else to do must reach, an answer within a second, is for `make test-thorough`. Elsewhere the
law counts: each request has its answer, and it comes while the attack goes on.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from arena.league.door.client import Client
from arena.league.door.messages import Error, Pong, Serve
from arena.league.door.remote_client import RemoteClient
from tests.league.door.attacker import ATTACKS
from tests.league.door.stage import Stage
from tests.thorough import THOROUGH

AUTHORS = 20
ROUNDS = 40 if THOROUGH else 6
GUARD_S = 60
"""Whoever has no answer by then gets none."""
ANSWER_S = 1.0
COUNT = 9_000 if THOROUGH else 300
"""Connections of an attack by their number."""
ALONE = [[name] for name in ATTACKS] if THOROUGH else []


@pytest.fixture(scope="module", params=["http", "https"])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("league") / "cup", *(["--tls", "self"] if request.param == "https" else []))
    stage.league.publish("standings.json", {"season": "s", "items": [{"rank": n, "x": "x" * 900} for n in range(600)]})
    yield stage
    stage.kill()


@contextmanager
def attacked(stage: Stage, *names: str) -> Iterator[dict[str, int]]:
    """Attacks the door from another process. At the end it says how often each attack has struck."""
    at, _, _ = str(stage.address).partition("#")
    command = [sys.executable, "-m", "tests.league.door.attacker", at, stage.author(), str(COUNT), *names]
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

    def ask(client: Client) -> float:
        began = time.monotonic()
        assert client.status().versions == ()
        return time.monotonic() - began

    with ExitStack() as held:
        clients = [held.enter_context(Client(stage.address, stage.author())) for _ in range(AUTHORS)]
        threads = held.enter_context(ThreadPoolExecutor(AUTHORS))
        assert all(threads.map(ask, clients)), "they are connected"
        longest = 0.0
        for _ in range(ROUNDS):
            longest = max(longest, *threads.map(ask, clients))
            time.sleep(0.25)  # no author asks more often than they may
    return longest


@pytest.mark.timeout(600)
@pytest.mark.parametrize("names", [[*ATTACKS], *ALONE])
def test_twenty_authors_are_answered_while_attacks_go_on(stage: Stage, names: list[str]) -> None:
    """All attacks at once; with `make test-thorough`, which measures, each alone as well."""
    with RemoteClient(stage.address, stage.author()) as remote, attacked(stage, *names) as counts:
        remote.send(Pong(number=1))
        longest = asked(stage)
        resident = stage.resident_mib()
        remote.send(Serve(id=1, bot="fox", digest=""))
        assert select.select([remote.socket], [], [], GUARD_S)[0]
        assert [each.code for each in remote.heard() if isinstance(each, Error)] == ["malformed"]
    assert min(counts.values()) > 1, counts
    if THOROUGH:
        print(f"{stage.address.scheme}, {', '.join(names)}: {counts}, slowest {longest:.2f} s, {resident} MiB")
        assert longest < ANSWER_S
    assert resident < (512 if stage.address.scheme == "https" else 200)
    stage.check()
