"""The ratchet: no part of the project is wider than its number in `widths.toml`, and no number is out of date.

The same file lists what still crosses the borders between the core and its wings, which may only shrink.

A part gets wider only by what another loses, in the same commit.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.meta.test_layers import MODULES, imports, module_name

ROOT = Path(__file__).parents[2]
RATCHET: dict[str, Any] = tomllib.loads(Path(__file__).with_name("widths.toml").read_text(encoding="utf-8"))
WIDTHS: dict[str, int] = RATCHET["lines"]
WINGS = {"games", "sandbox", "author", "pages", "learn", "cluster", "league"}
SLACK = 50  # how far a part may be below its number before the number must follow
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


def test_the_page_on_the_program_says_how_large_its_folders_are() -> None:
    page = (ROOT / "arena" / "README.md").read_text(encoding="utf-8")
    for name, told in re.findall(r"^\| `(\w+)/` \| ([0-9]+) \|", page, re.MULTILINE):
        assert abs(lines_of(f"arena/{name}") - 1_000 * int(told)) <= 1_000, f"arena/{name} is not what the page says"


def folder(dotted: str) -> str:
    """The folder of `arena/` that a module lies in; nothing for those beside the folders."""
    names = dotted.split(".")
    return names[1] if names[0] == "arena" and len(names) > 2 else ""


def imported(own: str) -> Iterator[tuple[str, str]]:
    """Each module of a folder, with a wing's module that it imports."""
    for path in MODULES:
        module = module_name(path)
        if folder(f"{module}.") == own:
            yield from ((module, name) for name in set(imports(path)) if folder(f"{name}.") in WINGS - {own})


def test_the_core_imports_no_more_of_its_wings_than_the_list_says() -> None:
    found: dict[str, list[str]] = {}
    for module, name in sorted(imported("core")):
        found.setdefault(module, []).append(name)
    assert found == RATCHET["core_imports"], "the list may only shrink: take out what is gone"


def test_wings_import_no_more_of_each_other_than_the_list_says() -> None:
    found = Counter(f"{wing} -> {folder(f'{name}.')}" for wing in sorted(WINGS) for _, name in imported(wing))
    assert found == RATCHET["wing_imports"], "a number may only go down"
