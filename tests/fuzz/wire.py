"""What bots send: frames, dialogues of frames, and the bytes of a connection."""

from __future__ import annotations

from functools import cache

from arena.core.errors import LocalProtocolError, RemoteProtocolError
from arena.core.referee.transcript import Transcript
from arena.core.wire.codec import decode, encode
from arena.core.wire.messages import MAX_DEPTH, MAX_FRAME, Action, Error, FromReferee, Hello, Ready, Welcome
from arena.core.wire.session import TRANSITIONS, Session, State
from arena.core.wire.zmtp import MAX_READ, Zmtp, frame
from tests.conformance.kit import INVALID, PROTOCOL, VALID
from tests.conformance.kit import frame as read_hex
from tests.core.property.test_wire import outgoing
from tests.fuzz.choices import Choices

MOST_BYTES = 100_000  # longer inputs are not tried
SHORT = 1_024
MSGPACK = {"§5.1-2", "§5.1-3", *(f"§5.2-{number}" for number in range(1, 7))}
"""The rules that are broken by what is not msgpack, or not of the allowed kinds."""
broken_rule = PROTOCOL["check_vectors"]["broken_rule"]


@cache
def frames() -> list[bytes]:
    """The frames of all vectors that are not too long, the shortest first."""
    found = {read_hex(vector["hex"]) for vector in (*VALID, *INVALID)}
    return sorted((one for one in found if len(one) < 2_000), key=len)


def make_frame(data: bytes) -> bytes:
    """A frame: bytes as they come, or those of a vector that was damaged."""
    choices = Choices(data)
    if choices.number(4) == 0:
        return choices.rest()
    made = bytearray(choices.pick(frames()))
    for _ in range(1 + choices.number(4)):
        at = choices.number(len(made) + 1)
        match choices.number(4):
            case 0:
                made[at : at + 1] = bytes([choices.number(256)])
            case 1:
                made[at : at + 1 + choices.number(8)] = b""
            case 2:
                made[at:at] = choices.pick(frames())
            case _:
                head = choices.pick(
                    (b"\xdf", b"\xdd", b"\xdb", b"\xc6", b"\xc9", b"\xd3", b"\xcb", b"\x91", b"\x81\xa1a")
                )
                made[at:at] = head * choices.pick((1, 1, 2, 40, 3_000))
    return bytes(made)


def check_frame(data: bytes) -> None:
    """It decodes to what the protocol allows, or is refused by the rule that the protocol's own checker names."""
    if len(data) > MOST_BYTES:
        return
    message, rule, reason = None, None, ""
    try:
        message = decode(data)
    except RemoteProtocolError as error:
        rule, reason = error.rule, str(error)
    assert len(reason) < 1_000, "a bot can swell the referee's logs"
    # In a long frame the nesting is looked at first: what msgpack does not allow in it counts as one (§10-1).
    if rule != "§5.2-6" or len(data) <= SHORT or broken_rule(data) not in MSGPACK:
        assert rule == broken_rule(data), (rule, broken_rule(data))
    if message is not None:
        assert decode(encode(message)) == message
        if isinstance(message, Action):
            _check_plain(message.action, 2)
    transcript = Transcript()
    transcript.add("bot", data, 0)
    transcript.entries(0)


