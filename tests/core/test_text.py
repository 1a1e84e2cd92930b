"""No text from a bot reaches a terminal as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.text import display_fault, plain


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


@pytest.mark.parametrize(
    "name", ["", "The Sly Fox", "狐の女将", "ינשוף", "نمر", "เสือดาว", "क्ष्म्य", "Việt", "🦊 ❤️", "👩\u200d🚀"]
)
def test_a_display_name_is_in_any_script(name: str) -> None:
    assert display_fault(name) == ""


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("x" * 10_000, "expected at most 32 characters, got: 10,000"),
        *[(name, "expected characters that can") for name in ("x\u202ey", "x\u200b", "x\ufe0f", "\u3164", "\x1b[2J")],
        (" fox", "expected no blank at its beginning or end"),
        ("a" + 5 * "\u0301", "expected at most 4 accents"),
        ("é" * 5 + "\u0301" * 4, "expected at most 4 accents"),
    ],
)
def test_a_display_name_that_deceives_is_refused(name: str, fault: str) -> None:
    assert display_fault(name).startswith(fault)
