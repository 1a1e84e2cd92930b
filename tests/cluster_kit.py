"""Clusters as users have them: schedulers and workers that are processes, and machines that share no file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from tests.command_kit import ROOT, environment
from tests.ports import free_port

_AT = ("--host", "127.0.0.1", "--no-dashboard")
_IMPATIENT = """
import arena.core.tournament.lanes
arena.core.tournament.lanes.PATIENCE_S = {patience}
from arena.cli import main
main()
"""
TTL = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s"}  # dask gives a worker up that it has not heard of for so long


@cache
def has_namespaces() -> bool:
    """Whether `bwrap` can give a process mounts of its own here."""
    if shutil.which("bwrap") is None:
        return False
    return subprocess.run(["bwrap", "--dev-bind", "/", "/", "true"], capture_output=True, check=False).returncode == 0


def apart(hidden: Path, own: Path) -> tuple[str, ...]:
    """What a command begins with that sees of the folder `hidden` nothing but its own folder in it, and an empty /tmp.

    The system and the checkout are read-only, as if arena were installed on another machine.
    """
    installed = [word for path in dict.fromkeys((str(ROOT), sys.prefix)) for word in ("--ro-bind", path, path)]
    return (
        *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *installed),
        *("--tmpfs", str(hidden), "--bind", str(own), str(own), "--chdir", str(own), "--die-with-parent"),
    )


class Node:
    """A process of Dask's command line, in a folder of its own."""

    def __init__(
        self, stack: ExitStack, folder: Path, *arguments: str, before: Sequence[str] = (), path: str | None = None
    ) -> None:
        folder.mkdir()
        variables = environment() | TTL | ({} if path is None else {"PATH": path})
        self.folder = folder
        self._is_wrapped = bool(before)
        output = stack.enter_context((folder / "output").open("wb"))
        self._process = stack.enter_context(
            subprocess.Popen(
                [*before, sys.executable, "-m", "dask", *arguments],
                cwd=folder, env=variables, stdout=output, stderr=output, start_new_session=True,
            )
        )  # fmt: skip
        stack.callback(self.kill)

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")

    @property
    def pid(self) -> int:
        """Dask's process: beneath `bwrap` another than what was started."""
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        return int(children.read_text().split()[0]) if self._is_wrapped else pid

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kills it with SIGKILL, whether it is stopped or not."""
        with suppress(OSError, IndexError):
            self.send(signal.SIGKILL)
        self._process.kill()
        self._process.wait()


class Machines:
    """A scheduler, and workers that share no folder."""

    def __init__(
        self, stack: ExitStack, folder: Path, *, blind: bool = False, workers: Sequence[str] = ("w0", "w1", "w2")
    ) -> None:
        """Starts them.

        Args:
            stack: Ends them.
            folder: Where each gets a folder of its own.
            blind: Whether workers do not see the folders of others, where the system can do that.
            workers: Their names.
        """
        self._stack = stack
        self._folder = folder
        self._blind = blind and has_namespaces()
        self._port = free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.scheduler = self.start_scheduler("scheduler")
        self.workers = {name: self.start_worker(name) for name in workers}
        for worker in self.workers.values():
            until(lambda worker=worker: "Registered" in worker.output)

    def start_scheduler(self, name: str) -> Node:
        return Node(self._stack, self._folder / name, "scheduler", *_AT, "--port", str(self._port))

    def start_worker(self, name: str, *more: str, path: str | None = None) -> Node:
        """Starts another worker.

        Args:
            name: What it is called, and its folder.
            more: More options.
            path: Where it looks for programs, if not where this process does.
        """
        own = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--local-directory", ".", "--name", name)
        folder = self._folder / name
        before = apart(self._folder, folder) if self._blind else ()
        return Node(self._stack, folder, "worker", self.address, *_AT, *own, *more, before=before, path=path)


def travelling_bots(folder: Path) -> tuple[str, ...]:
    """Makes two bots that lie nowhere else, one of which is built; returns their names on the command line."""
    folder.mkdir()
    bundled = ROOT / "bots/python"
    shutil.copy(bundled / "arena_bot.py", folder)
    for name, manifest in (
        ("owl", 'command = ["{python}", "bot.py"]\n'),
        ("fox", 'command = ["{python}", "built.py"]\nbuild = ["{python}", "make.py"]\nbuilt = ["built.py"]\n'),
    ):
        bot = folder / name
        shutil.copytree(bundled / "random", bot, ignore=shutil.ignore_patterns("__pycache__", "bot.toml"))
        (bot / "bot.toml").write_text(f'name = "{name}"\n{manifest}include = ["../arena_bot.py"]\n')
        (bot / "make.py").write_text('import shutil\nshutil.copy("bot.py", "built.py")\n')
    subprocess.run([sys.executable, "make.py"], cwd=folder / "fox", check=True)
    return tuple(str(folder / name) for name in ("owl", "fox"))


@contextmanager
def coordinator(folder: Path, *words: str, patience: float = 60.0) -> Iterator[subprocess.Popen[bytes]]:
    """The command `arena`; what it prints goes to `out` and, added, to `err` in its folder.

    Args:
        folder: Where it runs.
        words: Its arguments.
        patience: How long there may be no worker (s).
    """
    with (folder / "out").open("wb") as out, (folder / "err").open("ab") as err:
        command = [sys.executable, "-c", _IMPATIENT.format(patience=patience), *words]
        with subprocess.Popen(command, cwd=folder, env=environment(), stdout=out, stderr=err) as process:
            try:
                yield process
            finally:
                process.kill()


def until(condition: object, seconds: float = 60.0, told: Path | None = None) -> None:
    """Waits for something, at most so long; `told` is a file with what happened, to be shown if it never comes."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, told and told.read_text()
        time.sleep(0.05)


def standings(text: str) -> list[tuple[str, float]]:
    return [(row["bot"], row["rating"]) for row in json.loads(text)["standings"]]


def digests(folder: Path) -> dict[int, str]:
    """The play digest of each game, by its number."""
    return {
        int(path.stem[-6:]): json.loads(path.read_text().splitlines()[-1])["play_digest"]
        for path in folder.glob("*/*.jsonl")
    }
