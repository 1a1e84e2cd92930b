"""Fuzzes for as long as you like: `make fuzz`, `make fuzz SECONDS=600 TARGET=log`.

With atheris (Linux) the coverage of `arena` guides what is tried next, and what was reached is kept in `build/fuzz`, so
that the next run goes on from there. Without it the inputs are random. A target ends at the first bug that it finds:
its input is then in `tests/fuzz/corpus`, where `test_fuzz.py` finds it. Fix the bug, and commit both.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
REACHED = ROOT / "build" / "fuzz"
LONGEST = 300  # bytes from which an input is made
SLOW_S = 30  # an input that takes longer is a bug


def main() -> int:
    """Fuzzes each target in a process of its own. Returns 1 if one shows a bug."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--here", action="store_true", help="fuzz in this process")
    parser.add_argument("targets", nargs="*")
    chosen = parser.parse_args()
    if chosen.here:
        fuzz(chosen.targets[0], chosen.seconds)
        return 0
    from tests.fuzz.targets import TARGETS

    unknown = sorted({*chosen.targets} - {*TARGETS})
    if unknown:
        parser.error(f"expected targets among {', '.join(TARGETS)}, got: {', '.join(unknown)}")
    failed = []
    for name in chosen.targets or TARGETS:
        print(f"fuzzing {name} for {chosen.seconds} s ...", flush=True)
        words = [sys.executable, "-m", "tests.fuzz.run", "--here", "--seconds", str(chosen.seconds), name]
        if subprocess.run(words, cwd=ROOT, check=False).returncode:
            failed.append(name)
    print(f"bugs in: {', '.join(failed)}" if failed else "no bug was found")
    return bool(failed)


def fuzz(name: str, seconds: int) -> None:
    try:
        import atheris  # type: ignore[import-not-found]
    except ImportError:
        at_random(name, seconds)
        return
    with atheris.instrument_imports(include=["arena"]):
        from tests.fuzz.targets import TARGETS
    folder = REACHED / name
    folder.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={SLOW_S}", "-rss_limit_mb=3000",
        f"-artifact_prefix={folder.parent}/{name}-", "-print_final_stats=0", "-verbosity=0", "-close_fd_mask=0",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(folder)], lambda data: attempt(name, TARGETS[name], data))
    atheris.Fuzz()


def at_random(name: str, seconds: int) -> None:
    """Fuzzes one target without any guidance."""
    from tests.fuzz.targets import TARGETS

    end = time.monotonic() + seconds
    tried = 0
    while time.monotonic() < end:
        attempt(name, TARGETS[name], random.randbytes(random.choice((8, 40, LONGEST))))
        tried += 1
    print(f"{name}: {tried} inputs, not guided: atheris is not installed")


def attempt(name: str, target: Any, data: bytes) -> None:
    """Tries one input, and keeps it if it shows a bug, which is raised."""
    made = target.make(data)
    try:
        target.check(made)
    except Exception:
        kept = target.keep(made)
        path = Path(__file__).parent / "corpus" / name / hashlib.sha256(kept).hexdigest()[:12]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(kept)
        traceback.print_exc()
        print(f"{name}: a bug; its input is in {path.relative_to(ROOT)}", flush=True)
        raise


if __name__ == "__main__":
    sys.exit(main())
