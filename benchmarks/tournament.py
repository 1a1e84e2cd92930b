"""The rate of a whole tournament with bots that answer at once, at concurrency 1 and 2, and what starting one costs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

INSTANT = str(Path(__file__).parent / "instant")
DEALS = 100
ROUNDS = 3


def tournament(folder: str, concurrency: int, deals: int) -> tuple[float, int]:
    """Seconds of the whole command, and games."""
    command = [sys.executable, "-m", "arena", "tournament", INSTANT, INSTANT, "--json", "--new", "--seed", "bench"]
    begun = perf_counter()
    done = subprocess.run(
        [*command, "--deals", str(deals), "--concurrency", str(concurrency)],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    seconds = perf_counter() - begun
    document = json.loads(done.stdout)
    assert not any(row["forfeits"] for row in document["standings"])
    return seconds, document["games"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        begun = perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare = perf_counter() - begun
        rates: dict[int, list[float]] = {1: [], 2: []}
        fixed: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(ROUNDS):
            for concurrency in (1, 2):
                start, _ = tournament(folder, concurrency, 1)
                seconds, games = tournament(folder, concurrency, DEALS)
                fixed[concurrency].append(start)
                rates[concurrency].append((games - 2) / (seconds - start))
    best = {concurrency: max(measured) for concurrency, measured in rates.items()}
    for concurrency in (1, 2):
        start = min(fixed[concurrency])
        print(
            f"a tournament   at concurrency {concurrency}: {best[concurrency]:5.0f} games/s"
            f"   one of two games takes {start:.2f} s in all, {start / bare:.0f} times python -c pass"
        )
    print(f"               concurrency 2 plays {best[2] / best[1]:.2f} times as many")


if __name__ == "__main__":
    main()
