"""Text from strangers, on every way to a terminal, a file for a spreadsheet or a program: nothing can act or hide."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.columns import Columns
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from arena.cli import output
from arena.cli.group import Failure
from arena.cli.output import echo, say, show, show_csv, show_json, show_line
from arena.core.errors import ArenaError
from arena.core.text import plain_json, without_surrogates

ANY = st.text(st.characters())  # also lone surrogates
HOSTILE = st.lists(
    st.sampled_from(["\x1b[2J", "\x9b31m", "\u202e", "\r", "\n", "\x00", "\ud800", "\u2028", "\u200b", "\x7f", "a"])
).map("".join)
VALUE = st.recursive(
    ANY | HOSTILE | st.integers(-(2**63), 2**63) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    max_leaves=6,
)


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed; it is visible, line by line."""
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert all(line.isprintable() for line in text.split("\n")), ascii(text)
    output.console.cache_clear()
    return text


@given(VALUE)
def test_json_is_visible_and_means_the_same(value: Any) -> None:
    clean = without_surrogates(value)
    document = msgspec.json.format(msgspec.json.encode(clean), indent=2).decode()
    shown = plain_json(document)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert json.loads(shown) == clean


@pytest.mark.parametrize("text", ["\x1b[2Jgone", "\x9b31m", "a\u202eb", "one\r\ntwo", "\ud800", "\u2028"])
class TestEveryWay:
    """Of text to a reader, once with each kind of hostile text."""

    def test_lines(self, text: str, capsys: pytest.CaptureFixture[str]) -> None:
        echo(text)
        assert printed(capsys).count("\n") == 1
        show_line(text)
        say(text)
        printed(capsys)

    def test_what_rich_draws(self, text: str, capsys: pytest.CaptureFixture[str]) -> None:
        table = Table(text, text)
        table.add_row(Text(text, "bold"), text)
        for drawn in (Text(text), text, table, Panel(text, title=text), Columns([text, Text(text)])):
            show(drawn)
        printed(capsys)

    def test_json(self, text: str, capsys: pytest.CaptureFixture[str]) -> None:
        show_json({"name": text, text: [text]})
        clean = without_surrogates(text)
        assert json.loads(printed(capsys)) == {"name": clean, clean: [clean]}

    def test_csv(self, text: str, capsys: pytest.CaptureFixture[str]) -> None:
        show_csv(["name"], [{"name": text}])
        rows = list(csv.reader(io.StringIO(printed(capsys))))
        assert len(rows) == 2

    def test_errors(self, text: str) -> None:
        assert Failure(ArenaError(text), "our remark").format_message().count("\n") == 1
        assert all(line.isprintable() for line in Failure(ArenaError(text), "x").format_message().split("\n"))


@given(HOSTILE)
def test_colours_stay_and_text_cannot_add_any(text: str) -> None:
    with_colours = type(output.console())(
        file=io.StringIO(), force_terminal=True, color_system="truecolor", no_color=False, width=200
    )
    with_colours.print(Text(text, "bold red"), soft_wrap=True)
    assert isinstance(with_colours.file, io.StringIO)
    shown = with_colours.file.getvalue()
    for ours in ("\x1b[1;31m", "\x1b[0m"):
        shown = shown.replace(ours, "")
    assert all(line.isprintable() for line in shown.split("\n")), ascii(shown)
