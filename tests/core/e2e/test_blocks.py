"""No process meets a deal twice: real bots, which tell their output what they meet."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.command_kit import arena

MEMORY = Path(__file__).parents[2] / "memory"
ONE, OTHER = str(MEMORY / "one"), str(MEMORY / "other")


def draft(folder: Path, command: str, *words: str) -> subprocess.CompletedProcess[str]:
    return arena(folder, command, *words, "--rules", "gardener", "--ruleset", "draft", "--seed", "m")


def tournament(folder: Path, *words: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(draft(folder, "tournament", *words, "--json").stdout)
    assert not any(row["forfeits"] for row in document["standings"])
    return document


def meetings(folder: Path) -> list[tuple[str, str, str]]:
    """Which process met which deal, and whether it knew the deal already; one for each game and seat."""
    outputs = [path.read_text() for path in folder.glob("logs/*/*.output")]
    return [re.findall(r"^process (\S+) deal (\S+) (\w+)$", output, re.MULTILINE)[0] for output in outputs]


@pytest.mark.long
def test_no_process_meets_a_deal_twice(tmp_path: Path) -> None:
    document = tournament(tmp_path, ONE, OTHER, ONE, "--deals", "2", "--concurrency", "2")
    met = meetings(tmp_path)
    assert len(met) == 2 * document["games"] == 24
    assert len({deal for _, deal, _ in met}) == 2, "deals were not told apart"
    assert len({(process, deal) for process, deal, _ in met}) == len(met)
    assert {known for *_, known in met} == {"first"}
    assert max(Counter(process for process, *_ in met).values()) == 2, "no process served a whole block"
    assert document["processes"] == document["settings"]["processes"] == "block"


@pytest.mark.long
def test_where_rounds_have_deals_of_their_own_processes_serve_on(tmp_path: Path) -> None:
    words = ("--format", "swiss", "--rounds", "2", "--deals", "2", "--concurrency", "1")
    document = tournament(tmp_path, ONE, OTHER, ONE, OTHER, *words)
    met = meetings(tmp_path)
    assert len({(process, deal) for process, deal, _ in met}) == len(met) == 2 * document["games"] == 32
    assert {known for *_, known in met} == {"first"}
    assert len({process for process, *_ in met}) == 2 * 4, "a bot needs as many processes as a deal has seatings"


@pytest.mark.long
def test_bots_that_are_kept_meet_deals_again_and_standings_say_so(tmp_path: Path) -> None:
    document = tournament(tmp_path, ONE, OTHER, "--deals", "2", "--concurrency", "1", "--keep-bots")
    met = meetings(tmp_path)
    assert len({process for process, *_ in met}) == 2
    assert Counter(known for *_, known in met) == {"first": 4, "again": 4}
    assert document["processes"] == "tournament"
    assert "Bot processes were kept for all games" in standings(tmp_path)


@pytest.mark.long
def test_fresh_bots_play_one_game_each(tmp_path: Path) -> None:
    document = tournament(tmp_path, ONE, OTHER, "--deals", "2", "--concurrency", "1", "--fresh")
    met = meetings(tmp_path)
    assert len({process for process, *_ in met}) == len(met) == 8
    assert document["processes"] == "game"
    assert "kept" not in standings(tmp_path)


def standings(folder: Path) -> str:
    return arena(folder, "standings").stdout


def test_a_match_has_blocks_too(tmp_path: Path) -> None:
    draft(tmp_path, "match", ONE, OTHER, "--deals", "2")
    met = meetings(tmp_path)
    assert len({(process, deal) for process, deal, _ in met}) == len(met) == 8
    assert len({process for process, *_ in met}) == 4
