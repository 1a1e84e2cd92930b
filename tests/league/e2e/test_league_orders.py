"""Bad orders and a service that really runs: none keeps it from starting, and none ends it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import msgspec
import pytest

from arena.core import files
from arena.core.types import Payload
from arena.league.folder import Folder
from arena.league.season.opening import make_league
from arena.league.service.inbox import new_order
from arena.league.settings import Bots, Game, Settings
from tests.command_kit import arena, started

BAD: tuple[tuple[str, Payload], ...] = (
    ("author_add", {"name": "bad name!"}),
    ("replay_games", {"matches": [2**63]}),
    ("season_close", {"season": "first", "next": "\n"}),
    ("dance", {}),
)


@pytest.fixture
def cup(tmp_path: Path) -> Folder:
    game = Game(rules="samurai", ruleset="basic", time="5/move")
    cup = make_league(tmp_path / "cup", Settings(name="cup", game=game, bots=Bots(level="trusted")))
    text = cup.settings.read_text(encoding="utf-8")
    cup.settings.write_text(re.sub(r"every_s = \d+", "every_s = 0", text), encoding="utf-8")  # no pages
    return cup


def leave_bad(cup: Folder) -> list[str]:
    """Leaves orders that no command would write, and what is none; returns what the answers will be called."""
    left = [new_order(verb, arguments) for verb, arguments in BAD]
    for order in left:
        files.write(cup.inbox / f"{order.id}.json", msgspec.json.encode(order))
    (cup.inbox / f"{'x' * 240}.json").write_text("{")
    return [order.id for order in left]


def test_bad_orders_neither_keep_it_from_starting_nor_end_it(cup: Folder, tmp_path: Path) -> None:
    first = leave_bad(cup)
    with started(tmp_path, "league", "run", "cup") as service:
        for left in (first, leave_bad(cup)):
            while not all(cup.answer(order).exists() for order in left):
                assert service.poll() is None, service.communicate()
                time.sleep(0.05)
            codes = [json.loads(cup.answer(order).read_text())["code"] for order in left]
            assert codes == ["argument", "argument", "argument", "verb"]
        assert "The league pauses." in arena(tmp_path, "league", "pause", "cup").stdout
        service.terminate()
        assert service.wait() == 0
    assert cup.orders() == []
    notices = json.loads(arena(tmp_path, "league", "status", "cup", "--json").stdout)["notices"]
    assert {notice["kind"] for notice in notices} == {"order"}, "of the one that is none, and of nothing else"
