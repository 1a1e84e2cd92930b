"""Whatever a league changes or leaves out of what it has shown is found by whoever has seen a head before.

What a league must keep to: §D7-6, §D7-7, §D7-8.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from arena.league.checking.ledger_audit import audit_ledger
from arena.league.commands.audit import audit as command
from arena.league.record import ledger, merkle
from arena.league.record.ledger import LEDGER, Entry, Head
from tests import season_kit

Edit = Callable[[list[Entry]], list[Entry]]
"""What a forger makes of the entries."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is published of a season that is closed."""
    return season_kit.closed(tmp_path_factory.mktemp("ledger")).published


@pytest.fixture
def published(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "published"))


def forge(published: Path, edit: Edit) -> None:
    """Writes another ledger, with the head and the nodes of it, as a whole league would."""
    place = published / LEDGER
    entries = edit([ledger.decoded(line) for line in ledger.lines(place)])
    builder = merkle.Builder()
    lines = [ledger.encoded(entry) for entry in entries]
    nodes = b"".join(node for line in lines for node in builder.add(merkle.leaf_hash(line)))
    (place / "entries-0.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    (place / ledger.NODES_FILE).write_bytes(nodes)
    (place / ledger.HEAD_FILE).write_bytes(msgspec.json.encode(Head(builder.size, builder.root().hex())))


def other_result(entries: list[Entry]) -> list[Entry]:
    return [msgspec.structs.replace(entries[0], ranks=entries[0].ranks[::-1]), *entries[1:]]


def other_log(entries: list[Entry]) -> list[Entry]:
    return [msgspec.structs.replace(entries[0], log="00" * 32), *entries[1:]]


def made_void(entries: list[Entry]) -> list[Entry]:
    return [msgspec.structs.replace(entries[0], status="void", ranks=[], play_digest=None, log=None), *entries[1:]]


EDITS: dict[str, Edit] = {
    "another result": other_result,
    "a line and its log, replaced together": other_log,
    "a game that is void now": made_void,
    "a game left out": lambda entries: entries[1:],
    "the last game left out": lambda entries: entries[:-1],
    "another order": lambda entries: [entries[1], entries[0], *entries[2:]],
    "a game put in before others": lambda entries: [
        msgspec.structs.replace(entries[0], game="cup-0-000000"), *entries
    ],
}  # fmt: skip


def test_an_honest_ledger_has_no_fault(published: Path) -> None:
    place = published / LEDGER
    head = ledger.head_of(place)
    found = audit_ledger(published, {"now": head, "at the beginning": ledger.EMPTY, "then": head_at(place, 5)})
    assert (found.faults, found.entries, found.seen, found.seasons) == ((), head.size, 3, 2)


def head_at(place: Path, size: int) -> Head:
    with ledger.nodes(place) as node:
        return Head(size, merkle.root(size, node).hex())


@pytest.mark.parametrize("name", EDITS)
def test_a_ledger_that_was_forged_whole_is_found_by_a_head(published: Path, name: str) -> None:
    seen = ledger.head_of(published / LEDGER)
    forge(published, EDITS[name])
    shutil.rmtree(published / "seasons")  # a league that is at it forges them too
    assert audit_ledger(published, {}).faults == (), "by itself it is whole"
    assert {fault.check for fault in audit_ledger(published, {"anna": seen}).faults} == {"seen"}


@pytest.mark.parametrize("name", EDITS.keys() - {"another order", "a game put in before others"})
def test_a_ledger_that_is_not_that_of_the_seasons_is_found(published: Path, name: str) -> None:
    forge(published, EDITS[name])
    assert {fault.check for fault in audit_ledger(published, {}).faults} == {"seasons"}


def test_seasons_that_lack_a_game_of_the_ledger_are_found(published: Path) -> None:
    deals = published / "seasons" / "cup-1" / "deals-0.jsonl"
    deals.write_bytes(b"".join(deals.read_bytes().splitlines(keepends=True)[1:]))
    [fault] = audit_ledger(published, {}).faults
    assert "expected game cup-1-000000 of the ledger, got none" in fault.reason


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda data: data.replace(b'{"entrants"', b'{ "entrants"', 1), "a blank"),
        (lambda data: b'{"status":"done",' + data[1:], "twice"),
        (lambda data: data.splitlines(keepends=True)[0] + data, "is there twice"),
        (lambda data: data[:-5], "cut off"),
        (lambda data: data.replace(b"cup-1-000000", b"cup-1-00000x", 1), "expected a game"),
    ],
)
def test_an_entry_has_one_form(published: Path, edit: Callable[[bytes], bytes], reason: str) -> None:
    page = published / LEDGER / "entries-0.jsonl"
    page.write_bytes(edit(page.read_bytes()))
    assert any(reason in fault.reason for fault in audit_ledger(published, {}).faults if fault.check == "entries")


def test_a_head_that_is_not_of_the_entries_is_found(published: Path) -> None:
    forged = msgspec.json.encode(Head(3, "00" * 32))
    (published / LEDGER / ledger.HEAD_FILE).write_bytes(forged)
    assert [fault.check for fault in audit_ledger(published, {}).faults] == ["head"]


def test_the_command_says_what_was_found(published: Path, tmp_path: Path) -> None:
    heads = tmp_path / "bert.heads.json"
    heads.write_text(json.dumps({"5f" * 32: msgspec.to_builtins(ledger.head_of(published / LEDGER))}))
    run = CliRunner().invoke(command, [str(published), "--root", str(heads)])
    assert (run.exit_code, run.output.count("  ok      "), "FAILED" in run.output) == (0, 4, False), run.output
    forge(published, other_result)
    run = CliRunner().invoke(command, [str(published), "--root", str(heads)])
    assert run.exit_code == 4
    assert "FAILED  seen: every head that was seen" in run.output
    assert "bert.heads.json: expected the root" in run.output
    assert "expected the ranks of the ledger" in run.output
    found = json.loads(CliRunner().invoke(command, [str(published), "--root", str(heads), "--json"]).output)
    assert {fault["check"] for fault in found["faults"]} == {"seen", "seasons"}
