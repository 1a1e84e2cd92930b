"""Plants one fault after another in arena, and says which test finds it: `python -m tests.mutants`.

It exits 1 if a fault is found by nobody, or too many by the long suite alone.

Laws:
1. Faults are planted in a copy of the checkout with an environment of its own: what the tests start imports the copy.
2. A test has found a fault if it fails with it, passes without it, and fails with it again. One that does not, because
   the machine is busy or lacks something, is left out from then on.
3. The tests that the fault names come first, then those of its package, the whole quick suite and the long one. The
   first failure ends the search.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.mutants.faults import FAULTS, ROOT, Fault

MOST_LONG: Final = 4  # how many faults only the long suite may find
NOT_COPIED: Final = frozenset({".git", ".venv", ".nox", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"})
_FAILED: Final = re.compile(r"^(?:\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) (.+?) *$|ERROR (\S+\.py))", re.MULTILINE)
"""A test that fails, or a module that cannot be imported, as `pytest -v` prints them."""
_NOTHING_RUN: Final = 5  # the exit code of pytest if it found no test


class Copy:
    """A copy of the checkout, with the environment that this process runs in."""

    def __init__(self, folder: Path, processes: int) -> None:
        self._top = folder / "arena"
        self._processes = processes
        self._left_out: list[str] = []
        """Tests that find nothing."""
        shutil.copytree(
            ROOT, self._top, symlinks=True,
            ignore=lambda inside, names: NOT_COPIED.intersection(names) if Path(inside) == ROOT else (),
        )  # fmt: skip
        environment = self._top / ".venv"
        shutil.copytree(sys.prefix, environment, symlinks=True)
        [editable] = environment.glob("lib/python*/site-packages/_samurai_arena.pth")
        editable.write_text(f"{self._top}\n", encoding="utf-8")
        for script in (environment / "bin").iterdir():
            if not script.is_symlink() and (data := script.read_bytes()).startswith(b"#!"):
                script.write_bytes(data.replace(os.fsencode(sys.prefix), os.fsencode(environment)))
        self._python = environment / "bin" / "python"
        self._variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        imported = self._run("-c", "import arena; print(arena.__file__)", cwd=folder).stdout.strip()
        assert Path(imported) == self._top / "arena" / "__init__.py", f"expected the copy's arena, got: {imported}"

    def finder(self, fault: Fault, *words: str) -> str | None:
        """Returns a test that finds a fault, or None if none does. `words` say to pytest which tests to run."""
        while (test := self._failure(words, fault)) is not None:
            alone = ["-m", "long or not long", test]
            if self._failure(alone) is None and self._failure(alone, fault) is not None:
                return test
            print(f"  left out, as it fails by chance or always: {test}", file=sys.stderr, flush=True)
            self._left_out.append(test)
        return None

    def _failure(self, words: Iterable[str], fault: Fault | None = None) -> str | None:
        """Returns the first test that fails, or None if all pass. A fault is planted meanwhile, if one is given."""
        if fault is None:
            return self._first_failure(words)
        path = self._top / fault.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(fault.planted(sound), encoding="utf-8")
        try:
            return self._first_failure(words)
        finally:
            path.write_text(sound, encoding="utf-8")

    def _first_failure(self, words: Iterable[str]) -> str | None:
        done = self._run(
            *("-m", "pytest", "-v", "-x", "-rE", "--tb=no", "-p", "no:randomly", "-p", "no:cacheprovider"),
            *(f"--numprocesses={self._processes}", *(f"--deselect={test}" for test in self._left_out), *words),
            cwd=self._top,
        )
        if done.returncode in (0, _NOTHING_RUN):
            return None
        failed = _FAILED.search(done.stdout)
        if failed is None:
            raise SystemExit(f"expected tests that pass or fail, got: {done.stdout[-2_000:]}{done.stderr[-2_000:]}")
        return failed[1] or failed[2]

    def _run(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._python, *words], cwd=cwd, env=self._variables, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip


def search(copy: Copy, fault: Fault) -> tuple[str, str]:
    near = [("quick", words) for words in (fault.tests, fault.of_package()) if words]
    for suite, words in (*near, ("quick", ()), ("long", ("-m", "long and not thorough"))):
        if (test := copy.finder(fault, *words)) is not None:
            return suite, test
    return "nobody", fault.breaks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="a fault of faults.toml; all if none is named")
    parser.add_argument("-n", "--numprocesses", type=int, default=2, help="processes of pytest")
    words = parser.parse_args()
    if unknown := set(words.ids) - {fault.id for fault in FAULTS}:
        parser.error(f"expected faults of faults.toml, got: {', '.join(sorted(unknown))}")
    faults = [fault for fault in FAULTS if fault.id in words.ids or not words.ids]
    found: Counter[str] = Counter()
    width = max(len(fault.id) for fault in faults)
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copy = Copy(Path(folder), words.numprocesses)
        for fault in faults:
            began = time.monotonic()
            suite, test = search(copy, fault)
            found[suite] += 1
            print(f"{fault.id:<{width}}  {suite:<6}  {time.monotonic() - began:5.0f} s  {test}", flush=True)
    print(f"\n{found['quick']} of {len(faults)} found by the quick suite, {found['long']} by the long one alone, "
          f"{found['nobody']} by nobody")  # fmt: skip
    return 0 if not found["nobody"] and found["long"] <= MOST_LONG else 1


if __name__ == "__main__":
    sys.exit(main())
