"""What is sent of bots: each is packed once, from its folder or in the archive that it came in."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.cluster import parcels as module
from arena.cluster.bots import Bots, CannotStart
from arena.cluster.orders import Build, Failed, Lacking, Need, Want, decode_answer, decode_order, encode
from arena.cluster.parcels import Parcels
from arena.link.bots import load_bot
from arena.parcels import pack
from arena.types import Level
from tests.cluster_kit import travelling_bots


@pytest.fixture
def home(tmp_path: Path) -> Path:
    travelling_bots(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def parcels(tmp_path: Path) -> Parcels:
    (tmp_path / "parcels").mkdir()
    return Parcels(tmp_path / "parcels")


def test_a_bot_is_packed_once_and_comes_whole(
    parcels: Parcels, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE", 100)
    fox = load_bot(str(home / "fox"))
    want = parcels.want(fox)
    assert want == Want(fox, pack(home / "fox").digest)
    (home / "fox" / "bot.py").write_text("another")
    assert parcels.want(replace(fox, name="another")) is want
    pieces = parcels.pieces(want.parcel)
    assert len(pieces) > 1
    assert not any(len(piece) > 100 for piece in pieces)
    (tmp_path / "archive").write_bytes(b"".join(pieces))
    there = Bots(tmp_path / "bots")
    assert there.lacking([want], anew=False) == (fox.digest,)
    there.build(want, tmp_path / "archive", Level.TRUSTED)
    assert there.lacking([want], anew=False) == ()
    (found,) = there.here([replace(fox, name="cup/3")])
    assert found.name == "cup/3"
    assert found.digest == fox.digest
    assert Path(found.folder).is_relative_to(tmp_path / "bots")
    assert (Path(found.folder) / "built.py").is_file()
    assert there.lacking([], anew=True) == ()
    with pytest.raises(CannotStart, match="was not asked for") as error:
        there.here([fox])
    assert error.value.digest == fox.digest


def test_a_bot_that_came_in_an_archive_travels_in_it(home: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(pack(home / "owl").data)
    owl = load_bot(str(home / "owl"))
    want = Parcels(tmp_path / "nothing", lambda bot: archive).want(owl)
    assert want.parcel == pack(home / "owl").digest
    assert not (tmp_path / "nothing").exists()


def test_a_bundled_bot_is_found_by_its_digest_and_does_not_travel(tmp_path: Path) -> None:
    bot = load_bot("random")
    elsewhere = replace(bot, folder="/nowhere", command=("/nowhere/python",), reads=("/nowhere/x",))
    there = Bots(tmp_path / "bots")
    assert there.lacking([Want(elsewhere, "0" * 64)], anew=False) == ()
    assert there.here([elsewhere]) == (bot,)
    assert not (tmp_path / "bots").exists()


def test_what_cannot_be_packed_is_taken_from_the_same_place_or_refused(parcels: Parcels, home: Path) -> None:
    (home / "owl" / "large").write_bytes(b"\0")
    with (home / "owl" / "large").open("r+b") as file:
        file.truncate(200 << 20)
    owl = load_bot(str(home / "owl"))
    want = parcels.want(owl)
    assert (want.parcel, want.bot) == ("", owl)
    assert "more than 128 MiB" in want.why
    assert Bots(home / "bots").lacking([want], anew=False) == ()
    (home / "owl" / "large").unlink()
    with pytest.raises(CannotStart, match=r"cannot be sent \(expected the file .*got: other files in"):
        Bots(home / "bots").lacking([want], anew=False)


def test_a_command_line_and_what_no_worker_can_start_are_hopeless(parcels: Parcels, home: Path) -> None:
    owl = load_bot(str(home / "owl"))
    assert parcels.hopeless(owl) == ""
    parcels.give_up(owl.digest, "no worker has cobol")
    assert parcels.hopeless(owl) == "no worker has cobol"
    assert "a command line; give a folder" in parcels.hopeless(load_bot("cmd:true"))


def test_orders_are_read_as_they_are_written() -> None:
    want = Want(load_bot("random"), "0" * 64)
    for order in (Need((want,), Level.STRICT, anew=True), Build(want, Level.ISOLATED)):
        assert decode_order(encode(order)) == order
    for answer in (Lacking(("a", "b")), Failed("why", of_machine=False, bot="c")):
        assert decode_answer(encode(answer)) == answer
