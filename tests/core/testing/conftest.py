"""Kuhn poker, the example of a game in a package of its own, without installing it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "kuhn_poker"))
