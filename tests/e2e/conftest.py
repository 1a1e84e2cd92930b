"""What tests of whole commands share."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests import command_kit
from tests.command_kit import Run


@pytest.fixture
def arena(tmp_path: Path) -> Run:
    """Runs a command in an empty folder: see `command_kit.arena`."""
    return partial(command_kit.arena, tmp_path)
