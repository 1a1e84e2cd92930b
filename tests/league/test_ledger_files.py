"""The ledger of a league: each finished game is in it once, whatever is killed, and nothing of it ever changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.league.folder import Folder
from arena.league.keeping.backup import back_up, restore
from arena.league.public.ledger_files import Ledger, entries_of
from arena.league.public.season_files import original_deals
from arena.league.record import ledger, merkle
from arena.league.record.ledger import HEAD_FILE, NODES_FILE, Entry, Head
from arena.league.store import open_league
from tests import league_kit, season_kit


def entry(number: int) -> Entry:
    return Entry(
        game=f"cup-1-{number:06d}", status="done", entrants=["fox/1", "owl/1"], ranks=[1, 2], play_digest=None, log=None
    )


@pytest.fixture
def place(folder: Folder) -> Path:
    return folder.published / ledger.LEDGER


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "PAGE", 4)


def silent(sentence: str) -> None:
    raise AssertionError(sentence)


def expect(place: Path, count: int) -> None:
    """The files are those of the first so many entries."""
    lines = [ledger.encoded(entry(number)) for number in range(count)]
    assert list(ledger.lines(place)) == lines
    builder = merkle.Builder()
    nodes = b"".join(node for line in lines for node in builder.add(merkle.leaf_hash(line)))
    assert (place / NODES_FILE).read_bytes() == nodes
    assert ledger.head_of(place) == Head(count, builder.root().hex())


def test_a_ledger_grows_and_proves_that_it_only_grew(folder: Folder, place: Path) -> None:
    heads = [ledger.EMPTY]
    for begin in range(0, 12, 3):
        Ledger(folder, silent).add(map(entry, range(begin, begin + 3)))
        expect(place, begin + 3)
        heads.append(ledger.head_of(place))
    for before in heads:
        head, proof = ledger.proof(place, before.size)
        assert merkle.is_consistent(before.size, bytes.fromhex(before.root), head.size, bytes.fromhex(head.root), proof)


def test_a_game_is_added_once(folder: Folder, place: Path) -> None:
    kept = Ledger(folder, silent)
    kept.add(map(entry, range(5)))
    kept.add(map(entry, range(2, 7)))
    Ledger(folder, silent).add(map(entry, range(3, 9)))
    expect(place, 9)


def cut_off(place: Path) -> None:
    """As a kill within a write leaves it."""
    with (place / "entries-1.jsonl").open("ab") as file:
        file.write(b'{"entrants":["fox')


def of_entries_alone(place: Path) -> None:
    """As a kill leaves it before the nodes and the head are written."""
    with (place / "entries-1.jsonl").open("ab") as file:
        file.write(ledger.encoded(entry(6)) + b"\n")


def of_nodes_too(place: Path) -> None:
    """As a kill leaves it before the head is written."""
    head = (place / HEAD_FILE).read_bytes()
    kept = Ledger(Folder(place.parent.parent), silent)
    kept.add([entry(6)])
    (place / HEAD_FILE).write_bytes(head)


@pytest.mark.parametrize("kill", [cut_off, of_entries_alone, of_nodes_too])
def test_what_a_kill_leaves_is_made_whole(folder: Folder, place: Path, kill: Callable[[Path], None]) -> None:
    Ledger(folder, silent).add(map(entry, range(6)))
    kill(place)
    Ledger(folder, silent).add([entry(6), entry(7)])
    expect(place, 8)


def test_nodes_that_are_lost_or_altered_are_made_again(folder: Folder, place: Path) -> None:
    Ledger(folder, silent).add(map(entry, range(6)))
    for damage in (b"", bytes(32 * merkle.nodes_of(6))):
        (place / NODES_FILE).write_bytes(damage)
        Ledger(folder, silent).add([])
        expect(place, 6)


def test_after_a_full_disk_it_goes_on(folder: Folder, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Ledger(folder, silent)
    kept.add(map(entry, range(3)))

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("arena.core.files.append", full)
        with pytest.raises(OSError, match="No space"):
            kept.add([entry(3)])
    kept.add([entry(3), entry(4)])
    expect(place, 5)


def test_entries_that_were_changed_are_told_and_stay(folder: Folder, place: Path) -> None:
    Ledger(folder, silent).add(map(entry, range(6)))
    page = place / "entries-0.jsonl"
    forged = page.read_bytes().replace(b"[1,2]", b"[2,1]", 1)
    page.write_bytes(forged)
    (place / NODES_FILE).unlink()
    told: list[str] = []
    Ledger(folder, told.append).add([entry(6)])
    assert [sentence.partition(", of")[0][-33:] for sentence in told] == ["is not the one that was published"]
    assert page.read_bytes() == forged


def test_every_finished_game_of_a_league_is_in_its_ledger(tmp_path: Path) -> None:
    """Void games too. What was made again from the deals alone, after a restored backup, is the same."""
    league = season_kit.closed(tmp_path, final=("fox", "random"))
    place = league.published / ledger.LEDGER
    found = [ledger.decoded(line) for line in ledger.lines(place)]
    results = (league.published / "seasons" / "cup-1" / "results-0.jsonl").read_text().splitlines()[:-1]
    expected = [json.loads(line) for line in results]
    assert [(one.game, one.status, one.entrants, one.ranks, one.play_digest) for one in found] == [
        (f"cup-1-{one['number']:06d}", one["status"], one["entrants"], one["ranks"], one["play_digest"])
        for one in expected
    ]
    assert {one.status for one in found} == {"done", "void"}
    assert all((one.log is None) == (one.status == "void") for one in found)
    kept = {path.name: path.read_bytes() for path in place.iterdir()}
    shutil.rmtree(place)
    with open_league(league.database) as store:
        assert list(entries_of(store, original_deals(store, league))) == found
        Ledger(league, silent).catch_up(store)
        assert {path.name: path.read_bytes() for path in place.iterdir()} == kept
        season_kit.publish(store, league)
        random, greedy = store.versions.active()[:2]
        season_kit.match(store, league, random, greedy)
        season_kit.publish(store, league)
        assert league_kit.season(store).tournament == "cup-2"
    assert len(list(ledger.lines(place))) == len(found) + 2
    assert ledger.decoded(list(ledger.lines(place))[-1]).game == "cup-2-000001"


@pytest.mark.parametrize("with_logs", [True, False])
def test_a_restored_league_has_the_ledger_that_was_backed_up(tmp_path: Path, with_logs: bool) -> None:
    league = season_kit.closed(tmp_path)
    head = ledger.head_of(league.published / ledger.LEDGER)
    back_up(league.path, tmp_path / "cup.tar", with_logs=with_logs)
    restore(tmp_path / "cup.tar", tmp_path / "again")
    again = Folder(tmp_path / "again")
    again.make()
    with open_league(again.database) as store:
        Ledger(again, silent).catch_up(store)
    assert ledger.head_of(again.published / ledger.LEDGER) == head != ledger.EMPTY
