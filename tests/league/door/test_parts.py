"""The door's parts without sockets: keys, ZAP, limits, and messages as they are encoded."""

from __future__ import annotations

import os
import secrets
import tomllib
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zmq.utils import z85

from arena.core.errors import ConfigError, RemoteProtocolError
from arena.league.door import zap
from arena.league.door.codec import decode, decode_from_door, encode
from arena.league.door.keys import Address, address, is_key, make_pair, read_pair, read_public, write_pair, write_public
from arena.league.door.limits import LIMITS, Bucket, Limit, Usage
from arena.league.door.messages import MAX_AUTHOR_FRAME, FromAuthor, FromDoor
from arena.league.door.refusals import Refusal
from tests.conformance.kit import FOLDER

TABLES: dict[str, Any] = tomllib.loads((FOLDER / "league.toml").read_text(encoding="utf-8"))
CLASSES: dict[str, Any] = {
    str(kind.__struct_config__.tag): kind for kind in (*get_args(FromAuthor), *get_args(FromDoor))
}


# Keys


def test_a_key_file_is_its_owners_alone(tmp_path: Path) -> None:
    pair = make_pair()
    old = os.umask(0)
    try:
        write_pair(tmp_path / "anna.key", pair, "anna")
    finally:
        os.umask(old)
    assert (tmp_path / "anna.key").stat().st_mode & 0o777 == 0o600
    assert read_pair(tmp_path / "anna.key") == pair
    assert read_public(tmp_path / "anna.key") == pair.public
    with pytest.raises(ConfigError, match="a new name for a key file"):
        write_pair(tmp_path / "anna.key", make_pair(), "anna")
    (tmp_path / "anna.key").chmod(0o640)
    with pytest.raises(ConfigError, match="only its owner can read, got: the mode 640"):
        read_pair(tmp_path / "anna.key")


def test_the_public_file_has_no_secret(tmp_path: Path) -> None:
    pair = make_pair()
    write_public(tmp_path / "anna.pub", pair.public, "anna")
    assert pair.secret not in (tmp_path / "anna.pub").read_text()
    assert read_public(tmp_path / "anna.pub") == pair.public
    with pytest.raises(ConfigError, match="a key file"):
        read_pair(tmp_path / "anna.pub")


@pytest.mark.parametrize("text", ["", "public = 3", 'public = "short"', "\0", "x" * 5_000])
def test_what_is_no_key_file_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "anna.key").write_text(text)
    with pytest.raises(ConfigError, match=r"anna\.key"):
        read_public(tmp_path / "anna.key")


@given(st.binary(min_size=32, max_size=32), st.sampled_from(["cup.example:5599", "127.0.0.1:1", "[::1]:65535"]))
def test_an_address_is_read_as_it_is_written(key: bytes, host: str) -> None:
    made = Address(f"tcp://{host}", z85.encode(key).decode())
    assert address(str(made)) == made
    assert is_key(made.key)


@pytest.mark.parametrize(
    "text", ["", "tcp://cup:5599", "ipc:///tmp/x/" + "0" * 64, "tcp://cup:5599/" + "g" * 64, "tcp://a b:1/" + "0" * 64]
)
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(ConfigError, match="the address of a league"):
        address(text)


# ZAP


def question(**other: bytes) -> list[bytes]:
    fields = {
        "version": b"1.0", "number": b"7", "domain": zap.DOMAIN.encode(), "address": b"127.0.0.1", "id": b"",
        "mechanism": b"CURVE", "credentials": bytes(32),
    }  # fmt: skip
    return [*(fields | other).values()]


def test_a_known_key_is_let_in_by_its_name() -> None:
    """§D4-6."""
    key = z85.encode(bytes(32)).decode()
    reply = zap.answer(question(), lambda given: given == key, lambda given: True)
    assert reply == [b"1.0", b"7", b"200", b"OK", key.encode(), b""]


@pytest.mark.parametrize(
    "asked",
    [
        question(mechanism=b"NULL"), question(mechanism=b"PLAIN"), question(domain=b""), question(domain=b"*"),
        question(credentials=b"short"), question(credentials=bytes(33)),
    ],
)  # fmt: skip
def test_only_curve_in_our_domain_is_let_in(asked: list[bytes]) -> None:
    assert zap.answer(asked, lambda key: True, lambda key: True)[2] == b"400"


def test_an_unknown_key_is_not_counted_and_a_known_one_can_come_too_often() -> None:
    """§D9-1: what strangers try costs no memory."""
    counted: list[str] = []

    def may_come(key: str) -> bool:
        counted.append(key)
        return False

    assert zap.answer(question(), lambda key: False, may_come)[2] == b"400"
    assert counted == []
    assert zap.answer(question(), lambda key: True, may_come)[2] == b"300"
    assert len(counted) == 1


