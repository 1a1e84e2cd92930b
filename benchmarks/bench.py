"""All benchmarks. Read the ratios: each compares two things measured in turn, in this one run, on this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Each in a process of its own, so that one that pins itself to a processor does not bind the next.
for name in ("decision", "engine", "tournament", "race", "starting", "door", "door_costs", "watching"):
    subprocess.run([sys.executable, str(Path(__file__).parent / f"{name}.py")], check=True)
