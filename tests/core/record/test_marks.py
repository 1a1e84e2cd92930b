"""Tests that nobody can add a mark of an overloaded machine to a forfeit afterwards, or take one away."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from arena.core.errors import ReplayMismatch
from arena.core.record.kept import Kept, Receipts
from arena.core.record.log import ForfeitRecord, Log, OutcomeRecord, Record, read_log, write_log
from arena.core.record.receipts import receipts_of
from arena.core.referee.verify import verify

PROTOCOL = Path(__file__).parents[3] / "protocol"
LOG = PROTOCOL / "vectors" / "logs" / "gardener-forfeits.jsonl"
CHECK_LOG: dict[str, Any] = runpy.run_path(str(PROTOCOL / "check_log.py"))
CHECK_RECEIPTS: dict[str, Any] = runpy.run_path(str(PROTOCOL / "check_receipts.py"))


def marked(log: Log, **mark: Any) -> list[Record]:
    """Returns the records with a mark at each forfeit, and the receipts as they were."""
    return [
        replace(one, forfeits=[replace(forfeit, **mark) for forfeit in one.forfeits])
        if isinstance(one, ForfeitRecord)
        else one
        for one in log.records
    ]


def with_receipts(log: Log, records: list[Record]) -> list[Record]:
    """Returns the records with the receipts that follow from them."""
    outcome = log.outcome
    found = receipts_of(log.header, records, outcome.termination, outcome.ranks, outcome.scores)
    return [*records[:-1], replace(outcome, receipts=[one.logged for one in found if one is not None])]


def without_marks(log: Log) -> list[Record]:
    outcome = log.outcome
    receipts = [replace(one, forfeits=None) for one in outcome.receipts or ()]
    return [*marked(log, overloaded=True)[:-1], replace(outcome, receipts=receipts)]


@pytest.mark.parametrize(
    "change",
    [
        lambda log: marked(log, overloaded=True),
        lambda log: marked(log, denied_ms=900),
        without_marks,
    ],
    ids=["a flag is added", "what was denied is added", "a flag is added and the digest dropped"],
)
def test_a_changed_mark_contradicts_the_receipts(tmp_path: Path, change: Any) -> None:
    log = read_log(LOG)
    path = tmp_path / LOG.name
    write_log(path, [log.header, *change(log)])
    with pytest.raises(ReplayMismatch, match="the forfeits, with `overloaded` and `denied_ms`, give seat 0 the digest"):
        verify(path)
    with pytest.raises(CHECK_LOG["Fault"], match="expected the receipt"):
        CHECK_LOG["check"](path.read_bytes())


@pytest.mark.parametrize("is_marked", [False, True], ids=["added", "removed"])
def test_a_receipt_that_was_kept_finds_a_mark_that_was_changed_consistently(tmp_path: Path, is_marked: bool) -> None:
    log = read_log(LOG)
    honest, forged = (with_receipts(log, marked(log, overloaded=mark)) for mark in (is_marked, not is_marked))
    outcome = honest[-1]
    assert isinstance(outcome, OutcomeRecord)
    kept = tmp_path / "kept"
    [*lines] = (
        Kept(
            bot_seed=log.header.bots[one.seat].bot_seed,
            seat=one.seat,
            own=one.digest,
            told=one.digest,
            notes=one.notes,
            termination=outcome.termination,
            ranks=outcome.ranks,
            forfeits=one.forfeits,
        )
        for one in outcome.receipts or ()
    )
    kept.write_bytes(msgspec.json.Encoder().encode_lines(lines))
    for records, count in ((honest, 0), (forged, len(lines))):
        path = tmp_path / LOG.name
        write_log(path, [log.header, *records])
        verify(path)
        differences = list(Receipts(kept).differences(read_log(path)))
        assert len(differences) == count
        assert all("marks of an overloaded machine" in one.reason for one in differences)
        assert len(list(CHECK_RECEIPTS["compare"](kept, [path]))) == count
    kept.write_bytes(re.sub(rb'"forfeits":"[0-9a-f]+"', b'"forfeits":null', kept.read_bytes()))
    assert [*CHECK_RECEIPTS["compare"](kept, [path])] == [*Receipts(kept).differences(read_log(path))] == []


def test_a_log_of_an_earlier_release_needs_no_digest(tmp_path: Path) -> None:
    log = read_log(LOG)
    path = tmp_path / LOG.name
    write_log(path, [replace(log.header, arena="0.2.0", chance=0), *without_marks(log)])
    verify(path)
    assert "forfeits" not in json.loads(path.read_text().splitlines()[-1])["receipts"][0]
    CHECK_LOG["check"](path.read_bytes())
