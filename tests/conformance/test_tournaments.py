"""Whole tournaments: the honest ones are good, and every forgery of them is found and named."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from golden import forgeries, tournaments

from arena.core.standings.audit import PROMISES, Auditor
from arena.core.standings.examined import examine
from arena.core.standings.verdicts import Audit

CHECKER = runpy.run_path(str(tournaments.FOLDER.parents[1] / "check_log.py"))
HONEST = sorted(tournaments.TOURNAMENTS)
FORGERIES = json.loads((tournaments.FOLDER / "forgeries.json").read_bytes())["forgeries"]


def audit(folder: Path, noted: Path | None = None, *, complete: bool = False) -> Audit:
    auditor = Auditor(folder, noted=noted)
    for log in sorted(folder.glob("*.jsonl")):
        auditor.add(examine(str(log)))
    return auditor.result(complete=complete)


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_tournament_keeps_every_promise(name: str) -> None:
    complete = not tournaments.TOURNAMENTS[name].kept
    result = audit(tournaments.FOLDER / name, tournaments.FOLDER / name / "commitment.json", complete=complete)
    assert result.faults == ()
    assert result.complete == complete
    without_secret = {"deals", "secret"} if not complete else set()
    assert set(result.checked) == PROMISES.keys() - {"database", *result.unchecked} - without_secret
    why = {
        "deals": "the commitment names none",
        "clock": "look up for yourself whether the last seven digits",
        "stages": "the commitment names none",
    }
    assert result.unchecked.keys() == ({"beacon"} if name in why else set())
    assert result.unchecked.get("beacon", "").startswith(why.get(name, ""))


def test_a_beacon_is_not_called_good_where_its_signature_cannot_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.core.extras.find_spec", lambda module: None)
    result = audit(tournaments.FOLDER / "race", complete=True)
    assert result.faults == ()
    assert "beacon" not in result.checked
    assert "pip install py_ecc" in result.unchecked["beacon"]


def test_the_stored_tournaments_are_those_that_are_played_today() -> None:
    stored = {path: path.read_bytes() for path in tournaments.FOLDER.glob("*/*")}
    assert dict(tournaments.files()) == stored, "run: make golden"
    assert (tournaments.FOLDER / "forgeries.json").read_bytes() == forgeries.document(), "run: make golden"


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery["id"])
def test_a_forgery_is_found_and_named(forgery: dict[str, Any], tmp_path: Path) -> None:
    honest = tournaments.FOLDER / forgery["of"]
    folder = tmp_path / "logs"
    shutil.copytree(honest, folder)
    for edit in forgery["edits"]:
        forge(folder, edit)
    noted = honest / "commitment.json" if forgery["noted"] else None
    faults = audit(folder, noted, complete=forgery["complete"]).faults
    found = forgery["found"]
    assert any(fault.check == found["check"] and found["says"] in fault.reason for fault in faults), faults
    if forgery["noted"] or forgery["complete"]:
        assert not any(fault.check == found["check"] for fault in audit(folder).faults), "it is found without that, too"


def test_every_check_finds_some() -> None:
    assert {forgery["found"]["check"] for forgery in FORGERIES} == PROMISES.keys() - {"database"}
    assert len(FORGERIES) >= 15


def forge(folder: Path, edit: dict[str, Any]) -> None:
    """Makes an edit as a forger would: sums and the play digest are right again afterwards."""
    if "delete" in edit:
        (folder / edit["delete"]).unlink()
    elif "copy" in edit:
        (folder / edit["to"]).parent.mkdir(exist_ok=True)
        shutil.copy(folder / edit["copy"], folder / edit["to"])
    elif "move" in edit:
        (folder / edit["move"]).rename(folder / edit["to"])
    elif "link" in edit:
        (folder / edit["link"]).symlink_to(edit["to"])
    elif "begin" in edit:
        text = (folder / edit["file"]).read_text(encoding="utf-8")
        (folder / edit["file"]).write_text("{" + edit["begin"] + text.removeprefix("{"), encoding="utf-8")
    elif "flip" in edit:
        data = bytearray((folder / edit["file"]).read_bytes())
        data[edit["flip"]] ^= 1
        (folder / edit["file"]).write_bytes(data)
    elif edit["file"].endswith(".jsonl"):
        forge_log(folder / edit["file"], edit)
    else:
        path = folder / edit["file"]
        document = json.loads(path.read_bytes())
        change(document, edit)
        path.write_text(json.dumps(document), encoding="utf-8")


def forge_log(path: Path, edit: dict[str, Any]) -> None:
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    for record in records[edit["from"] - 1 :] if "from" in edit else [records[edit["line"] - 1]]:
        change(record, edit)
    records[-1]["play_digest"] = CHECKER["play_digest"](records)
    records[-1]["receipts"] = CHECKER["receipts"](records)
    data = b""
    for record in records:
        del record["sum"]
        data += json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
        data += b',"sum":"%08x"}\n' % crc32(data)
    path.write_bytes(data)


def change(document: Any, edit: dict[str, Any]) -> None:
    for path, value in edit.get("set", {}).items():
        place, key = find(document, path)
        place[key] = value
    for path, value in edit.get("add", {}).items():
        place, key = find(document, path)
        place[key] += value
    for one, another in edit.get("exchange", []):
        (here, key), (there, other) = find(document, one), find(document, another)
        here[key], there[other] = there.get(other), here.get(key)


def find(document: Any, path: str) -> tuple[Any, Any]:
    """Returns what holds the value of a path such as `bots.0.name`, and its key there."""
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        document = document[step]
    return document, last
