"""The league of a soak: its folder, its service and its door, as an operator has them.

All that is started has a folder for temporary files of its own, by which what is left behind is found.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from arena.core.link.warden import children, environment
from tests.ports import free_port
from tests.soak.scenario import AUTHORS, Scenario

ROOT: Final = Path(__file__).parents[2]
STOP_S: Final = 150.0  # how long the service may take to end
GONE_S: Final = 15.0  # how long processes of a league that has ended may live on
AGAIN_S: Final = 2.0  # after how long a service that has ended by itself is started again
_BEGAN: Final = "versions play"  # what the service says when it has begun
_NO_ROOM: Final = re.compile("to write to the disk|room on the disk|disk that can be read and written")
_FULL: Final = re.compile("No space left|disk is full")
_ADDRESS: Final = re.compile(r"^http://\S+$", re.MULTILINE)
_OF_PYTHON: Final = (b"", b"blat")
"""The content of files by which `tempfile` tries a folder: a kill in that instant leaves one."""


class Stage:
    """A league that is run, killed and run again.

    Args:
        folder: Where everything is made.
        disk: The folder for the league itself: its file system may be one that can be filled.
        scenario: What happens to it.
        level: How bots are confined.
        workers: Games at a time.
    """

    def __init__(self, folder: Path, disk: Path, scenario: Scenario, level: str, workers: int) -> None:
        self.folder = folder
        self.cup = disk / "cup"
        self.tokens = folder / "tokens"
        self.tokens.mkdir()
        self.temporary = Path(tempfile.mkdtemp(prefix="s-"))  # elsewhere, since the path of a socket must be short
        self.said = folder / "service.txt"
        self.door_said = folder / "door.txt"
        self.address = ""
        self.wrong: list[str] = []
        """What the processes did that they must not do."""
        self.refused = 0
        """How often the service said that it cannot start on a full disk."""
        self._workers = workers
        self._before = 0
        """How much earlier services have said."""
        self._again: float | None = None
        """When the service is to be started again."""
        self._service: subprocess.Popen[str] | None = None
        self._supervisor: subprocess.Popen[str] | None = None
        self._bind = f"127.0.0.1:{free_port()}"
        level_words = ["--ruleset", "basic", "--time", "5/move", "--level", level]
        self.arena("league", "init", str(self.cup), *level_words)
        for author in scenario.authors:
            self.arena("league", "token", "new", author, "--out", str(self.tokens))
            digest = str(self.tokens / f"{author}.hash")
            quota = ["--quota", f"bots={AUTHORS}", "--quota", "submissions=100"]
            self.arena("league", "author", "add", author, "--league", str(self.cup), "--token", digest, *quota)

    # Commands

    def popen(self, *words: str, said: Path | None = None) -> subprocess.Popen[str]:
        """Starts a command; what it says goes into a file, or can be read."""
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environ = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(self.temporary), "NO_COLOR": "1"}
        command = [sys.executable, "-m", "arena", *words]
        if said is None:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env=environ, cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        with said.open("a", encoding="utf-8") as out:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, text=True,
                env=environ, cwd=self.folder, start_new_session=True,
            )  # fmt: skip

    def arena(self, *words: str) -> str:
        """Runs a command to its end, and returns what it said.

        Raises:
            RuntimeError: It failed.
        """
        process = self.popen(*words)
        said, _ = process.communicate(timeout=120)
        if process.returncode != 0:
            raise RuntimeError(f"arena {' '.join(words)} ended with {process.returncode}: {said}")
        return said

    # The service and the door

    def start_service(self) -> None:
        """Starts the service, unless it runs."""
        self._again = None
        if self._service is None:
            words = ("league", "run", str(self.cup), "--concurrency", str(self._workers))
            self._before = len(_text(self.said))
            self._service = self.popen(*words, said=self.said)

    def start_door(self) -> None:
        """Opens the door, unless it is open."""
        if self._supervisor is None:
            words = ("league", "open", str(self.cup), "--bind", self._bind)
            self._supervisor = self.popen(*words, said=self.door_said)

    def wait_for_door(self) -> None:
        """Waits for the door's address, which stays the same.

        Raises:
            RuntimeError: It does not open.
        """
        end = time.monotonic() + 60
        while not (found := _ADDRESS.search(_text(self.door_said))):
            if time.monotonic() > end:
                raise RuntimeError(f"the door does not open: {_text(self.door_said)}")
            time.sleep(0.05)
        self.address = found[0]

    def look(self) -> None:
        """Notes what has ended by itself, and starts it again as the system does. Nothing may.

        A service that is started on a full disk may say so and end: it did not begin.
        """
        now = time.monotonic()
        if self._service is not None and (status := self._service.poll()) is not None:
            said = _text(self.said)[self._before :]
            if status == 1 and _BEGAN not in said and _NO_ROOM.search(said):
                self.refused += 1
            else:
                self.wrong.append(f"the service ended by itself with {status}: {said[-600:]}")
            self._service = None
            self._again = now + AGAIN_S
        if self._again is not None and now >= self._again:
            self.start_service()
        if self._supervisor is not None and (status := self._supervisor.poll()) is not None:
            self.wrong.append(f"the door ended by itself with {status}: {_text(self.door_said)[-600:]}")
            self._supervisor = None

    def roles(self) -> dict[str, list[int]]:
        """Returns the living processes of the league by what they are."""
        found: dict[str, list[int]] = {"service": [], "worker": [], "door": [], "supervisor": []}
        if self._service is not None:
            found["service"] = [self._service.pid]
            below = children(self._service.pid)
            found["worker"] = [pid for pid in below if "arena.core.tournament.workers" in _command(pid)]
        if self._supervisor is not None:
            found["supervisor"] = [self._supervisor.pid]
            found["door"] = [pid for pid in children(self._supervisor.pid) if "--once" in _command(pid)]
        return found

    def kill(self, pid: int) -> bool:
        """Kills one of them with -9. Returns whether it was there."""
        own = next((one for one in (self._service, self._supervisor) if one is not None and one.pid == pid), None)
        if own is not None:
            own.kill()
            own.wait()
            if own is self._service:
                self._service = None
            else:
                self._supervisor = None
            return True
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return True
        return False

    def stop(self) -> None:
        """Ends the service and the door as an operator does, and notes what does not end as it must."""
        for name, process, code in (("service", self._service, 0), ("door", self._supervisor, 128 + signal.SIGTERM)):
            if process is None:
                continue
            process.send_signal(signal.SIGTERM)
            try:
                status = process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self.wrong.append(f"the {name} did not end within {STOP_S:g} s")
                process.kill()
                process.wait()
            else:
                if status != code:
                    self.wrong.append(f"the {name} ended with {status} at SIGTERM, not {code}")
        self._service = self._supervisor = None
        for name, file in (("service", self.said), ("door", self.door_said)):
            said = _text(file)
            for word in ("Traceback", "internal error", "this is a bug"):
                if (at := said.find(word)) >= 0:
                    self.wrong.append(f"the {name} said: {said[max(0, at - 300) : at + 1500]}")

    @property
    def met_full_disk(self) -> int:
        """How often the service said that it could not write."""
        return len(_FULL.findall(_text(self.said)))

    def left(self) -> list[str]:
        """Returns the processes and temporary files that are left after a while, and whether the door still listens."""
        end = time.monotonic() + GONE_S
        while (found := self._left()) and time.monotonic() < end:
            time.sleep(0.1)
        return found

    def _left(self) -> list[str]:
        mark = os.fsencode(f"TMPDIR={self.temporary}") + b"\0"
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit() and mark in (environment(int(name)) or b"")]
        found = [f"process {pid}: {_command(pid).replace(chr(0), ' ')[:200]}" for pid in pids]
        found += [f"{path}" for path in self.temporary.iterdir() if not _is_of_a_start(path)]
        host, _, port = self._bind.partition(":")
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            found.append(f"somebody listens at {self._bind}")
        return found

    def end(self) -> None:
        """Kills what still runs."""
        for process in (self._service, self._supervisor):
            if process is not None:
                process.kill()
                process.wait()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _command(pid: int) -> str:
    return _text(Path(f"/proc/{pid}/cmdline"))


def _is_of_a_start(path: Path) -> bool:
    """Whether it is one of the small things that a kill -9 in the first second of a process leaves, and nobody can
    remove then: a file by which `tempfile` tries a folder, and the doctor's folder with a file that bots must not see.
    """
    try:
        return path.name.startswith("arena-canary-") or (len(path.name) == 8 and path.read_bytes() in _OF_PYTHON)
    except OSError:  # a folder, or gone by now
        return False
