"""No text from a bot reaches a terminal as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.text import plain


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("one\r\ntwo\ttabs", r"one\r\ntwo\ttabs"),
        ("\x9b31m", r"\x9b31m"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("\u200binvisible\U000e0041", r"\u200binvisible\U000e0041"),
        ("line\u2028end", r"line\u2028end"),
        ("\ud800", r"\ud800"),
        ("[bold]no markup[/bold] \u65e5\u672c \u00e9", "[bold]no markup[/bold] \u65e5\u672c \u00e9"),
    ],
)
def test_what_a_terminal_could_act_on_is_spelled_out(hostile: str, shown: str) -> None:
    assert plain(hostile) == shown


@given(st.text(st.characters()))
def test_plain_text_is_one_line_of_visible_characters(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable()
    assert plain(shown) == shown
