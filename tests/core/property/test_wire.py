"""The wire over random messages, random bytes and random dialogues."""

from __future__ import annotations

import random
from typing import Any

import msgpack
from hypothesis import given
from hypothesis import strategies as st

from arena.core.errors import LocalProtocolError, RemoteProtocolError
from arena.core.wire import messages as m
from arena.core.wire.codec import decode, decode_from_referee, encode
from arena.core.wire.session import TRANSITIONS, Session, State
from tests.conformance.kit import PROTOCOL

broken_rule = PROTOCOL["check_vectors"]["broken_rule"]
"""Which rule a frame of a bot breaks, worked out a second time, from the protocol's own tables."""
TEXT = st.text(max_size=40)
INTEGER = st.integers(-m.MAX_INT, m.MAX_INT)
NUMBER = st.integers(1, m.MAX_INT)
MAYBE = st.none() | st.integers(0, m.MAX_INT)
VALUE = st.recursive(
    st.none() | st.booleans() | INTEGER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
WORDS = st.lists(TEXT, max_size=16).map(tuple)
SECONDS = st.integers(0, 2**34)
PAYLOAD = st.dictionaries(TEXT, VALUE, max_size=5)
ERROR = st.builds(m.Error, code=TEXT, message=TEXT, id=st.none() | INTEGER)
FROM_BOT: st.SearchStrategy[m.FromBot] = st.one_of(
    st.builds(m.Hello, token=TEXT, protocol=st.from_regex(r"\A[0-9]{1,4}\.[0-9]{1,4}\Z"), name=TEXT, version=TEXT,
              want=WORDS | st.dictionaries(TEXT, WORDS, max_size=16), capabilities=WORDS,
              entropy=st.from_regex(r"\A[0-9a-f]{64}\Z") | st.just(""),
              rules=st.lists(st.builds(m.RulesPlayed, name=TEXT, versions=st.lists(NUMBER, max_size=16).map(tuple)),
                             max_size=16).map(tuple)),
    st.builds(m.Ready, game=NUMBER),
    st.builds(m.Action, id=NUMBER, action=PAYLOAD, note=st.none() | TEXT),
    ERROR,
)  # fmt: skip
TIME = st.builds(m.Time, bank_ms=MAYBE, increment_ms=INTEGER, limit_ms=MAYBE, margin_ms=INTEGER, window_us=MAYBE)
EVENTS = st.none() | st.lists(PAYLOAD, max_size=3)
FROM_REFEREE: st.SearchStrategy[m.FromReferee] = st.one_of(
    st.builds(m.Welcome, protocol=TEXT, max_frame=INTEGER, max_note=INTEGER, capabilities=WORDS),
    st.builds(m.GameStart, game=NUMBER, rules=TEXT, rules_version=INTEGER, ruleset=TEXT,
              options=st.dictionaries(TEXT, TEXT, max_size=4), seat=INTEGER, seats=INTEGER, board=PAYLOAD, time=TIME,
              commitment=TEXT, bot_seed=st.integers(0, m.MAX_INT)),
    st.builds(m.Request, id=NUMBER, kind=TEXT, clock=st.builds(m.RequestClock, limit_ms=INTEGER, bank_ms=MAYBE),
              view=st.none() | PAYLOAD, events=EVENTS, legal=st.none() | st.lists(PAYLOAD, max_size=3)),
    st.builds(m.GameOver, game=NUMBER, termination=TEXT, ranks=st.lists(INTEGER, max_size=4),
              forfeits=st.lists(st.builds(m.ForfeitNotice, seat=INTEGER, code=TEXT), max_size=2), events=EVENTS),
    st.builds(m.Goodbye, reason=TEXT),
    ERROR,
)  # fmt: skip


def pack(value: Any, rng: random.Random) -> bytes:
    """A value in any of the encodings that msgpack has for it, keys in any order."""
    if isinstance(value, str):
        data = value.encode()
        head = [bytes([width]) + len(data).to_bytes(size, "big") for width, size in ((0xDA, 2), (0xDB, 4))]
        return rng.choice(head) + data
    if isinstance(value, list):
        head = [b"\xdc" + len(value).to_bytes(2, "big"), b"\xdd" + len(value).to_bytes(4, "big")]
        return rng.choice(head) + b"".join(pack(item, rng) for item in value)
    if isinstance(value, dict):
        head = [b"\xde" + len(value).to_bytes(2, "big"), b"\xdf" + len(value).to_bytes(4, "big")]
        items = rng.sample(list(value.items()), len(value))
        return rng.choice(head) + b"".join(pack(key, rng) + pack(item, rng) for key, item in items)
    if type(value) is int:
        return b"\xd3" + value.to_bytes(8, "big", signed=True)
    packed: bytes = msgpack.packb(value)
    return packed


@given(FROM_BOT)
def test_a_bot_s_message_comes_back(message: m.FromBot) -> None:
    assert decode(encode(message)) == message


@given(FROM_REFEREE)
def test_a_referee_s_message_comes_back(message: m.FromReferee) -> None:
    assert decode_from_referee(encode(message)) == message


@given(FROM_BOT, st.randoms(use_true_random=False))
def test_every_encoding_of_a_message_is_the_same_message(message: m.FromBot, rng: random.Random) -> None:
    assert decode(pack(msgpack.unpackb(encode(message)), rng)) == message


@given(st.binary(max_size=200))
def test_random_bytes_decode_or_are_refused(frame: bytes) -> None:
    decode_or_refuse(frame)


@given(FROM_BOT, st.data())
def test_damaged_frames_decode_or_are_refused(message: m.FromBot, data: st.DataObject) -> None:
    frame = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(frame) - 1))
        frame[at] = data.draw(st.integers(0, 255))
    decode_or_refuse(bytes(frame))


