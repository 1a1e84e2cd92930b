"""A league that is started again plays what its builds left, and no file that was changed since."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.author import archives
from arena.author.archives.settling import tree_digest
from arena.core.link.unchanged import FilesChanged
from arena.league.folder import Folder
from arena.league.settings import Settings
from arena.league.store import LeagueStore
from arena.league.store.records import StepReport, Verdict
from arena.league.store.states import Actor, State
from arena.league.submissions.tools import LeagueTools, built_tree
from tests import league_kit


def built(store: LeagueStore, folder: Folder, level: str) -> Path:
    """Makes a version that was built, and returns where."""
    source = folder.path / "fox"
    source.mkdir()
    (source / "bot.toml").write_text('name = "fox"\ncommand = ["sh", "bot.sh"]\nbuild = ["true"]\nbuilt = ["out"]\n')
    for name in ("bot.sh", "out"):
        (source / name).write_text("1")
    packed = archives.pack(source)
    version = store.versions.receive(
        "anna", "fox", packed.digest, {"name": "fox"}, 1, league_kit.AT, level=level
    ).version
    place = folder.built(packed.digest)
    archives.unpack(packed.data, place)
    (place / "out").write_text("built")
    store.versions.change(version.id, State.BUILDING, Actor.SERVICE, "")
    told = StepReport(kind="build", attempt=1, verdict=Verdict.PASSED, tree_digest=tree_digest(place), at=league_kit.AT)
    store.versions.change(version.id, State.CHECKING, Actor.SERVICE, "", report=told)
    return place


@pytest.mark.parametrize("changed", ["bot.sh", "out", "new"])
def test_what_was_changed_while_the_league_stood_is_not_played(tmp_path: Path, changed: str) -> None:
    folder = Folder(tmp_path)
    folder.make()
    with league_kit.league(tmp_path, "anna") as store:
        place = built(store, folder, "isolated")
        version = store.versions.named("fox/1")
        tools = LeagueTools(folder, Settings(name="cup"), lambda version: built_tree(store, version))
        assert tools.bot(version).name == "fox"
        (place / changed).write_text("2")
        assert tools.bot(version).name == "fox", "the worker looks: it is the same as at the start of this service"
        again = LeagueTools(folder, Settings(name="cup"), lambda version: built_tree(store, version))
        with pytest.raises(FilesChanged, match=r"expected what was built of fox/1 .* remove that folder") as error:
            again.bot(version)
        assert error.value.bot == ("fox", "1")


def test_a_trusted_bot_may_write_into_its_folder(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    with league_kit.league(tmp_path, "anna") as store:
        (built(store, folder, "trusted") / ".weights").write_text("learnt")
        tools = LeagueTools(folder, Settings(name="cup"), lambda version: built_tree(store, version))
        assert tools.bot(store.versions.named("fox/1")).name == "fox"
