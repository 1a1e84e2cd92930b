"""`arena compare` plays until there is an answer. Games take no time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from arena.core.commands.compare import OPEN, compare
from arena.core.commands.playing import Manner
from arena.core.errors import ConfigError
from arena.core.standings.closing import close
from arena.core.standings.report import Report
from arena.core.store.store import Store, open_reader
from arena.core.tournament.settings import Setup
from arena.games.samurai.game import Samurai
from tests import instant


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets games take no time. Returns the tournaments that were played."""
    played = []

    def play(ctx: click.Context, store: Store, setup: Setup, manner: Manner, **_: Any) -> Report:
        begun = instant.start(store, setup.settings, manner.logs, new=manner.new)
        list(instant.runner(store, begun, setup.settings).run())
        played.append(begun.tournament.id)
        return close(store, begun.tournament)

    monkeypatch.setattr("arena.core.commands.compare.play_tournament", play)
    return played


def run(folder: Path, *words: str) -> tuple[dict[str, Any], str]:
    options = ("--db", str(folder / "arena.db"), "--logs", str(folder), "--json", *words)
    done = CliRunner().invoke(compare, ["random", "greedy", *options], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_it_goes_on_if_the_last_deals_take_the_answer_back(tmp_path: Path, played: list[str]) -> None:
    """With this seed two tournaments end because the evidence is enough, and their last rounds make it less."""
    found, said = run(tmp_path, "--seed", "a", "--alpha", "0.5", "--delta", "0", "--max-deals", "160")
    assert len(played) == 3
    assert found["tournaments"] == played
    assert found["deals"] == 160
    assert f"Going on after the 127 deals of tournament {played[0]}." in said
    assert f"Going on after the 152 deals of tournament {played[1]}." in said
    shown, _ = run(tmp_path, "--seed", "a", "--alpha", "0.5", "--delta", "0", "--max-deals", "160")
    assert shown == found


def test_an_answer_is_shown_again_and_not_played_again(tmp_path: Path, played: list[str]) -> None:
    words = ("--seed", "f", "--alpha", "0.5", "--delta", "0")
    found, _ = run(tmp_path, *words)
    assert found["verdict"] in {"better", "worse"}
    shown, said = run(tmp_path, *words)
    assert shown == found
    assert f"This was compared in tournament {played[-1]}; --new compares again." in said
    assert found["tournaments"] == played


def test_a_sequential_test_ends_it_and_others_sit_at_a_table_of_three(tmp_path: Path, played: list[str]) -> None:
    found, _ = run(tmp_path, "--seed", "storm", "--sprt", "0", "50", "--max-deals", "5")
    assert found["sprt"]["elo"] == [0, 50]
    found, _ = run(tmp_path, "--seed", "storm", "--players", "3", "--others", "banzai", "--max-deals", "5")
    assert found["games"] == 3 * found["deals"] == 15
    with open_reader(tmp_path / "arena.db") as reader:
        document = reader.tournament(played[-1])
    assert [bot["name"] for bot in document.settings["bots"]] == ["random", "greedy", "banzai"]


def test_new_begins_anew(tmp_path: Path, played: list[str]) -> None:
    words = ("--seed", "storm", "--max-deals", "8")
    first, _ = run(tmp_path, *words)
    again, _ = run(tmp_path, *words, "--new")
    assert [first["tournaments"], again["tournaments"]] == [played[:1], played[1:]]
    assert again["counts"] == first["counts"]
    longer, _ = run(tmp_path, "--seed", "storm", "--max-deals", "9")
    assert longer["tournaments"] == played[1:], "not the latest one is continued"


def test_fewer_deals_show_what_there_is(tmp_path: Path, played: list[str]) -> None:
    found, _ = run(tmp_path, "--seed", "storm", "--max-deals", "8")
    shown, said = run(tmp_path, "--seed", "storm", "--max-deals", "5")
    assert shown == found
    assert "; a larger --max-deals goes on." in said


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--max-deals", "2"), OPEN), (("--by", "margin"), 0)])
def test_a_pipeline_goes_by_the_exit_code(tmp_path: Path, played: list[str], words: tuple[str, ...], code: int) -> None:
    options = ("--db", str(tmp_path / "arena.db"), "--logs", str(tmp_path), "--quiet", "--seed", "a", "--delta", "0.4")
    junit = tmp_path / "junit.xml"
    done = CliRunner().invoke(compare, ["random", "greedy", *options, *words, "--ci", "--junit", str(junit)])
    assert done.exit_code == code, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert f'failures="{int(code != 0)}"' in junit.read_text(encoding="utf-8")


def test_a_game_that_counts_no_lead_cannot_be_judged_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Samurai, "margin", lambda seats, options: None)
    done = CliRunner().invoke(compare, ["random", "random", "--by", "margin"])
    assert isinstance(done.exception, ConfigError)
    assert "use --by wins" in str(done.exception)
