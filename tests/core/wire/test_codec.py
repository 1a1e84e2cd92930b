"""Where the codec says a fault is, and that it stays cheap. What it accepts and refuses is tested by the vectors."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgpack
import pytest

from arena.core.errors import RemoteProtocolError
from arena.core.wire import messages as m
from arena.core.wire.codec import decode, decode_from_referee, encode


def reason(frame: bytes) -> str:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(frame)
    return str(caught.value)


def action(**fields: Any) -> bytes:
    packed: bytes = msgpack.packb({"type": "action", "id": 1, "action": {}} | fields)
    return packed


def test_type_comes_first_and_defaults_are_left_out() -> None:
    assert encode(m.Ready(game=1)) == b"\x82\xa4type\xa5ready\xa4game\x01"
    request = m.Request(id=1, kind="turn", clock=m.RequestClock(5, None))
    assert list(msgpack.unpackb(encode(request))) == ["type", "id", "kind", "clock"]


def test_an_empty_list_of_events_is_not_left_out() -> None:
    request = m.Request(id=1, kind="turn", clock=m.RequestClock(5, None), events=[])
    assert msgpack.unpackb(encode(request))["events"] == []


def test_no_board_is_written_as_nil_and_no_scores_are_left_out() -> None:
    start = m.GameStart(
        game=1, rules="tally", rules_version=1, ruleset="standard", options={}, seat=0, seats=2, board=None,
        time=m.Time(None, 0, 1_000, 30, None), commitment="", bot_seed=0,
    )  # fmt: skip
    assert msgpack.unpackb(encode(start))["board"] is None
    over = m.GameOver(game=1, termination="finished", ranks=[1, 2], forfeits=[])
    assert "scores" not in msgpack.unpackb(encode(over))


def test_messages_keep_their_class() -> None:
    for message in (
        m.Hello(token="t", protocol="1.0"),
        m.Ready(game=3),
        m.Action(id=1, action={"a": [1]}),
        m.Error(code="x_a"),
    ):
        assert decode(encode(message)) == message
    assert decode_from_referee(encode(m.Goodbye(reason="done"))) == m.Goodbye(reason="done")


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (action(action={"plays": [{"space": 1.5}]}), "got: float - at $.action.plays[0].space"),
        (action(action={"a": {"b": 2**53}}), f"got: {2**53} - at $.action.a.b"),
        (action(action={"a": [0, b"x"]}), "got: binary - at $.action.a[1]"),
        (action(action={"a": msgpack.Timestamp(1)}), "got: extension - at $.action.a"),
        (b"\x81\xa1a\x82\xa1b\x01\xa1b\x02", "expected each key once, got: 'b' again - at $.a"),
        (action(id="7"), "expected int, got str - at $.id"),
        (action(id=True), "expected int, got bool - at $.id"),
        (action(id=0), "expected int >= 1 - at $.id"),
        (msgpack.packb({"type": "action", "id": 1}), "object missing required field action - at $"),
        (msgpack.packb({"type": "hello", "token": "t", "protocol": "1.0", "want": ["legal", 2]}), "- at $.want[1]"),
        (b"\x81\xa4type\xc3", "expected a string, got: boolean - at $.type"),
        (b"\x80", "expected a string, got: nothing - at $.type"),
        (b"\xc3", "expected a map, got: boolean - at $"),
        (b"\x80\x80", "expected one value, got: 1 bytes after it - at $"),
        (action(note="é" * 513), "expected at most 1024 bytes, got: 1026 bytes - at $.note"),
        (action(action={"plays": [{1: 2}]}), "expected a string as key, got: integer - at $.action.plays[0]"),
        (action(action={"plays": [{"a": {None: 2}}]}), "expected a string as key, got: nil - at $.action.plays[0].a"),
        (b"\x81\xa1a\x81\x01\x02", "expected a string as key, got: integer - at $.a"),
        (b"\x81\xa1a\x81\x80\x02", "expected a string as key, got: map - at $.a"),
        (bytes(m.MAX_FRAME + 1), f"expected at most {m.MAX_FRAME} bytes, got: {m.MAX_FRAME + 1}"),
        (msgpack.packb({"type": "welcome"}), "expected a type that a bot sends, got: 'welcome' - at $.type"),
    ],
)
def test_a_reason_names_the_place(frame: bytes, text: str) -> None:
    assert reason(frame).endswith(text)


def test_quotes_are_cut_short() -> None:
    assert len(reason(action(action={"k" * 60_000: 0.5}))) < 300
    assert len(reason(msgpack.packb({"type": "error", "code": "c" * 60_000}))) < 300
    repeated = b"\xda\x75\x30" + b"k" * 30_000 + b"\x01"
    assert len(reason(b"\x82" + 2 * repeated)) < 300


@pytest.mark.parametrize("container", [lambda v: [v], lambda v: {"a": v}], ids=["array", "map"])
@pytest.mark.parametrize("size", [0, 5_000], ids=["short", "long"])
def test_nesting_ends_at_the_limit_in_short_and_long_frames(container: Any, size: int) -> None:
    def nested(levels: int) -> bytes:
        value: Any = "x" * size
        for _ in range(levels):
            value = container(value)
        return action(action={"a": value})

    assert decode(nested(m.MAX_DEPTH - 2)) is not None
    assert f"at most {m.MAX_DEPTH} levels" in reason(nested(m.MAX_DEPTH - 1))


def test_promises_of_long_arrays_cost_no_memory() -> None:
    frame = b"\x81\xa1a" + b"\xdd\x00\x00\xe0\x00" * 1_000 + bytes(60_000)
    tracemalloc.start()
    try:
        reason(frame)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * 2**20
