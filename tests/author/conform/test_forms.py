"""Unusual forms say the same, and are unusual."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from arena.author.conform import frames
from arena.author.conform.frames import UNKNOWN, Form
from arena.core.wire.codec import decode_from_referee, encode
from tests.conformance.kit import VALID, frame

MESSAGES = [
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
@pytest.mark.parametrize("vector", MESSAGES, ids=lambda vector: vector["id"])
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
