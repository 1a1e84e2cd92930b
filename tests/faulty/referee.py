"""arena with one fault in its referee: `python referee.py FAULT match …` is `arena match …` that breaks one rule."""

# Each fault replaces a method, which a type checker would refuse.
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from arena.cli import main
from arena.core.errors import RemoteProtocolError
from arena.core.link.base import Cause
from arena.core.link.local import LocalLink
from arena.core.link.pool import Pool
from arena.core.link.watch import Watch
from arena.core.referee import game, recorder
from arena.core.referee.clock import Clock
from arena.core.referee.game import Game
from arena.core.referee.table import Table
from arena.core.rules.course import Course, Forfeits, Over, Race
from arena.core.types import NS_PER_MS
from arena.core.wire.codec import decode, encode
from arena.core.wire.messages import Action, Request
from arena.core.wire.session import Session
from arena.core.wire.zmtp import Zmtp

FAULTS: dict[str, Callable[[], None]] = {}  # what each does to the program, by name


def fault(function: Callable[[], None]) -> Callable[[], None]:
    FAULTS[function.__name__] = function
    return function


@fault
def leak_in_events() -> None:
    """Every seat is told every event, the tiles that others drew too."""

    def news(course: Course, seat: int) -> list[Any]:
        told, course._told[seat] = course._told.get(seat, 0), len(course._events)
        return [event.data for event in course._events[told:]]

    Course.news = news


@fault
def event_left_out() -> None:
    """Nobody is told what was placed on the board."""
    news = Course.news
    Course.news = lambda course, seat: [event for event in news(course, seat) if event["event"] != "placed"]


@fault
def leak_of_a_sum() -> None:
    """Events have a field that nobody documented, with a number that depends on the hands of all seats."""
    news = Course.news
    Course.news = lambda course, seat: [
        event | {"x_sum": 10**9 + crc32(str(course.state).encode()) % 10**9} for event in news(course, seat)
    ]


@fault
def id_that_counts_hidden_things() -> None:
    """The number of a request tells how many answers other seats have given."""
    begin, receive, sessions = Session.__init__, Session.receive, list[Session]()

    def remembered(session: Session, token: str) -> None:
        begin(session, token)
        sessions.append(session)

    def counting(session: Session, frame: bytes) -> Any:
        message = receive(session, frame)
        if isinstance(message, Action):
            for other in sessions:
                other._requests += other is not session
        return message

    Session.__init__, Session.receive = remembered, counting


@fault
def receipt_of_other_times() -> None:
    """The receipts tell other times than they are over."""
    made = recorder.receipts_of

    def other(*words: Any) -> Any:
        return [one and replace(one, used_ns=[ns + 1 for ns in one.used_ns]) for one in made(*words)]

    recorder.receipts_of = other


@fault
def missing_game_over() -> None:
    """The last seat is not told that the game is over."""
    send = Game._say_over

    def say_over(self: Game, *words: Any) -> None:
        chairs = self._chairs
        self._chairs = chairs[:-1]
        send(self, *words)
        self._chairs = chairs

    Game._say_over = say_over


@fault
def late_answer_accepted() -> None:
    """An answer that is five seconds late counts."""
    ask = Table.ask
    patience_ns = 5_000 * NS_PER_MS
    Table.ask = lambda table, messages: ask(
        table, [(seat, message, ns + patience_ns * isinstance(message, Request)) for seat, message, ns in messages]
    )


@fault
def two_frames_accepted() -> None:
    """Of several frames the first one counts."""
    feed, following = Zmtp.feed, dict[Zmtp, bool]()

    def first_only(zmtp: Zmtp, data: bytes) -> bytes | None:
        if following.get(zmtp):
            data = b""
        if data[:1] == b"\1":
            following[zmtp] = True
            data = b"\0" + data[1 : 2 + data[1]]
        return feed(zmtp, data)

    Zmtp.feed = first_only


@fault
def clock_without_increment() -> None:
    charge = Clock.charge

    def forgetful(clock: Clock, *words: Any, **more: Any) -> None:
        clock._increment_ns = 0
        charge(clock, *words, **more)

    Clock.charge = forgetful


