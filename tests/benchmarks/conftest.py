"""The benchmarks as modules. They are scripts, and import each other from their own folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def benchmark_module(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports a benchmark by its name."""
    monkeypatch.syspath_prepend(root / "benchmarks")
    return importlib.import_module
