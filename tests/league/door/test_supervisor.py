"""A door that falls over is opened again, and one that is closed is not."""

from __future__ import annotations

import sys
import time

import pytest

from arena.league.door.supervisor import CALM_S, LONGEST_PAUSE_S, DoorSupervisor, keep_open


@pytest.mark.parametrize(
    ("program", "falls"),
    [("raise SystemExit(2)", 0), ("import os, sys; 'x' in sys.argv or os.kill(os.getpid(), 9)", 1)],
)
def test_it_is_kept_open_until_it_is_closed_or_cannot_be_opened(program: str, falls: int) -> None:
    told: list[str] = []
    command = [sys.executable, "-c", program]
    supervisor = DoorSupervisor(lambda fallen: [*command, *("x" * fallen)], told.append)
    assert keep_open(supervisor) == (0 if falls else 2)
    assert told == ["The door was ended by SIGKILL; it opens again in 1 s. The league plays on."] * falls


class Clock:
    """A clock that goes when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def until(supervisor: DoorSupervisor, told: list[str], falls: int) -> None:
    """Looks until the door fell so often."""
    end = time.monotonic() + 60
    while len(told) < falls:
        assert time.monotonic() < end
        supervisor.look()
        time.sleep(0.01)


ONCE = "import sys; print('address', flush=True); raise SystemExit(3)"


def test_who_does_other_work_keeps_it_open_without_waiting() -> None:
    clock, told, announced = Clock(), list[str](), list[str]()
    supervisor = DoorSupervisor(lambda falls: [sys.executable, "-c", ONCE], told.append, announced.append, clock)
    for number, pause in enumerate((1, 2, 4, 8, 16, 32, LONGEST_PAUSE_S, LONGEST_PAUSE_S), start=1):
        until(supervisor, told, number)
        assert f"exited with status 3; it opens again in {pause} s" in told[-1]
        clock.now += pause - 0.5
        supervisor.look()
        assert supervisor._child is None, "its pause is not over"
        clock.now += 0.5
    supervisor.look()
    clock.now += CALM_S + 1
    until(supervisor, told, 9)
    assert "in 1 s" in told[-1], "it was calm for long"
    supervisor.close()
    assert announced == ["address"], "the address is announced once"


def test_what_the_door_says_is_passed_on_however_it_says_it() -> None:
    say = "sys.stderr.write({!r}); sys.stderr.flush();"
    said = "import sys;" + "".join(say.format(part) for part in ("one\nt", "wo\n" + "x" * 100_000 + "\nlast"))
    told: list[str] = []
    supervisor = DoorSupervisor(lambda falls: [sys.executable, "-c", said], told.append)
    end = time.monotonic() + 60
    while not (told and told[-1].startswith("The door exited")):
        assert time.monotonic() < end
        supervisor.look()
        time.sleep(0.01)
    supervisor.close()
    assert told[:2] == ["one", "two"]
    assert all(len(sentence) <= 65_536 for sentence in told)


def test_a_door_that_is_open_is_closed_with_its_keeper() -> None:
    supervisor = DoorSupervisor(
        lambda falls: [sys.executable, "-c", "import time; time.sleep(600)"], lambda sentence: None
    )
    supervisor.look()
    door = supervisor._child
    assert door is not None
    supervisor.look()
    assert supervisor._child is door, "it is not started twice"
    supervisor.close()
    assert door.process.returncode is not None
