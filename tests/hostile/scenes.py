"""What a case needs beside its bot: bait, decoys, a hand that kills. A scene prepares, looks on, and looks back."""

from __future__ import annotations

import hashlib
import os
import pty
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hostile.stage import SLOWED, Stage, descendants, listen, living, name

MUCH_OFF_TURN_MS = 50
"""CPU time that no bot uses off turn unless it wants to; T1 and X5 use ten times as much where they can."""


class Scene:
    """Nothing special."""

    def prepare(self, stage: Stage) -> None:
        """Is called before the referee starts."""

    def during(self, stage: Stage) -> None:
        """Is called every 20 ms while it runs."""

    def after(self, stage: Stage) -> None:
        """Is called when it has ended and its results are read."""


class Canaries(Scene):
    def prepare(self, stage: Stage) -> None:
        stage.plant()


class OwnCode(Scene):
    """The attacker's folder is the same afterwards."""

    def prepare(self, stage: Stage) -> None:
        stage.make_bot("hostile", stage.case.attack)
        stage.exit_codes = {2} if stage.level == "trusted" else {0}  # it is not the bot any more that was committed to
        self.digest = digest(stage.bot_folder("hostile"))

    def after(self, stage: Stage) -> None:
        if digest(stage.bot_folder("hostile")) != self.digest:
            stage.opened.append("its own folder has changed")


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if "__pycache__" not in path.parts:
            found.update(f"{path.relative_to(folder)} {path.stat().st_mode:o}\0".encode())
            found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


class Pipe(Scene):
    """Both seats have the same named pipe in their folders. A level may refuse that before anything is played."""

    def prepare(self, stage: Stage) -> None:
        first, second = (stage.bot_folder(name) for name in ("hostile", "hostile-2"))
        for folder in (first, second):
            folder.mkdir(parents=True)
        os.mkfifo(first / "pipe")
        (first / "pipe").chmod(0o666)
        os.link(first / "pipe", second / "pipe")
        stage.exit_codes = {0} if stage.level == "trusted" else {0, 2}


class Victim(Scene):
    """A file beside the logs is what it was."""

    def after(self, stage: Stage) -> None:
        if stage.victim.read_text() != stage.canary:
            stage.harm.append("the referee wrote through a planted link into another file")


class Listeners(Scene):
    """Servers that nobody but the attacker would talk to."""

    def prepare(self, stage: Stage) -> None:
        abstract, path = f"arena-hostile-{stage.marker}", stage.folder / "bait"
        self.listeners = {
            "TCP": listen(socket.SOCK_STREAM, ("127.0.0.1", 0), socket.AF_INET),
            "UDP": listen(socket.SOCK_DGRAM, ("127.0.0.1", 0), socket.AF_INET),
            "an abstract socket": listen(socket.SOCK_STREAM, f"\0{abstract}"),
            "a socket with a path": listen(socket.SOCK_STREAM, str(path)),
        }
        stage.target |= {
            "tcp": self.listeners["TCP"].getsockname()[1],
            "udp": self.listeners["UDP"].getsockname()[1],
            "abstract": abstract,
            "path": str(path),
        }

    def after(self, stage: Stage) -> None:
        for what, listener in self.listeners.items():
            try:
                if listener.type == socket.SOCK_DGRAM:
                    listener.recv(100)
                else:
                    listener.accept()[0].close()
            except BlockingIOError:
                continue
            finally:
                listener.close()
            stage.opened.append(f"reached the stage by {what}")


class Decoy(Scene):
    """A process of the referee's user that has nothing to do with the game."""

    def prepare(self, stage: Stage) -> None:
        program = (
            "import signal, time; signal.signal(signal.SIGUSR1, lambda *_: print('hit', flush=True)); time.sleep(300)"
        )
        environment = {"ARENA_HOSTILE_CANARY": stage.canary, "PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program], env=environment, stdout=subprocess.PIPE
        )
        stage.target["decoy"] = self.process.pid
        self.affinity = os.sched_getaffinity(self.process.pid)

    def after(self, stage: Stage) -> None:
        if os.getpriority(os.PRIO_PROCESS, self.process.pid) != os.getpriority(os.PRIO_PROCESS, 0):
            stage.opened.append("the decoy's priority has changed")
        if os.sched_getaffinity(self.process.pid) != self.affinity:
            stage.opened.append("the decoy's cores have changed")
        if self.process.poll() is not None:
            stage.opened.append("the decoy has ended")
        self.process.kill()
        assert self.process.stdout is not None
        if self.process.stdout.read():
            stage.opened.append("the decoy was signalled")
        self.process.wait()


