"""The command of a box: what goes to bwrap, in which order, and what bwrap says of it afterwards."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import MachineFault
from arena.sandbox import box
from arena.sandbox.box import NAMED, BoxCommand, BoxStatus, command, status

CALL: dict[str, Any] = {"folder": "/bots/mine", "trees": {}, "environment": {}, "processes": 64, "memory_mib": 100}
PROC = {"keys": "-r--r--r--", "kmsg": "-r--------", "1": "dr-xr-xr-x"}  # what a box has in its /proc


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started here, so nothing need be installed."""
    monkeypatch.setattr(box, "_program", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(box, "_proc", lambda: (PROC, ["processor : 0", "flags : fpu", "", "processor : 1"]))
    box._counters.cache_clear()


@pytest.fixture(autouse=True)
def descriptors() -> Iterator[None]:
    """No command leaves a descriptor open, but for the status that is its caller's."""
    before = set(os.listdir("/proc/self/fd"))
    yield
    assert set(os.listdir("/proc/self/fd")) <= before, "those of earlier tests may be closed meanwhile"


def options(made: BoxCommand) -> list[str]:
    """What bwrap reads from its descriptor."""
    told = int(made.words[made.words.index("--args") + 1])
    return [os.fsdecode(word) for word in os.pread(told, 1 << 20, 0).split(b"\0")[:-1]]


def all_of(**call: Any) -> tuple[list[str], tuple[str, ...]]:
    """The options and the words of a command."""
    with command(["./bot"], **(CALL | call)) as made:
        found = options(made)
    os.close(made.status)
    return found, made.words


def pairs(found: list[str], option: str) -> list[tuple[str, str]]:
    return [(found[at + 1], found[at + 2]) for at, word in enumerate(found) if word == option]


def test_trees_come_after_tmp_and_the_root_is_closed_last() -> None:
    found, _ = all_of(trees={"/tmp/bots/mine": "/run/arena-seats/trees/0", "/a": "/a"}, socket_folder="/tmp/s")
    order = [found.index(word) for word in ("--proc", "/dev", "--size", "/tmp/bots/mine", "/run/arena", "--chdir")]
    assert order == sorted(order)
    assert [found[at + 1] for at, word in enumerate(found) if word == "--remount-ro"][-2:] == ["/dev", "/"]
    assert found[-4:-1] == ["--remount-ro", "/", "--seccomp"]
    assert {("/run/arena-seats/trees/0", "/tmp/bots/mine"), ("/a", "/a"), ("/tmp/s", "/run/arena")} <= set(
        pairs(found, "--ro-bind")
    )


def test_what_counts_is_the_box_s_own_and_always_the_same() -> None:
    told = []
    for mib in (100, 100, 200):
        with command(["./bot"], **(CALL | {"memory_mib": mib})) as made:
            given = dict(pairs(options(made), "--ro-bind-data"))
            told.append({path: os.pread(int(number), 1 << 20, 0) for number, path in given.items()})
        os.close(made.status)
    of_proc = {f"/proc/{name}" for name in ("cpuinfo", "loadavg", "meminfo", "stat", "uptime")}
    assert set(told[0]) == of_proc | {"/etc/passwd", "/etc/group"}
    assert told[0] == told[1]
    assert [files["/proc/meminfo"].split()[:2] for files in told] == [
        [b"MemTotal:", size] for size in (b"102400", b"102400", b"204800")
    ]
    cores = [line for line in told[0]["/proc/stat"].splitlines() if line.startswith(b"cpu") and line[3:4].isdigit()]
    assert len(cores) == told[0]["/proc/cpuinfo"].count(b"processor") == 2


def test_what_a_box_has_in_its_proc_is_hidden_whatever_the_operator_s_own_shows() -> None:
    found, _ = all_of()
    assert [path for source, path in pairs(found, "--ro-bind") if source == "/dev/null"] == ["/proc/keys"]
    assert "/proc/1" in [found[at + 1] for at, word in enumerate(found) if word == "--tmpfs"]


def test_the_environment_is_not_in_the_arguments() -> None:
    found, words = all_of(environment={"ARENA_TOKEN": "secret", "HOME": "/root"})
    assert dict(pairs(found, "--setenv")) == {"ARENA_TOKEN": "secret", "TMPDIR": "/tmp"} | NAMED
    assert "--clearenv" in found
    assert not any("secret" in word for word in words)


def test_limits_are_set_inside() -> None:
    _, words = all_of(data_mib=100)
    limits = ("--nofile=256", "--nproc=64", "--sigpending=256", "--data=104857600", "--core=0")
    assert words[-8:] == ("/usr/bin/prlimit", *limits, "--", "./bot")


def test_a_user_is_changed_before_the_box_is_made() -> None:
    _, words = all_of(user=61_000)
    assert words[:5] == ("/usr/bin/setpriv", "--reuid=61000", "--regid=61000", "--clear-groups", "/usr/bin/bwrap")
    assert all_of()[1][0] == "/usr/bin/bwrap"


def test_limits_are_not_above_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda number: (10, 20))
    _, words = all_of()
    assert {"--nofile=20", "--nproc=20"} <= set(words)


def test_without_descriptors_the_machine_is_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    made = os.memfd_create
    left = iter([True, True, False])

    def create(name: str) -> int:
        if not next(left):
            raise OSError(24, "Too many open files")
        return made(name)

    monkeypatch.setattr(os, "memfd_create", create)
    with pytest.raises(MachineFault, match="expected to make a sandbox, got: Too many open files"):
        command(["./bot"], **CALL)


def test_when_nothing_is_started_all_is_closed() -> None:
    with pytest.raises(FileNotFoundError), command(["./bot"], **CALL):
        raise FileNotFoundError


@given(pid=st.none() | st.integers(1, 2**22), code=st.none() | st.integers(0, 255), cut=st.integers(0, 20))
def test_what_bwrap_says_is_read_however_much_of_it_is_there(pid: int | None, code: int | None, cut: int) -> None:
    said = b""
    if pid is not None:
        said += msgspec.json.encode({"child-pid": pid, "net-namespace": 4026532183}) + b"\n"
        if code is not None:
            said += msgspec.json.encode({"exit-code": code}) + b"\n"
    whole = said[: len(said) - cut] if cut < len(said) else b""
    descriptor = os.memfd_create("status")
    os.write(descriptor, whole)
    found = status(descriptor)
    os.close(descriptor)
    assert found.pid in (None, pid)
    assert found.exit_code in (None, code)
    if not cut:
        assert found == BoxStatus(pid, code if pid is not None else None)
