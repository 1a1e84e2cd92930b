"""From the start of the process to `welcome`: sections 4, 8.1 and 8.2 of the specification."""

from __future__ import annotations

import math

from arena.conform.bench import Bench
from arena.conform.checks.common import short_game
from arena.conform.encodings import unknown_fields
from arena.conform.registry import Kit
from arena.errors import did_you_mean

CHECKS = Kit()
LATER = Kit()
"""Those that need a bot that plays."""
WANTS = ("view", "events", "legal")

CHECKS.watch("start.token", "greets with the token that it was given", "§8.1-2")
CHECKS.watch("start.version", "speaks version 1 of the protocol", "§8.1-3")
CHECKS.watch("start.once", "says hello once, and first", "§8.1-1")


@CHECKS.check("start.hello", "says hello within its start-up time", "§4.3-1", "§4.1-1", "§8.1-1", fatal=True)
def hello(bench: Bench) -> str:
    """A fresh process greets; it becomes the shared one."""
    dialogue = bench.fresh(greet=False)
    said = dialogue.greet()
    dialogue.welcome()
    dialogue.listen()
    bench.share(dialogue)
    bench.start_ms = dialogue.start_ms
    words = f"{math.ceil(dialogue.start_ms):,} ms of {dialogue.spec.start_ms:,}"
    unknown = [name for name in said.want if name not in WANTS]
    if unknown:
        words += f"; it wants {unknown[0]!r}, which this version does not have{did_you_mean(unknown[0], WANTS)}"
    return words


@LATER.check(
    "start.tcp",
    "connects over TCP as well",
    "§4.1-1",
    needs=("session.ready",),
    owns=True,
    mend="Hand $ARENA_ENDPOINT to `connect` as it is, whatever it begins with.",
)
def tcp(bench: Bench) -> str:
    """The endpoint is `tcp://…`."""
    short_game(bench, bench.fresh(tcp=True), decisions=1)
    return ""


@LATER.check(
    "start.environment",
    "needs no variable but PATH and its own two",
    "§4.2-2",
    needs=("session.ready",),
    owns=True,
    mend="Read no variable but ARENA_ENDPOINT and ARENA_TOKEN, or do without where it is missing.",
)
def environment(bench: Bench) -> str:
    """Neither HOME nor LANG nor TMPDIR."""
    short_game(bench, bench.fresh(bare=True), decisions=1)
    return ""


@LATER.check(
    "start.minor",
    "accepts a referee of a higher minor version",
    "§11-3",
    "§5.3-4",
    "§8.2-1",
    owns=True,
    needs=("session.ready",),
    mend="Compare no more than the major number of welcome.protocol, and ignore fields that you do not know.",
)
def minor(bench: Bench) -> str:
    """It says 1.9, allows more than this version, and has fields that this version has not."""
    dialogue = bench.fresh(greet=False)
    dialogue.greet()
    dialogue.welcome(unknown_fields, minor=9)
    short_game(bench, dialogue, decisions=1)
    return ""
