"""A worker plays thousands of games: what it keeps of each must not add up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc"),
]
WARM, GAMES = 60, 300
MOST_KIB = 5
"""What a game may leave behind. By hand, over 1,500 games, it was 0.3 KiB; once it was 13."""

WORKER = """
import gc, resource, sys
from arena.core.catalogue import make_settings
from arena.core.link.bots import bundled_folders, load_bot
from arena.core.referee.job import Job
from arena.core.referee.worker import play

logs, warm, games = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
bots = (load_bot(str(bundled_folders()["random"])),) * 2
settings = make_settings("gardener", 2, time="60+0")

def play_some(first, last):
    for number in range(first, last):
        result = play(Job(
            game=f"growth-{number}", tournament=None, settings=settings, bots=bots, deal=number, rotation=0,
            secret=bytes(32), logs=logs, block=f"block-{number // 50}",
        ))
        assert result.termination == "finished", result

def resident_kib():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024

play_some(0, warm)
before = resident_kib()
play_some(warm, warm + games)
print(resident_kib() - before)
"""


def test_a_worker_does_not_grow_with_the_games_that_it_plays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORKER, str(tmp_path), str(WARM), str(GAMES)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    grown_kib = int(done.stdout)
    assert grown_kib < MOST_KIB * GAMES, f"it grew by {grown_kib / GAMES:.1f} KiB a game"
