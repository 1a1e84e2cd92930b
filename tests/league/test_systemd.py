"""What the service manager is told, over a real socket; and the unit that is shown to operators."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.league.service.stopping import Manager

UNIT = Path(__file__).parents[2] / "docs" / "arena-league.service"


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A socket as systemd has it, and its name as it tells it."""
    name = f"{tmp_path}/notify" if request.param == "path" else f"@arena-test-{os.getpid()}-{tmp_path.name}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(name.replace("@", "\0", 1) if name.startswith("@") else name)
        sock.settimeout(10)
        yield sock, name


def test_states_and_status_arrive(manager: tuple[socket.socket, str]) -> None:
    sock, name = manager
    told = Manager({"NOTIFY_SOCKET": name})
    told.ready("41 active")
    assert sock.recv(1000) == b"READY=1\nSTATUS=41 active"
    told.alive()
    assert sock.recv(1000) == b"WATCHDOG=1"


def test_a_status_cannot_smuggle_in_another_state(manager: tuple[socket.socket, str]) -> None:
    sock, name = manager
    Manager({"NOTIFY_SOCKET": name}).alive("fox\nMAINPID=1")
    assert sock.recv(1000).count(b"\n") == 1


def test_without_a_manager_or_after_its_end_nothing_happens(tmp_path: Path) -> None:
    Manager({}).ready()
    Manager({"NOTIFY_SOCKET": str(tmp_path / "gone")}).alive("status")
    Manager({"NOTIFY_SOCKET": "x" * 200}).alive("status")


def test_the_sign_of_life_is_given_twice_as_often_as_demanded() -> None:
    assert Manager({"WATCHDOG_USEC": "60000000"}).alive_every_s == 30
    assert Manager({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}).alive_every_s == 30
    assert Manager({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}).alive_every_s is None
    for usec in ("", "0", "soon"):
        assert Manager({"WATCHDOG_USEC": usec}).alive_every_s is None


def settings() -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z]+)=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_unit_has_its_hardening_and_nothing_that_bots_cannot_live_with() -> None:
    found = settings()
    demanded = {
        "Type": "notify", "Restart": "on-failure", "KillMode": "mixed", "TimeoutStopSec": "120",
        "OOMPolicy": "continue", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "PrivateTmp": "yes",
        "ProtectProc": "invisible",
    }  # fmt: skip
    assert demanded.items() <= found.items()
    assert {"WatchdogSec", "TasksMax", "LimitNOFILE", "Delegate", "User", "StateDirectory"} <= set(found)
    # With these the sandbox cannot mount /proc or make its namespaces, and Node and Java do not start.
    assert not {"ProtectKernelTunables", "RestrictNamespaces", "MemoryDenyWriteExecute", "PrivateUsers"} & set(found)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """With a program that exists everywhere, since the unit's own is installed where the operator wants."""
    text = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true", UNIT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = re.sub(r"^User=.*$", "User=root", text, flags=re.MULTILINE)
    unit = tmp_path / "arena-league.service"
    unit.write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if "arena-league.service" in line]
    assert complaints == []
