"""Frames to lines and lines to frames, and every line that must not pass."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest

from arena.author.jsonlines import MAX_LINE, Translator
from arena.core.errors import RemoteProtocolError
from arena.core.wire.codec import decode, encode
from arena.core.wire.messages import Action, Ready

START = {"type": "game_start", "game": 3, "board": {"name": "Edo 江戸\n"}, "bot_seed": 2**53 - 1, "later": [None, True]}
OVER = {"type": "game_over", "game": 3, "termination": "finished", "ranks": [1, 2], "forfeits": []}
PLAY = {"plays": [{"tile": "rice3", "space": 17}]}


def request(number: int) -> dict[str, Any]:
    return {"type": "request", "id": number, "kind": "turn", "clock": {"limit_ms": 9, "bank_ms": None}, "legal": {}}


def pack(message: dict[str, Any]) -> bytes:
    packed = msgpack.packb(message)
    assert isinstance(packed, bytes)
    return packed


def asked(*numbers: int) -> Translator:
    """A translator that was sent these requests."""
    translator = Translator()
    for number in numbers:
        translator.from_referee(pack(request(number)))
    return translator


def action(frame: bytes | None) -> Action:
    assert frame is not None
    message = decode(frame)
    assert isinstance(message, Action)
    return message


@pytest.mark.parametrize("message", [START, request(1), OVER], ids=lambda message: message["type"])
def test_what_the_program_gets_is_the_whole_message_in_one_line(message: dict[str, Any]) -> None:
    """§4.4-1."""
    line = Translator().from_referee(pack(message)).line
    assert json.loads(line) == message
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


def test_the_bridge_is_ready_for_the_program() -> None:
    assert Translator().from_referee(pack(START)).reply == encode(Ready(game=3))
    assert Translator().from_referee(pack(OVER)).reply == b""


@pytest.mark.parametrize("kind", ["welcome", "error", "goodbye", "a_later_message"])
def test_what_the_program_does_not_get(kind: str) -> None:
    fields = {"type": kind, "protocol": "1.0", "max_frame": 65536, "max_note": 1024, "code": "x_odd", "reason": "end"}
    heard = Translator().from_referee(pack(fields))
    assert (heard.line, heard.reply) == (b"", b"")
    assert heard.is_over == (kind in ("goodbye", "error"))
    assert heard.complaint == ("referee: x_odd: " if kind == "error" else "")


@pytest.mark.parametrize(
    "frame", [b"", b"\xc1", pack({"type": "request"}), pack({"id": 1}), b"\x93\1\2\3", b"\xa1\xff"]
)
def test_a_referee_that_breaks_the_protocol(frame: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="expected a message of the protocol from the referee, got: "):
        Translator().from_referee(frame)


def test_an_answer_gets_type_and_id() -> None:
    """§4.4-2."""
    line = json.dumps({"action": PLAY}).encode()
    assert action(asked(7).from_program(line)) == Action(id=7, action=PLAY)


def test_an_answer_may_have_a_note_and_what_nobody_knows() -> None:
    line = json.dumps({"id": 99, "type": "x", "note": "17 it is", "action": PLAY, "more": [1]}).encode()
    assert action(asked(7).from_program(line)) == Action(id=7, action=PLAY, note="17 it is")
    assert action(asked(7).from_program(b'{"action":{},"note":null}')) == Action(id=7, action={})


def test_a_line_may_end_as_on_windows_and_be_spaced() -> None:
    assert action(asked(7).from_program(b' {"action" : { } } \t\r')) == Action(id=7, action={})


def test_a_note_is_cut_between_characters() -> None:
    line = json.dumps({"action": {}, "note": "x" + "ö" * 600}).encode()
    assert action(asked(1).from_program(line)).note == "x" + "ö" * 511
    translator = asked(1)
    welcome = {"type": "welcome", "protocol": "1.0", "max_frame": 65536, "max_note": 2000}
    translator.from_referee(pack({**welcome, "max_note": 4}))
    assert action(translator.from_program(line)).note == "xö"


def test_answers_go_to_requests_in_order() -> None:
    translator = asked(4)
    assert action(translator.from_program(b'{"action":{}}')).id == 4
    translator.from_referee(pack(request(5)))
    assert action(translator.from_program(b'{"action":{}}')).id == 5


def test_the_answer_to_a_request_that_has_lapsed_is_dropped() -> None:
    """§4.4-4."""
    translator = asked(4)
    for message in (OVER, {**START, "game": 4}, request(5)):
        translator.from_referee(pack(message))
    assert translator.from_program(b"too late") is None
    assert action(translator.from_program(b'{"action":{}}')).id == 5


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", """expected {"action": {...}} in one line, and remarks on standard error, got: '' (Expecting value"""),
        (b"thinking ...", "got: 'thinking ...' (Expecting value, column 1)"),
        (b'{"action":{}} {"action":{}}', "(Extra data, column 15)"),
        (b'{"action":{}', "column 13)"),
        (b"[]", "got: '[]'"),
        (b"null", "got: 'null'"),
        (b'{"plays":[]}', """got: '{"plays":[]}'"""),
        (b'{"action":[]}', """got: '{"action":[]}'"""),
        (b'{"action":null}', "got: "),
        (b'{"action":{"space":1,"space":2}}', "(the key 'space' twice)"),
        (b'{"action":{},"action":{}}', "(the key 'action' twice)"),
        (b'{"action":{"space":1.0}}', "got: float - at $.action.space"),
        (b'{"action":{"space":1e2}}', "got: float - at $.action.space"),
        (b'{"action":{"space":1e999}}', "got: float - at $.action.space"),
        (b'{"action":{"space":NaN}}', "(NaN is not JSON)"),
        (b'{"action":{"space":-Infinity}}', "(-Infinity is not JSON)"),
        (b'{"action":{"space":9007199254740992}}', "got: 9007199254740992 - at $.action.space"),
        (b'{"action":{"space":%d}}' % 2**64, "expected integers within"),
        (b'{"action":{"space":%s}}' % (b"9" * 5000), "Exceeds the limit"),
        (b'{"action":{"tile":"\\ud83d"}}', "half of a surrogate pair"),
        (b'{"action":{"\\udc00":1}}', "half of a surrogate pair"),
        (b'{"action":{},"note":"\\ud83d"}', "half of a surrogate pair"),
        (b'{"action":{"tile":"\xff"}}', "can't decode byte 0xff"),
        (b"\xef\xbb\xbf{}", r"got: '\ufeff{}'"),
        (b'{"action":{},"note":3}', "at $.note"),
        (b'{"action":{"a":' + b"[" * 15 + b"]" * 15 + b"}}", "expected at most 16 levels of nesting"),
        (b'{"action":{"a":' + b"[" * 20000 + b"]" * 20000 + b"}}", "expected at most 16 levels of nesting"),
        (b'{"action":{"a":"' + b"a" * 65536 + b'"}}', "expected at most 65536 bytes"),
        (b"\x1b[2J", r"got: '\x1b[2J'"),
    ],
)  # fmt: skip
def test_a_line_that_must_not_pass(line: bytes, words: str) -> None:
    translator = asked(6, 7)
    translator.from_program(b'{"action":{}}')
    with pytest.raises(RemoteProtocolError) as caught:
        translator.from_program(line)
    message = str(caught.value)
    assert message.startswith("line 2 of the program's output, for request 7: expected ")
    assert words in message
    assert len(message) < 500
    assert message.isprintable()


def test_the_deepest_action() -> None:
    line = b'{"action":{"a":' + b"[" * 14 + b"]" * 14 + b"}}"
    assert action(asked(1).from_program(line)).id == 1


def test_a_line_that_nobody_asked_for() -> None:
    """§4.4-5."""
    expected = "line 1 of the program's output: expected no line, as no request waits for one, got: 'hello'"
    with pytest.raises(RemoteProtocolError) as caught:
        Translator().from_program(b"hello")
    assert str(caught.value) == expected


def test_a_second_answer() -> None:
    translator = asked(1)
    translator.from_program(b'{"action":{}}')
    with pytest.raises(RemoteProtocolError, match=r"line 2 .*expected no line"):
        translator.from_program(b'{"action":{}}')


def test_a_line_is_as_long_as_a_frame() -> None:
    """§4.4-3."""
    assert MAX_LINE == 65_536
