"""Who sees what of a league's games: tried in both directions, on a log in which every field is filled."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from referee_kit import first_legal, on_turn, referee

from arena.core.record.compressed import expand
from arena.core.record.log import (
    ActionRecord,
    ForfeitRecord,
    Header,
    LateRecord,
    Log,
    Record,
    log_bytes,
    parse_log,
    play_digest,
    read_log,
)
from arena.core.referee.verify import verify
from arena.core.types import LoggedForfeit
from arena.league.visible import FIELDS, Viewer, publish, visible
from tests.memory_link import MemoryBot

PAGE = Path(__file__).parents[2] / "docs" / "league-running.md"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of three: all say secrets beside their actions, and seat 2 forfeits with one in its message."""
    folder = tmp_path_factory.mktemp("log")
    bots = [MemoryBot(first_legal), MemoryBot(first_legal), MemoryBot(on_turn(3, lambda request: []))]
    result, _ = referee(folder, bots)
    original = read_log(folder / result.log)
    records: list[Header | Record] = [original.header]
    for record in original.records:
        if isinstance(record, ActionRecord):
            record = msgspec.structs.replace(record, note=f"secret of {record.seat}")
        if isinstance(record, ForfeitRecord):
            guilty = [msgspec.structs.replace(one, sentence=f"secret of {one.seat}") for one in record.forfeits]
            record = msgspec.structs.replace(record, forfeits=guilty)
        records.append(record)
    (folder / result.log).write_bytes(log_bytes(records)[0])
    for seat in range(3):
        (folder / f"{original.header.game}.seat{seat}.output").write_text(f"secret of {seat}, printed\n")
    return folder / result.log


@pytest.fixture(scope="module")
def log(path: Path) -> Log:
    return read_log(path)


def secrets(records: list[Header | Record]) -> set[str]:
    text = log_bytes(records)[0].decode()
    return {f"secret of {seat}" for seat in range(3) if f"secret of {seat}" in text}


def test_everybody_sees_no_notes_and_no_words(log: Log) -> None:
    assert secrets([log.header, *log.records]) == {"secret of 0", "secret of 1", "secret of 2"}
    assert secrets(visible(log)) == set()


@pytest.mark.parametrize("seats", [(0,), (1,), (2,), (0, 2)])
def test_an_author_sees_their_own_and_nobody_elses(log: Log, seats: tuple[int, ...]) -> None:
    assert secrets(visible(log, seats)) == {f"secret of {seat}" for seat in seats}


@pytest.mark.parametrize("seats", [(), (2,)])
def test_what_is_shown_is_a_log_with_the_same_plays_that_verifies(
    log: Log, path: Path, tmp_path: Path, seats: tuple[int, ...]
) -> None:
    records = visible(log, seats)
    assert play_digest(records[:-1]) == play_digest([log.header, *log.records[:-1]])
    shown = tmp_path / path.name
    shown.write_bytes(log_bytes(records)[0])
    assert verify(shown).log.outcome.play_digest == log.outcome.play_digest


def test_everything_else_is_seen_by_everybody(log: Log) -> None:
    for record, shown in zip([log.header, *log.records], visible(log), strict=True):
        for field in record.__struct_fields__:
            if field not in ("note", "forfeits"):
                assert getattr(shown, field) == getattr(record, field)


def test_a_late_decision_hides_its_note_too(log: Log) -> None:
    late = LateRecord(seat=1, kind="seize", turn=1, action={}, note="secret of 1", used_ns=1, ms=1)
    with_late = msgspec.structs.replace(log, records=[late, *log.records])
    assert secrets(visible(with_late)) == set()
    assert "secret of 1" in secrets(visible(with_late, [1]))


def test_every_field_of_a_log_is_decided_about() -> None:
    """If this fails, a record has a field about which nobody has decided who may see it. Until then nobody sees it."""
    for kind in (Header, LoggedForfeit, *get_args(Record)):
        assert set(FIELDS[kind]) == set(kind.__struct_fields__), kind


def test_the_page_names_what_only_authors_see() -> None:
    hidden = {field for table in FIELDS.values() for field, who in table.items() if who is Viewer.OWN}
    assert hidden == {"note", "sentence"}
    page = PAGE.read_text(encoding="utf-8")
    for word in ("notes", "sentence", "transcript", "output"):
        assert word in page


def published(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): expand(file.read_bytes(), file.name)
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_what_is_published(log: Log, path: Path, tmp_path: Path) -> None:
    done = publish(log, path, tmp_path, ["anna", None, "ben"])
    game = log.header.game
    files = published(tmp_path)
    public = files.pop(f"logs/{game}.jsonl.zst")
    assert done == parse_log(public, "public").sha256
    assert b"secret" not in public
    for author, seat in (("anna", 0), ("ben", 2)):
        own = files.pop(f"own/{author}/{game}.jsonl.zst")
        assert {f"secret of {other}".encode() in own for other in range(3) if other != seat} == {False}
        assert f"secret of {seat}".encode() in own
        assert files.pop(f"own/{author}/{game}.seat{seat}.output.zst") == f"secret of {seat}, printed\n".encode()
    assert b"did not answer" in files.pop(f"own/ben/{game}.seat2.transcript.zst")
    assert not files
    assert publish(log, path, tmp_path, ["anna", None, "ben"]) == done


def test_an_author_to_whom_nothing_more_is_shown_has_no_log_of_their_own(log: Log, path: Path, tmp_path: Path) -> None:
    silent = parse_log(log_bytes(visible(log))[0], "log")
    done = publish(silent, tmp_path / path.name, tmp_path / "published", ["anna", None, "ben"])
    assert done == silent.sha256
    assert list(published(tmp_path / "published")) == [f"logs/{log.header.game}.jsonl.zst"]
