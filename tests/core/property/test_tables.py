"""Tables fit every terminal from 40 columns on, whatever bots are called, and their names can still be read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from arena.cli.output import safe_cell, show_csv
from arena.core.progress import Met, Neighbour, RoundProgress
from arena.core.show.rounds import adaptive_table, bracket, swiss_table
from arena.core.show.standings import (
    CROSSTABLE_COLUMNS,
    crosstable_rows,
    crosstable_table,
    order_text,
    standings_columns,
    standings_table,
)
from arena.core.show.tables import LEAST, elide, wrapped
from arena.core.text import plain

HOSTILE = "ab-.# =+@[]\x1b\n\t\u202e\u200b\u0301é日本🂡\ud800"
NAMES = st.text(st.sampled_from(HOSTILE), min_size=1, max_size=70) | st.text(min_size=1, max_size=40)
LEAGUES = st.lists(NAMES, min_size=2, max_size=12, unique=True)
WIDTHS = st.integers(40, 300)
SHARES = st.sampled_from([0.0, 0.0004, 0.5, 0.75, 0.9967, 1.0])
MAYBE = st.none() | SHARES


def lines_of(table: Text, width: int) -> list[str]:
    """Returns the lines of a table, and checks that the terminal needs no others and nothing acts on it."""
    lines = table.plain.split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert all(plain(line) == line for line in lines)
    screen = io.StringIO()
    Console(file=screen, width=width, color_system=None).print(table)
    assert [line.rstrip() for line in screen.getvalue().splitlines()] == [line.rstrip() for line in lines]
    return lines


def is_there(name: str, text: str) -> bool:
    """Says whether a name is whole, or its first and last characters, at least `LEAST` of them, are there."""
    escaped = plain(name)
    if escaped.rstrip() in text:  # spaces at the end of a line are not printed
        return True
    cuts = [(begin, kept - begin) for kept in range(LEAST, len(escaped)) for begin in [kept - kept // 2]]
    return any(f"{escaped[:begin]}…{escaped[len(escaped) - end :]}".rstrip() in text for begin, end in cuts)


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Standings with any numbers in them."""
    whole = st.integers(0, 10**7)
    real = st.floats(-99, 10**4)
    return [
        {
            "rank": draw(st.integers(1, 10**4)), "bot": name,
            "version": draw(st.sampled_from(["", "1.0", "\x1b" * 64])),
            "rating": draw(st.none() | real), "half_width": draw(st.none() | real), "ahead_of_next": draw(MAYBE),
            "points": draw(MAYBE), "mu": draw(real), "sigma": draw(real), "conservative": draw(real),
            "games": draw(whole), "wins": draw(whole), "draws": draw(whole), "losses": draw(whole),
            "forfeits": draw(whole), "mean_ms": draw(real), "max_ms": draw(real), "mean_score": draw(st.none() | real),
            "mean_off_turn_ms": draw(st.none() | real), "off_turn_share": draw(st.none() | real),
        }
        for name in draw(LEAGUES)
    ]  # fmt: skip


@given(NAMES.map(plain).filter(lambda name: "…" not in name), st.integers(0, 80))
def test_a_name_keeps_its_ends(name: str, width: int) -> None:
    shown = elide(name, width)
    if shown == name:
        return
    first, last = shown.split("…")
    assert cell_len(name) > width
    assert name.startswith(first)
    assert name.endswith(last)
    assert len(first) + len(last) >= LEAST
    assert 0 <= len(first) - len(last) <= 1
    assert cell_len(shown) <= width or len(first) + len(last) == LEAST


@settings(max_examples=50)
@given(rows(), WIDTHS, st.booleans(), st.lists(st.floats(-99, 10**4), max_size=8))
def test_standings_fit(league: list[dict[str, Any]], width: int, verbose: bool, course: list[float]) -> None:
    courses = {row["bot"]: [row["mu"], *course] for row in league[1:]}
    text = "\n".join(lines_of(standings_table(league, width, verbose=verbose, courses=courses), width))
    assert all(is_there(row["bot"], text) for row in league)


@given(LEAGUES, WIDTHS, st.booleans())
def test_the_line_below_fits(names: list[str], width: int, enough: bool) -> None:
    order = {"enough": enough, "open": [names[:2], names[2:]] if len(names) > 3 else [names[:2]]}
    text = order_text(order, [{"games": 1}] * (len(names) + 1))
    assert "".join("".join(lines_of(wrapped(text, width), width)).split()) == "".join(text.split())