def _check_plain(value: object, depth: int) -> None:
    assert depth <= MAX_DEPTH + 1
    if isinstance(value, dict):
        for key, item in value.items():
            assert type(key) is str
            _check_plain(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check_plain(item, depth + 1)
    else:
        assert value is None or type(value) in (str, int, bool)


def make_dialogue(data: bytes) -> list[bytes]:
    """Steps of a dialogue: frames of the bot, and for an empty one what the referee does next."""
    choices = Choices(data)
    steps = [encode(Hello(token="t", protocol="1.0"))] if choices.number(8) else []
    for _ in range(choices.number(40)):
        number = 1 + choices.number(4)
        match choices.number(8):
            case 0 | 1 | 2:
                steps.append(b"")
            case 3 | 4:
                steps.append(encode(Action(id=number, action={})))
            case 5:
                steps.append(encode(Ready(game=number)))
            case 6:
                steps.append(encode(choices.pick((Error(code="x_a"), Hello(token="t", protocol="1.0")))))
            case _:
                steps.append(choices.pick(frames()))
    return steps


def check_dialogue(steps: list[bytes]) -> None:
    """A session takes or refuses each frame, by its table; a refused frame changes nothing."""
    session = Session("t")
    for number, step in enumerate(steps):
        before = session.state
        if step == b"":
            kinds = ["start", "request", "over", "goodbye"] if number % 7 == 6 else ["start", "request", "over"]
            for message in (
                Welcome(protocol="1.0", max_frame=1, max_note=1),
                *(outgoing(session, kind) for kind in kinds),
            ):
                if type(message) in TRANSITIONS[before]:
                    _send(session, message)
                    break
            continue
        games, requests = session.next_game(), session.next_request()
        try:
            received = session.receive(step)
        except RemoteProtocolError:
            assert session.state is before
            received = None
        if received is None or isinstance(received, Error):
            assert session.state is before
        else:
            assert session.state is TRANSITIONS[before][type(received)]
        assert (session.next_game(), session.next_request()) == (games, requests)
        assert before is not State.CLOSED or received is None


def _send(session: Session, message: FromReferee) -> None:
    try:
        session.send(message)
    except LocalProtocolError as error:
        raise AssertionError(f"the table allows it: {message}") from error


GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
PIECES = (
    b"\x04\x0b\x04PING\x00\x07here", b"\x04\x04\x03WHO", b"\x00\x00", b"\x00\x03abc", b"\x01\x00", b"\x01\x01a", READY,
    b"\x02" + (300).to_bytes(8, "big") + b"x" * 300, b"\x02" + (MAX_READ).to_bytes(8, "big"), b"\x04\x00", b"\x06",
    b"\x02" + (MAX_READ + 1).to_bytes(8, "big"), b"\x02" + b"\xff" * 8, b"\x06" + (1_025).to_bytes(8, "big"), b"\x05",
    b"\x04\x05\x04PING", b"\x04\x07\x04PING\x00\x07", b"\x04\xff\x04PING" + bytes(250), GREETING, b"\x80", b"GET /",
    frame(b"y" * 255), frame(b"z" * 256),
)  # fmt: skip


def make_stream(data: bytes) -> bytes:
    """What comes over a connection: first how to cut it, a byte; then its bytes."""
    choices = Choices(data)
    cut = choices.number(256)
    stream = choices.pick((GREETING + READY, GREETING + READY, GREETING, b""))
    for _ in range(choices.number(12)):
        stream += choices.pick(PIECES)
    return bytes([cut]) + stream + choices.rest()


def check_stream(data: bytes) -> None:
    """Whatever comes, it is a message, an answer or a refusal; however it is cut, it is the same; little is kept."""
    if not data or len(data) > MOST_BYTES:
        return
    size, stream = 1 + data[0], data[1:]
    whole, pieces = _read(stream, max(1, len(stream))), _read(stream, size)
    assert whole == pieces, (whole, pieces)
    messages, _, rule = whole
    assert rule in ("", "§4.1-4", "§5.1-1", "§5.1-4")
    assert sum(map(len, messages)) <= len(stream)


def _read(stream: bytes, size: int) -> tuple[list[bytes], bytes, str]:
    zmtp = Zmtp()
    messages: list[bytes] = []
    answers = zmtp.answers()
    rule = ""
    try:
        for at in range(0, len(stream), size):
            message = zmtp.feed(stream[at : at + size])
            while message is not None:
                messages.append(message)
                message = zmtp.next()
            answers += zmtp.answers()
            assert len(zmtp.unread) <= MAX_READ + 9 + size
    except RemoteProtocolError as error:
        rule = error.rule
        answers += zmtp.answers()
    assert all(len(message) <= MAX_READ for message in messages)
    return messages, answers, rule


__all__ = ["MAX_FRAME", "check_dialogue", "check_frame", "check_stream", "make_dialogue", "make_frame", "make_stream"]
