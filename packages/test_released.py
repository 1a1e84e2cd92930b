"""Packages as the release 0.2.0 had them pass their own tests on the arena of today: nothing else proves its face."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

RELEASED = Path(__file__).with_name("released-0.2.0.tar.gz")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("folder", "tests"),
    [
        ("examples/kuhn_poker", ("test_kuhn_poker.py",)),
        (
            "packages/openspiel",
            ("tests/test_openspiel.py", "-k", "kuhn_poker or leduc_poker or tic_tac_toe or liars_dice"),
        ),
    ],
)
def test_a_package_of_the_release_passes_its_own_tests(folder: str, tests: tuple[str, ...], tmp_path: Path) -> None:
    with tarfile.open(RELEASED) as archive:
        archive.extractall(tmp_path, filter="data")
    words = ("-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), *tests)
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path / folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / folder)},
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-1000:]
    assert "arena.rules is arena.core.rules since" in ended.stdout