@settings(max_examples=50)
@given(st.lists(NAMES, min_size=2, max_size=40, unique=True), WIDTHS, SHARES)
def test_a_crosstable_fits_in_blocks(names: list[str], width: int, share: float) -> None:
    table = [
        {"bot": one, "against": [{"bot": o, "games": 4, "score": share} for o in names if o != one]} for one in names
    ]
    lines = lines_of(crosstable_table(table, width), width)
    blocks = "\n".join(lines).split("\n\n")
    assert all(len(block.splitlines()) == len(names) + 2 for block in blocks)
    assert all(is_there(name, block) for name in names for block in blocks)


def met(bots: Sequence[str], share: float | None) -> Met:
    shares = None if share is None else (share, *[1 - share] * (len(bots) - 1))
    return Met(bots=tuple(bots), shares=shares, deals=2, done=share is not None)


@given(LEAGUES, WIDTHS, st.lists(MAYBE, min_size=1, max_size=9), st.integers(2, 4))
def test_rounds_fit(names: list[str], width: int, shares: list[float | None], seats: int) -> None:
    tables = [names[at : at + seats] for at in range(0, len(names) - seats + 1, seats)]
    rest = tuple(names[seats * len(tables) :])
    rounds = [
        RoundProgress(title=f"round {n}", meetings=tuple(met(table, share) for table in tables), byes=rest)
        for n, share in enumerate(shares, 1)
    ]
    text = "\n".join(lines_of(swiss_table(rounds, dict.fromkeys(names, 1.5), width), width))
    assert all(is_there(name, text) for name in names)
    if tables:
        text = "\n".join(lines_of(bracket(rounds[:1], width), width))
        assert all(is_there(name, text) for name in names)


@given(st.lists(NAMES, min_size=2, max_size=16, unique=True), WIDTHS, st.lists(MAYBE, min_size=15, max_size=15))
def test_a_bracket_fits(names: list[str], width: int, shares: list[float | None]) -> None:
    """The one who is named first goes on. Without a second one, they rest."""
    rounds, left = [], names
    while len(left) > 1:
        met_now = tuple(met(left[at : at + 2], shares[at]) for at in range(0, len(left) - 1, 2))
        rest = tuple(left[len(left) - len(left) % 2 :])
        rounds.append(RoundProgress(title=f"round of {len(left)}", meetings=met_now, byes=rest))
        left = [left[at] for at in range(0, len(left), 2)]
    text = "\n".join(lines_of(bracket(rounds, width, winner=left[0]), width))
    assert all(is_there(name, text) for name in names)


@given(LEAGUES, WIDTHS, SHARES, st.none() | st.floats(0, 10**9))
def test_neighbours_fit(names: list[str], width: int, share: float, evidence: float | None) -> None:
    shown = [Neighbour(bot=name, deals=9, share=share, evidence=evidence, verdict="open") for name in names]
    lines_of(adaptive_table([*shown, Neighbour(bot="last")], evidence, width), width)


@settings(max_examples=50)
@given(rows())
def test_csv_can_be_read_back_and_holds_no_formula(league: list[dict[str, Any]]) -> None:
    heading, *read = printed(standings_columns(league), league)
    back = [dict(zip(heading, row, strict=True)) for row in read]
    assert [row["bot"] for row in back] == [safe_cell(row["bot"]) for row in league]
    for row, told in zip(league, back, strict=True):
        assert told["bot"].removeprefix("'") == plain(row["bot"]).removeprefix("'")
        assert not told["bot"].startswith(("=", "+", "-", "@"))
        assert plain(told["bot"]) == told["bot"]
        numbers = [key for key, value in row.items() if not isinstance(value, str)]
        assert {key: float(told[key]) if told[key] else None for key in numbers} == {key: row[key] for key in numbers}


@given(LEAGUES)
def test_the_crosstable_as_csv_can_be_read_back(names: list[str]) -> None:
    one, *others = names
    cells = [{"bot": o, "games": 4, "better": 3, "equal": 0, "worse": 1, "score": 0.75} for o in others]
    _, *read = printed(CROSSTABLE_COLUMNS, crosstable_rows([{"bot": one, "against": cells}]))
    assert read == [[safe_cell(one), safe_cell(other), "4", "3", "0", "1", "0.75"] for other in others]


def printed(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """What a reader of CSV makes of what `show_csv` prints."""
    with pytest.MonkeyPatch.context() as patch:
        stdout = io.StringIO()
        patch.setattr("sys.stdout", stdout)
        show_csv(columns, rows)
    return list(csv.reader(io.StringIO(stdout.getvalue(), newline="")))
