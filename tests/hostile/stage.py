"""Plays one hostile case: a real `arena match` as a process of its own, watched from outside.

Nothing here believes the attacker alone. Canaries are planted in what it must not read; the referee's memory, its CPU
time and every process that descends from it are read from /proc; what is left over is counted when all is over.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hostile.cases import Case

HERE = Path(__file__).parent
LONGEST_S = 120
GONE_S = 1.5  # how long after the referee's end the last of its processes may be seen
LOOK_S = 0.05
SLOWED = "slow the opponent down"  # beginning of the one finding that is a measured time
TICKS = os.sysconf("SC_CLK_TCK")
CGROUPS = Path("/sys/fs/cgroup")


class Outcome(NamedTuple):
    """What happened in a case. Plain data: it goes from process to process as JSON."""

    forfeits: list[str]
    """The codes of the attacker's forfeits, by game."""
    sentences: list[str]
    """The same in words."""
    games: int
    """How many games have a result."""
    opened: list[str]
    """Attacks that worked."""
    shut: int
    """How many did not."""
    harm: list[str]
    """What must not happen at any level: the referee fell, another's result did not stand."""
    left: list[str]
    """Processes, files and cgroups that were left."""
    peaks: dict[str, int]
    """The most memory of the referee's processes by their part, in KiB."""
    cpu_s: float
    """The CPU time of the referee's processes."""
    seconds: float
    facts: list[str]
    """What else was measured."""


