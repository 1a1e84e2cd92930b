"""Starting a bot: what is its program's fault, and what is the machine's."""

from __future__ import annotations

import errno
import os
import resource
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.core.errors import BotError, MachineFault
from arena.core.link.bots import BotSpec
from arena.core.link.custody import Custody
from arena.core.link.process import BotProcess, Exit
from arena.core.types import Level, Termination
from arena.sandbox import box, fenced
from arena.sandbox.binds import needs

LEVELS = (Level.TRUSTED, Level.ISOLATED)
IDLE = ("sh", "-c", "true")
"""A command that does nothing, and begins with a runtime: no other program of the machine is granted to a bot."""


@pytest.fixture
def custody() -> Iterator[Custody]:
    made = Custody()
    yield made
    made.close()


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest, needs: Callable[..., None]) -> Level:
    if request.param is not Level.TRUSTED:
        needs("bwrap", "prlimit")
        box._proc()  # what is found out or started once for all, and stays
        fenced._launcher()
    found: Level = request.param
    return found


def spec(folder: Path, *command: str, tcp: bool = False) -> BotSpec:
    return BotSpec(name="tried", version="", command=command, folder=str(folder), digest="0" * 64, tcp=tcp)


def ended(process: BotProcess) -> Exit:
    try:
        while (end := process.end()) is None:
            time.sleep(0.005)
        return end
    finally:
        process.kill()
        process.reap(wait=True)


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def held() -> set[str]:
    """Returns this process's descriptors and children; of what other tests held some may go at any time."""
    processes = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {*descriptors(), *(f"process {number}" for number in processes)}


def test_a_program_that_is_not_there(tmp_path: Path, custody: Custody, level: Level) -> None:
    end = ended(BotProcess(spec(tmp_path, "./nothing"), custody, {}, level=level))
    assert end == Exit(Termination.CRASHED, "exited with status 127")


def test_a_program_that_may_not_be_executed(tmp_path: Path, custody: Custody, level: Level) -> None:
    (tmp_path / "text").write_text("text")
    process = BotProcess(spec(tmp_path, "./text"), custody, {}, level=level)
    assert ended(process) == Exit(Termination.CRASHED, "exited with status 126")
    assert "Permission denied" in process.last_words()[-1]


def test_a_folder_that_is_not_there(tmp_path: Path, custody: Custody, level: Level) -> None:
    before = held()
    with pytest.raises(FileNotFoundError):
        BotProcess(spec(tmp_path / "gone", *IDLE), custody, {}, level=level)
    assert held() <= before


def test_without_descriptors_nobody_is_to_blame(tmp_path: Path, custody: Custody, level: Level) -> None:
    before = held()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = [number for number in range(1_000) if str(number) not in before]
    started = faults = 0
    for room in range(24):
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[room], hard))
        try:
            process = BotProcess(spec(tmp_path, *IDLE), custody, {}, level=level)
        except MachineFault as error:
            faults += "Too many open files; raise the limit of open files (`ulimit -n`)" in str(error)
        else:
            started += 1
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert ended(process) == Exit(Termination.CRASHED, "exited with status 0")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert held() <= before
    assert faults > 3
    assert started > 3


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.EPERM])
def test_a_process_that_the_machine_refuses(
    number: int, tmp_path: Path, custody: Custody, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: Any, **how: Any) -> None:
        raise OSError(number, os.strerror(number))

    tried = spec(tmp_path, *IDLE)
    needs(tried)  # to find that out takes processes too
    before = held()
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(fenced.Launcher, "start", refuse)  # it may run already
    with pytest.raises(MachineFault, match=rf"expected to start (tried|a sandbox), got: {os.strerror(number)}"):
        BotProcess(tried, custody, {}, level=level)
    assert held() <= before


def test_a_process_that_cannot_be_watched_does_not_begin(
    tmp_path: Path, custody: Custody, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    before = held()
    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(MachineFault, match="expected to watch tried"):
        BotProcess(spec(tmp_path, "sh", "-c", "touch begun"), custody, {}, level=level)
    assert not (tmp_path / "begun").exists()
    assert held() <= before


def test_without_room_for_its_output_nobody_is_to_blame(tmp_path: Path, custody: Custody, level: Level) -> None:
    (custody.directory / "output").mkdir()
    with pytest.raises(MachineFault, match="expected to capture a bot's output"):
        BotProcess(spec(tmp_path, *IDLE), custody, {}, level=level)


def test_a_box_that_cannot_be_made_is_nobody_s_fault(
    tmp_path: Path, custody: Custody, monkeypatch: pytest.MonkeyPatch, needs: Callable[..., None]
) -> None:
    needs("bwrap", "prlimit")
    box._proc()  # the broken one is for the seat alone
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho bwrap: No permissions to create a new namespace\nexit 1\n")
    broken.chmod(0o755)
    found = box._program
    monkeypatch.setattr(box, "_program", lambda name: str(broken) if name == "bwrap" else found(name))
    process = BotProcess(spec(tmp_path, *IDLE), custody, {}, level=Level.ISOLATED)
    with pytest.raises(MachineFault, match=r"got: bwrap: No permissions.*; `arena doctor --level isolated` says"):
        ended(process)


def test_a_machine_without_bubblewrap(tmp_path: Path, custody: Custody, monkeypatch: pytest.MonkeyPatch) -> None:
    box._program.cache_clear()
    monkeypatch.setattr(box, "PROGRAM_FOLDERS", (str(tmp_path),))
    before = descriptors()
    with pytest.raises(MachineFault, match=r"expected the program bwrap in .*; install bubblewrap"):
        BotProcess(spec(tmp_path, *IDLE), custody, {}, level=Level.ISOLATED)
    assert descriptors() == before


def test_a_box_has_no_tcp(tmp_path: Path, custody: Custody) -> None:
    with pytest.raises(BotError, match="plays over TCP"):
        BotProcess(spec(tmp_path, *IDLE, tcp=True), custody, {}, level=Level.ISOLATED)


def test_killing_the_box_ends_all_that_is_in_it(tmp_path: Path, custody: Custody, needs: Callable[..., None]) -> None:
    needs("bwrap", "prlimit")
    script = "(setsid sleep 300 &) ; sleep 300 & echo ready; wait"
    process = BotProcess(spec(tmp_path, "sh", "-c", script), custody, {}, level=Level.ISOLATED)
    while process.output() != "ready":
        time.sleep(0.005)
    first = process.init_pid()
    inside = os.pidfd_open(first) if first else -1
    process.kill()
    process.reap(wait=True)
    # The kernel ends process 1 of a namespace only when all others in it are gone.
    poll = select.poll()
    poll.register(inside)
    assert poll.poll(10_000)
    os.close(inside)
