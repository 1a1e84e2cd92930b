"""`arena match` says who computed while others were to move. No process runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from arena.cli import cli
from arena.core.referee.job import Job
from arena.core.types import Forfeit, GameResult, Termination
from tests import instant


@pytest.fixture(params=[None, 600, 5])
def off_turn_ms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """CPU time of `greedy` in each game while the other thinks for a second."""
    busy: int | None = request.param

    def play(job: Job, *_: object) -> GameResult:
        result = instant.play(job)
        idle = None if busy is None else 0
        seats = (
            replace(seat, total_ms=1000.0, off_turn_cpu_ms=busy if bot.name == "greedy" else idle)
            for bot, seat in zip(job.bots, result.seats, strict=True)
        )
        return replace(result, seats=tuple(seats))

    monkeypatch.setattr("arena.core.tournament.match.play", play)
    return busy


def match(folder: Path, *words: str) -> Result:
    done = CliRunner().invoke(cli, ["match", "greedy", "random", "--logs", str(folder), *words])
    assert done.exit_code == 0, done.output
    return done


def test_who_computed_off_turn_is_named_if_it_was_much(tmp_path: Path, off_turn_ms: int | None) -> None:
    said = "greedy computed while others were to move: 600 ms of CPU a game, 60 % of the time that they thought."
    assert (said in match(tmp_path, "--json").stderr) == (off_turn_ms == 600)
    assert "computed" not in match(tmp_path, "--quiet").stderr


def test_forfeits_are_counted_by_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forfeit = Forfeit(seat=0, code=Termination.TIMEOUT, turn=3, sentence="seat 0 slept", stderr=("oops",))

    def play(job: Job, *_: object) -> GameResult:
        result = instant.play(job)
        others = (replace(seat, forfeit=None) for seat in result.seats[1:])
        return replace(result, seats=(replace(result.seats[0], forfeit=forfeit), *others))

    monkeypatch.setattr("arena.core.tournament.match.play", play)
    for more in ((), ("--quiet",)):
        done = match(tmp_path, "--deals", "3", *more)
        assert done.stdout.splitlines()[-1].endswith("; forfeited: greedy timeout 3, random timeout 3")
        assert done.stderr.count("its last words: oops") == (0 if more else 2)


def test_the_document_has_it_by_seat(tmp_path: Path, off_turn_ms: int | None) -> None:
    games = json.loads(match(tmp_path, "--json").stdout)["games"]
    idle = None if off_turn_ms is None else 0
    assert [dict(zip(game["bots"], game["off_turn_cpu_ms"], strict=True)) for game in games] == [
        {"greedy": off_turn_ms, "random": idle}
    ] * 2
