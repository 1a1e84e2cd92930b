"""Every rule that the codec can report has a check, and how frames are shown."""

from __future__ import annotations

import msgpack
from hypothesis import given
from hypothesis import strategies as st

from arena.author.conform.base import RULES
from arena.author.conform.frames import LONGEST_DECODED, decoded, hexed, type_is_first
from arena.core.errors import RemoteProtocolError
from arena.core.wire.codec import decode

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
