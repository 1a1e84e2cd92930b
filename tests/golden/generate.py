"""Rewrites the golden playthroughs and the example logs.

Run it by `make golden`, and read the difference before you keep it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))

from golden import forgeries, logs, tournaments
from golden.playthrough import CASES, lines, path_of

for case in CASES:
    path = path_of(*case)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines(*case)))
for made in (logs.files, tournaments.files, forgeries.files):
    for path, data in made():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
