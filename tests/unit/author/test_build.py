"""Building bots, with the shell as the compiler."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from arena.author.build import Built, build_bot, build_bots, local_bots
from arena.errors import ConfigError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bot(name: str, build: str = "", extra: str = "") -> None:
    """A bot's folder; `build` is a script."""
    folder = Path(name)
    folder.mkdir()
    command = f"build = ['sh', '-c', '''{build}''']\n" if build else ""
    (folder / "bot.toml").write_text(f'name = "{folder.name}"\ncommand = ["./bot"]\n{command}{extra}')


GOOD = "echo built; cp /bin/sh bot"


def test_a_bot_is_built_in_its_folder() -> None:
    bot("mine", GOOD)
    built = build_bot("mine")
    assert built == Built(bot="mine", command=f"sh -c '{GOOD}'", seconds=built.seconds)
    assert built.seconds > 0
    assert Path("mine/bot").is_file()


def test_nothing_to_build() -> None:
    bot("mine")
    Path("mine/bot").touch(mode=0o755)
    assert build_bot("./mine", begin=pytest.fail) == Built(bot="./mine")


@pytest.mark.parametrize(
    ("build", "extra", "problem"),
    [
        ("echo oops; echo worse >&2; exit 3", "", "to succeed, got: exit status 3"),
        ("true", "", "expected './bot', which mine needs, got: no such file"),
        ("", "", "expected './bot', which mine needs, got: no such file; install it"),
        (GOOD, 'needs = ["no-such"]', "expected 'no-such', which mine needs, got: no such program on the path"),
        (GOOD, 'built = ["data"]', "expected 'data', which mine needs"),
        ("", 'build = ["no-such", "all"]', "expected 'no-such', which builds it, got: no such program; install it"),
        ("", "builds = 3", "(did you mean 'build'?)"),
    ],
)
def test_what_goes_wrong_is_told(build: str, extra: str, problem: str) -> None:
    bot("mine", build, extra)
    built = build_bot("mine")
    assert problem in str(built.problem)
    assert built.output == ("oops\nworse\n" if "oops" in build else "")


def test_output_goes_where_it_is_wanted() -> None:
    bot("mine", "echo oops; exit 3")
    with tempfile.TemporaryFile() as live:
        built = build_bot("mine", live)
        live.seek(0)
        assert (live.read(), built.output) == (b"oops\n", "")


def test_what_a_build_reads_is_empty() -> None:
    bot("mine", f"read -r x || {GOOD}")
    assert build_bot("mine").problem is None


def test_all_bots_here_are_built_whatever_becomes_of_one() -> None:
    bot("one", "exit 1")
    bot("two", GOOD)
    bot(".hidden", "exit 1")
    Path("empty").mkdir()
    done: list[Built] = []
    begun: list[tuple[str, str]] = []
    build_bots((), done.append, begin=lambda bot, command: begun.append((bot, command)))
    assert begun == [("one", "sh -c 'exit 1'"), ("two", f"sh -c '{GOOD}'")]
    assert [(built.bot, built.problem is None) for built in done] == [("one", False), ("two", True)]


def test_this_folder_is_a_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    bot("one", GOOD)
    monkeypatch.chdir("one")
    assert local_bots() == ["."]
    assert build_bot(".").problem is None


@pytest.mark.parametrize(
    ("refs", "message"),
    [
        ((), "expected a folder with a bot.toml here, got: none; name a bot, or make one: arena bot new NAME"),
        (("good", "gredy"), r"did you mean 'greedy'\?"),
        (("good", "cmd:sh"), "got: 'cmd:sh', a command line"),
    ],
)
def test_bots_that_cannot_be_found_are_told_before_any_is_built(refs: tuple[str, ...], message: str) -> None:
    if refs:
        bot("good", GOOD)
    with pytest.raises(ConfigError, match=message):
        build_bots(refs, pytest.fail)
    assert not Path("good/bot").exists()
