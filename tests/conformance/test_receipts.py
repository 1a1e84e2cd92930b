"""The vectors of receipts: what they are over, and that the bundled client for Python keeps what they say."""

from __future__ import annotations

import hashlib
import json
import runpy
from pathlib import Path
from typing import Any

import msgpack
import pytest

from arena.core.record.log import canonical
from arena.core.resources import bots_folder
from arena.league.door.receipts import ReceiptRecorder
from tests.conformance.kit import FOLDER, load

VECTORS = load(FOLDER / "vectors" / "receipts.json")["receipts"]
CLIENT: dict[str, Any] = runpy.run_path(str(bots_folder() / "python" / "arena_bot.py"))
PAGE = (FOLDER / "SPEC.md").read_text(encoding="utf-8")

by_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])


@by_vector
def test_the_digest_is_over_canonical_json(vector: dict[str, Any]) -> None:
    """§8.7-5."""
    line, text = vector["line"], vector.get("canonical")
    assert (text is None) == (line["own"] is None)
    if text is not None:
        assert canonical(json.loads(text)).decode() == text
        assert hashlib.sha256(text.encode()).hexdigest() == line["own"] == line["told"]
    assert vector["messages"][-1]["receipt"]["digest"] == line["told"]
    assert vector["messages"][-1]["receipt"]["notes"] == line["notes"]


@by_vector
def test_the_python_client_keeps_the_line(vector: dict[str, Any]) -> None:
    start, *messages, over = vector["messages"]
    receipt = CLIENT["Receipt"](start)
    for request, action in zip(messages[::2], messages[1::2], strict=True):
        receipt.add(request, action)
    assert receipt.line(over) == vector["line"]


@by_vector
def test_what_keeps_the_receipts_of_a_remote_bot_keeps_the_line(vector: dict[str, Any], tmp_path: Path) -> None:
    """From frames, among others that it does not know, and after another game of the session."""
    path = tmp_path / "kept"
    keeper = ReceiptRecorder(path)
    for _ in range(2):
        for message in vector["messages"]:
            frame = msgpack.packb(message)
            keeper.say(frame) if message["type"] == "action" else keeper.hear(frame)
            for strange in (b"", b"\xc1", msgpack.packb({"type": "later"}), msgpack.packb({"type": "request"})):
                keeper.hear(strange)
                keeper.say(strange)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [vector["line"]] * 2


def test_the_page_shows_what_the_first_digest_is_over() -> None:
    shown = PAGE.split("The digest is that of these bytes, in one line:\n```\n")[1].split("```")[0]
    assert shown.replace("\n", "") == VECTORS[0]["canonical"]
