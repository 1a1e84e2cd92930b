"""What is sent of bots: each is packed once, from its folder or in the archive that it came in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from referee_kit import make_job

from arena.author.archives import pack
from arena.cluster.archives import BotArchives
from arena.cluster.block import BROUGHT, Answer, Block, Failed, GameDone, Lacking, Want
from arena.cluster.bots import CannotStart, StartableBots
from arena.cluster.player import answers
from arena.core.errors import BotError
from arena.core.link.bots import load_bot
from arena.core.types import Level
from tests.cluster_kit import travelling_bots


@pytest.fixture
def home(tmp_path: Path) -> Path:
    travelling_bots(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def archives(tmp_path: Path) -> BotArchives:
    (tmp_path / "archives").mkdir()
    return BotArchives(tmp_path / "archives")


def test_a_bot_is_packed_once_and_comes_whole(archives: BotArchives, home: Path, tmp_path: Path) -> None:
    fox = load_bot(str(home / "fox"))
    want = archives.want(fox)
    assert want == Want(fox, pack(home / "fox").digest)
    (home / "fox" / "bot.py").write_text("another")
    assert archives.want(replace(fox, name="another")) is want
    (tmp_path / "archive").write_bytes(archives.data(want.archive))
    there = StartableBots(tmp_path / "bots")
    assert there.lacking([want]) == (fox.digest,)
    there.build(want, tmp_path / "archive", Level.TRUSTED)
    assert there.lacking([want]) == ()
    (found,) = there.here([replace(fox, name="cup/3")])
    assert found.name == "cup/3"
    assert found.digest == fox.digest
    assert Path(found.folder).is_relative_to(tmp_path / "bots")
    assert (Path(found.folder) / "built.py").is_file()
    with pytest.raises(CannotStart, match="was not asked for") as error:
        StartableBots(tmp_path / "bots").here([fox])
    assert error.value.digest == fox.digest


def test_a_player_asks_for_what_is_lacking_and_plays_with_what_was_brought(
    archives: BotArchives, home: Path, tmp_path: Path
) -> None:
    fox = load_bot(str(home / "fox"))
    want = archives.want(fox)
    job = replace(make_job(Path("/nowhere"), 2), bots=(replace(fox, folder="/nowhere"),) * 2)
    block = Block((job, replace(job, game="test-000001", deal=1)), (want,))

    def played(name: str, *archives: bytes) -> list[Answer]:
        (tmp_path / name / BROUGHT).mkdir(parents=True)
        for archive in archives:
            (tmp_path / name / BROUGHT / want.archive).write_bytes(archive)
        return list(answers(block, tmp_path / name, StartableBots(tmp_path / "bots"), lambda: None))

    assert played("first") == [Lacking((fox.digest,))]
    (refusal,) = played("second", b"no archive")
    assert isinstance(refusal, Failed)
    assert (refusal.begun, refusal.of_machine, refusal.bot) == (False, False, fox.digest)
    for done in (played("third", archives.data(want.archive)), played("fourth")):
        assert [answer.delivery.result.game for answer in done if isinstance(answer, GameDone)] == [
            "test-000000",
            "test-000001",
        ]


def test_a_bot_that_came_in_an_archive_travels_in_it(home: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(pack(home / "owl").data)
    owl = load_bot(str(home / "owl"))
    want = BotArchives(tmp_path / "nothing", lambda bot: archive).want(owl)
    assert want.archive == pack(home / "owl").digest
    assert not (tmp_path / "nothing").exists()


def test_a_bundled_bot_is_found_by_its_digest_and_does_not_travel(tmp_path: Path) -> None:
    bot = load_bot("random")
    elsewhere = replace(bot, folder="/nowhere", command=("/nowhere/python",), reads=("/nowhere/x",))
    there = StartableBots(tmp_path / "bots")
    assert there.lacking([Want(elsewhere, "0" * 64)]) == ()
    assert there.here([elsewhere]) == (bot,)
    assert not (tmp_path / "bots").exists()


def test_what_cannot_be_packed_is_taken_from_the_same_place_or_refused(archives: BotArchives, home: Path) -> None:
    (home / "owl" / "large").write_bytes(b"\0")
    with (home / "owl" / "large").open("r+b") as file:
        file.truncate(200 << 20)
    owl = load_bot(str(home / "owl"))
    want = archives.want(owl)
    assert (want.archive, want.bot) == ("", owl)
    assert "more than 128 MiB" in want.why
    assert StartableBots(home / "bots").lacking([want]) == ()
    (home / "owl" / "large").unlink()
    with pytest.raises(CannotStart, match=r"cannot be sent \(expected the file .*got: other files in"):
        StartableBots(home / "bots").lacking([want])


def test_a_command_line_cannot_be_sent(archives: BotArchives) -> None:
    with pytest.raises(BotError, match="a command line; give a folder"):
        archives.want(load_bot("cmd:true"))


def test_what_workers_have_without_is_told(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "linked")
    folder = tmp_path / "linked" / "fox"
    (folder / "data").mkdir()
    (folder / "model").symlink_to("data")
    (folder / ".env").touch()
    told: list[str] = []
    (tmp_path / "told").mkdir()
    archives = BotArchives(tmp_path / "told", tell=told.append)
    bot = load_bot(str(folder))
    assert archives.want(bot) == archives.want(bot)
    assert told == [f"{bot.name} is sent without data (an empty folder), model (a link to a folder)"]
