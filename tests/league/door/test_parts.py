"""The door's parts without sockets: tokens, limits, and messages as they are encoded."""

from __future__ import annotations

import hashlib
import os
import secrets
import tomllib
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import ConfigError, RemoteProtocolError
from arena.league.door.codec import decode, decode_from_door, encode
from arena.league.door.limits import LIMITS, Bucket, Limit, Usage
from arena.league.door.messages import MAX_AUTHOR_FRAME, FromAuthor, FromDoor
from arena.league.door.refusals import Refusal
from arena.league.door.tokens import (
    hash_of,
    is_hash,
    is_token,
    new_token,
    read_hash,
    read_token,
    write_hash,
    write_token,
)
from tests.conformance.kit import FOLDER

TABLES: dict[str, Any] = tomllib.loads((FOLDER / "league.toml").read_text(encoding="utf-8"))
CLASSES: dict[str, Any] = {
    str(kind.__struct_config__.tag): kind for kind in (*get_args(FromAuthor), *get_args(FromDoor))
}


# Tokens


def test_a_tokens_file_is_its_owners_alone(tmp_path: Path) -> None:
    token, file = new_token(), tmp_path / "anna.token"
    old = os.umask(0)
    try:
        write_token(file, token)
    finally:
        os.umask(old)
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_token(file) == token
    with pytest.raises(ConfigError, match="a new name for the file of a token"):
        write_token(file, new_token())
    file.chmod(0o640)
    with pytest.raises(ConfigError, match="only its owner can read, got: the mode 640"):
        read_token(file)


def test_the_file_for_the_operator_has_no_secret_and_can_be_made_without_arena(tmp_path: Path) -> None:
    token, file = new_token(), tmp_path / "anna.hash"
    write_hash(file, token, "anna")
    assert token.removeprefix("arena_") not in file.read_text()
    assert read_hash(file) == hash_of(token)
    with pytest.raises(ConfigError, match="the file of a token, got: something else - at"):
        read_token(file)
    file.write_text(f"{hashlib.sha256(token.encode()).hexdigest()}  -\n")  # as `printf %s TOKEN | sha256sum` prints it
    assert read_hash(file) == hash_of(token)
    write_token(tmp_path / "anna.token", token)
    assert read_hash(tmp_path / "anna.token") == hash_of(token)


@pytest.mark.parametrize("text", ["", 'public = "3"', "arena_short", "\0", "x" * 5_000, "ab" * 31])
def test_what_is_no_file_of_a_token_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "anna.key").write_text(text)
    for read in (read_token, read_hash):
        with pytest.raises(ConfigError, match=r"anna\.key"):
            read(tmp_path / "anna.key")


def test_what_is_kept_of_a_token_has_the_form_that_tables_have() -> None:
    tokens = [new_token() for _ in range(50)]
    assert all(is_token(token) and is_hash(hash_of(token)) and not is_hash(token) for token in tokens)
    assert len({hash_of(token) for token in tokens}) == 50
    assert not any(map(is_token, ("", tokens[0][:-1], f"{tokens[0]}x", f"{tokens[0]}\n", f"Arena{tokens[0][5:]}")))


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
