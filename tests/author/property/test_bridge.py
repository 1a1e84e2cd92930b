"""JSON lines and frames: what passes the bridge is the same on both sides, and nothing else passes."""

from __future__ import annotations

import json

import msgpack
from hypothesis import given
from hypothesis import strategies as st

from arena.author.jsonlines import Translator
from arena.core.errors import RemoteProtocolError
from arena.core.wire.codec import decode
from arena.core.wire.messages import MAX_INT, Action

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
LEAF = st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | TEXT
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
PAYLOAD = st.dictionaries(TEXT, VALUE, max_size=4)
WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
"""All that a JSON library may write, with what is no JSON and what the protocol forbids."""


def asked() -> Translator:
    translator = Translator()
    clock = {"limit_ms": 1, "bank_ms": None}
    translator.from_referee(msgpack.packb({"type": "request", "id": 7, "kind": "turn", "clock": clock}))
    return translator


@given(PAYLOAD, st.none() | TEXT, st.booleans(), st.sampled_from([None, 0]))
def test_an_action_is_the_same_in_the_frame(
    action: dict[str, object], note: str | None, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps({"note": note, "action": action}, ensure_ascii=ascii_only, indent=indent)
    frame = asked().from_program(text.replace("\n", "").encode())
    assert frame is not None
    assert decode(frame) == Action(id=7, action=action, note=note)


@given(PAYLOAD, st.sampled_from(["game_start", "request", "game_over"]))
def test_a_message_is_the_same_in_the_line(fields: dict[str, object], kind: str) -> None:
    message = {**fields, "type": kind, "id": 1, "game": 1}
    line = Translator().from_referee(msgpack.packb(message)).line
    assert json.loads(line) == message
    assert line.index(b"\n") == len(line) - 1


@given(WILD | st.builds(lambda action: {"action": action}, WILD), st.booleans())
def test_whatever_json_comes_it_is_a_good_frame_or_an_error(answer: object, ascii_only: bool) -> None:
    line = json.dumps(answer, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    try:
        frame = asked().from_program(line)
    except RemoteProtocolError:
        return
    assert frame is not None
    assert isinstance(answer, dict)
    assert decode(frame) == Action(id=7, action=answer["action"])


@given(st.binary(max_size=60) | st.text('{}[]":,action0.e-\\u ', max_size=60).map(str.encode))
def test_whatever_bytes_come_it_is_a_good_frame_or_an_error(line: bytes) -> None:
    try:
        frame = asked().from_program(line)
    except RemoteProtocolError:
        return
    assert frame is not None
    assert isinstance(decode(frame), Action)
