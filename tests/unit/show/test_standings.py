"""Tables for people: they fit, they hide nothing, and names cannot draw on the terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from arena.games import resolve_options
from arena.show.standings import crosstable_table, forfeit_text, game_text, standings_table, subject_text
from arena.types import Forfeit, Termination

ROW = {
    "rank": 1, "bot": "greedy-js#2", "version": "1.0", "mu": 35.263, "sigma": 5.321, "conservative": 19.3,
    "games": 1200, "wins": 1000, "draws": 150, "losses": 50, "forfeits": 1, "mean_ms": 12.34, "max_ms": 987.6,
    "mean_score": None,
}  # fmt: skip


def shown(table: object, width: int) -> str:
    screen = io.StringIO()
    Console(file=screen, width=width, color_system=None).print(table)
    return screen.getvalue()


@pytest.mark.parametrize(
    ("rules", "ruleset", "rule", "text"),
    [
        ("samurai", None, {}, "samurai standard"),
        ("gardener", "race", {}, "gardener race"),
        ("samurai", None, {"captures": "instant"}, "samurai custom: standard with captures=instant"),
        ("samurai", "basic", {"captures": "instant"}, "samurai custom: basic with captures=instant"),
        ("gardener", "draft", {"target": "9"}, "gardener custom: draft with target=9"),
        ("samurai", "classic", {"setup": "random", "fast": "must_follow"},
         "samurai custom: classic with setup=random fast=must_follow"),
        ("samurai", "basic", {"setup": "draft", "hand": "chosen"}, "samurai standard"),
    ],
)  # fmt: skip
def test_a_game_is_told_by_its_ruleset_or_by_what_differs(
    rules: str, ruleset: str | None, rule: dict[str, str], text: str
) -> None:
    name, options = resolve_options(rules, ruleset, rule)
    played = {"rules": rules, "ruleset": name, "options": options, "players": 3, "board": {"name": "mine\x1b"}}
    assert game_text({"game": played}) == text
    assert subject_text({"game": played}) == rf"{text}, 3 players, board mine\x1b"
    assert subject_text({"game": played | {"board": None}}) == f"{text}, 3 players"


def test_a_game_that_is_not_known_here_is_told_by_its_name() -> None:
    played = {"rules": "chess", "ruleset": "custom", "options": {"clock": "no"}}
    assert game_text({"game": played}) == "chess custom"


def test_the_standings_fit_into_80_columns() -> None:
    lines = shown(standings_table([ROW]), 80).splitlines()
    assert " ".join(lines[-1].split()) == "1 greedy-js#2 1.0 19.30 35.26 5.32 1200 1000 150 50 1 12.3 988"
    assert "…" not in lines[-1]


def test_scores_have_a_column_where_the_game_has_scores() -> None:
    assert "score" not in shown(standings_table([ROW]), 80)
    rows = [{**ROW, "mean_score": 31.75}, {**ROW, "rank": 2, "bot": "late", "mean_score": None}]
    table = shown(standings_table(rows), 80)
    first, second = (" ".join(line.split()) for line in table.splitlines() if line[:2] in ("1 ", "2 "))
    assert "score" in table
    assert first.endswith(" 1200 1000 150 50 1 12.3 988 31.8")
    assert second.endswith(" 1200 1000 150 50 1 12.3 988")
    assert "…" not in table


def test_the_crosstable_leaves_out_a_bot_against_itself_and_games_never_played() -> None:
    def score(bot: str, games: int, share: float) -> dict[str, Any]:
        return {"bot": bot, "games": games, "better": 0, "equal": 0, "worse": 0, "score": share}

    rows = [
        {"bot": "ann", "against": [score("bob", 4, 0.625), score("cid", 0, 0.5)]},
        {"bot": "bob", "against": [score("ann", 4, 0.375), score("cid", 0, 0.5)]},
        {"bot": "cid", "against": [score("ann", 0, 0.5), score("bob", 0, 0.5)]},
    ]
    assert [line.split() for line in shown(crosstable_table(rows), 80).splitlines()[2:]] == [
        ["1", "ann", "·", "62%"],
        ["2", "bob", "38%", "·"],
        ["3", "cid", "·"],
    ]


@pytest.mark.parametrize("name", ["\x1b[2J", "a\nb", "\u202eevil", "[red]"])
def test_names_cannot_draw(name: str) -> None:
    text = shown(standings_table([{**ROW, "bot": name}]), 200)
    assert len(text.splitlines()) == 4
    assert not set("\x1b\u202e") & set(text)
    assert name != "[red]" or name in text


def forfeit(*stderr: str) -> Forfeit:
    return Forfeit(
        seat=1,
        code=Termination.TIMEOUT,
        sentence="seat 1 exceeded its time by 240 ms (the machine was overloaded: it ran late)",
        turn=7,
        stderr=stderr,
        overloaded=True,
    )


FILES = {"log": "logs/x.jsonl", "its output": "logs/x.seat1.output"}


def test_a_forfeit_names_the_bot_and_where_to_look() -> None:
    assert forfeit_text(forfeit("before", "last \x1b[2J"), "slow\n#2", "./slow\n", FILES).splitlines() == [
        r"slow\n#2 (seat 1, turn 7) exceeded its time by 240 ms (the machine was overloaded: it ran late)",
        "  log: logs/x.jsonl",
        "  its output: logs/x.seat1.output",
        r"  its last words: last \x1b[2J",
        r"  ask it again: arena bot rerun logs/x.jsonl './slow\n' --seat 1",
    ]
    assert len(forfeit_text(forfeit("last"), "slow", "slow", FILES, brief=True).splitlines()) == 1


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        ((), []),
        (("a 12:30 note",), ["a 12:30 note"]),
        (
            (
                '  File "/bots/kite/bot.py", line 12, in decide',
                "    return 1 / 0",
                "ZeroDivisionError: division by zero",
            ),
            ['File "/bots/kite/bot.py", line 12, in decide', "ZeroDivisionError: division by zero"],
        ),
        (
            ("panic: runtime error", "goroutine 1 [running]:", "\t/bots/kite/main.go:12 +0x1b", "exit status 2"),
            ["/bots/kite/main.go:12 +0x1b", "exit status 2"],
        ),
        (("TypeError: x", "    at decide (/bots/kite/bot.js:9:5)"), ["at decide (/bots/kite/bot.js:9:5)"]),
    ],
)
def test_last_words_say_where_a_bot_crashed(stderr: tuple[str, ...], words: list[str]) -> None:
    text = forfeit_text(forfeit(*stderr), "kite", "kite", FILES)
    assert re.findall(r"its last words: (.*)", text) == words
