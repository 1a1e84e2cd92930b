"""What commands print for every command: here, themselves."""

from __future__ import annotations

import shlex

import pytest

from arena.cli.output import command_line
from arena.core.commands.tournament import tournament


@pytest.mark.parametrize(
    "words",
    [
        "random greedy --deals 2 --keep-bots --json",
        "random greedy --fresh",
        "random --rule a=b --rule 'c=d e' --new",
        "",
    ],
)
def test_a_command_is_printed_with_the_options_that_were_given(words: str) -> None:
    context = tournament.make_context("arena tournament", shlex.split(words))
    printed = shlex.split(command_line(context))
    assert sorted(printed) == sorted(["arena", "tournament", *shlex.split(words)])
    again = tournament.make_context("arena tournament", printed[2:])
    assert {name: value for name, value in again.params.items() if name != "make_game"} == {
        name: value for name, value in context.params.items() if name != "make_game"
    }
