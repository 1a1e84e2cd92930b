"""Building bots, with the shell as the compiler."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.author.build import FIRST_LINES, LAST_LINES, LONGEST_LINE, Built, build_bot, build_bots, local_bots
from arena.core.errors import ConfigError


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
    shutil.copy("/bin/sh", "mine/bot")
    assert build_bot("./mine", begin=pytest.fail) == Built(bot="./mine")


@pytest.mark.parametrize(
    ("build", "extra", "problem"),
    [
        ("echo oops; echo worse >&2; exit 3", "", "to succeed, got: exit status 3"),
        ("true", "", "expected './bot', which mine needs, got: no such file"),
        ("", "", "expected './bot', which mine needs, got: no such file; install it"),
        (GOOD, 'needs = ["no-such"]', "expected 'no-such', which mine needs, got: no such program on the path"),
        (GOOD, 'built = ["data"]', "expected 'data', which mine needs"),
        (
            "",
            'build = ["no-such", "all"]',
            "expected 'no-such', which builds it, got: no such program on the path; install it",
        ),
        ("", "builds = 3", "(did you mean 'build'?)"),
        ("", 'build = ["/no/such/path"]', "got: no such file; install it, or correct"),
        ("echo bot.h:3: fatal error: zmq.h: No such file or directory; exit 1", "", "apt install libzmq3-dev)"),
        ("echo 'ld: cannot find -lmsgpackc, sh: cc: not found'; exit 1", "", "build-essential libmsgpack-dev)"),
        ("echo zmq.h is fine; echo sh: x: not found; exit 1", "", "to succeed, got: exit status 1"),
    ],
)
def test_what_goes_wrong_is_told(build: str, extra: str, problem: str) -> None:
    bot("mine", build, extra)
    built = build_bot("mine")
    assert problem in str(built.problem)
    assert built.output == ("oops\nworse" if "oops" in build else built.output)
    assert ("is fine" not in build) or "install" not in str(built.problem)


def test_a_long_build_shows_that_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.author.build._LIVES_S", 0.2)
    bot("mine", f"sleep 0.5; {GOOD}")
    begun: list[str] = []
    build_bot("mine", begin=lambda _, command: begun.append(command))
    assert len(begun) in (2, 3)
    assert begun[-1].endswith(" s so far")


def test_a_tool_that_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    bot("mine", extra='build = ["go", "build"]')
    assert "apt install golang)" in str(build_bot("mine").problem)


def test_output_goes_where_it_is_wanted() -> None:
    bot("mine", "echo oops; exit 3")
    live: list[str] = []
    assert build_bot("mine", live.append).output == ""
    assert live == ["oops"]


def test_output_is_text_that_a_terminal_does_not_act_on() -> None:
    bot("mine", r"printf 'red \033[31m \377 \342\200\256\r\nno end of line'; exit 3")
    assert build_bot("mine").output == r"red \x1b[31m \xff \u202e" + "\nno end of line"


def test_the_command_shows_no_escapes_of_a_build_either(tmp_path: Path) -> None:
    bot("mine", rf"printf 'red \033[31m\n'; {GOOD}".replace("'", '"'))
    words = [sys.executable, "-m", "arena", "bot", "build", "mine", "--verbose"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert r"red \x1b[31m" in done.stderr.splitlines()
    assert "\x1b" not in done.stderr + done.stdout


def test_of_endless_output_the_beginning_and_the_end_are_shown() -> None:
    lines = FIRST_LINES + LAST_LINES + 7
    bot("mine", f"seq {lines}; exit 3")
    told = build_bot("mine").output.splitlines()
    assert told[: FIRST_LINES + 2] == [*map(str, range(1, FIRST_LINES + 1)), "... 7 lines are left out ...", "4008"]
    assert (len(told), told[-1]) == (FIRST_LINES + 1 + LAST_LINES, str(lines))


def test_a_line_without_an_end_is_cut() -> None:
    bot("mine", r"yes x | tr -d '\n' | head -c 2000000; echo; echo oops; exit 3".replace("'", '"'))
    assert build_bot("mine").output == "x" * LONGEST_LINE + "…\noops"


def test_a_build_is_over_though_a_process_that_it_started_keeps_its_output_open(tmp_path: Path) -> None:
    bot("mine", f"mkfifo wait; (read -r x <wait) & {GOOD}")
    assert build_bot("mine").problem is None
    Path("mine/wait").write_text("on\n")  # it ends with the test


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
        (("good", "kit=good"), "got: 'kit=good', with a name; write it in its bot.toml"),
        (("good", "good@spite=2"), "got: 'good@spite=2', with values"),
    ],
)
def test_bots_that_cannot_be_found_are_told_before_any_is_built(refs: tuple[str, ...], message: str) -> None:
    if refs:
        bot("good", GOOD)
    with pytest.raises(ConfigError, match=message):
        build_bots(refs, pytest.fail)
    assert not Path("good/bot").exists()


FETCHING = "fetch = ['sh', '-c', 'echo fetched >> log; mkdir -p vendor']\nfetched = ['vendor']\n"


def test_what_is_missing_is_fetched_before_the_build() -> None:
    bot("mine", f"echo built >> log; test -d vendor && {GOOD}", FETCHING)
    begun: list[str] = []
    built = build_bot("mine", begin=lambda name, command: begun.append(command))
    assert built.problem is None
    assert built.command == begun[0]
    assert begun[0].startswith("sh -c 'echo fetched >> log; mkdir -p vendor' && sh -c ")
    assert "fetched" not in build_bot("mine").command
    assert "fetched" in build_bot("mine", anew=True).command
    assert Path("mine/log").read_text().split() == ["fetched", "built", "built", "fetched", "built"]


def test_a_bot_may_need_fetching_and_no_building() -> None:
    bot("mine", "", FETCHING + "built = ['vendor']\n")
    shutil.copy("/bin/sh", "mine/bot")
    assert build_bot("mine").problem is None
    assert build_bot("mine") == Built(bot="mine")


def test_a_fetch_that_fails_is_told_and_nothing_is_built() -> None:
    bot("mine", "echo built >> log", "fetch = ['sh', '-c', 'echo no network; exit 4']\nfetched = ['vendor']\n")
    built = build_bot("mine")
    assert built.problem is not None
    assert "echo no network" in built.problem
    assert "exit status 4" in built.problem
    assert built.output == "no network"
    assert not Path("mine/log").exists()


def test_after_a_build_that_fails_it_is_told_how_to_fetch_again() -> None:
    bot("mine", "exit 1", FETCHING)
    assert "--fetch" not in str(build_bot("mine").problem)
    assert str(build_bot("mine").problem).endswith("run `arena bot build --fetch`")
