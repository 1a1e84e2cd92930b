"""The session's own law-abidance: what the referee may not send. What a bot may do is tested by the dialogues."""

from __future__ import annotations

from typing import get_args

import pytest

from arena.core.errors import LocalProtocolError, RemoteProtocolError
from arena.core.wire import messages as m
from arena.core.wire.codec import decode_from_referee, encode
from arena.core.wire.session import TRANSITIONS, Session, State

HELLO = m.Hello(token="secret", protocol="1.0", want=("legal",))
WELCOME = m.Welcome(protocol="1.0", max_frame=65_536, max_note=1_024)
GOODBYE = m.Goodbye(reason="done")


def start(game: int) -> m.GameStart:
    return m.GameStart(
        game=game, rules="samurai", rules_version=1, ruleset="standard", options={}, seat=0, seats=2, board={},
        time=m.Time(None, 0, 1_000, 30, None), commitment="", bot_seed=0,
    )  # fmt: skip


def request(number: int) -> m.Request:
    return m.Request(id=number, kind="turn", clock=m.RequestClock(1_000, None))


def over(game: int) -> m.GameOver:
    return m.GameOver(game=game, termination="finished", ranks=[1, 2], forfeits=[])


PATH: dict[State, list[m.FromBot | m.FromReferee]] = {State.NEW: []}
PATH[State.GREETED] = [*PATH[State.NEW], HELLO]
PATH[State.IDLE] = [*PATH[State.GREETED], WELCOME]
PATH[State.PREPARING] = [*PATH[State.IDLE], start(1)]
PATH[State.PLAYING] = [*PATH[State.PREPARING], m.Ready(game=1)]
PATH[State.ASKED] = [*PATH[State.PLAYING], request(1)]
PATH[State.CLOSED] = [*PATH[State.IDLE], GOODBYE]
SENT: tuple[m.FromReferee, ...] = (WELCOME, start(1), request(1), over(1), GOODBYE)

PATH_TO_A_SECOND_GAME: list[m.FromBot | m.FromReferee] = [
    *PATH[State.PLAYING], request(1), m.Action(id=1, action={}), request(2), over(1), start(2)
]  # fmt: skip


def session_after(path: list[m.FromBot | m.FromReferee]) -> Session:
    session = Session("secret")
    for message in path:
        if isinstance(message, get_args(m.FromBot)):
            session.receive(encode(message))
        else:
            session.send(message)
    return session


def session_in(state: State) -> Session:
    session = session_after(PATH[state])
    assert session.state is state
    return session


