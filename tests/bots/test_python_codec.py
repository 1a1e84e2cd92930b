"""The Python client's codec against the protocol's vectors, with msgpack and without."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis.strategies import booleans, dictionaries, integers, lists, none, recursive, text

from tests.bots.games import bot_module
from tests.conformance.kit import INVALID, VALID, frame

CLIENT = bot_module("arena_bot")
FRAMING = {"§5.1-2", "§5.1-3", "§5.3-1"}
"""The rules that make a frame one map with a type: what breaks one of them is no message."""
SENT = [vector for vector in VALID if vector["from"] == "bot" and vector["decoded"] is not None]
REFUSED = [vector for vector in INVALID if FRAMING.intersection(vector["spec"])]


@pytest.fixture(autouse=True, params=["msgpack", "its own"])
def codec(request, monkeypatch):
    if request.param == "its own":
        monkeypatch.setattr(CLIENT, "msgpack", None)


def each(vectors):
    return pytest.mark.parametrize("vector", vectors, ids=lambda vector: vector["id"])


def known(message: Any, decoded: Any) -> Any:
    """What a message says without the fields that a vector does not know."""
    if isinstance(decoded, dict) and isinstance(message, dict):
        return {key: known(message.get(key), value) for key, value in decoded.items()}
    if isinstance(decoded, list) and isinstance(message, list) and len(message) == len(decoded):
        return [known(item, value) for item, value in zip(message, decoded, strict=True)]
    return message


@each(VALID)
def test_a_valid_frame_is_read(vector):
    message = CLIENT.decode(frame(vector["hex"]))
    if vector["decoded"] is None:
        assert isinstance(message["type"], str)
    else:
        assert repr(known(message, vector["decoded"])) == repr(vector["decoded"]), "repr tells True from 1"


@each(SENT)
def test_what_a_bot_sends_is_written_so_that_it_can_be_read(vector):
    assert repr(CLIENT.decode(CLIENT.encode(vector["decoded"]))) == repr(vector["decoded"])


@each(REFUSED)
def test_what_is_no_message_is_refused(vector):
    with pytest.raises(ValueError, match=r"^expected one msgpack map with a type"):
        CLIENT.decode(frame(vector["hex"]))


@each(INVALID)
def test_any_other_invalid_frame_is_refused_or_read(vector):
    try:
        message = CLIENT.decode(frame(vector["hex"]))
    except ValueError:
        return
    assert isinstance(message["type"], str)


@pytest.mark.parametrize("size", range(9))
def test_a_note_is_cut_between_characters(size):
    text = "aé€🏯"  # characters of one, two, three and four bytes
    cut = CLIENT.cut(text, size)
    assert text.startswith(cut)
    assert len(cut.encode()) <= size < len((cut + text[len(cut)]).encode())


def test_a_short_note_is_not_cut():
    assert CLIENT.cut("€€", 6) == "€€"


@given(
    recursive(
        none() | booleans() | integers(-(2**53), 2**53) | text(),
        lambda inner: lists(inner) | dictionaries(text(), inner),
        max_leaves=40,
    )
)
def test_its_own_codec_and_msgpack_read_each_other(value):
    assert repr(msgpack.unpackb(CLIENT._packed(value))) == repr(value)
    assert repr(CLIENT._unpacked(msgpack.packb(value))) == repr(value)
