"""Sittings without sockets to authors: who gets which frame, and what ends a sitting."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from arena.league.door.limits import MOST_BOTS
from arena.league.door.messages import PING_S, SILENCE_S, Closed, Error, Frame, FromDoor, Leave, Offer, Ping, Pong
from arena.league.door.refusals import Refusal
from arena.league.door.remote_bots import Peer, RemoteBots
from arena.league.door.seats import CLOSED, FRAME, VERSION, Gone, SeatConnection

ANNA: Peer = (b"\0anna", "K" * 40)
BEN: Peer = (b"\0ben", "L" * 40)


class Scene:
    """A hub whose authors are lists of messages, and seats whose other ends are here."""

    def __init__(self) -> None:
        self.sent: dict[bytes, list[FromDoor]] = {}
        self.deaf: set[bytes] = set()
        self.remote_bots = RemoteBots(self.send)
        self.ends: list[socket.socket] = []
        self.seats: list[SeatConnection] = []

    def send(self, routing_id: bytes, message: FromDoor) -> bool:
        if routing_id in self.deaf:
            return False
        self.sent.setdefault(routing_id, []).append(message)
        return True

    def got(self, peer: Peer) -> list[FromDoor]:
        """What an author got since the last call."""
        return self.sent.pop(peer[0], [])

    def seat(self, version: str = "fox/1") -> SeatConnection:
        """A seat that has named its version."""
        ours, theirs = socket.socketpair()
        self.ends += [theirs]
        theirs.setblocking(False)
        seat = SeatConnection(ours)
        self.seats.append(seat)
        self.remote_bots.from_seat(seat, VERSION, version.encode())
        return seat

    def sitting(self) -> tuple[SeatConnection, str]:
        """A seat of a bot that anna serves, and its sitting."""
        self.remote_bots.serve(ANNA, "anna", "fox", "fox/1", 0)
        seat = self.seat()
        (offer,) = self.got(ANNA)
        assert isinstance(offer, Offer)
        return seat, offer.sitting

    def heard(self, at: int = -1) -> list[tuple[bytes, bytes]]:
        """What the other end of a seat has got."""
        with self.ends[at].dup() as end:
            try:
                return list(SeatConnection(end).receive())
            except Gone:
                return []


@pytest.fixture
def scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    for each in (*scene.ends, *scene.seats):
        each.close()


def test_frames_go_both_ways_and_count_from_one(scene: Scene) -> None:
    """§D10-1."""
    seat, name = scene.sitting()
    for number, data in enumerate((b"welcome", b"request"), start=1):
        scene.remote_bots.from_seat(seat, FRAME, data)
        assert scene.got(ANNA) == [Frame(name, number, data)]
    scene.remote_bots.frame(ANNA, Frame(name, 1, b"hello"))
    scene.remote_bots.frame(ANNA, Frame(name, 2, b"ready"))
    assert scene.heard() == [(FRAME, b"hello"), (FRAME, b"ready")]


@pytest.mark.parametrize("numbers", [(2,), (1, 1), (1, 3)])
def test_a_gap_or_a_repetition_costs_the_game(scene: Scene, numbers: tuple[int, ...]) -> None:
    """§D10-1: an old frame again, or one that is missing."""
    seat, name = scene.sitting()
    for number in numbers:
        scene.remote_bots.frame(ANNA, Frame(name, number, b"x"))
    (closed,) = scene.got(ANNA)
    assert isinstance(closed, Closed)
    assert closed.lost
    assert seat.ended
    assert scene.heard()[-1][0] == CLOSED
    scene.remote_bots.frame(ANNA, Frame(name, numbers[-1] + 1, b"x"))
    assert scene.got(ANNA) == []


def test_another_connection_cannot_speak_in_a_sitting(scene: Scene) -> None:
    """§D10-2: neither another author's, nor another of the same key."""
    seat, name = scene.sitting()
    for stranger in (BEN, (b"\0anna2", ANNA[1]), (ANNA[0], BEN[1])):
        scene.remote_bots.frame(stranger, Frame(name, 1, b"evil"))
        scene.remote_bots.leave(stranger, Leave(name))
        scene.remote_bots.gone(stranger, "left")
    assert scene.heard() == []
    assert not seat.ended
    scene.remote_bots.frame(ANNA, Frame(name, 1, b"good"))
    assert scene.heard() == [(FRAME, b"good")]


def test_names_of_sittings_are_never_the_same(scene: Scene) -> None:
    scene.remote_bots.serve(ANNA, "anna", "fox", "fox/1", 0)
    for _ in range(100):
        scene.seat()
    names = [offer.sitting for offer in scene.got(ANNA) if isinstance(offer, Offer)]
    assert len(set(names)) == 100
    assert {len(name) for name in names} == {32}