@pytest.mark.parametrize("message", SENT, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize("state", State)
def test_the_referee_can_send_what_the_table_lists_and_nothing_else(state: State, message: m.FromReferee) -> None:
    session = session_in(state)
    if (after := TRANSITIONS[state].get(type(message))) is None:
        with pytest.raises(LocalProtocolError, match=f"in state {state}, got: {message.__struct_config__.tag}"):
            session.send(message)
        assert session.state is state
    else:
        assert decode_from_referee(session.send(message)) == message
        assert session.state is after


@pytest.mark.parametrize("state", State)
def test_an_error_of_the_referee_closes_every_state_but_closed(state: State) -> None:
    session = session_in(state)
    if state is State.CLOSED:
        with pytest.raises(LocalProtocolError):
            session.send(m.Error(code="timeout"))
    else:
        session.send(m.Error(code="timeout"))
        assert session.state is State.CLOSED


def test_a_wrong_number_is_our_own_error_and_moves_nothing() -> None:
    for state, message in (
        (State.IDLE, start(2)),
        (State.PLAYING, request(2)),
        (State.PLAYING, request(0)),
        (State.PLAYING, over(2)),
        (State.ASKED, over(0)),
    ):
        session = session_in(state)
        with pytest.raises(LocalProtocolError, match="expected 1, got: "):
            session.send(message)
        assert session.state is state
        assert (session.next_game(), session.next_request()) == (
            (1 if state is State.IDLE else 2),
            1 + (state is State.ASKED),
        )


def test_numbers_count_through_the_session() -> None:
    session = session_in(State.IDLE)
    assert (session.next_game(), session.next_request()) == (1, 1)
    for game in (1, 2):
        session.send(start(session.next_game()))
        session.receive(encode(m.Ready(game=game)))
        for _ in range(3):
            number = session.next_request()
            session.send(request(number))
            session.receive(encode(m.Action(id=number, action={})))
        session.send(over(game))
    assert (session.next_game(), session.next_request()) == (3, 7)


def test_hello_is_kept() -> None:
    session = Session("secret")
    with pytest.raises(LocalProtocolError):
        _ = session.hello
    session.receive(encode(HELLO))
    assert session.hello == HELLO


def test_a_refused_hello_is_not_kept() -> None:
    session = Session("secret")
    with pytest.raises(RemoteProtocolError):
        session.receive(encode(m.Hello(token="sécret", protocol="1.0")))
    with pytest.raises(LocalProtocolError):
        _ = session.hello


@pytest.mark.parametrize(
    ("state", "message", "reason"),
    [
        (State.NEW, m.Ready(game=1), "expected hello in state new, got: ready - at $.type"),
        (State.IDLE, m.Action(id=1, action={}), "expected no message in state idle, got: action - at $.type"),
        (State.PREPARING, m.Ready(game=2), "expected 1, got: 2 - at $.game"),
        (State.ASKED, m.Action(id=9, action={}), "expected 1, got: 9 - at $.id"),
        (State.ASKED, HELLO, "expected action in state asked, got: hello - at $.type"),
        (
            State.NEW,
            m.Hello(token="other", protocol="1.0"),
            "expected the value of ARENA_TOKEN, got: another - at $.token",
        ),
        (
            State.NEW,
            m.Hello(token="secret", protocol="2.1"),
            "expected a protocol version 1.x, got: 2.1 - at $.protocol",
        ),
    ],
)
def test_a_refusal_says_what_was_expected(state: State, message: m.FromBot, reason: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        session_in(state).receive(encode(message))
    assert str(caught.value) == reason


OLD, LAPSED, NEVER = (m.Action(id=number, action={}) for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("path", "message", "rule"),
    [
        ([], m.Ready(game=1), "§8.1-1"),
        ([], NEVER, "§8.1-1"),
        ([], m.Hello(token="other", protocol="1.0"), "§8.1-2"),
        ([], m.Hello(token="secret", protocol="2.0"), "§8.1-3"),
        (PATH[State.GREETED], HELLO, "§8.1-1"),
        (PATH[State.ASKED], HELLO, "§8.1-1"),
        (PATH[State.IDLE], m.Ready(game=1), "§6-1"),
        (PATH[State.PREPARING], m.Ready(game=2), "§8.4-1"),
        (PATH[State.PREPARING], NEVER, "§6-1"),
        (PATH[State.PLAYING], NEVER, "§6-1"),
        (PATH[State.ASKED], NEVER, "§8.6-1"),
        (PATH[State.ASKED], m.Ready(game=1), "§6-1"),
        (PATH_TO_A_SECOND_GAME, OLD, "§8.6-2"),
        (PATH_TO_A_SECOND_GAME, NEVER, "§6-1"),
        ([*PATH_TO_A_SECOND_GAME, LAPSED], LAPSED, "§8.6-2"),
        ([*PATH_TO_A_SECOND_GAME, m.Ready(game=2), request(3)], OLD, "§8.6-2"),
        ([*PATH_TO_A_SECOND_GAME, m.Ready(game=2), request(3)], m.Action(id=4, action={}), "§8.6-1"),
    ],
)
def test_a_refusal_carries_the_rule_that_is_broken(
    path: list[m.FromBot | m.FromReferee], message: m.FromBot, rule: str
) -> None:
    session = session_after(path)
    with pytest.raises(RemoteProtocolError) as caught:
        session.receive(encode(message))
    assert caught.value.rule == rule


def test_what_is_ignored_is_counted_from_one_game_over_to_the_next() -> None:
    """§5.3-7: a remark and an unknown message alike, and what comes between two games counts to the later one."""
    remark, unknown = encode(m.Error(code="x_hm")), encode({"type": "x_hm"})
    session = session_in(State.IDLE)
    for _ in range(m.MAX_IGNORED // 2 - 1):
        session.receive(remark)
    session.send(start(1))
    session.receive(encode(m.Ready(game=1)))
    for _ in range(m.MAX_IGNORED // 2):
        session.receive(unknown)
    with pytest.raises(RemoteProtocolError, match="fewer than 1,000 messages") as caught:
        session.receive(unknown)
    assert (caught.value.error_code, caught.value.rule) == ("protocol_violation", "§5.3-7")
    assert session.state is State.PLAYING
    session.send(over(1))
    for _ in range(m.MAX_IGNORED - 1):
        session.receive(remark)
    session.send(start(2))
    with pytest.raises(RemoteProtocolError, match="fewer than 1,000 messages"):
        session.receive(unknown)


def test_what_is_wanted_may_differ_by_rules() -> None:
    """§8.1-5."""
    hello = m.Hello(token="", protocol="1.0", want={"samurai": ("view",), "gardener": ("legal", "x_more")})
    assert hello.wants("samurai") == {"view"}
    assert hello.wants("gardener") == {"legal", "x_more"}
    assert hello.wants("go") == frozenset()
    assert m.Hello(token="", protocol="1.0", want=("view",)).wants("go") == {"view"}


def test_who_names_no_rules_plays_all() -> None:
    """§8.1-6."""
    assert m.Hello(token="", protocol="1.0").plays("go", 7)
    hello = m.Hello(token="", protocol="1.0", rules=(m.RulesPlayed("go", (1, 3)), m.RulesPlayed("go", (5,))))
    assert [version for version in range(7) if hello.plays("go", version)] == [1, 3, 5]
    assert not hello.plays("samurai", 1)