class KillReferee(Scene):
    """The referee is killed with SIGKILL in mid-game: nothing of it may be there a second later."""

    def __init__(self) -> None:
        self.killed = False

    def prepare(self, stage: Stage) -> None:
        stage.exit_codes = {-signal.SIGKILL}

    def during(self, stage: Stage) -> None:
        if not self.killed and any("X4" in name(process) for process in descendants(os.getpid())):
            time.sleep(1)  # the daemons are there by now
            self.killed = True
            assert stage.process is not None
            stage.process.kill()

    def after(self, stage: Stage) -> None:
        if not self.killed:
            stage.harm.append("the attacker never said that it was ready")
        until = time.monotonic() + 1
        while living() and time.monotonic() < until:
            time.sleep(0.02)
        stage.harm += [f"{name(process)} lives a second after the referee" for process in living()]
        # Empty control groups may stay until arena starts again: then they must go.
        control = Stage(stage.case._replace(attack="honest", limits={}), stage.level)
        control.run()
        control.read_results()
        stage.harm += [f"in the match after it: {harm}" for harm in control.harm]
        living()
        control.remove()


class KillWaiting(Scene):
    """The attacker's process is killed from outside while its opponent thinks, frozen or not."""

    def __init__(self) -> None:
        self.killed: set[int] = set()

    def during(self, stage: Stage) -> None:
        for process in descendants(os.getpid()):
            command = name(process)
            is_attacker = process not in self.killed and command.endswith("bot.py X10") and is_python(process)
            if is_attacker and time.monotonic() - started(process) > 0.9:
                self.killed.add(process)
                os.kill(process, signal.SIGKILL)

    def after(self, stage: Stage) -> None:
        stage.facts.append(f"{len(self.killed)} processes were killed")


def is_python(process: int) -> bool:
    """Whether a process runs a Python: what starts a bot has its arguments, too."""
    try:
        return Path(f"/proc/{process}/comm").read_text().startswith("python")
    except OSError:
        return False  # it has ended


def started(process: int) -> float:
    """When a process began, by the monotonic clock."""
    ticks = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    return ticks / os.sysconf("SC_CLK_TCK") - (time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic())


class Sleep(Scene):
    """All processes stop for four seconds in mid-turn, twice as long as a decision may take.

    It is worse than a lid that is closed: the monotonic clock, by which the referee counts, runs on.
    """

    def __init__(self) -> None:
        self.at = 0.0
        self.done = False

    def during(self, stage: Stage) -> None:
        if self.done or not any("bot.py T9" in name(process) for process in descendants(os.getpid())):
            return
        self.at = self.at or time.monotonic()
        if time.monotonic() - self.at > 1:
            self.done = True
            everybody = list(descendants(os.getpid()))
            for process in everybody:
                os.kill(process, signal.SIGSTOP)
            time.sleep(4)
            for process in reversed(everybody):
                os.kill(process, signal.SIGCONT)

    def after(self, stage: Stage) -> None:
        for records in stage.records:
            for record in records:
                for entry in record.get("forfeits", ()):
                    if entry["code"] == "timeout":
                        stage.harm.append("time in which everybody was stopped was charged")


class Terminal(Scene):
    """The referee has a terminal. What is typed there would be the operator's next command."""

    def prepare(self, stage: Stage) -> None:
        self.master, slave = pty.openpty()
        os.set_blocking(self.master, False)
        stage.terminal = slave
        stage.target["terminals"] = [os.ttyname(slave)]

    def after(self, stage: Stage) -> None:
        assert stage.terminal is not None
        os.set_blocking(stage.terminal, False)
        try:
            typed = os.read(stage.terminal, 1000)
        except BlockingIOError:
            typed = b""
        if b"typed" in typed:
            stage.opened.append("a command was typed into the operator's terminal")
        os.close(stage.terminal)
        os.close(self.master)


class FewDescriptors(Scene):
    """The referee has 256 descriptors."""

    def prepare(self, stage: Stage) -> None:
        stage.before = ("/bin/sh", "-c", 'ulimit -n 256; exec "$@"', "sh")


