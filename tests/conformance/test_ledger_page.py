"""The vectors of proofs, and the checker without arena: it finds in ledgers and receipts what `arena` finds."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.core.record.log import read_log, write_log
from arena.league.record import ledger, merkle
from arena.league.record.ledger import LEDGER, Head
from tests import season_kit
from tests.conformance.kit import FOLDER, load
from tests.conformance.logs import LOGS, checker

SCRIPT = FOLDER / "check_receipts.py"
CHECKER: dict[str, Any] = runpy.run_path(str(SCRIPT))
PROOFS = load(FOLDER / "vectors" / "league" / "ledger.json")["proofs"]


@pytest.mark.parametrize("vector", PROOFS, ids=lambda vector: vector["id"])
def test_both_say_the_same_of_a_proof(vector: dict[str, Any]) -> None:
    proof = vector["proof"]
    path, top = [bytes.fromhex(one) for one in proof["proof"]], bytes.fromhex(proof["root"])
    if "entry" in proof:
        leaf = merkle.leaf_hash(proof["entry"].encode())
        said = merkle.is_included(leaf, proof["index"], proof["size"], top, path)
    else:
        before = proof["before"]
        said = merkle.is_consistent(before["size"], bytes.fromhex(before["root"]), proof["size"], top, path)
    assert said == vector["valid"] == (list(CHECKER["check_proof"](proof)) == [])


def test_the_checker_has_at_most_400_lines() -> None:
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) <= 400


def run(*words: object) -> tuple[int, str]:
    """The checker in a process of its own, with nothing but Python."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), *map(str, words)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return season_kit.closed(tmp_path_factory.mktemp("ledger"), final=("fox", "random")).published


@pytest.fixture
def published(played: Path, tmp_path: Path) -> Path:
    """What a league publishes, with its logs as they are fetched."""
    folder = Path(shutil.copytree(played, tmp_path / "cup"))
    for path in sorted((folder / "logs").glob("*.jsonl.zst")):
        log = read_log(path)
        write_log(path.with_name(f"{log.header.game}.jsonl"), [log.header, *log.records])
    return folder


def test_an_honest_ledger_is_right(published: Path, tmp_path: Path) -> None:
    with ledger.nodes(published / LEDGER) as node:
        seen = Head(5, merkle.root(5, node).hex())
    head = tmp_path / "bert.heads.json"
    head.write_bytes(msgspec.json.encode({"5f" * 32: seen}))
    assert run("ledger", published, "--head", head) == (0, "right\n")
    code, text = run("prove", published, "cup-1-000003")
    (tmp_path / "proof.json").write_text(text)
    assert (code, run("inclusion", tmp_path / "proof.json")) == (0, (0, "right\n"))
    proof = json.loads(text)
    assert (proof["index"], json.loads(proof["entry"])["game"]) == (3, "cup-1-000003")
    now, hashes = ledger.proof(published / LEDGER, 5)
    goes_on = {"before": seen, "size": now.size, "root": now.root, "proof": [each.hex() for each in hashes]}
    (tmp_path / "proof.json").write_bytes(msgspec.json.encode(goes_on))
    assert run("consistency", tmp_path / "proof.json") == (0, "right\n")
    (tmp_path / "proof.json").write_bytes(msgspec.json.encode(goes_on | {"root": "00" * 32}))
    assert run("consistency", tmp_path / "proof.json")[0] == 1
    assert run("prove", published, "cup-1-000999")[0] == 2


def test_a_ledger_that_was_changed_is_found(published: Path, tmp_path: Path) -> None:
    page = published / LEDGER / "entries-0.jsonl"
    whole = page.read_bytes()

    def found(data: bytes) -> list[str]:
        page.write_bytes(data)
        return list(CHECKER["check_ledger"](published, []))

    assert found(whole) == []
    assert any("expected the root" in text for text in found(whole.replace(b'"ranks":[1,2]', b'"ranks":[2,1]', 1)))
    assert any("there twice" in text for text in found(whole + whole.splitlines(keepends=True)[0]))
    assert any("is not in the ledger" in text for text in found(b"".join(whole.splitlines(keepends=True)[1:])))
    assert any("canonical" in text for text in found(whole.replace(b":", b": ", 1)))
    with pytest.raises(ValueError, match="whole lines"):
        found(whole[:-1])
    page.write_bytes(whole)
    log = next((published / "logs").glob("*.jsonl"))
    log.write_bytes(log.read_bytes() + b"\n")
    [text] = CHECKER["check_ledger"](published, [])
    assert "expected the log with the SHA-256" in text


def test_receipts_are_compared_with_logs(tmp_path: Path) -> None:
    """The lines are what a client would have kept: a client's own are tested where it plays."""
    path = LOGS / "samurai-standard.jsonl"
    records = list(checker["read"](path.read_bytes()))
    lines = []
    for seat, receipt in enumerate(checker["receipts"](records)):
        line = {"bot_seed": records[0]["bots"][seat]["bot_seed"], "seat": seat, "own": None}
        line |= {"told": receipt["digest"], "notes": receipt.get("notes")}
        lines.append(line | {key: records[-1][key] for key in ("termination", "ranks")})
    kept = tmp_path / "kept"

    def compared(*edits: dict[str, Any]) -> tuple[int, str]:
        changed = [line | edit for line, edit in zip(lines, edits, strict=False)]
        kept.write_text("".join(json.dumps(line) + "\n" for line in changed))
        return run("receipts", kept, path)

    assert compared({}, {}) == (0, "right\n")
    for edit, what in (
        ({"told": "00" * 32}, "what it saw and did (told)"),
        ({"own": "00" * 32}, "its messages give the receipt"),
        ({"notes": "00" * 32}, "its notes have the digest"),
        ({"ranks": [1, 1]}, "it was told the ranks [1, 1]"),
        ({"termination": "timeout"}, "it was told the termination timeout"),
    ):
        code, text = compared({}, edit)
        assert (code, f"{kept}:2: game samurai-standard, seat 1: {what}" in text) == (1, True), text
    assert compared({"bot_seed": 1}, {"bot_seed": 1})[0] == 1
    kept.write_text("{}")
    assert run("receipts", kept, path)[0] == 2
