"""A person at the board: `arena play` at a real terminal, whole games of each game, and every way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.core.record.log import ForfeitRecord, OutcomeRecord, read_log
from tests.command_kit import arena
from tests.terminal_kit import Person, at_terminal

OVER = "q leaves"


def log_of(folder: Path) -> Path:
    [log] = folder.glob("logs/play-*/*.jsonl")
    return log


def plays_on(person: Person, *, until: str = OVER, most: int = 2_000) -> str:
    """Chooses what is offered first, whatever it is, until the page shows some words."""
    for _ in range(most):
        page = person.sees(lambda page: until in page or "Enter choose" in page or "Enter sends" in page)
        if until in page:
            return page
        person.types("\r" * 4)
    raise AssertionError(f"no {until!r} after so many choices:\n{person.page()}")


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("options", "bots"),
    [
        (("--ruleset", "basic", "--seat", "1"), ["random", "me"]),
        (("--rules", "gardener", "--ruleset", "young", "--rule", "target=4"), ["me", "random"]),
    ],
    ids=["samurai", "gardener"],
)
def test_a_person_plays_a_whole_game(tmp_path: Path, options: tuple[str, ...], bots: list[str]) -> None:
    with at_terminal(tmp_path, "play", "--name", "me", "--seed", "tea", *options) as person:
        end = plays_on(person)
        assert "The game is over" in end
        person.types("q")
        assert person.ends() == 0
    log = log_of(tmp_path)
    header = read_log(log).header
    assert [bot.name for bot in header.bots] == bots
    assert header.bots[bots.index("me")].version == "person"
    assert str(header.settings.time) == "off"
    last = read_log(log).records[-1]
    assert isinstance(last, OutcomeRecord)
    assert last.termination == "finished"
    assert f"arena replay {log.relative_to(tmp_path)}" in person.said
    arena(tmp_path, "verify", str(log))


@pytest.mark.long
def test_choices_by_number_name_and_arrow_are_undone_and_sent(tmp_path: Path) -> None:
    with at_terminal(tmp_path, "play", "random", "--rule", "hand=chosen", "--seed", "tea") as person:
        person.sees("Which tile for your first hand? (5 left)")
        person.types("rice4\r")
        person.sees(lambda page: "rice 4: Which tile" in page and "(4 left)" in page)
        person.types("\x7f")
        person.sees("(5 left)")
        person.types("rice\r")
        person.sees("expected one of those offered, got: rice")
        for key in ("16\r", "ronin\r", "Ship 1\r", "\x1b[B\x1b[B\r", "castle 4\r"):
            person.types(key)
            person.reads()
        person.sees("Enter sends this turn")
        person.types("?")
        person.sees("You lead a caste if you capture more of its pieces")
        person.types("?")
        person.sees("undo the last choice")
        person.types("?")
        person.types("\r")
        page = person.sees("Which piece?")
        assert "guest (seat 0) takes 5 tiles: " in page.replace("\n  ", " ")
        assert "sw" in page
        person.types("!n")
        person.sees("Which piece?")
        person.types("!y")
        assert person.ends() == 0
    records = read_log(log_of(tmp_path)).records
    [forfeit] = [record for record in records if isinstance(record, ForfeitRecord)]
    assert forfeit.forfeits[0].code == "crashed"
    assert "the person resigned" in log_of(tmp_path).with_suffix(".seat0.output").read_text()


def test_the_others_play_on_when_a_person_resigns(tmp_path: Path) -> None:
    options = ("--players", "3", "--ruleset", "basic", "--json")
    with at_terminal(tmp_path, "play", "random", *options) as person:
        person.sees("Enter choose")
        person.types("!y")
        assert person.ends() == 0
    document = json.loads(person.said[person.said.index("{\r\n") :])
    assert document["bots"] == ["guest", "random", "random#2"]
    assert document["ranks"][0] == 3
    assert document["termination"] == "finished"
    assert document["settings"]["time"]["off"] is True


@pytest.mark.long
def test_ctrl_c_the_end_of_input_and_another_size(tmp_path: Path) -> None:
    with at_terminal(tmp_path, "play", "random", width=60) as person:
        person.sees("The board needs 80 columns")
        person.resizes(100, 30)
        page = person.sees("Enter choose")
        assert len(page.splitlines()) == 30
        person.interrupts()
        assert person.ends() == 130
    assert "Interrupted: a game that is not over has no log." in person.said
    assert not list(tmp_path.glob("logs/*/*.jsonl"))
    with at_terminal(tmp_path, "play", "random") as person:
        person.sees("Enter choose")
        person.types("\x04")
        assert person.ends() == 0, "the end of input resigns"
    assert "2. guest (seat 0)" in person.said


def test_a_clock_that_is_on_runs_for_a_person_too(tmp_path: Path) -> None:
    with at_terminal(tmp_path, "play", "random", "--time", "300ms/move") as person:
        assert person.ends() == 0
    [forfeit] = [record for record in read_log(log_of(tmp_path)).records if isinstance(record, ForfeitRecord)]
    assert forfeit.forfeits[0].code == "timeout"


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("random", "random", "--players", "2"), "expected at most 1 bots at a table of 2, got: 2"),
        (("--seat", "2"), "expected a seat in 0..1, got: 2"),
        (("--name", "a b"), "as the name of a bot, got: 'a b'"),
        (("daimyo", "--rules", "gardener"), "which plays samurai"),
        (("nobody",), "got: 'nobody'"),
    ],
)
def test_what_cannot_be_played(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    with at_terminal(tmp_path, "play", *words) as person:
        assert person.ends() != 0
    assert reason in person.said.replace("\r\n", " ")


def test_a_terminal_is_needed_and_only_here_the_clock_can_be_off(tmp_path: Path) -> None:
    done = arena(tmp_path, "play", code=2)
    assert "expected a terminal to play at, got: a file or a pipe" in done.stderr
    done = arena(tmp_path, "match", "random", "random", "--time", "off", code=2)
    assert "expected a clock" in done.stderr