def test_a_seat_whose_version_nobody_serves_is_told_so(scene: Scene) -> None:
    seat = scene.seat("owl/1")
    assert seat.ended
    assert scene.heard() == [(CLOSED, b"is not served by its author now")]


def test_a_second_serve_takes_the_place_of_the_first(scene: Scene) -> None:
    """§D10-5."""
    seat, _ = scene.sitting()
    scene.remote_bots.serve((b"\0anna2", ANNA[1]), "anna", "fox", "fox/1", 1)
    closed, error = scene.got(ANNA)
    assert isinstance(closed, Closed)
    assert closed.lost
    assert isinstance(error, Error)
    assert error.code == "replaced"
    assert seat.ended
    scene.seat()
    (offer,) = scene.got((b"\0anna2", ""))
    assert isinstance(offer, Offer)


def test_an_author_serves_so_many_bots_and_no_more(scene: Scene) -> None:
    for number in range(MOST_BOTS):
        scene.remote_bots.serve(ANNA, "anna", f"fox{number}", f"fox{number}/1", 0)
    with pytest.raises(Refusal) as caught:
        scene.remote_bots.serve(ANNA, "anna", "owl", "owl/1", 0)
    assert caught.value.code == "busy"
    scene.remote_bots.serve(BEN, "ben", "owl", "owl/1", 0)


def test_pings_measure_the_network_and_silence_ends(scene: Scene) -> None:
    """§D10-4, §D10-6."""
    scene.remote_bots.serve(ANNA, "anna", "fox", "fox/1", 100)
    for number, journey in ((1, 0.010), (2, 0.030), (3, 0.020)):
        now = 100.0 + number * PING_S
        scene.remote_bots.tick(now)
        assert scene.got(ANNA) == [Ping(number)]
        scene.remote_bots.tick(now + 1)
        assert scene.got(ANNA) == []
        scene.remote_bots.pong(ANNA, Pong(number), now + journey)
    assert scene.remote_bots.presence()["fox/1"].network_us == pytest.approx(20_000, abs=1)
    seat = scene.seat()
    scene.remote_bots.tick(115 + SILENCE_S + 1)
    assert seat.ended
    assert scene.remote_bots.presence() == {}
    last = scene.got(ANNA)[-1]
    assert isinstance(last, Closed)
    assert last.lost


def test_a_pong_that_answers_no_ping_measures_nothing(scene: Scene) -> None:
    scene.remote_bots.serve(ANNA, "anna", "fox", "fox/1", 100)
    scene.remote_bots.pong(ANNA, Pong(7), 100)
    assert scene.remote_bots.presence()["fox/1"].network_us is None


def test_an_author_who_does_not_read_loses_the_game(scene: Scene) -> None:
    """§D4-7."""
    seat, _ = scene.sitting()
    scene.deaf.add(ANNA[0])
    scene.remote_bots.from_seat(seat, FRAME, b"request")
    assert seat.ended
    assert scene.heard() == [(CLOSED, b"did not read what it was sent")]
    assert scene.remote_bots.presence() == {}, "nor would it read the next one: no more are planned"


def test_the_end_of_a_game_costs_nothing(scene: Scene) -> None:
    seat, name = scene.sitting()
    scene.remote_bots.left(seat)
    assert scene.got(ANNA) == [Closed(name, "the game is over", False, None)]
    scene.seat()
    assert isinstance(scene.got(ANNA)[0], Offer)


def test_a_bot_that_ends_early_costs_its_game_and_no_other(scene: Scene) -> None:
    first, name = scene.sitting()
    second = scene.seat()
    scene.remote_bots.leave(ANNA, Leave(name, "exited with status 3"))
    assert first.ended
    assert not second.ended
    assert scene.heard(0) == [(CLOSED, b"exited with status 3")]


def test_a_seat_says_its_version_once(scene: Scene) -> None:
    seat, _ = scene.sitting()
    scene.remote_bots.from_seat(seat, VERSION, b"owl/1")
    assert seat.ended


def test_a_seat_reads_messages_however_they_are_cut() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        writer, reader = SeatConnection(ours), SeatConnection(theirs)
        for data in (b"", b"x" * 70_000, b"end"):
            writer.send(FRAME, data)
        found: list[tuple[bytes, bytes]] = []
        while len(found) < 3:
            writer.flush()
            found += reader.receive()
        assert found == [(FRAME, b""), (FRAME, b"x" * 70_000), (FRAME, b"end")]
        theirs.send(b"\xff\xff\xff\xfff")
        with pytest.raises(Gone):
            list(writer.receive())
