"""Who enters: folders of bots, what is left out of them and why, and all bundled bots."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.core.errors import BotError, ConfigError
from arena.core.link.bots import bundled_folders
from arena.core.tournament.entrants import Chosen, choose

BOTS = {
    "able": 'name = "zoe"\ncommand = ["sh"]',
    "other": 'name = "ann"\ncommand = ["sh"]\nrules = ["samurai"]',
    "gardening": 'name = "bob"\ncommand = ["sh"]\nrules = ["gardener"]',
    "unbuilt": 'name = "cid"\ncommand = ["./bot"]\nbuild = ["sh", "-c", "make it"]',
    "no-tool": 'name = "dot"\ncommand = ["./bot"]\nbuild = ["no-such-tool"]',
    "no-program": 'name = "eve"\ncommand = ["sh"]\nneeds = ["no-such-program"]',
    "no-file": 'name = "fay"\ncommand = ["./bot"]',
    "broken": 'name = "gus"\ncommand = 3',
    "no-include": 'name = "hal"\ncommand = ["sh"]\ninclude = ["../gone"]',
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `mine` with a bot in each state, and beside them a file and a folder that are no bots."""
    for name, manifest in BOTS.items():
        make_bot(tmp_path / "mine" / name, manifest)
    make_bot(tmp_path / "mine" / ".hidden", BOTS["able"])
    (tmp_path / "mine" / "README.md").write_text("mine\n")
    (tmp_path / "mine" / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_bot(folder: Path, manifest: str = BOTS["able"]) -> None:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(manifest + "\n")


def reasons(chosen: Chosen) -> dict[str, str]:
    return {left.bot: left.reason for left in chosen.left_out}


def test_a_folder_stands_for_the_bots_in_it_that_can_play_by_their_names() -> None:
    chosen = choose(["mine"], "samurai")
    assert chosen.refs == ("mine/other", "mine/able"), "ann comes before zoe"
    left_out = reasons(chosen)
    assert list(left_out) == [
        "mine/gardening", "mine/broken", "mine/unbuilt", "mine/no-tool", "mine/no-program", "mine/no-file",
        "mine/no-include",
    ]  # fmt: skip
    assert left_out["mine/gardening"] == "it plays gardener, not samurai"
    assert left_out["mine/unbuilt"] == "it is not built; run `arena bot build mine/unbuilt`"
    assert left_out["mine/no-tool"] == "it is not built, and needs for that 'no-such-tool', which is not installed"
    assert left_out["mine/no-program"] == "it needs 'no-such-program', which is not installed"
    assert left_out["mine/no-file"] == "it needs './bot', which is not there"
    assert left_out["mine/broken"].startswith("mine/broken/bot.toml: command: expected")
    assert "'../gone'" in left_out["mine/no-include"]


def test_named_bots_keep_their_places_beside_folders() -> None:
    assert choose(["greedy", "mine/", "cmd:sh", "greedy"], "samurai").refs == (
        "greedy", "mine/other", "mine/able", "cmd:sh", "greedy",
    )  # fmt: skip


def test_this_folder_can_be_named_and_its_bots_are_never_taken_for_bundled_ones(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_bot(here / "nest" / "random")
    monkeypatch.chdir(here / "nest")
    assert choose(["."], "samurai").refs == ("./random",)


def test_a_bot_that_is_named_enters_whatever_it_lacks() -> None:
    """Reading it says what it lacks: a bot that its author names must not stay away unnoticed."""
    refs = ("mine/unbuilt", "mine/broken", "mine/gardening", "nowhere", "./nowhere")
    assert choose(refs, "samurai") == Chosen(refs, ())


def test_a_manifest_stands_for_its_bot(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(["mine/able/bot.toml"], "samurai").refs == ("mine/able",)
    monkeypatch.chdir(here / "mine" / "able")
    assert choose(["bot.toml"], "samurai").refs == (".",)


def test_what_a_shell_names_beside_bots_is_left_out() -> None:
    chosen = choose(["mine/README.md", "mine/able", "mine/notes", "mine/other"], "samurai")
    assert chosen.refs == ("mine/able", "mine/other")
    assert list(reasons(chosen)) == ["mine/README.md", "mine/notes"]
    assert "expected a folder with a bot.toml" in reasons(chosen)["mine/notes"]


def test_a_file_that_lies_beside_no_bot_is_kept_for_the_error() -> None:
    assert choose(["mine/README.md", "greedy"], "samurai").refs == ("mine/README.md", "greedy")
    assert choose(["kit=mine"], "samurai").refs == ("kit=mine",), "one name is not for all bots of a folder"


def test_a_folder_of_which_no_bot_can_play_is_an_error_with_all_reasons(here: Path) -> None:
    make_bot(here / "few" / "one", BOTS["unbuilt"])
    make_bot(here / "few" / "two", BOTS["gardening"])
    with pytest.raises(BotError, match=r"can play samurai, got: few \(few/two: it plays .*; few/one: it is not built"):
        choose(["few"], "samurai")


def test_a_folder_of_folders_of_bots_is_an_error_that_names_those(here: Path) -> None:
    make_bot(here / "all" / "go" / "one")
    make_bot(here / "all" / "c" / "two")
    with pytest.raises(BotError, match="name those in it: all/c all/go"):
        choose(["all"], "samurai")


def test_an_unknown_game_is_said_before_anybody_is_left_out() -> None:
    with pytest.raises(ConfigError, match="did you mean 'samurai'"):
        choose(["mine"], "samurei")


def test_all_bundled_bots_enter_that_can_play_and_come_first() -> None:
    chosen = choose(["mine"], "gardener", bundled=True)
    ours = chosen.refs[: chosen.refs.index("mine/able") - 1]
    assert list(ours) == sorted(ours)
    assert {"greedy", "planner", "random"} <= set(ours), "those that think enter too"
    left_out = reasons(chosen)
    assert set(bundled_folders()) == set(ours) | {bot for bot in left_out if "/" not in bot}
    assert left_out["shogun"] == "it plays samurai, not gardener"


def test_the_template_among_the_bundled_bots_is_left_out() -> None:
    folder = bundled_folders()["random"].parent
    chosen = choose([str(folder)], "samurai")
    assert str(folder / "shogun") in chosen.refs
    assert "arena bot new" in reasons(chosen)[str(folder / "template")]