class Descriptors(Scene):
    """Counts the descriptors of the referee."""

    most = 0

    def during(self, stage: Stage) -> None:
        for process in stage.referees:
            try:
                self.most = max(self.most, len(os.listdir(f"/proc/{process}/fd")))
            except OSError:
                continue

    def after(self, stage: Stage) -> None:
        stage.facts.append(f"the referee had {self.most} descriptors at most")
        if self.most > 100:
            stage.harm.append(f"the referee holds {self.most} descriptors")


class Helpers(Scene):
    """Helpers of an attacker that forfeited have ended when its game has, and at the latest a second after."""

    def __init__(self) -> None:
        self.seen: dict[int, float] = {}
        self.longest = 0.0
        self.forfeited: dict[int, float] = {}

    def during(self, stage: Stage) -> None:
        now = time.monotonic()
        helpers = {process for process in descendants(os.getpid()) if "bot.py T6" in name(process)}
        for process in helpers:
            self.seen.setdefault(process, now)
            self.longest = max(self.longest, now - self.seen[process])

    def after(self, stage: Stage) -> None:
        stage.facts.append(f"helpers were seen for {self.longest:.1f} s")


class Screens(Scene):
    """Nothing that the attacker wrote acts on a terminal, whichever command shows it."""

    def after(self, stage: Stage) -> None:
        shown = {"match": stage.stdout + stage.stderr}
        for log in sorted(stage.logs.rglob("*-000000.jsonl")):
            for words in (("replay", str(log)), ("replay", str(log), "--json"), ("verify", str(log))):
                done = subprocess.run(
                    [sys.executable, "-m", "arena", *words],
                    capture_output=True,
                    cwd=stage.work,
                    env=stage.environment() | {"NO_COLOR": "1", "TERM": "dumb"},
                    stdin=subprocess.DEVNULL,
                    timeout=60,
                )
                shown[f"arena {words[0]}"] = done.stdout + done.stderr
                if done.returncode not in (0, 2):
                    stage.harm.append(
                        f"arena {' '.join(words[:1])} ended with status {done.returncode}: {done.stderr[-200:]!r}"
                    )
            shown["the log"] = log.read_bytes()
        for path in stage.logs.rglob("*"):
            if path.is_file():
                shown[path.suffix] = path.read_bytes()
        for where, data in shown.items():
            text = data.decode(errors="replace")
            for character in ("\x1b", "\x07", "\x9b", "\x08", "\u202e", "\u2066", "\x00"):
                if character in text and not (
                    where in ("the log", ".jsonl", ".transcript") and character in ("\u202e", "\u2066", "\x9b")
                ):
                    stage.harm.append(f"{character!r} is in what {where} shows")


class Verified(Scene):
    """`arena verify` says that the logs are right."""

    def after(self, stage: Stage) -> None:
        folder = next(iter(sorted(stage.logs.glob("match-*"))), stage.logs)
        done = subprocess.run(
            [sys.executable, "-m", "arena", "verify", *map(str, sorted(folder.glob("*-00000?.jsonl")))],
            capture_output=True,
            cwd=stage.work,
            env=stage.environment(),
            timeout=60,
        )
        if done.returncode != 0:
            stage.harm.append(f"arena verify ended with status {done.returncode}: {done.stderr.decode()[-200:]}")


class Times(Verified):
    """Sums up what the attacker's decisions took by the log."""

    def after(self, stage: Stage) -> None:
        super().after(stage)
        for number, records in enumerate(stage.records):
            seats = stage.seats_of(number)
            used = [
                record["used_ns"] / 1e6
                for record in records
                if record["record"] == "action" and record["seat"] in seats
            ]
            if not used:
                continue
            stage.facts.append(f"{sum(used):.0f} ms in all, {max(used):.0f} ms at most")
            if stage.case.attack == "T2" and sum(ms > 250 for ms in used) < 2:
                stage.opened.append("time before reading was not charged")
            if stage.case.attack == "T3" and sum(used) > given_ms(records[0]["settings"], len(used)):
                stage.opened.append("more time was used than the bank has")
            if stage.case.attack == "T8" and max(used) < 250:
                stage.opened.append("the time that it claimed was believed")


def given_ms(settings: dict[str, Any], decisions: int) -> int:
    """The most that a bank without an increment gives for so many decisions: every deadline has the margin (§9-3)."""
    bank_ms: int = settings["time"]["bank_ms"]
    margin_ms: int = settings["margin_ms"]
    return bank_ms + decisions * margin_ms


