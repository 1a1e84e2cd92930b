"""The help of commands with many options fits a screen, in groups."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arena.cli import cli
from arena.cli.group import WORDS
from arena.cli.help import FORMAT, HOW, RESULTS, WHAT, WHO, Command, option

SCREEN = 44
"""Lines of a terminal. More options of a format belong where only `--format NAME --help` shows them."""


def shown(*words: str, how: str = "--help") -> list[str]:
    result = CliRunner().invoke(cli, [*words, how], terminal_width=80)
    assert result.exit_code == 0
    return result.output.splitlines()


@pytest.mark.parametrize("name", ["tournament", "match"])
def test_the_help_fits_a_screen(name: str) -> None:
    lines = shown(name)
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", ["tournament", "match"])
def test_rare_options_are_shown_when_all_are_asked_for(name: str) -> None:
    few, all_ = shown(name), shown(name, how="--help-all")
    rare = [line for line in all_ if line not in few]
    assert f"--help-all {len(rare)} more options." == re.sub(r" +(--help-all) .* with", r"\1", few[-2])
    assert any(line.startswith("  --cpu TIME ") for line in rare)
    assert [line for line in all_ if line not in rare] == few


@pytest.mark.parametrize("words", [(), ("league",)])
def test_every_command_has_one_line_in_its_part_of_the_list(words: tuple[str, ...]) -> None:
    group = cli
    for word in words:
        group = group.get_command(click.Context(group), word)  # type: ignore[assignment]
    names = group.list_commands(click.Context(group))
    lines = shown(*words)
    heads = [line for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    listed = [line.split()[0] for line in lines[lines.index(heads[-3]) :] if line.startswith("  ")]
    assert heads[-1] == "Run:" if not words else heads[-1] == "Look:"
    assert names[-len(listed) :] == listed
    assert max(map(len, lines[lines.index(heads[-3]) :])) <= 80


def test_the_help_of_all_commands_says_where_defaults_come_from() -> None:
    assert "arena.toml" in " ".join(shown())


def test_the_options_of_a_tournament_come_in_groups_in_a_fixed_order() -> None:
    heads = [line.removesuffix(":") for line in shown("tournament") if re.fullmatch(r"[A-Z][a-z ]+:", line)]
    assert heads == [WHAT, FORMAT, HOW, RESULTS]


def test_every_option_has_a_line_of_its_own_in_its_group() -> None:
    @click.command(cls=Command)
    @click.argument("bots")
    @option(RESULTS, "--late", help="Comes last but one.")
    @option(WHO, "--first", help="Comes first.")
    @click.option("--none", help="Has no group.")
    def command() -> None:
        """Do it."""

    text = CliRunner().invoke(command, ["--help"]).output
    assert text.partition("Do it.\n\n")[2].splitlines() == [
        "Who plays:",
        "  --first TEXT  Comes first.",
        "Results:",
        "  --late TEXT   Comes last but one.",
        "  --none TEXT   Has no group.",
        "  --help        Show this message and exit.",
    ]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("submit", "'arena league submit'"), ("bot submit", "'arena league submit'"),
        ("league leaderboard cup", "'arena league standings'"), ("league create cup", "'arena league init'"),
        ("bot ls", "'arena tournaments list' or 'arena bot list'"), ("new", "'arena bot new'"),
        ("help", "'arena --help'"), ("swiss", "'arena tournament --format swiss'"),
        ("match a b --game x", "'--rules'"), ("match a b --rounds 3", "'--deals'"),
        ("compare a b --deals 3", "'--max-deals'"), ("submitt fox", "'arena league submit'"),
        ("--game x match a b", "'--rules'"), ("league serve cup --port 80", "'--bind'"),
        ("standings latest", "'--tournament latest'"), ("league submit fox cup", "'--league cup'"),
        ("rules samurai", "one of: 'check', 'list', 'show'"),
        ("help match", "'arena match --help'"), ("match -help", "'--help'"),
    ],
)  # fmt: skip
def test_what_is_called_otherwise_elsewhere_is_found(typed: str, meant: str) -> None:
    ended = CliRunner().invoke(cli, typed.split())
    assert ended.exit_code == 2
    assert f"Did you mean {meant}" in ended.output
    assert ended.output.count("Did you mean") == 1


def test_a_value_of_a_few_and_a_folder_that_begins_with_a_dash_are_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-dash").mkdir()
    assert "write './-dash'." in CliRunner().invoke(cli, ["match", "-dash", "random"]).output
    assert "(did you mean 'fenced'?)" in CliRunner().invoke(cli, ["match", "a", "b", "--level", "fence"]).output


def test_an_argument_too_many_is_answered_with_what_to_do() -> None:
    told = "argument (latest). Leave it out: all of the database is meant, and '--db' or '--league' names another."
    assert told in CliRunner().invoke(cli, ["site", "latest"]).output
    assert "(c). It takes A B; leave the rest out." in CliRunner().invoke(cli, ["compare", "a", "b", "c"]).output


def test_words_for_commands_and_options_lead_to_those_that_there_are() -> None:
    for word, meant in WORDS.items():
        assert word not in cli.lazy
        for path in meant.split("' or '"):
            ended = CliRunner().invoke(cli, [*(part for part in path.split()[1:3] if part[0] != "-"), "--help"])
            assert ended.exit_code == 0, path
