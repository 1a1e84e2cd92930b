"""What is said of forfeits and void games while games are played."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from arena.core.commands.playing import ForfeitNews


def test_a_game_that_the_standings_lack_is_told_quietly_too(capsys: pytest.CaptureFixture[str]) -> None:
    forfeits = ForfeitNews(cast(Any, None), "logs")  # of a game without forfeits it asks nothing of the set-up
    for void in (False, True):
        result = SimpleNamespace(game="cup-000007", log="cup-000007.jsonl", seats=())
        forfeits.tell(cast(Any, SimpleNamespace(result=result, void=void)), quiet=True)
    assert capsys.readouterr().err == (
        "Game cup-000007 is void, because the machine was overloaded, and not played again.\n"
    )