class OffTurn(Scene):
    """The log says how much CPU time each bot used while others were to move."""

    def after(self, stage: Stage) -> None:
        for number, records in enumerate(stage.records):
            measured = records[-1].get("off_turn_cpu_ms")
            if stage.level == "trusted":
                stage.harm += ["something was measured of trusted bots"] if measured is not None else []
                continue
            [attacker], [honest] = stage.seats_of(number), stage.seats_of(number, "honest")
            stage.facts.append(f"{measured[attacker]} ms measured off turn")
            if stage.level in ("fenced", "isolated") and measured[attacker] < MUCH_OFF_TURN_MS:
                stage.harm.append(f"it computed off turn, and only {measured[attacker]} ms were measured")
            if stage.level == "strict" and measured[attacker] >= MUCH_OFF_TURN_MS:
                stage.opened.append(f"computed for {measured[attacker]} ms off turn")
            if measured[honest] >= MUCH_OFF_TURN_MS:
                stage.harm.append(f"{measured[honest]} ms off turn were measured of its opponent, which slept")


class Slowed(Scene):
    """Compares how much the opponent waits for its core beside the attacker with how much beside an honest bot."""

    def prepare(self, stage: Stage) -> None:
        control = Stage(stage.case._replace(attack="honest", limits={}), stage.level)
        control.run()
        control.read_results()
        self.alone = worked(control)
        stage.harm += [f"in the control: {harm}" for harm in control.harm]
        living()
        control.remove()

    def after(self, stage: Stage) -> None:
        beside = worked(stage)
        if not self.alone or not beside:
            stage.harm.append("the opponent did not say how long its work took")
            return
        ratio = statistics.median(beside) / statistics.median(self.alone)
        stage.facts.append(f"the opponent took {ratio:.2f} times as long")
        if ratio > 1.3:
            stage.opened.append(f"{SLOWED}: {ratio:.2f} times")


def worked(stage: Stage) -> list[float]:
    found = []
    for number, records in enumerate(stage.records):
        seats = stage.seats_of(number, "honest")
        for record in records:
            if record["record"] == "action" and record["seat"] in seats:
                found += [float(line[5:]) for line in record.get("note", "").splitlines() if line.startswith("took ")]
    return found


class Unexcused(Scene):
    """What it loses is not the machine's doing."""

    def after(self, stage: Stage) -> None:
        for records in stage.records:
            for entry in (entry for record in records for entry in record.get("forfeits", ())):
                if entry.get("overloaded"):
                    stage.opened.append(f"an excuse: {entry['sentence']}")


class Marks(Scene):
    """What an attacker leaves for its next game is removed when the case is over."""

    def after(self, stage: Stage) -> None:
        for folder in ("/tmp", "/var/tmp", "/dev/shm", stage.home, stage.temporary):
            Path(folder, f"arena-hostile-{stage.marker}").unlink(missing_ok=True)


class Quiet(Scene):
    """The output costs the referee no CPU time to speak of."""

    def after(self, stage: Stage) -> None:
        cpu = sum(stage._cpu.values()) / os.sysconf("SC_CLK_TCK")
        stage.facts.append(f"the referee used {cpu:.1f} s of CPU time")
        if cpu > 6:
            stage.harm.append(f"the referee used {cpu:.1f} s of CPU time")


class Transcripts(Scene):
    """What is kept for people is bounded: 256 KiB a seat."""

    def after(self, stage: Stage) -> None:
        sizes = [path.stat().st_size for path in stage.logs.rglob("*") if path.is_file()]
        stage.facts.append(f"the largest file among the logs has {max(sizes, default=0) // 1024} KiB")
        if max(sizes, default=0) > 400 * 1024:
            stage.harm.append(f"a file of {max(sizes) // 2**20} MiB is among the logs")


SCENES: dict[str, type[Scene]] = {
    found.__name__: found
    for found in (
        Canaries, Decoy, Descriptors, FewDescriptors, Helpers, KillReferee, KillWaiting, Listeners, Marks, OffTurn,
        OwnCode, Pipe, Quiet, Screens, Sleep, Slowed, Terminal, Times, Transcripts, Unexcused, Verified, Victim,
    )
}  # fmt: skip
SCENES[""] = Scene