@given(VALUE | st.floats() | st.binary() | st.dictionaries(INTEGER, VALUE), st.integers(0, 5_000))
def test_any_value_decodes_or_is_refused(value: Any, padding: int) -> None:
    decode_or_refuse(msgpack.packb({"type": "action", "id": 1, "action": {"a": value}, "x": "x" * padding}))


FOREIGN = st.floats() | st.binary(max_size=4) | st.integers(-(2**63), 2**64 - 1) | st.builds(msgpack.Timestamp, SECONDS)
KEYS = TEXT | st.booleans() | st.none() | st.integers(0, 9) | st.binary(max_size=4) | st.builds(tuple)
WILD = st.recursive(
    VALUE | FOREIGN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=6
)
NAMES = ["type", "id", "game", "action", "note", "token", "protocol", "name", "version", "want", "code", "message",
         "rules", "capabilities", "entropy"]  # fmt: skip


@given(FROM_BOT, st.dictionaries(st.sampled_from(NAMES), WILD, max_size=2), st.sets(st.sampled_from(NAMES), max_size=2))
def test_a_message_with_wrong_and_missing_fields_breaks_the_rule_that_is_reported(
    message: m.FromBot, wrong: dict[str, Any], missing: set[str]
) -> None:
    fields = msgpack.unpackb(encode(message)) | wrong
    decode_or_refuse(msgpack.packb({key: value for key, value in fields.items() if key not in missing}))


@given(WILD, st.integers(0, 20), st.booleans(), st.integers(0, 2))
def test_a_value_at_any_depth_breaks_the_rule_that_is_reported(value: Any, depth: int, maps: bool, cut: int) -> None:
    for _ in range(depth):
        value = {"a": value} if maps else [value]
    frame = msgpack.packb({"type": "action", "id": 1, "action": {"a": value}})
    decode_or_refuse(frame[: len(frame) - cut])


@given(st.lists(st.tuples(KEYS, WILD), max_size=4))
def test_a_repeated_key_breaks_the_rule_that_is_reported(pairs: list[tuple[Any, Any]]) -> None:
    pairs += [("type", "action"), ("id", 1), ("action", {})]
    packer = msgpack.Packer(autoreset=False)
    packer.pack_map_header(len(pairs))
    for pair in pairs:
        packer.pack(pair[0])
        packer.pack(pair[1])
    decode_or_refuse(packer.bytes())


def decode_or_refuse(frame: bytes) -> None:
    """Nothing but a refusal is raised, with the rule that is broken. What is accepted holds only what is allowed."""
    message, reported = None, None
    try:
        message = decode(frame)
    except RemoteProtocolError as error:
        reported = error.rule
    assert reported == broken_rule(frame)
    if isinstance(message, m.Action):
        assert_plain(message.action)


def assert_plain(value: Any) -> None:
    if isinstance(value, dict):
        assert all(type(key) is str for key in value)
        for item in value.values():
            assert_plain(item)
    elif isinstance(value, list):
        for item in value:
            assert_plain(item)
    else:
        assert type(value) in (str, int, bool, type(None))
        assert type(value) is not int or abs(value) <= m.MAX_INT


SMALL = st.integers(1, 3)
STEPS = st.lists(
    st.one_of(
        st.just(m.Hello(token="t", protocol="1.0")),
        st.builds(m.Ready, game=SMALL),
        st.builds(m.Action, id=SMALL, action=st.just({})),
        st.just(m.Error(code="x_a")),
        st.just(m.Welcome(protocol="1.0", max_frame=1, max_note=1)),
        st.sampled_from(["start", "request", "over", "goodbye"]),
    ),
    max_size=40,
)


@given(STEPS)
def test_a_session_follows_its_table_and_nothing_else(steps: list[Any]) -> None:
    session = Session("t")
    for step in steps:
        before, games, requests = session.state, session.next_game(), session.next_request()
        message = outgoing(session, step) if isinstance(step, str) else step
        allowed = TRANSITIONS[before].get(type(message))
        try:
            if isinstance(message, m.Hello | m.Ready | m.Action | m.Error):
                taken = session.receive(encode(message)) is not None
            else:
                session.send(message)
                taken = True
        except (LocalProtocolError, RemoteProtocolError):
            taken = False
        moved = session.state is not before
        assert not moved or session.state is allowed
        assert not (taken and not moved) or isinstance(message, m.Error)
        if before is State.CLOSED:
            assert not taken
        assert session.next_game() == games + (isinstance(message, m.GameStart) and taken)
        assert session.next_request() == requests + (isinstance(message, m.Request) and taken)


def outgoing(session: Session, kind: str) -> m.FromReferee:
    """A message of the referee with the right number."""
    game = session.next_game()
    if kind == "start":
        return m.GameStart(game=game, rules="", rules_version=1, ruleset="", options={}, seat=0, seats=2, board={},
                         time=m.Time(None, 0, 1, 30, None), commitment="", bot_seed=0)  # fmt: skip
    if kind == "request":
        return m.Request(id=session.next_request(), kind="turn", clock=m.RequestClock(1, None))
    if kind == "over":
        return m.GameOver(game=max(1, game - 1), termination="finished", ranks=[], forfeits=[])
    return m.Goodbye(reason="")