class Stage:
    """A folder with bots, canaries and a referee."""

    def __init__(self, case: Case, level: str) -> None:
        self.case, self.level = case, level
        self.marker = secrets.token_hex(6)
        self.canary = f"canary-{secrets.token_hex(8)}"
        self.folder = Path("/tmp", f"ah-{self.marker}")
        self.folder.mkdir(mode=0o711)  # a root without mounts of its own has seats that must pass
        self.home, self.logs, self.temporary, self.work = (self.folder / name for name in ("home", "logs", "t", "work"))
        for folder in (self.home, self.logs, self.temporary, self.work):
            folder.mkdir(mode=0o700)
        self.victim = self.folder / "victim"
        self.victim.write_text(self.canary)
        self.target: dict[str, Any] = {
            "marker": self.marker,
            "logs": str(self.logs),
            "database": str(self.work / "arena.db"),
            "victim": str(self.victim),
            "temporary": str(self.temporary),
            "host": os.uname().nodename,
            "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "blocks": os.statvfs("/usr").f_blocks,
            "names": ["honest-ronin", "7.7-canary"],
            "secrets": {},
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.referees: dict[int, str] = {}
        """The referee's processes that were seen, with their part."""
        self.others = set(cgroups())
        """Control groups that were there before: one that was left may carry a number that is given again."""
        self.peaks: dict[str, int] = {}
        self._cpu: dict[int, int] = {}
        self.stdout = self.stderr = b""
        self.facts: list[str] = []
        self.harm: list[str] = []
        self.opened: list[str] = []
        self.records: list[list[dict[str, Any]]] = []
        """The records of each game's log."""
        self.names: list[list[str]] = []
        """The bots of each game, by seat."""
        self.exit_codes = {0}
        """What the referee may end with."""
        self.words: tuple[str, ...] = ()
        """More words for the command."""
        self.before: tuple[str, ...] = ()
        """A command that runs the command."""
        self.terminal: int | None = None

    def plant(self) -> None:
        """Writes canaries where no bot has any business."""
        secrets_ = {
            "the database": self.work / "arena.db",
            "the database's journal": self.work / "arena.db-wal",
            "a file in the operator's home": self.home / ".ssh" / "id_canary",
            "the opponent's code": self.bot_folder("honest") / "canary.txt",
            "a log of another game": self.logs / "other" / "game.jsonl",
        }
        for path in secrets_.values():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.canary)
            Path(f"{path}.link").symlink_to(self.canary)
        self.target["secrets"] = {name: str(path) for name, path in secrets_.items()}

    def bot_folder(self, name: str) -> Path:
        return self.folder / "bots" / name

    def make_bot(self, name: str, attack: str) -> str:
        """Makes the folder of a bot, and returns its path."""
        folder = self.bot_folder(name)
        shutil.copytree(HERE / "attacks", folder, dirs_exist_ok=True)
        honest = name.startswith("honest")
        if self.case.compiled and not honest:
            subprocess.run([compiler(), "-O2", "-o", str(folder / "quick"), str(folder / "quick.c")], check=True)
        limits = {} if honest else self.case.limits
        shown, version = ("honest-ronin", "7.7-canary") if honest else ("hostile", "1")
        lines = [
            f'name = "{shown}"',
            f'version = "{version}"',
            f'command = ["{{python}}", "-I", "-S", "-B", "bot.py", "{attack}"]',
            "[limits]",
            *(f"{key} = {value}" for key, value in limits.items()),
        ]
        (folder / "bot.toml").write_text("\n".join(lines) + "\n")
        (folder / "target.json").write_text(json.dumps(self.target | {"names": [] if honest else self.target["names"]}))
        return str(folder)

    def command(self) -> list[str]:
        hostile = self.make_bot("hostile", self.case.attack)
        other = (
            self.make_bot("hostile-2", self.case.attack)
            if self.case.both
            else self.make_bot("honest", self.case.opponent)
        )
        words = ["match", hostile, other, "--json", "--seed", "hostile", "--time", self.case.time]
        words += [] if self.level == "trusted" else ["--level", self.level]
        return [*self.before, sys.executable, "-m", "arena", *words, "--logs", str(self.logs), *self.words]

    def environment(self) -> dict[str, str]:
        """What the referee is started with. Its bots must not see the last four."""
        path = os.environ.get("PATH", "/usr/bin:/bin")
        return {
            "PATH": path,
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "TZ": "Asia/Tokyo",
            "ARENA_HOSTILE_STAGE": self.marker,
            "ARENA_HOSTILE_CANARY": self.canary,
            "SSH_AUTH_SOCK": str(self.folder / "agent"),
        } | {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}

    def run(self, during: Any = None) -> None:
        """Plays the match to its end."""
        out, err = self.folder / "stdout", self.folder / "stderr"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.work,
                env=self.environment(),
                stdin=subprocess.DEVNULL if self.terminal is None else self.terminal,
                stdout=stdout,
                stderr=stderr,
                start_new_session=self.terminal is None,
                preexec_fn=self._take_terminal if self.terminal is not None else None,
            )
            until = time.monotonic() + LONGEST_S
            while self.process.poll() is None:
                self.look()
                if during is not None:
                    during(self)
                if time.monotonic() > until:
                    self.harm.append(f"the referee did not end in {LONGEST_S} s")
                    self.process.kill()
                    break
                time.sleep(LOOK_S)
            self.process.wait()
        self.stdout, self.stderr = out.read_bytes(), err.read_bytes()

    def _take_terminal(self) -> None:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def look(self) -> None:
        """Notes the memory and the CPU time of the referee's processes."""
        for process in descendants(os.getpid()):
            try:
                command = Path(f"/proc/{process}/cmdline").read_bytes()
                status = Path(f"/proc/{process}/status").read_text()
                if "VmHWM" not in status or not self._is_ours(process):  # what was forked may have become a bot since
                    continue
                if Path(f"/proc/{process}/cmdline").read_bytes() != command:
                    continue  # the memory is that of a copy of its parent, which has just become another program
                self.referees[process] = part(command)
                peak = int(status.partition("VmHWM:")[2].split()[0])
                name = self.referees[process]
                self.peaks[name] = max(self.peaks.get(name, 0), peak)
                times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
                self._cpu[process] = sum(map(int, times))
            except (OSError, IndexError, ValueError):
                continue

    def _is_ours(self, process: int) -> bool:
        """Whether a process is of the referee: it has the stage's mark, which no bot is given."""
        environment = Path(f"/proc/{process}/environ").read_bytes()
        return f"ARENA_HOSTILE_STAGE={self.marker}".encode() in environment.split(b"\0")

    def read_results(self) -> None:
        """Reads the document and the logs that the referee wrote."""
        assert self.process is not None
        code = self.process.returncode
        last = (self.stderr.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
        if code not in self.exit_codes:
            self.harm.append(f"the referee ended with status {code}: {last[:200]}")
        try:
            games = json.loads(self.stdout)["games"]
        except (ValueError, KeyError):
            if 0 in self.exit_codes and code == 0:
                self.harm.append("the referee printed no document")
            return
        for game in games:
            self.names.append(["hostile" if name.startswith("hostile") else "honest" for name in game["bots"]])
            path = self.work / game["log"]
            if not path.is_file():
                self.harm.append("a game has no log")
                continue
            with path.open(encoding="utf-8") as log:
                self.records.append([json.loads(line) for line in log])
        if len(games) != 2 and 0 in self.exit_codes and code == 0:
            self.harm.append(f"{len(games)} games have a result, not 2")

    def seats_of(self, number: int, name: str = "hostile") -> list[int]:
        return [seat for seat, found in enumerate(self.names[number]) if found == name]

    def outcome(self, seconds: float) -> Outcome:
        """Collects what was seen."""
        forfeits, sentences, lines = [], [], []
        for number, records in enumerate(self.records):
            hostile = self.seats_of(number)
            for record in records:
                if record["record"] == "action" and record["seat"] in hostile:
                    lines += record.get("note", "").splitlines()
                for entry in record.get("forfeits", ()):
                    if entry["seat"] in hostile:
                        forfeits.append(entry["code"])
                        sentences.append(entry["sentence"])
                        lines += [line for line in entry.get("stderr", ()) if line.startswith(("OPEN ", "shut "))]
                    elif entry["code"] != "timeout" or not entry.get("overloaded"):
                        self.harm.append(f"the opponent forfeited: {entry['sentence']}")
        opened = [line[5:] for line in lines if line.startswith("OPEN ")] + self.opened
        if any(self.canary in line for line in lines):
            opened.append("a canary was read")
        return Outcome(
            forfeits=forfeits,
            sentences=sentences,
            games=len(self.records),
            opened=list(dict.fromkeys(opened)),
            shut=sum(line.startswith("shut ") for line in lines),
            harm=list(dict.fromkeys(self.harm)),
            left=self.leftovers(),
            peaks=self.peaks,
            cpu_s=sum(self._cpu.values()) / TICKS,
            seconds=seconds,
            facts=self.facts,
        )

    def leftovers(self) -> list[str]:
        """Returns what outlived the referee, and ends it."""
        until = time.monotonic() + GONE_S
        while (alive := living()) and time.monotonic() < until:
            time.sleep(0.02)
        found = [f"process {process} ({name(process)})" for process in alive]
        while alive := living():
            for process in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.02)
        found += [f"file {path.relative_to(self.temporary)}" for path in sorted(self.temporary.rglob("*"))][:5]
        with open("/proc/self/mountinfo") as mounts:
            found += [f"mount {line.split()[4]}" for line in mounts if self.marker in line]
        numbers = set(map(str, self.referees))  # a group's name has that of the process whose it is
        new = (path for path in cgroups() if path not in self.others)
        return found + [f"cgroup {path}" for path in new if numbers & set(path.name.replace(".", "-").split("-"))]

    def remove(self) -> None:
        for folder in (self.folder, *self.folder.rglob("*")):
            if folder.is_dir() and not folder.is_symlink():
                folder.chmod(0o700)
        shutil.rmtree(self.folder, ignore_errors=True)


