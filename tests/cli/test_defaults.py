"""`arena.toml`: where it is found, what it may hold, what wins over it, and what `arena config` shows of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from arena.cli import COMMANDS, cli
from arena.cli.defaults import ONCE, SHARED, default_map, find, options_of, read
from arena.cli.help import SectionOption
from arena.cli.output import command_line
from arena.core.errors import ConfigError

FILE = """\
[defaults]
db = "results/arena.db"
time = "5s+0.1"

[tournament]
deals = 2
keep-bots = true
bots = ["random", "mybots", "./greedy"]
rule = ["setup=random"]
board = "japan"

[match]
time = "1m+1"
json = false
[bot.check]
level = "full"
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "arena.toml").write_text(FILE)
    (tmp_path / "below" / "more").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(name: str) -> click.Command:
    found = cli
    for word in name.split("."):
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None
        found = inner
    return found


def defaults(name: str) -> dict[str, object]:
    path = find(Path.cwd())
    assert path is not None
    return default_map(read(path, COMMANDS), command(name), name)


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, prog_name="arena")


def test_the_nearest_file_above_is_found(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find(here / "below" / "more") == here / "arena.toml"
    (here / "below" / "arena.toml").write_text("")
    assert find(here / "below" / "more") == here / "below" / "arena.toml"
    (here / "arena.toml").unlink()
    assert find(here) is None


def test_a_command_gets_its_section_and_what_commands_share() -> None:
    assert defaults("tournament") == {
        "db": "results/arena.db",
        "time": ["5s+0.1"],
        "deals": "2",
        "processes": "tournament",
        "bots": ["random", "mybots", "./greedy"],
        "overrides": ["setup=random"],
        "board": "japan",
    }
    assert defaults("match") == {"time": ["1m+1"], "as_json": False}, "its own section wins; it has no database"
    assert defaults("bot")["check"] == {"levels": ["full"]}
    assert defaults("bot")["rerun"] == {"db": "results/arena.db"}, "without --time it takes the time of the log"
    assert defaults("replay") == {"db": "results/arena.db"}


def test_paths_are_relative_to_the_file_and_bundled_names_stay_names(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here / "below")
    found = defaults("tournament")
    assert found["db"] == str(here / "results" / "arena.db")
    assert found["bots"] == ["random", str(here / "mybots"), str(here / "greedy")]
    assert found["board"] == "japan"


def shown(*words: str) -> dict[str, tuple[object, str]]:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return {row["key"]: (row["value"], row["place"]) for row in json.loads(result.stdout)["settings"]}


@pytest.mark.parametrize(
    ("entrant", "meaning"),
    [
        ('{bot = "planner"}', "planner"),
        ('{bot = "planner", name = "calm", arguments = {spite = 0, future = 1.5}}', "calm=planner@spite=0,future=1.5"),
        ('{bot = "./fox", arguments = {book = "a,b", style = "shy"}}', "./fox@book=a,b,style=shy"),
        ('{bot = "cmd:python3 bot.py", name = "mine"}', "mine=cmd:python3 bot.py"),
        ('{bot = "planner", name = "no name"}', "at `$.name`"),
        ('{bot = "planner", argument = {}}', "unknown field `argument`"),
        ('{name = "calm"}', "missing required field `bot`"),
        ('{bot = "planner", arguments = {spite = true}}', "at `$.arguments[...]`"),
        ('{bot = "planner", arguments = {"spite=1,future" = 2}}', "at `key` in `$.arguments`"),
        ('{bot = "planner", arguments = {book = "a,b=c"}}', "in which no comma stands before a name and ="),
        ('{bot = "cmd:python3 bot.py", arguments = {x = 1}}', "got: those of 'cmd:python3 bot.py'; write them in it"),
    ],
)
def test_an_entrant_may_be_a_table_with_a_name_and_arguments(here: Path, entrant: str, meaning: str) -> None:
    (here / "arena.toml").write_text(f'[tournament]\nbots = ["greedy", {entrant}]\n')
    if "`" in meaning or meaning.startswith(("in which", "got:")):
        with pytest.raises(ConfigError, match=f"{re.escape(meaning)}.* - at arena.toml:2; correct it"):
            defaults("tournament")
    else:
        assert defaults("tournament") == {"bots": ["greedy", meaning]}


def test_one_bot_enters_twice_from_a_file(here: Path) -> None:
    calm = '{bot = "planner", name = "calm", arguments = {spite = 0}}'
    text = f'[tournament]\nrules = "gardener"\ndeals = 1\nbots = [{calm}, "harsh=planner@spite=1"]\n'
    (here / "arena.toml").write_text(text)
    found = run("tournament", "--commit")
    assert "games of calm, harsh" in found.stderr, found.output


def test_config_shows_every_option_in_force_with_its_source() -> None:
    rows = shown("config", "tournament")
    assert rows["db"] == ("results/arena.db", "arena.toml:2")
    assert rows["keep-bots"] == (True, "arena.toml:7")
    assert "fresh" not in rows, "keep-bots says how long bots are kept"
    assert rows["rules"] == ("samurai", "built in")
    assert rows["logs"] == ("logs", "built in")
    assert set(rows) == set(options_of(command("tournament"))) - {"fresh"}
    text = run("config", "bot", "check").output
    assert text.startswith("arena.toml is in force.\n[bot.check]\n")
    assert [line.split() for line in text.splitlines() if "level" in line] == [["level", "full", "arena.toml:16"]]


def test_config_alone_shows_what_the_file_sets() -> None:
    assert run("config").output.splitlines()[:5] == [
        "arena.toml is in force.",
        "[defaults]",
        "  db         results/arena.db        arena.toml:2",
        "  time       5s+0.1                  arena.toml:3",
        "[tournament]",
    ]


def test_another_file_can_be_named_and_an_empty_one_is_none(here: Path) -> None:
    (here / "other.toml").write_text("[tournament]\ndeals = 7\n")
    assert shown("--config", "other.toml", "config", "tournament")["deals"] == ("7", "other.toml:2")
    assert shown("--config", "/dev/null", "config") == {}
    (here / "arena.toml").unlink()
    assert "no arena.toml" in run("config").output


def context(*words: str) -> click.Context:
    """The context of a command as the command line makes it."""
    with cli.make_context("arena", list(words)) as root:
        root.invoked_subcommand = words[words.index("tournament")]
        root.invoke(cli.callback, **root.params)
        name, found, rest = cli.resolve_command(root, [*root._protected_args, *root.args])
        assert found is not None
        return found.make_context(name, rest, parent=root)


def test_the_command_line_wins(here: Path) -> None:
    params = context("tournament", "--deals", "5", "--fresh", "--rule", "order=printed", "greedy").params
    assert (params["deals"], params["processes"], params["overrides"]) == (5, "game", ("order=printed",))
    assert params["bots"] == ("greedy",)
    assert params["db"] == Path("results/arena.db")


def test_the_command_to_go_on_is_what_was_typed_with_the_file_that_was_named(here: Path) -> None:
    assert command_line(context("tournament", "--deals", "5")) == "arena tournament --deals 5"
    (here / "my other.toml").write_text(FILE)
    words = ["--no-color", "--config", "my other.toml", "tournament", "greedy", "--new"]
    printed = command_line(context(*words), without=("new",))
    assert printed == "arena --config 'my other.toml' --no-color tournament greedy"


def test_an_order_to_a_tournament_takes_its_database_from_the_file() -> None:
    assert context("tournament", "pause").params["db"] == Path("results/arena.db")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("deals = ", "expected a TOML file, got: "),
        ("[turnament]\n", "got: 'turnament' (did you mean 'tournament'?) - at arena.toml:1; correct it"),
        ("tournament = 3\n", "expected a section [tournament], got: a value - at arena.toml; put options below it"),
        ("deals = 3\n", "expected sections named defaults, runtimes, caps or like a command, got: 'deals'"),
        ("[tournament]\n\ndeels = 3\n", "got: 'deels' (did you mean 'deals'?) - at arena.toml:3"),
        ("[defaults]\ntiem = 3\n", "got: 'tiem' (did you mean 'time'?) - at arena.toml:2"),
        ("[defaults]\ndeals = 3\n", "expected in [defaults] one of rules, "),
        ('[tournament]\n"deals" = "x"\n', "for deals in [tournament], got: 'x' - at arena.toml:2"),
        ("[tournament]\nkeep-bots = 1\n", "expected true or false for keep-bots in [tournament], got: 1"),
        ("[tournament]\ndb = [1]\n", "expected a text or a number for db in [tournament], got: [1]"),
        ("[tournament]\nbots = [[1]]\n", "expected a list of texts for bots"),
        ("[tournament]\nnew = true\n", "expected no new in [tournament], got one - at arena.toml:2; give --new on"),
        ("[tournament]\nhelp = true\n", "expected no help in [tournament]"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_close_names(here: Path, text: str, message: str) -> None:
    (here / "arena.toml").write_text(text)
    result = run("tournament", "random", "greedy")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_fault_in_the_section_of_another_command_stops_only_that_command(here: Path) -> None:
    (here / "arena.toml").write_text("[bot.chek]\nlevel = 'full'\n")
    assert run("rules", "list").exit_code == 0
    result = run("bot", "list")
    assert "expected in [bot] one of new, build, check" in result.stderr
    assert "did you mean 'check'" in result.stderr
    assert run("config").exit_code == 2


def test_what_commands_share_is_in_two_commands_at_least() -> None:
    for key in SHARED:
        having = [name for name in COMMANDS if isinstance(options_of(command(name)).get(key), SectionOption)]
        assert len(having) >= 2, key


def test_what_means_one_call_are_options_of_a_tournament() -> None:
    names = {name[2:] for parameter in command("tournament").params for name in parameter.opts if name[:2] == "--"}
    assert names >= ONCE - {"help"}
