"""Examples in docstrings show what happens."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import arena

PACKAGE = Path(arena.__file__).parent
MODULES = sorted(
    ".".join(("arena", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed


def test_there_are_examples() -> None:
    assert "arena.core.text" in MODULES
