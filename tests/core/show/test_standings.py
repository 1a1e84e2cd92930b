"""Tables for people: they fit, they hide nothing, and names cannot draw on the terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from arena.core.catalogue import resolve_options
from arena.core.ratings import refit
from arena.core.show import standings as texts
from arena.core.types import Forfeit, Termination

ROW: dict[str, Any] = {
    "rank": 1, "bot": "greedy-js", "version": "1.0", "rating": 29.04, "half_width": 0.84, "ahead_of_next": 0.5,
    "points": 0.68, "mu": 35.263, "sigma": 5.321, "conservative": 19.3, "games": 300, "wins": 200, "draws": 8,
    "losses": 92, "forfeits": 1, "mean_ms": 12.34, "max_ms": 987.6, "mean_score": None,
    "score_half_width": None,
    "mean_off_turn_ms": None, "off_turn_share": None,
}  # fmt: skip
LEAGUE = [
    {**ROW, "bot": "daimyo", "rating": 38.9, "half_width": 2.1, "ahead_of_next": 0.99999, "points": 0.9967},
    {**ROW, "rank": 2},
    {**ROW, "rank": 2, "bot": "greedy-js#2", "ahead_of_next": 0.9962},
    {**ROW, "rank": 4, "bot": "shogun-with-a-long-name-2027", "ahead_of_next": None, "points": 0.0, "mean_score": 3.0},
]


def shown(table: Text, width: int) -> str:
    screen = io.StringIO()
    Console(file=screen, width=width, color_system=None, soft_wrap=False).print(table)
    return "\n".join(line.rstrip() for line in screen.getvalue().splitlines())


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
    assert texts.game_text({"game": played}) == text
    assert texts.subject_text({"game": played}) == rf"{text}, 3 players, board mine\x1b"
    assert texts.subject_text({"game": played | {"board": None}}) == f"{text}, 3 players"


def test_a_game_that_is_not_known_here_is_told_by_its_name() -> None:
    played = {"rules": "chess", "ruleset": "custom", "options": {"clock": "no"}}
    assert texts.game_text({"game": played}) == "chess custom"


def test_standings_in_60_columns() -> None:
    assert (
        shown(texts.standings_table(LEAGUE, 60), 60)
        == """\
#   bot            rating  95 %     mu  sigma  points  games
────────────────────────────────────────────────────────────
1   daimyo           38.9  ±2.1  35.26   5.32  99.7 %    300
2=  greedy-js        29.0  ±0.8  35.26   5.32    68 %    300
2=  greedy-js#2      29.0  ±0.8  35.26   5.32    68 %    300
4   shogun…e-2027    29.0  ±0.8  35.26   5.32     0 %    300"""
    )


def test_standings_in_80_columns() -> None:
    assert (
        shown(texts.standings_table(LEAGUE, 80), 80)
        == """\
#   bot                      rating  95 %     mu  sigma  points  games  forfeits
────────────────────────────────────────────────────────────────────────────────
1   daimyo                     38.9  ±2.1  35.26   5.32  99.7 %    300         1
2=  greedy-js                  29.0  ±0.8  35.26   5.32    68 %    300         1
2=  greedy-js#2                29.0  ±0.8  35.26   5.32    68 %    300         1
4   shogun-with…g-name-2027    29.0  ±0.8  35.26   5.32     0 %    300         1"""
    )


def test_all_standings_in_110_columns() -> None:
    assert (
        shown(texts.standings_table(LEAGUE, 110, verbose=True), 110)
        == """\
                                                                                          ahead  mean
