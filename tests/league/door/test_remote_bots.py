"""Sittings without sockets to authors: who gets which frame, and what ends a sitting."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from arena.league.door.limits import MOST_BOTS
from arena.league.door.messages import (
    PING_S,
    SILENCE_S,
    Closed,
    Error,
    Frame,
    FromDoor,
    Leave,
    Offer,
    Ping,
    Pong,
    Serving,
)
from arena.league.door.refusals import Refusal
from arena.league.door.remote_bots import RemoteBots
from arena.league.door.seats import CLOSED, FRAME, VERSION, Gone, SeatConnection


class Author:
    """A connection to an author, which is a list of messages."""

    def __init__(self) -> None:
        self.sent: list[FromDoor] = []
        self.deaf = False

    def send(self, message: FromDoor) -> bool:
        if not self.deaf:
            self.sent.append(message)
        return not self.deaf

    def got(self) -> list[FromDoor]:
        """What came since the last call."""
        found, self.sent = self.sent, []
        return found


class Scene:
    """A hub, two authors, and seats whose other ends are here."""

    def __init__(self) -> None:
        self.anna, self.ben = Author(), Author()
        self.remote_bots = RemoteBots()
        self.ends: list[socket.socket] = []
        self.seats: list[SeatConnection] = []

    def serve(self, peer: Author, author: str = "anna", version: str = "fox/1", now: float = 0) -> None:
        said = Serving(1, version, "active")
        self.remote_bots.serve(peer, author, version.partition("/")[0], said, now)

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
        self.serve(self.anna)
        seat = self.seat()
        (offer,) = self.anna.got()
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
        assert scene.anna.got() == [Frame(name, number, data)]
    scene.remote_bots.frame(scene.anna, Frame(name, 1, b"hello"))
    scene.remote_bots.frame(scene.anna, Frame(name, 2, b"ready"))
    assert scene.heard() == [(FRAME, b"hello"), (FRAME, b"ready")]


@pytest.mark.parametrize("numbers", [(2,), (1, 1), (1, 3)])
def test_a_gap_or_a_repetition_costs_the_game(scene: Scene, numbers: tuple[int, ...]) -> None:
    """§D10-1: an old frame again, or one that is missing."""
    seat, name = scene.sitting()
    for number in numbers:
        scene.remote_bots.frame(scene.anna, Frame(name, number, b"x"))
    (closed,) = scene.anna.got()
    assert isinstance(closed, Closed)
    assert closed.lost
    assert seat.ended
    assert scene.heard()[-1][0] == CLOSED
    scene.remote_bots.frame(scene.anna, Frame(name, numbers[-1] + 1, b"x"))
    assert scene.anna.got() == []


def test_another_connection_cannot_speak_in_a_sitting(scene: Scene) -> None:
    """§D10-2: neither another author's, nor another of the same key."""
    seat, name = scene.sitting()
    for stranger in (scene.ben, Author()):
        scene.remote_bots.frame(stranger, Frame(name, 1, b"evil"))
        scene.remote_bots.leave(stranger, Leave(name))
        scene.remote_bots.gone(stranger, "left")
    assert scene.heard() == []
    assert not seat.ended
    scene.remote_bots.frame(scene.anna, Frame(name, 1, b"good"))
    assert scene.heard() == [(FRAME, b"good")]


def test_names_of_sittings_are_never_the_same(scene: Scene) -> None:
    scene.serve(scene.anna)
    for _ in range(100):
        scene.seat()
    names = [offer.sitting for offer in scene.anna.got() if isinstance(offer, Offer)]
    assert len(set(names)) == 100
    assert {len(name) for name in names} == {32}


def test_a_seat_whose_version_nobody_serves_is_told_so(scene: Scene) -> None:
    seat = scene.seat("owl/1")
    assert seat.ended
    assert scene.heard() == [(CLOSED, b"is not served by its author now")]


def test_a_second_serve_takes_the_place_of_the_first(scene: Scene) -> None:
    """§D10-5."""
    seat, _ = scene.sitting()
    scene.serve(again := Author())
    closed, error = scene.anna.got()
    assert isinstance(closed, Closed)
    assert closed.lost
    assert isinstance(error, Error)
    assert error.code == "replaced"
    assert seat.ended
    scene.seat()
    (offer,) = again.got()
    assert isinstance(offer, Offer)


def test_an_author_serves_so_many_bots_and_no_more(scene: Scene) -> None:
    for number in range(MOST_BOTS):
        scene.serve(scene.anna, version=f"fox{number}/1")
    with pytest.raises(Refusal) as caught:
        scene.serve(scene.anna, version="owl/1")
    assert caught.value.code == "busy"
    scene.serve(scene.ben, "ben", "owl/1")


def test_pings_measure_the_network_and_silence_ends(scene: Scene) -> None:
    """§D10-4, §D10-6."""
    scene.serve(scene.anna, now=100)
    for number, journey in ((1, 0.010), (2, 0.030), (3, 0.020)):
        now = 100.0 + number * PING_S
        scene.remote_bots.tick(now)
        assert scene.anna.got() == [Ping(number)]
        scene.remote_bots.tick(now + 1)
        assert scene.anna.got() == []
        scene.remote_bots.pong(scene.anna, Pong(number), now + journey)
    assert scene.remote_bots.presence()["fox/1"].network_us == pytest.approx(20_000, abs=1)
    seat = scene.seat()
    scene.remote_bots.tick(115 + SILENCE_S + 1)
    assert seat.ended
    assert scene.remote_bots.presence() == {}
    last = scene.anna.got()[-1]
    assert isinstance(last, Closed)
    assert last.lost


def test_a_pong_that_answers_no_ping_measures_nothing(scene: Scene) -> None:
    scene.serve(scene.anna, now=100)
    scene.remote_bots.pong(scene.anna, Pong(7), 100)
    assert scene.remote_bots.presence()["fox/1"].network_us is None


def test_an_author_who_does_not_read_loses_the_game(scene: Scene) -> None:
    """§D4-7."""
    seat, _ = scene.sitting()
    scene.anna.deaf = True
    scene.remote_bots.from_seat(seat, FRAME, b"request")
    assert seat.ended
    assert scene.heard() == [(CLOSED, b"did not read what it was sent")]
    assert scene.remote_bots.presence() == {}, "nor would it read the next one: no more are planned"


def test_the_end_of_a_game_costs_nothing(scene: Scene) -> None:
    seat, name = scene.sitting()
    scene.remote_bots.left(seat)
    assert scene.anna.got() == [Closed(name, "the game is over", False, None)]
    scene.seat()
    assert isinstance(scene.anna.got()[0], Offer)


def test_who_withdraws_is_shown_as_absent_and_plays_what_was_begun(scene: Scene) -> None:
    first, _ = scene.sitting()
    scene.remote_bots.withdraw(scene.anna)
    assert scene.remote_bots.presence() == {}
    scene.seat()
    assert isinstance(scene.anna.got()[0], Offer)
    assert not first.ended


def test_a_bot_that_ends_early_costs_its_game_and_no_other(scene: Scene) -> None:
    first, name = scene.sitting()
    second = scene.seat()
    scene.remote_bots.leave(scene.anna, Leave(name, "exited with status 3"))
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
