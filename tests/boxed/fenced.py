"""Starts one bot as a referee does, looks at its fence until it has used too much or has ended, and prints as JSON what
was seen: `fenced.py LEVEL MEMORY_MIB COMMAND...`. The bot's folder is the current one.
"""

from __future__ import annotations

import json
import shlex
import sys
import time

from msgspec.structs import replace

from arena.core.link import tree
from arena.core.link.bots import load_bot
from arena.core.link.custody import Custody
from arena.core.link.process import BotProcess
from arena.core.types import Level
from arena.sandbox import accounts

PATIENCE_S = 60


def alive(pid: int) -> bool:
    found = tree.process_stat(pid)
    return found is not None and not found.is_dead


def main() -> None:
    level = Level(sys.argv[1])
    spec = replace(load_bot(f"cmd:{shlex.join(sys.argv[3:])}"), memory_mib=int(sys.argv[2]))
    custody = Custody()
    process = BotProcess(spec, custody, {}, level=level, user=accounts.seat_user(level))
    seen: set[int] = set()
    excess = None
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            end = process.end()
            excess = process.fence.excess()
            seen.update(tree.Tree(process.pid).members())
            if end is not None or excess is not None:
                break
            time.sleep(0.01)
        told = {
            "excess": excess,
            "end": end and end.detail,
            "most_mib": process.fence.most_mib,
            "cpu_ms": process.fence.cpu_ns() // 10**6,
            "processes": len(seen),
            "output": process.output(),
        }
    finally:
        process.kill()
        process.reap(wait=True)
        custody.close()
    until = time.monotonic() + PATIENCE_S
    while any(map(alive, seen)) and time.monotonic() < until:
        time.sleep(0.005)
    print(json.dumps({**told, "left": sum(map(alive, seen))}))


if __name__ == "__main__":
    main()
