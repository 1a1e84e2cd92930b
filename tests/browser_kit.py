"""What tests in a browser and the screenshots share: Debian's chromium, and games to look at."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from golden.logs import player
from referee_kit import make_job

from arena.core.catalogue import game, rules_of
from arena.core.record.log import Log, read_log
from arena.core.referee.game import Game
from tests.memory_link import MemoryBot, MemoryLink

COLOURED = "location.protocol === 'about:' || getComputedStyle(document.body).backgroundColor !== 'rgba(0, 0, 0, 0)'"
"""Whether a page has the colours of its style: without them all that is drawn is black."""


def chromium() -> str | None:
    """The program of the browser, or None if it is not installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def chromium_or_exit() -> str:
    """The program of the browser. Without it the program ends, and says what to install."""
    program = chromium()
    if program is None:
        sys.exit("needs chromium, which is not on this machine's path; install it (Debian: apt install chromium)")
    return program


def launch(playwright: Any, program: str) -> Any:
    """Starts the browser without a window."""
    # A browser of root, and one in a container, cannot put its pages into a sandbox of its own.
    return playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])


def heard(page: Any) -> tuple[list[str], list[str]]:
    """Two lists that grow: what a page says on its console or fails with, and the addresses that it asks for."""
    console: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    return console, requests


def played(folder: Path, name: str, seats: int, ruleset: str | None = None) -> Log:
    """A game played at random, in the game's first ruleset unless another is named."""
    bots = [MemoryBot(player(seat, notes=True)) for seat in range(seats)]
    job = make_job(folder, seats, rules=name, ruleset=ruleset or next(iter(game(name).rulesets)))
    return read_log(folder / Game(job, rules_of(job.settings), MemoryLink(bots)).play().log)
