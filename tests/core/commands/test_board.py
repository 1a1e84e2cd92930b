"""`arena board` as a person and a program call it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from click.testing import CliRunner, Result

from arena.cli import cli
from arena.cli.output import console
from arena.core.commands.board import LONGEST_PROBLEM, MOST_PROBLEMS
from arena.core.resources import board_names, boards_folder
from tests.command_kit import array, record

TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
ANY_FACTS = {"name": TEXT, "source": TEXT, "players": array(COUNT)}
DECK = record(cards=COUNT, squares=record(tatami=COUNT, path=COUNT, pond=COUNT, garden=COUNT), remarks=array(TEXT))
MAP = record(
    players=COUNT, spaces=COUNT, land=COUNT, sea=COUNT, villages=COUNT, cities=COUNT, edos=COUNT, pieces_per_caste=COUNT
)
FACTS = {
    "oneOf": [
        record(rules={"const": "samurai"}, **ANY_FACTS, maps=array(MAP)),
        record(rules={"const": "gardener"}, **ANY_FACTS, deck=DECK),
    ]
}
LIST = record(boards=array(record(board=TEXT, facts=FACTS)))
CHECK = record(
    files=array(
        record(
            file=TEXT,
            problems=array(record(line=COUNT, column=COUNT, reason=TEXT)),
            facts={"oneOf": [{"type": "null"}, FACTS]},
        )
    )
)
WRONG = "nmae: a\nsource: b\nplayers: 2\nmap:\n.2\n   x2\n"


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def run(*args: str | Path) -> Result:
    console.cache_clear()
    return CliRunner().invoke(cli, ["board", *map(str, args)])


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.txt"
    path.write_text(WRONG, encoding="utf-8")
    return path


def test_the_list_has_every_bundled_board() -> None:
    result = run("list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines() if line[0] != " "] == board_names()
    assert "13 pieces of each caste" in " ".join(result.output.split())
    document = json.loads(run("list", "--json").output)
    jsonschema.validate(document, LIST)
    assert [row["board"] for row in document["boards"]] == board_names()


def test_right_files_are_told_what_they_are() -> None:
    files = sorted(boards_folder().glob("*.txt"))
    result = run("check", *files)
    assert result.exit_code == 0
    assert [line for line in result.output.splitlines() if line.endswith(": ok")] == [f"{file}: ok" for file in files]
    assert "Every kind of square occurs 96 times." in result.output
    document = json.loads(run("check", "--json", *files).output)
    jsonschema.validate(document, CHECK)
    assert [row["facts"]["rules"] for row in document["files"]] == ["gardener", "samurai"]


def test_all_problems_of_all_files_are_told_at_once(wrong: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello\n", encoding="utf-8")
    result = run("check", wrong, boards_folder() / "japan.txt", other)
    assert result.exit_code == 1
    heads = [line.split(": ")[0] for line in result.stdout.splitlines() if "expected" in line]
    assert heads == [f"{wrong}:1:1", f"{wrong}:4:1", f"{wrong}:6:4", f"{other}:1:1"]
    assert result.stderr == ""


def test_problems_as_a_document(wrong: Path) -> None:
    result = run("check", wrong, "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    jsonschema.validate(document, CHECK)
    (row,) = document["files"]
    assert (row["file"], row["facts"]) == (str(wrong), None)
    assert [(problem["line"], problem["column"]) for problem in row["problems"]] == [(1, 1), (4, 1), (6, 4)]


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff\xfe" * 1000,
        b"map:\n" + b"??????\n" * 5000,
        b"map:\n\x1b[2J" + b"x" * 100_000,
        "map:\n\u202e\ud7ff\n".encode() * 10,
        b"cards:\n" + b"=" * 100_000,
        b"cards:\n" + b"== .~ ~* *=\n" * 3000,
        b"key " * 50_000 + b"\nmap:\n",
    ],
)
def test_what_is_told_of_the_worst_files_can_be_read(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "worst.txt"
    path.write_bytes(content)
    result = run("check", path)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert 1 <= len(lines) <= MOST_PROBLEMS + 1
    assert all(line.isprintable() and len(line) <= LONGEST_PROBLEM + len(str(path)) for line in lines)
    assert all(line.startswith(f"{path}:") for line in lines)


def test_a_file_that_is_not_there_is_a_usage_error() -> None:
    result = run("check", "nowhere.txt")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "nowhere.txt" in result.stderr


def test_a_board_is_drawn_by_name_and_by_file() -> None:
    named = run("draw", "japan", "--players", "3")
    assert named.exit_code == 0
    assert named.output == run("draw", boards_folder() / "japan.txt", "--players", "3").output
    lines = named.output.splitlines()
    assert lines[0] == "Japan, 3 players"
    assert lines[-1].endswith("67 Kyoto (11-15)")
    assert all(line == line.rstrip() for line in lines)
    assert run("draw", "japan").output.startswith("Japan, 4 players")


def test_a_deck_is_drawn_with_the_numbers_of_its_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("draw", "garden").output.splitlines()
    assert lines[0] == "Garden, 64 cards"
    assert max(map(len, lines)) <= 60
    numbers = [int(word) for line in lines[1:] for word in line.split() if word.isdigit()]
    assert numbers == list(range(64))
    assert lines[-1] == "= tatami  . path  ~ pond  * garden"


@pytest.mark.parametrize("name", board_names())
def test_colour_on_a_terminal_and_none_with_no_color(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in run("draw", name).output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "48;" not in run("draw", name).output


@pytest.mark.parametrize("name", board_names())
def test_a_picture_is_written_to_a_file_or_to_stdout(name: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    result = run("draw", name, "--players", "2", "--svg", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.split() == [str(path), "is", "written"]
    picture = path.read_text(encoding="utf-8")
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert run("draw", name, "--players", "2", "--svg", "-").stdout == picture


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("draw", "japn"), "did you mean 'japan'?"),
        (("draw", "japan", "--players", "5"), "(2 to 4), got: 5"),
        (("draw", "garden", "--players", "6"), "(2 to 5), got: 6"),
        (("draw", "japan", "--svg", "/dev/null/x.svg"), "expected a file that can be written"),
        (("drow", "japan"), "Did you mean 'draw'?"),
    ],
)
def test_what_cannot_be_drawn_is_a_usage_error(args: tuple[str, ...], message: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_wrong_file_is_not_drawn(wrong: Path) -> None:
    result = run("draw", wrong)
    assert result.exit_code == 2
    assert f"{wrong}:1:1: expected one of the keys" in result.stderr
