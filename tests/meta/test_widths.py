"""The ratchet: no part of the project is wider than its number in `widths.toml`, and no number is out of date.

A part gets wider only by what another loses, in the same commit.
"""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTHS: dict[str, int] = tomllib.loads(Path(__file__).with_name("widths.toml").read_text())["lines"]
SLACK = 50
"""How far a part may be below its number before the number must follow."""
SUFFIXES = {".c", ".css", ".go", ".h", ".html", ".java", ".js", ".md", ".py", ".rs", ".sql", ".toml", ".ts"}
"""What people write by hand. Vectors, logs and pictures are data."""


def lines_of(part: str) -> int:
    """Lines of a part: the files below its folder that git knows, without those of longer parts."""
    inner = [other for other in WIDTHS if other.startswith(f"{part}/")]
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", part], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    files = [
        ROOT / name
        for name in names
        if Path(name).suffix in SUFFIXES and not any(name.startswith(f"{other}/") for other in inner)
    ]
    return sum(len(path.read_bytes().splitlines()) for path in files if path.is_file())


@pytest.mark.parametrize("part", WIDTHS)
def test_no_part_is_wider_than_its_number(part: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs a checkout: git says which files are the project's")
    lines, most = lines_of(part), WIDTHS[part]
    assert lines <= most, (
        f"{part} has {lines:,} lines, {lines - most} too many: take them out, or say what pays for them"
    )
    assert lines > most - SLACK, f"{part} has {lines:,} lines: lower its number in tests/meta/widths.toml"