#   bot                           rating  95 %     mu  sigma  points  games  forfeits   of next    ms
─────────────────────────────────────────────────────────────────────────────────────────────────────
1   daimyo                          38.9  ±2.1  35.26   5.32  99.7 %    300         1  > 99.9 %  12.3
2=  greedy-js                       29.0  ±0.8  35.26   5.32    68 %    300         1      50 %  12.3
2=  greedy-js#2                     29.0  ±0.8  35.26   5.32    68 %    300         1    99.6 %  12.3
4   shogun-with-a-long-name-2027    29.0  ±0.8  35.26   5.32     0 %    300         1            12.3"""
    )


def test_what_fits_80_columns_is_always_there_and_all_else_if_asked_for() -> None:
    def head(*, verbose: bool) -> list[str]:
        return re.findall(r"\S+", shown(texts.standings_table(LEAGUE, 300, verbose=verbose), 300).split("─")[0])

    basic = ["#", "bot", "rating", "95", "%", "mu", "sigma", "points", "games", "forfeits"]
    assert head(verbose=False) == basic
    above = ["ahead", "mean", "mean", "max"]
    assert head(verbose=True) == [*above, *basic, *["of", "next", "W", "D", "L", "score", "ms", "ms", "version"]]


def test_the_course_of_ratings_is_on_one_scale_and_leaves_a_narrow_table() -> None:
    courses = {row["bot"]: [25.0, 20.0 + number] for number, row in enumerate(LEAGUE)}
    wide = shown(texts.standings_table(LEAGUE, 300, courses=courses, verbose=True), 300)
    assert wide.splitlines()[3].count("█") == 1
    assert "▁" in wide.splitlines()[3]
    assert "course" in wide
    assert "course" not in shown(texts.standings_table(LEAGUE, 60, courses=courses), 60)
    assert texts.sparklines({"a": [3, 3]}) == {"a": "▁▁"}
    assert texts.sparklines({}) == {}


def test_a_display_name_stands_last_and_moves_nothing() -> None:
    names = ("狐の女将", "ינשוף", "")
    lines = shown(texts.standings_table([{**ROW, "display_name": name} for name in names], 120), 120).split("\n")
    plain = shown(texts.standings_table([ROW] * 3, 120), 120).split("\n")
    assert [line.removesuffix(f"  {name}") for line, name in zip(lines[-3:], names, strict=True)] == plain[-3:]
    assert "shown as" not in "".join(plain)


def test_a_table_may_be_long() -> None:
    """What is read of all cells is read once a column: else this takes an hour."""
    names = [f"bot-{number}" for number in range(10_000)]
    table = texts.standings_table([{**ROW, "bot": name} for name in names], 80).plain
    assert [line.split()[1] for line in table.splitlines()[2:]] == names


def test_columns_leave_in_the_order_that_the_help_tells() -> None:
    def columns(width: int) -> set[str]:
        head, *_ = shown(texts.standings_table(LEAGUE, width, verbose=True), width).split("─")
        return set(head.split())

    order = [{"version"}, {"max"}, {"score"}, {"W", "D", "L"}, {"ms"}, {"ahead", "of", "next"}]
    order += [{"forfeits"}, {"games"}, {"mu", "sigma"}]
    left = [columns(width) for width in range(300, 39, -1)]
    gone = [before - after for before, after in pairwise(left) if before != after]
    assert [names - {"mean"} for names in gone] == order
    assert left[-1] == {"#", "bot", "rating", "95", "%", "points"}, "points leave below 40 columns"


def test_nobody_shares_a_rank_with_themselves() -> None:
    ranks = [line.split()[0] for line in shown(texts.standings_table(LEAGUE, 80), 80).splitlines()[2:]]
    assert ranks == ["1", "2=", "2=", "4"]
    assert shown(texts.standings_table(LEAGUE[:2], 80), 80).splitlines()[2].startswith("1  daimyo")


def test_a_rating_that_was_given_has_no_interval() -> None:
    assert " fixed " in shown(texts.standings_table([{**ROW, "half_width": 0.0}], 80), 80)


def test_before_any_game_there_are_no_ratings() -> None:
    keys = ("rating", "half_width", "ahead_of_next", "points")
    rows = [{**ROW, **dict.fromkeys(keys), "bot": name} for name in ("ann", "bob")]
    table = shown(texts.standings_table(rows, 300), 300)
    assert "rating" not in table
    assert "sigma" in table


def test_a_version_is_not_said_twice() -> None:
    table = shown(
        texts.standings_table([{**ROW, "bot": "greedy 1.0"}, {**ROW, "bot": "banzai"}], 300, verbose=True), 300
    )
    assert [line.split()[1] for line in table.splitlines()[3:]] == ["greedy", "banzai"]
    assert [line.endswith(" 1.0") for line in table.splitlines()[3:]] == [False, True]


ORDER: dict[str, Any] = {"enough": True, "open": []}


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (ORDER, "Order settled (95 %, all pairs at once). "),
        ({**ORDER, "open": [["b", "c"]]}, "Order settled (95 %, all pairs at once) but for: b = c. "),
        ({**ORDER, "open": [["b", "c"], ["d", "e\x1b"]]}, r"once) but for: b = c; d = e\x1b. "),
        ({**ORDER, "open": [[*"abcd"]]}, "Order open: no bot is shown to be better than another"),
        ({**ORDER, "enough": False}, "Too few deals, under 10: the intervals are rough. Order settled"),
        ({**ORDER, "open": [[*"abcdefgh"]]}, " for: a = b = c = d = e = … (8 bots). "),
        ({**ORDER, "open": [["a", "b"]] * 9}, "; a = b; 3 more groups. "),
    ],
)
def test_the_line_below_says_what_is_settled(order: dict[str, Any], words: str) -> None:
    rows = [{**ROW, "bot": name} for name in "abcd"] + [{**ROW, "bot": "late", "games": 0}]
    text = texts.order_text(order, rows)
    assert words in text
    assert "one bot alone" not in text
    assert text.endswith("Ratings are relative; 4.2 apart means 76 : 24.")


def test_bots_that_lie_apart_and_share_a_rank_are_explained() -> None:
    """The ranks that are open stand beside them where the shared ones do not tell."""
    far = {**ROW, "bot": "far", "rating": 20.7, "half_width": 6.1, "worst_rank": 4}
    rows = [{**ROW, "rating": 34.9, "half_width": 6.8, "worst_rank": 2}, far, {**far, "rank": 2, "bot": "last"}]
    assert "An interval is about one bot alone, so that equal bots may lie apart" in texts.order_text(ORDER, rows)
    table = shown(texts.standings_table(rows, 100), 100)
    assert [re.findall(r" (\d-\d) ", line) for line in table.splitlines()[2:]] == [["1-2"], ["1-4"], ["2-4"]]
    plain = [{**row, "rank": 1, "worst_rank": 3} for row in rows]
    assert "ranks" not in shown(texts.standings_table(plain, 100), 100), (
        "they share all ranks, as the first column says"
    )


def test_the_numbers_of_the_line_below_are_those_of_the_refit() -> None:
    assert texts.ENOUGH_DEALS == refit.ENOUGH_DEALS
    assert texts.order_text(None, []) == ""


def crossed(names: Sequence[str]) -> list[dict[str, Any]]:
    met = {"games": 4, "better": 3, "equal": 0, "worse": 1, "score": 0.75}
    return [{"bot": one, "against": [{"bot": other, **met} for other in names if other != one]} for one in names]


def test_the_crosstable_has_cells_for_those_who_met() -> None:
    def score(bot: str, games: int, share: float) -> dict[str, Any]:
        return {"bot": bot, "games": games, "better": 0, "equal": 0, "worse": 0, "score": share}

    rows = [
        {"bot": "ann", "against": [score("cid", 4, 0.625)]},
        {"bot": "bob", "against": []},
        {"bot": "cid", "against": [score("ann", 4, 0.375)]},
    ]
    assert (
        shown(texts.crosstable_table(rows, 80), 80)
        == """\
