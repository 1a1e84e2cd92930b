"""The commands that are printed for a stored tournament play the same tournament, with the same bots."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from arena.cli import cli
from arena.core.store.records import Tournament
from arena.core.tournament import settings as module
from arena.core.tournament.commands import refs_of, repeat_command, rerun_command
from arena.core.tournament.formats.extension import Extension
from arena.core.tournament.formats.swiss import Swiss
from arena.core.tournament.plan import draw_tournament
from arena.core.tournament.settings import Setup

MINE = "cmd:" + shlex.join([sys.executable, "my bot.py", "--fast"])


class Stopped(BaseException):
    """Ends a command when it knows what to play. Commands turn ordinary exceptions into messages."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self.setup = setup


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with bots: one has the name of a bundled bot."""
    for name in ("here/ronin", "here/random", "beside"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        words = f'name = "{folder.name}"\nversion = "2"\ncommand = ["{{python}}", "bot.py"]\n'
        (folder / "bot.toml").write_text(words)
        (folder / "bot.py").touch()
    (tmp_path / "here" / "my bot.py").touch()
    monkeypatch.chdir(tmp_path / "here")
    set_up = module.set_up

    def stop(*arguments: Any, **options: Any) -> Setup:
        raise Stopped(set_up(*arguments, **options))

    monkeypatch.setattr(module, "set_up", stop)


def begun(words: list[str]) -> Setup:
    """What a command would play."""
    with pytest.raises(Stopped) as stopped:
        cli.main(words, standalone_mode=False)
    return stopped.value.setup


def stored(setup: Setup, **fields: Any) -> Tournament:
    row = draw_tournament(setup.settings, "20260101-1a2b", Path("logs/20260101-1a2b").absolute())
    return replace(row, **fields)


def again(setup: Setup, **fields: Any) -> list[str]:
    refs = refs_of(msgspec.to_builtins(setup.specs))
    return shlex.split(repeat_command(stored(setup, **fields), refs, Path("arena.db")))


@pytest.mark.parametrize(
    "typed",
    [
        "tournament random greedy",
        "tournament random random ./ronin --players 3 --deals 7",
        "tournament ./random ../beside --seed 'a b'",
        f"tournament random {shlex.quote(MINE)} --time 2/move --fresh",
        "tournament random greedy --ruleset basic --keep-bots --seatings all",
        "tournament random greedy --rule setup=random --time 10+0.1,2/move",
        "tournament --rules gardener --ruleset race --race-window 2.5",
        "tournament random greedy --format swiss --rounds 1 --deals 3",
        "tournament random greedy banzai --format gauntlet --challengers 2",
        "tournament random greedy banzai daimyo --format knockout --until shown --third-place --alpha 0.01",
        "tournament random greedy --format ladder --matches 9 --random 0.5",
        "tournament random greedy --format adaptive --budget 70",
        "compare random greedy --max-deals 9 --delta 0.1",
        "compare random greedy --others banzai --players 3",
        "compare ./random greedy --sprt 0 10 --seed s",
    ],
)
def test_the_command_plays_the_same_tournament(typed: str) -> None:
    setup = begun(shlex.split(typed))
    words = again(setup)
    assert words[:2] == ["arena", shlex.split(typed)[0]]
    same = begun(words[1:])
    assert same.settings.document() == setup.settings.document()
    assert same.specs == setup.specs


def test_bots_are_named_as_they_are_typed_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["random", "./random", "../beside", MINE]
    specs = msgspec.to_builtins(begun(["tournament", *typed]).specs)
    assert refs_of(specs) == typed
    monkeypatch.chdir("/")
    assert refs_of(specs)[0] == "random"
    assert [Path(ref).resolve() for ref in refs_of(specs)[1:3]] == [tmp_path / "here" / "random", tmp_path / "beside"]


def test_a_finished_tournament_is_played_anew_and_files_elsewhere_are_named() -> None:
    setup = begun(["tournament", "random", "greedy", "--seed", "s", "--beacon", "the hash of block 940000"])
    words = again(setup, finished="2026-01-01T00:00:00+00:00", logs="/elsewhere/20260101-1a2b", beacon="36f1a0b")
    assert words[-1] == "--new"
    assert words[words.index("--beacon") + 1] == "the hash of block 940000"
    assert "36f1a0b" not in words
    assert Path(words[words.index("--logs") + 1]).resolve() == Path("/elsewhere")
    assert "--db" not in words


def test_other_formats_and_extensions_have_their_parameters() -> None:
    setup = begun(["tournament", "random", "greedy", "--deals", "9"])
    swiss = replace(setup, settings=replace(setup.settings, format=Swiss(rounds=3)))
    words = again(swiss)
    assert words[words.index("--format") + 1 :][:3] == ["swiss", "--rounds", "3"]
    extension = Extension(deals=9, extends="20260101-0001", unchanged=(0,), played=4)
    words = again(replace(setup, settings=replace(setup.settings, format=extension)))
    assert words[words.index("--extend") + 1 :][:3] == ["20260101-0001", "--deals", "9"]
    assert not {"--unchanged", "--played", "--extends"} & set(words)


def test_a_bot_is_asked_again_with_the_database_if_it_is_another() -> None:
    plain = ["arena", "bot", "rerun", "g-000001", "./my bot", "--seat", "1"]
    assert shlex.split(rerun_command("g-000001", "./my bot", 1, Path("arena.db"))) == plain
    assert shlex.split(rerun_command("g-000001", "./my bot", 1, Path("x/y.db"))) == [*plain, "--db", "x/y.db"]
