"""Time, memory, output: what a bot uses. Section 9, and what `bot.toml` allows."""

from __future__ import annotations

from arena.conform.bench import Bench
from arena.conform.finding import Finding
from arena.conform.games import Plan, TrialGame
from arena.conform.registry import Kit
from arena.conform.report import Level, Verdict
from arena.referee.table import MARGIN_NS
from arena.types import NS_PER_MS, TimeControl

CHECKS = Kit()
LAST = Kit()
_DECISIONS = 12
_MARGIN_MS = MARGIN_NS / NS_PER_MS
MUCH_OUTPUT = 2**20
"""Bytes in one process; of one game some ten thousand are kept."""
_MEND = "Stop thinking well before `clock.limit_ms` of the request is over, whatever has been found by then."


@CHECKS.check("time.limit", "keeps a limit for each decision", "§9-3", "§9-2")
def limit(bench: Bench) -> str:
    """A tight one."""
    limit_ms = bench.budget.limit_ms
    return _twice(bench, TimeControl(limit_ms=limit_ms), f"with {limit_ms:,} ms each", _DECISIONS)


@CHECKS.check("time.bank", "keeps a bank for a whole game", "§9-3", "§9-4")
def bank(bench: Bench) -> str:
    """A small one, with an increment."""
    bank_ms, increment_ms = bench.budget.bank_ms, bench.budget.increment_ms
    time = TimeControl(bank_ms=bank_ms, increment_ms=increment_ms)
    return _twice(bench, time, f"with {bank_ms:,} ms and {increment_ms} more each", None)


def _twice(bench: Bench, time: TimeControl, words: str, most: int | None) -> str:
    """A second game decides if the first was lost on time: for once the machine may have been busy."""
    try:
        return _timed(bench, time, words, most)
    except Finding as finding:
        if "§9-3" not in finding.spec:
            raise
        bench.tidy(sound=False)
        return _timed(bench, time, words, most)


def _timed(bench: Bench, time: TimeControl, words: str, most: int | None) -> str:
    dialogue = bench.shared()
    played = TrialGame(dialogue, Plan(bench.rules[0], time, seed=90), avoided=bench.avoided)
    played.start()
    slowest = 0.0
    over_limit = ""
    while most is None or played.kinds.total() < most:
        limit_ms = played.clock.told().limit_ms
        if (kind := played.ask()) is None:
            break
        played.answer(bench.budget.patience_ms)
        used_ms = dialogue.used_ns / NS_PER_MS
        slowest = max(slowest, used_ms)
        if used_ms > limit_ms + _MARGIN_MS:
            raise Finding(
                f"decision {played.kinds.total()}, {kind!r}: expected an action within {limit_ms:,} ms and a margin of "
                f"{_MARGIN_MS:g}, got: one after {used_ms:,.1f} ms",
                _MEND,
                "§9-3",
            )
        if used_ms > limit_ms:
            over_limit = f"within {limit_ms:,} ms, got: one after {used_ms:,.1f} ms, which the margin saved"
    played.over()
    if over_limit:
        raise Finding(f"expected an action {over_limit}", _MEND, "§9", verdict=Verdict.NON_STRICT)
    return f"{played.kinds.total()} decisions {words}, the slowest {slowest:.1f} ms"


CHECKS.watch("resources.memory", "keeps within its memory limit", "§10")


@LAST.check(
    "resources.output", f"prints less than {MUCH_OUTPUT // 2**20} MiB in the whole check", "§4.2",
    level=Level.FULL, last=True,
)  # fmt: skip
def output(bench: Bench) -> str:
    """What was written to standard output and error, by the process that wrote most."""
    if bench.output_bytes > MUCH_OUTPUT:
        raise Finding(
            f"expected at most {MUCH_OUTPUT:,} bytes of output, got: {bench.output_bytes:,}",
            "Print less: only the beginning and the end of a game's output are kept, and files have a limit "
            "(limits.file_mib).",
            verdict=Verdict.NON_STRICT,
        )
    return f"{bench.output_bytes:,} bytes"


@LAST.check("frames.type_first", "writes type first", "§5.3-1", level=Level.FULL, last=True)
def type_first(bench: Bench) -> str:
    """Seen in all dialogues."""
    if bench.type_last is not None:
        raise Finding(
            "expected `type` as the first field of every message, got: another",
            "Build messages with an ordered map, and put type into it first.",
            evidence=bench.type_last,
            verdict=Verdict.NON_STRICT,
        )
    return ""