@fault
def increment_for_every_request() -> None:
    """A seat that plays its turn in two actions gets two increments, and twice the limit."""
    charge, begin = Clock.charge, Clock.begin
    Clock.charge = lambda clock, used_ns, *, goes_on=False: (charge(clock, used_ns, goes_on=False), begin(clock))


@fault
def clock_at_half_speed() -> None:
    """Half of the time that a seat uses is not charged."""
    charge = Clock.charge
    Clock.charge = lambda clock, used_ns, **more: charge(clock, used_ns // 2, **more)


@fault
def slowest_first() -> None:
    """In a race the slowest of those who answer within 300 ms is served first."""
    settled_ns = Race.settled_ns

    def later(race: Race) -> int | None:
        settled = settled_ns(race)
        return None if settled is None else settled + 300 * NS_PER_MS

    def serve(race: Race) -> list[int]:
        last = max(race._claims, key=race._claims.__getitem__)
        del race._claims[last]
        return [last]

    Race.settled_ns, Race.serve = later, serve


@fault
def unwanted_fields() -> None:
    """Requests carry the legal plays, wanted or not."""
    request = game.request
    game.request = lambda course, decision, wants, *rest: request(course, decision, {*wants, "legal"}, *rest)


@fault
def no_time_to_read() -> None:
    """A bot that forfeits is killed before it can read why."""
    stop = LocalLink.stop
    LocalLink.stop = lambda link, seat, after_ms=0: stop(link, seat, 0)


@fault
def any_id_accepted() -> None:
    """An action for another request is taken as the answer to this one."""
    receive = Session.receive

    def lax(session: Session, frame: bytes) -> Any:
        try:
            return receive(session, frame)
        except RemoteProtocolError:
            message = decode(frame)
            if session._owed is None or not isinstance(message, Action):
                raise
            return receive(session, encode(replace(message, id=session._owed[1])))

    Session.receive = lax


@fault
def names_told() -> None:
    """Goodbye says which other bots there are."""
    dismiss = Pool._dismiss
    Pool._dismiss = lambda pool, bot, reason: dismiss(pool, bot, ", ".join(other.spec.name for other in pool._bots))


@fault
def equal_seeds() -> None:
    """All seats are sent the same seed."""
    start = Game._game_start
    Game._game_start = lambda played, chair: replace(start(played, chair), bot_seed=7)


@fault
def legal_left_out() -> None:
    """The last space, square or card of the last product is not named."""
    request = game.request

    def shortened(*words: Any) -> Request:
        made = request(*words)
        for product in (made.legal or [])[-1:]:
            key, values = [*product.items()][-1]
            if isinstance(values, list) and len(values) > 1:
                made = replace(made, legal=[*made.legal[:-1], {**product, key: values[:-1]}])
        return made

    game.request = shortened


@fault
def legal_in_a_hand_left_out() -> None:
    """One tile is not offered for the first hand."""
    request = game.request

    def shortened(*words: Any) -> Request:
        made = request(*words)
        if made.kind == "hand" and made.legal:
            made = replace(made, legal=[{"hand": {"choose": 5, "of": made.legal[0]["hand"]["of"][:-1]}}])
        return made

    game.request = shortened


@fault
def forfeit_at_once() -> None:
    """A seat forfeits as soon as it fails, and the others are told when they are next sent something."""
    due = Course._next_due

    def next_due(course: Course) -> Any:
        if course.failed:
            return Forfeits(tuple(sorted(course.failed)))
        return Over(course.outcome) if course.outcome else due(course)

    def await_all(played: Game) -> None:
        while (came := played._table.next("did not answer in time")) is not None:
            seat, answer = came
            if isinstance(answer, Cause):
                played._fail(seat, answer)
            else:
                played._answer(seat, answer)
            if played._course.failed:
                played._forfeit(tuple(sorted(played._course.failed)))
            if played._course.outcome:
                break

    Course._next_due, Game._await_all = next_due, await_all


@fault
def closed_is_late() -> None:
    """A bot whose connection is closed is waited for up to its deadline, and no longer."""
    Watch.is_failing = property(lambda watch: watch.is_too_big or watch._ended_ns is not None)


if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    main()