#  bot    1  2    3
───────────────────
1  ann    ·     62%
2  bob       ·
3  cid  38%       ·"""
    )


def test_a_large_crosstable_comes_in_blocks_of_columns() -> None:
    names = [f"bot-{number}" for number in range(1, 31)]
    blocks = shown(texts.crosstable_table(crossed(names), 80), 80).split("\n\n")
    heads = [block.splitlines()[0].split() for block in blocks]
    assert {tuple(head[:2]) for head in heads} == {("#", "bot")}
    assert [int(number) for head in heads for number in head[2:]] == list(range(1, 31))
    assert len(blocks) == 3
    for block in blocks:
        assert [line.split()[:2] for line in block.splitlines()[2:]] == [[str(n), f"bot-{n}"] for n in range(1, 31)]
    assert len(shown(texts.crosstable_table(crossed(names), 300), 300).split("\n\n")) == 1


def test_csv_has_everything() -> None:
    assert sorted(texts.standings_columns(LEAGUE)) == sorted(ROW)
    assert texts.standings_columns([{**ROW, "digest": "ab"}])[-1] == "digest"
    assert texts.standings_columns([])[:2] == ["rank", "bot"]


def forfeit(*stderr: str) -> Forfeit:
    return Forfeit(
        seat=1, code=Termination.TIMEOUT,
        sentence="seat 1 exceeded its time by 240 ms (the machine was overloaded: it ran late)", turn=7, stderr=stderr,
        overloaded=True,
    )  # fmt: skip


FILES = {"log": "logs/x.jsonl", "its output": "logs/x.seat1.output"}


def test_a_forfeit_names_the_bot_and_where_to_look() -> None:
    assert texts.forfeit_text(forfeit("before", "last \x1b[2J"), "slow\n#2", "./slow\n", FILES).splitlines() == [
        r"slow\n#2 (seat 1, turn 7) exceeded its time by 240 ms (the machine was overloaded: it ran late)",
        "  log: logs/x.jsonl",
        "  its output: logs/x.seat1.output",
        r"  its last words: last \x1b[2J",
        r"  ask it again: arena bot rerun logs/x.jsonl './slow\n' --seat 1",
    ]


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        ((), []),
        (("a 12:30 note",), ["a 12:30 note"]),
        (('  File "/bots/kite/bot.py", line 12, in decide', "    return 1 / 0", "ZeroDivisionError: division by zero"),
         ['File "/bots/kite/bot.py", line 12, in decide', "ZeroDivisionError: division by zero"]),
        (("panic: runtime error", "goroutine 1 [running]:", "\t/bots/kite/main.go:12 +0x1b", "exit status 2"),
         ["/bots/kite/main.go:12 +0x1b", "exit status 2"]),
        (("TypeError: x", "    at decide (/bots/kite/bot.js:9:5)"), ["at decide (/bots/kite/bot.js:9:5)"]),
    ],
)  # fmt: skip
def test_last_words_say_where_a_bot_crashed(stderr: tuple[str, ...], words: list[str]) -> None:
    text = texts.forfeit_text(forfeit(*stderr), "kite", "kite", FILES)
    assert re.findall(r"its last words: (.*)", text) == words


def test_cpu_time_off_turn_is_shown_where_it_was_measured() -> None:
    measured = {**ROW, "mean_off_turn_ms": 1234.5, "off_turn_share": 0.9}
    table = texts.standings_table([ROW, measured], 200, verbose=True).plain
    assert "off turn" in table
    assert "1234" in table
    assert "off turn" not in texts.standings_table([ROW], 200, verbose=True).plain


@pytest.mark.parametrize(
    ("ms", "share", "is_much"),
    [
        (1234.5, 0.9, True), (100.0, 0.5, True), (99.0, 3.0, False), (5000.0, 0.49, False), (0.0, None, False),
        (None, None, False),
    ],
)  # fmt: skip
def test_who_computed_much_of_its_opponents_time_is_named(ms: float | None, share: float | None, is_much: bool) -> None:
    rows = [{"bot": "ronin", "mean_off_turn_ms": ms, "off_turn_share": share}]
    assert bool(texts.off_turn_lines(rows)) == is_much


def test_the_sentence_says_how_much() -> None:
    [line] = texts.off_turn_lines([{"bot": "ronin", "mean_off_turn_ms": 1234.5, "off_turn_share": 0.904}])
    assert line == (
        "ronin computed while others were to move: 1,234 ms of CPU a game, 90 % of the time that they thought. "
        "--level strict prevents that."
    )
