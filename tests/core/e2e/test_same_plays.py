"""Equal plays have equal digests, whichever language they come from.

The maps of some languages have no order: those of Go come out in another one each time. So what a bot sends differs
from run to run, and the log holds the action as the rules read it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.core.errors import BotError
from arena.core.link.bots import load_bot
from tests.command_kit import arena


def digests(folder: Path, first: str, second: str, rules: str) -> tuple[str, ...]:
    """Plays a match with a fixed seed, and returns the play digests of its games."""
    done = arena(folder, "match", first, second, "--rules", rules, "--seed", "equal", "--json")
    games = json.loads(done.stdout)["games"]
    assert {game["termination"] for game in games} == {"finished"}
    return tuple(game["play_digest"] for game in games)


@pytest.mark.long(1)
@pytest.mark.parametrize(
    ("bot", "rules"),
    [
        ("greedy-go", "samurai"),
        ("greedy-c", "samurai"),
        ("greedy-java", "samurai"),
        ("greedy-js", "samurai"),
        ("greedy-js", "gardener"),
        ("greedy-rust", "samurai"),
    ],
)
def test_three_runs_have_the_digests_of_greedy_against_itself(bot: str, rules: str, tmp_path: Path) -> None:
    try:
        load_bot(bot)
    except BotError as error:
        pytest.skip(str(error))
    runs = [digests(tmp_path, "greedy", bot, rules) for _ in range(3)]
    assert {*runs} == {digests(tmp_path, "greedy", "greedy", rules)}