def cgroups() -> list[Path]:
    """Returns the groups of arena's processes on this machine; none where there is no hierarchy."""
    found = [Path(parent, name) for parent, names, _ in os.walk(CGROUPS) for name in names]
    return [path for path in found if "arena" in str(path)]


def compiler() -> str:
    """Returns the C compiler; nothing if there is none."""
    return shutil.which("cc") or shutil.which("gcc") or ""


def part(command: bytes) -> str:
    """Which of the referee's processes a command line is."""
    if b"warden" in command:
        return "warden"
    return "worker" if b"arena.core.tournament.workers" in command else "main"


def be_subreaper() -> None:
    """Makes this process inherit every descendant whose parent ends: none gets out of sight."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a subreaper")


def descendants(process: int) -> Iterator[int]:
    """Yields the numbers of all processes below one."""
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"/proc/{process}/task/{thread}/children") as file:
                children = file.read().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from descendants(child)


def living() -> list[int]:
    """Returns the descendants that live, after burying those that have ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                break
        except ChildProcessError:
            break
    return [process for process in descendants(os.getpid()) if state(process) not in ("Z", "")]


def state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[-60:].strip()
    except OSError:
        return "?"


def listen(kind: int, address: Any, family: int = socket.AF_UNIX) -> socket.socket:
    """Opens a listener as bait."""
    found = socket.socket(family, kind)
    found.bind(address)
    found.setblocking(False)
    if kind == socket.SOCK_STREAM:
        found.listen(8)
    return found
