"""A league whose games are played on a cluster: the same lanes, and archives as they came."""

from __future__ import annotations

import json
import os
import random
from contextlib import ExitStack
from pathlib import Path

import pytest
from command_kit import Run

pytest.importorskip("distributed", reason="needs the packages of the extra `cluster`")

from arena.league.folder import Folder
from arena.league.season.opening import make_league
from arena.league.settings import Bots, Game, Settings
from arena.league.store import read_league
from tests.cluster_kit import Machines, coordinator, travelling_bots, until


@pytest.fixture
def cup(tmp_path: Path) -> Folder:
    """A league of quick games whose bots are not confined."""
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    (tmp_path / "home").mkdir()
    return make_league(tmp_path / "home" / "cup", Settings(name="cup", game=game, bots=Bots(level="trusted")))


def games(cup: Folder) -> list[tuple[int, str | None]]:
    """The finished games: their numbers, and the workers that played them."""
    with read_league(cup.database) as league:
        return league._db.execute("SELECT number, worker FROM games WHERE status = 'done' ORDER BY number").fetchall()


@pytest.mark.thorough
def test_a_league_plays_on_workers_of_this_machine(arena: Run, cup: Folder) -> None:
    done = arena("league", "run", str(cup.path), "--games", "1", "--same-worker", code=2)
    assert "expected --cluster beside --same-worker" in done.stderr
    arena("league", "run", str(cup.path), "--games", "6", "--cluster", "local:2", "--same-worker")
    played = games(cup)
    assert len(played) >= 6
    assert {worker for _, worker in played} == {"0", "1"}
    with read_league(cup.database) as league:
        homes: dict[object, set[str | None]] = {}
        for number, worker in played:
            homes.setdefault(league.matches.match_of(number), set()).add(worker)
    assert all(len(workers) == 1 for workers in homes.values())
    arena("league", "run", str(cup.path), "--games", "2")
    assert {worker for _, worker in games(cup)} == {"0", "1", None}


@pytest.mark.long
def test_a_league_goes_on_whoever_is_killed_and_sends_what_authors_sent(
    arena: Run, cup: Folder, tmp_path: Path
) -> None:
    (tmp_path / "away").mkdir()
    fox = travelling_bots(tmp_path / "home" / "bots")[1]
    arena("league", "author", "add", "ann", "--league", str(cup.path))
    arena("league", "submit", fox, "--league", str(cup.path), "--author", "ann")
    with ExitStack() as stack:
        machines = Machines(stack, tmp_path / "away", blind=True)
        words = ("league", "run", str(cup.path), "--cluster", machines.address)
        home = tmp_path / "home"
        err = home / "err"
        until_killed = random.Random(os.urandom(8)).randrange(2, 6)
        with coordinator(home, *words) as running:
            until(lambda: len(games(cup)) >= until_killed)
            running.kill()
        machines.workers["w0"].kill()
        with coordinator(home, *words) as running:
            until(lambda: "fox/1 plays" in err.read_text(), 240, err)
            enough = len(games(cup)) + 4
            until(lambda: len(games(cup)) >= enough, 240, err)
            running.terminate()
            assert running.wait(timeout=120) == 0, err.read_text()
    played = games(cup)
    assert [number for number, _ in played] == sorted({number for number, _ in played})
    assert {"w1", "w2"} <= {worker for _, worker in played}
    assert any(path.is_dir() for path in machines.workers["w1"].folder.glob("*/arena-bots/*"))
    standings = json.loads(arena("league", "standings", str(cup.path), "--json").stdout)
    assert "fox/1" in {row["name"] for row in standings["items"]}


@pytest.mark.thorough
def test_a_league_goes_on_by_itself_when_its_scheduler_is_back(cup: Folder, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    home = tmp_path / "home"
    with ExitStack() as stack:
        machines = Machines(stack, tmp_path / "away", workers=("w0",))
        words = ("league", "run", str(cup.path), "--games", "20", "--cluster", machines.address)
        with coordinator(home, *words, patience=1) as running:
            until(lambda: len(games(cup)) >= 3)
            machines.scheduler.kill()
            until(lambda: "No game can begin: expected the cluster's scheduler" in (home / "err").read_text())
            before = len(games(cup))
            machines.start_scheduler("scheduler2")
            machines.start_worker("w1")
            assert running.wait(timeout=120) == 0, (home / "err").read_text()
    assert "the cluster's scheduler is back" in (home / "err").read_text()
    assert {worker for _, worker in games(cup)[before:]} == {"w1"}
    assert len(games(cup)) >= 20
