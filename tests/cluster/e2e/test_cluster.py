"""Tournaments on a cluster: real schedulers, workers and bots, some of which are killed or stopped."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from command_kit import Run

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from tests.cluster_kit import Machines, coordinator, digests, standings, travelling_bots, until

BOTS = ("random", "greedy", "banzai")


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as stack:
        yield Machines(stack, tmp_path)


@pytest.mark.long
def test_a_coordinator_that_is_killed_leaves_no_player_and_goes_on(
    arena: Run, workers: Machines, tmp_path: Path
) -> None:
    what = ("tournament", *BOTS, "--deals", "2", "--seed", "x", "--json")
    alone = arena(*what, "--db", "a.db", "--logs", "a")
    again = (*what, "--db", "b.db", "--logs", "b", "--cluster", workers.address)
    with coordinator(tmp_path, *again) as running:
        until(lambda: len(list(tmp_path.glob("b/*/*.jsonl"))) > 3)
        folders: list[Path] = []
        until(lambda: folders.extend(tmp_path.glob("w*/*/*/arena-*")) or folders)
        running.kill()
    until(lambda: not any(str(folder) in text for text in command_lines() for folder in folders), 40)
    went_on = arena(*again)
    assert standings(went_on.stdout) == standings(alone.stdout)
    assert digests(tmp_path / "b") == digests(tmp_path / "a")


def command_lines() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text(errors="replace")


FAULTY = Path(__file__).parents[2] / "faulty"
PROGRAM = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from msgspec.structs import replace
from referee_kit import make_job
from arena.cluster.engine import connected
from arena.core.link.bots import load_bot

def main():
    bots = (load_bot({bot!r}),) * 2
    with connected({address!r}) as cluster, cluster.lane() as lane:
        lane.play([replace(make_job(Path({logs!r}), 2, time="500+0"), bots=bots)])
        time.sleep({stay})

if __name__ == "__main__":
    main()
"""


@pytest.mark.long(2)
@pytest.mark.parametrize("ended", ["the coordinator is killed", "the worker is killed", "the lane is left"])
def test_whoever_ends_amid_a_game_no_bot_is_left(workers: Machines, tmp_path: Path, ended: str) -> None:
    stay = 3 if ended == "the lane is left" else 1000
    program = PROGRAM.format(
        tests=str(FAULTY.parent), bot=thinker(tmp_path), address=workers.address, logs=str(tmp_path), stay=stay
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
        try:
            until(lambda: sum(f"{tmp_path}/mark" in line for line in command_lines()) == 2)
            if ended == "the coordinator is killed":
                running.kill()
            elif ended == "the worker is killed":
                for process in workers.workers.values():
                    process.kill()
            until(lambda: not any(f"{tmp_path}/mark" in line for line in command_lines()))
            until(lambda: not any(f"{tmp_path}/w" in line and "cluster.player" in line for line in command_lines()))
        finally:
            running.kill()
    assert [path.suffix for path in tmp_path.glob("test-*")] == [".begun"], "there is a trace of it, and no result"


def thinker(folder: Path) -> str:
    """Makes a bot that answers once, and then thinks for ever. Its folder is in its command line."""
    bot = folder / "thinker"
    bot.mkdir()
    (bot / "bot.toml").write_text(
        f'name = "thinker"\ncommand = ["{{python}}", "{FAULTY / "bot.py"}", "ok,silent", "{folder}/mark"]\n'
    )
    return str(bot)


def unbuildable(folder: Path, unless: str) -> str:
    """Makes a bot that is built only where its folder is below one called `unless`; returns its name for commands."""
    owl, _ = travelling_bots(folder)
    make = f"import os, shutil, sys; shutil.copy('bot.py', 'built.py') if '/{unless}/' in os.getcwd() else sys.exit(3)"
    (Path(owl) / "make.py").write_text(make)
    manifest = (
        'name = "elk"\ncommand = ["{python}", "built.py"]\nbuild = ["{python}", "make.py"]\nbuilt = ["built.py"]\n'
    )
    (Path(owl) / "bot.toml").write_text(f'{manifest}language = "python"\ninclude = ["../arena_bot.py"]\n')
    shutil.copy(Path(owl) / "bot.py", Path(owl) / "built.py")
    return owl


@pytest.mark.thorough
def test_a_worker_that_cannot_build_a_bot_is_left_out_with_a_word(
    arena: Run, workers: Machines, tmp_path: Path
) -> None:
    elk = unbuildable(tmp_path / "home", unless="w1")
    what = ("tournament", elk, "random", "--deals", "15", "--seed", "x", "--json")
    done = arena(*what, "--cluster", workers.address, "--logs", "b")
    for name in ("w0", "w2"):
        assert f"worker {name} is left out: bot elk in python cannot be started there: expected `" in done.stderr
    assert "exited with status 3" in done.stderr
    assert digests(tmp_path / "b").keys() == set(range(30))
    for name, built in (("w0", 0), ("w1", 1), ("w2", 0)):
        places = [path for path in (tmp_path / name).glob("*/arena-bots/*") if path.is_dir()]
        assert len(places) == built


@pytest.mark.thorough
def test_the_machines_of_a_cluster_are_compared(arena: Run, workers: Machines) -> None:
    report = json.loads(arena("cluster", "check", workers.address, "--json").stdout)
    assert report["ok"]
    assert {worker["worker"] for worker in report["workers"]} == {"w0", "w1", "w2"}
    assert all(worker["facts"]["versions"] == report["here"] for worker in report["workers"])
    workers.workers["w1"].kill()
    hidden = workers.start_worker("bare", path="/nowhere")
    until(lambda: "Registered" in hidden.output)
    done = arena("cluster", "check", workers.address, code=1)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert failed
    assert all(line.startswith("FAILED  bare: expected '") and "which others have" in line for line in failed)
