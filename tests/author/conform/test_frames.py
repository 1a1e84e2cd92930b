"""How frames are shown, unusual forms of them that say the same, and that each rule of the codec has a check."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.author.conform import frames
from arena.author.conform.findings import RULES
from arena.author.conform.frames import LONGEST_DECODED, UNKNOWN, Form, decoded, hexed, type_is_first
from arena.core.errors import RemoteProtocolError
from arena.core.wire.codec import decode, decode_from_referee, encode
from tests.conformance.kit import VALID, frame

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(0, 9), inner),
    max_leaves=12,
)
MESSAGES = st.dictionaries(st.sampled_from(["type", "id", "game", "action", "note", "token", "protocol"]), VALUES)
TYPES = st.sampled_from(["hello", "ready", "action", "error", "welcome", "x"])


@given(
    st.binary() | MESSAGES.map(msgpack.packb) | st.builds(lambda m, t: msgpack.packb(m | {"type": t}), MESSAGES, TYPES)
)
def test_whatever_the_codec_refuses_breaks_a_rule_that_somebody_watches(data: bytes) -> None:
    reported = None
    try:
        decode(data)
    except RemoteProtocolError as error:
        reported = error.rule
    assert reported is None or reported in RULES


@given(st.binary() | VALUES.map(msgpack.packb))
def test_every_frame_can_be_shown_in_visible_characters(data: bytes) -> None:
    text = decoded(data)
    assert text.isprintable()
    assert len(text) <= LONGEST_DECODED + 1


def test_a_frame_that_nests_deeper_than_anybody_reads_is_shown_too() -> None:
    assert decoded(b"\x91" * 100_000 + b"\xc0").startswith("(")


def test_what_json_has_not_is_shown_as_it_is() -> None:
    data = b"\x85\xa1a\x01\xa1a\x02\xa1b\xc4\x01\xff\xa1c\xcb\x40\x08" + bytes(6) + b"\xa1d" + msgpack.packb("\x1b[2J")
    assert decoded(data) == '{"a":1,"a":2,"b":(binary ff),"c":3.0,"d":"\\u001b[2J"}'


def test_a_long_frame_is_cut() -> None:
    assert hexed(bytes(3)) == "000000"
    assert hexed(bytes(10_000)).endswith(" …")


def test_the_first_field_is_seen() -> None:
    assert type_is_first(msgpack.packb({"type": "x", "a": 1}))
    assert not type_is_first(msgpack.packb({"a": 1, "type": "x"}))


VECTORS = [
    vector
    for vector in VALID
    if vector["from"] == "referee" and vector["decoded"] and "encoding" not in vector["flags"]
]
FORMS = [
    frames.long_integers,
    frames.long_strings,
    frames.long_containers,
    frames.reversed_fields,
    frames.unknown_fields,
    frames.explicit_nils,
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_a_form_says_the_same(form: Form, vector: dict[str, Any]) -> None:
    data = frame(vector["hex"])
    assert decode_from_referee(form(data)) == decode_from_referee(data)


REQUEST = encode(
    {"type": "request", "id": 7, "kind": "turn", "clock": {"limit_ms": 1, "bank_ms": None}, "legal": {"a": [-3]}}
)


def test_integers_are_long_signed_and_unsigned() -> None:
    data = frames.long_integers(REQUEST)
    assert data.count(b"\xd3") == 2
    assert b"\xcf" + (1).to_bytes(8) in data
    assert b"\xd3" + (-3).to_bytes(8, signed=True) in data


def test_strings_and_containers_are_long() -> None:
    assert frames.long_strings(REQUEST).count(b"\xdb\0\0\0") == 10
    assert frames.long_containers(REQUEST).startswith(b"\xdf\0\0\0\5")
    assert b"\xdd\0\0\0\1\xfd" in frames.long_containers(REQUEST)


def test_the_type_is_last_in_reversed_fields_inner_maps_too() -> None:
    message = msgpack.unpackb(frames.reversed_fields(REQUEST))
    assert list(message)[-1] == "type"
    assert list(message["clock"]) == ["bank_ms", "limit_ms"]


def test_unknown_fields_are_in_the_message_and_its_inner_maps_but_not_in_payloads() -> None:
    message = msgpack.unpackb(frames.unknown_fields(REQUEST))
    assert {*UNKNOWN} <= {*message}
    assert {*UNKNOWN} <= {*message["clock"]}
    assert message["legal"] == {"a": [-3]}


def test_nil_stands_where_a_field_was_left_out() -> None:
    over = {"type": "game_over", "game": 1, "termination": "finished", "ranks": [1, 2], "forfeits": []}
    message = msgpack.unpackb(frames.explicit_nils(encode(over)))
    assert message == over | {"events": None, "scores": None, "receipt": None}
    message = msgpack.unpackb(frames.explicit_nils(REQUEST))
    assert (message["view"], message["events"], message["legal"]) == (None, None, {"a": [-3]})