@given(st.lists(st.binary(max_size=40), max_size=12))
def test_any_question_gets_an_answer(asked: list[bytes]) -> None:
    reply = zap.answer(asked, lambda key: False, lambda key: True)
    assert reply[2] in (b"400", b"500")
    assert len(reply) == 6


# Limits


@given(st.floats(0.1, 1e6), st.floats(1, 1e6), st.lists(st.tuples(st.floats(0, 100), st.floats(0, 2_000)), max_size=50))
def test_no_bucket_gives_more_than_its_burst_and_its_rate(
    rate: float, burst: float, asked: list[tuple[float, float]]
) -> None:
    bucket, now, given_ = Bucket(Limit(rate, burst, "units"), 0), 0.0, 0.0
    for pause, units in asked:
        now += pause
        wait = bucket.take(units, now)
        if wait == 0:
            given_ += units
        elif units <= burst:
            assert bucket.take(units, now + wait * 1.0001 + 1e-6) == 0
            now += wait * 1.0001 + 1e-6
            given_ += units
        assert given_ <= (burst + rate * now) * 1.0001


def test_a_clock_that_goes_back_gives_nothing() -> None:
    bucket = Bucket(Limit(1, 1, "units"), 100)
    assert bucket.take(1, 100) == 0
    assert bucket.take(1, 0) > 0
    assert bucket.take(1, 100) > 0


def test_full_buckets_are_forgotten() -> None:
    usage = Usage()
    for number in range(100):
        usage.take(f"key{number}", "requests", 1, 0)
    assert len(usage) == 100
    usage.forget(1)
    assert len(usage) == 0


@pytest.mark.parametrize("name", LIMITS)
def test_a_refusal_names_the_limit_and_when_to_come_again(name: str) -> None:
    """§D9-1."""
    usage = Usage()
    usage.take("key", name, LIMITS[name].burst, 0)
    with pytest.raises(Refusal) as caught:
        usage.take("key", name, 1, 0)
    message = caught.value.message(3)
    assert (message.id, message.code, message.limit) == (3, "too_many", name)
    assert message.retry_after_s
    usage.take("key", name, 1, message.retry_after_s)
    usage.take("other", name, 1, 0)


# Messages


def values(kind: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a type of league.toml."""
    least, most = kind.get("at_least", 0), kind.get("at_most")
    if kind["type"] == "binary":
        found: st.SearchStrategy[Any] = st.binary(min_size=least, max_size=min(most, least + 100))
    elif kind["type"] == "boolean":
        found = st.booleans()
    elif kind["type"] == "integer":
        found = st.integers(kind.get("at_least", -(2**53) + 1), most or 2**53 - 1)
    elif kind["type"] == "array":
        found = st.lists(values(kind["items"]), max_size=min(most or 3, 3))
    elif kind["type"] == "map":
        items = values(kind["values"]) if "values" in kind else st.integers(0, 9) | st.text() | st.floats(-1, 1)
        found = st.dictionaries(st.text(), items, max_size=3)
    elif "pattern" in kind:
        found = st.from_regex(kind["pattern"].replace("$", r"\Z"))
    else:
        found = st.text(max_size=min(most or 20, 20))
    return found | st.none() if kind.get("nil") else found


@st.composite
def sent(draw: st.DrawFn) -> tuple[str, Any]:
    """A message, and who sends it."""
    name = draw(st.sampled_from(list(TABLES["messages"])))
    table = TABLES["messages"][name]
    fields = {field: draw(values(kind)) for field, kind in table["fields"].items()}
    sender = draw(st.sampled_from(["author", "door"])) if table["from"] == "either" else table["from"]
    return sender, msgspec.convert({"type": name, **fields}, CLASSES[name])


@given(sent())
def test_what_is_written_is_read(case: tuple[str, Any]) -> None:
    sender, message = case
    assert (decode if sender == "author" else decode_from_door)(encode(message)) == message


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    """§D4-4: or ignored."""
    codes = []
    for read in (decode, decode_from_door):
        try:
            read(data)
        except RemoteProtocolError as error:
            codes.append(error.error_code)
    assert {*codes} <= {"malformed", "protocol", "too_large"}


def test_a_frame_of_a_bot_fits_into_a_frame_of_an_author() -> None:
    from arena.league.door.messages import Frame

    assert len(encode(Frame(secrets.token_hex(16), 2**53 - 1, bytes(65_536)))) <= MAX_AUTHOR_FRAME
