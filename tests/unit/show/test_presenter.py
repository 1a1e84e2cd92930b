"""Every game can be shown, and showing one loads no other."""

from __future__ import annotations

import sys

import pytest

from arena.errors import InternalError
from arena.record.log import Log
from arena.rules import NAMES
from arena.show.presenter import presenter
from arena.show.replay import Replay


@pytest.mark.parametrize("name", NAMES)
def test_every_game_can_be_shown(name: str) -> None:
    assert presenter(name).__module__ == f"arena.show.{name}.game"


def test_a_game_that_is_not_known() -> None:
    with pytest.raises(InternalError, match="there is none for 'chess'"):
        presenter("chess")


@pytest.mark.parametrize(("played", "other"), [("samurai", "gardener"), ("gardener", "samurai")])
def test_a_replay_loads_no_other_game(
    played: str, other: str, logs: dict[str, Log], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = logs[played]
    folders = tuple(f"arena.{layer}.{other}" for layer in ("rules", "show"))
    for name in [name for name in sys.modules if name.startswith(folders)]:
        monkeypatch.delitem(sys.modules, name)
    assert Replay(log).draw(0, 80)
    assert not [name for name in sys.modules if name.startswith(folders)]
