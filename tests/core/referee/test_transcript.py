"""What is kept of a seat's messages, and how much at most."""

from __future__ import annotations

import json
from pathlib import Path

import msgpack
import pytest

from arena.core.referee.transcript import KEPT_BYTES, Transcript

MS = 10**6


def lines(transcript: Transcript, path: Path) -> list[dict[str, object]]:
    transcript.write(path, 0)
    assert path.stat().st_size <= KEPT_BYTES + 100
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_messages_in_order(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.add("referee", msgpack.packb({"type": "welcome"}), 5 * MS)
    transcript.add("bot", b"\xc1", 7 * MS)
    assert lines(transcript, tmp_path / "it") == [
        {"ms": 5, "from": "referee", "message": {"type": "welcome"}},
        {"ms": 7, "from": "bot", "hex": "c1", "bytes": 1},
    ]


@pytest.mark.parametrize(
    ("size", "packed"), [(10, True), (10, False), (1_000, True), (1_000, False), (65_536, False), (200_000, False)]
)
def test_of_a_flood_the_beginning_and_the_end_are_kept(tmp_path: Path, size: int, packed: bool) -> None:
    transcript = Transcript()
    for number in range(40_000 if size == 10 else 2_000):
        # A null is a byte as msgpack, and five as JSON.
        frame = msgpack.packb({"number": number, "x": [None] * size}) if packed else bytes([0xC1]) * size
        transcript.add("bot", frame, number * MS)
    kept = lines(transcript, tmp_path / "it")
    (gap,) = [place for place, line in enumerate(kept) if "left_out" in line]
    times = [line["ms"] for line in kept if "ms" in line]
    assert times[:1] == [0]
    assert times[-1] == len(transcript) - 1
    assert len(kept) - 1 + int(str(kept[gap]["left_out"])) == len(transcript)
    assert gap > 0
    assert sum(len(each.frame) for each in (*transcript._first, *transcript._last)) <= KEPT_BYTES


def test_nested_headers_cost_nothing(tmp_path: Path) -> None:
    """The codec refuses such a frame unread, and so does whoever shows it."""
    transcript = Transcript()
    bomb = b"\xdd\x00\x00\xff\xff" * 13_000
    transcript.add("bot", bomb, 0)
    (line,) = lines(transcript, tmp_path / "it")
    assert line["bytes"] == len(bomb)
    assert str(line["hex"]) == bomb[:4_096].hex()


def test_onlookers_are_told_each_message_once() -> None:
    transcript = Transcript()
    told = 0
    heard: list[int] = []
    for number in range(3_000):
        transcript.add("bot", msgpack.packb({"number": number, "x": "y" * 500}), number)
        if number % 100 == 99:
            heard += [at for at, _ in transcript.entries(0, told)]
            told = len(transcript)
    assert heard == list(range(3_000))
