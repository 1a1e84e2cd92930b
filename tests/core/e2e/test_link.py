"""Real processes over the real socket: what the link makes of bots that play, fail and misbehave."""

from __future__ import annotations

import errno
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.link import local, process, watch
from arena.core.link.base import LAST_MESSAGE_MS, Arrival, Fault, Frame
from arena.core.link.bots import BotSpec
from arena.core.link.local import LocalLink
from arena.core.link.pool import Pool
from arena.core.link.process import KEPT_BYTES, Exit
from arena.core.link.running import Bot
from arena.core.types import Level, Termination
from arena.core.wire.codec import decode, encode
from arena.core.wire.messages import MAX_FRAME, Action, Error, Hello, Request, RequestClock
from tests.processes import eventually, is_alive

ROOT = Path(__file__).parents[3]
FAULTY = ROOT / "tests" / "faulty"
PATIENCE_NS = 20 * 10**9  # how long anything may take on a busy machine; nothing here waits for it to pass


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool; nothing of it is left afterwards."""
    pool = Pool()
    directory = pool.directory
    yield pool
    pool.shutdown()
    assert not directory.exists()


def faulty(script: str, **limits: int) -> BotSpec:
    return BotSpec(
        name="faulty",
        version="1",
        command=(sys.executable, str(FAULTY / "bot.py"), script),
        folder=str(FAULTY),
        digest=script,
        **limits,
    )


def command(*words: str, folder: Path = FAULTY, **limits: int) -> BotSpec:
    return BotSpec(name="it", version="", command=words, folder=str(folder), digest=" ".join(words), **limits)


def started(pool: Pool, *specs: BotSpec) -> LocalLink:
    """A link whose bots have all said hello."""
    link = LocalLink(pool, specs)
    opened = link.open()
    assert [type(opened[seat]) for seat in range(len(specs))] == [Hello] * len(specs), opened
    return link


def request(number: int = 1) -> bytes:
    return encode(Request(id=number, kind="turn", clock=RequestClock(limit_ms=1000, bank_ms=None)))


def wait(link: LocalLink) -> Arrival:
    arrival = link.receive(link.now_ns() + PATIENCE_NS)
    assert arrival is not None
    return arrival


def ask(link: LocalLink, seat: int = 0, number: int = 1) -> Arrival:
    link.send(seat, request(number))
    return wait(link)


def action(arrival: Arrival) -> Action:
    assert isinstance(arrival, Frame), arrival
    message = decode(arrival.data)
    assert isinstance(message, Action)
    return message


def pid_of(pool: Pool) -> int:
    return pool._bots[-1].process.pid


def test_bots_play(pool: Pool) -> None:
    link = started(pool, faulty("ok"), faulty("ok"))
    for number in range(1, 4):
        for seat in (0, 1):
            sent_ns = link.send(seat, request(number))
            arrival = wait(link)
            assert action(arrival).id == number
            assert isinstance(arrival, Frame)
            assert arrival.seat == seat
            assert sent_ns < arrival.at_ns <= link.now_ns()
    assert link.receive(link.now_ns()) is None


def test_both_seats_are_heard_when_both_were_asked(pool: Pool) -> None:
    link = started(pool, faulty("ok"), faulty("ok"))
    link.send(0, request())
    link.send(1, request())
    assert {wait(link).seat, wait(link).seat} == {0, 1}


def test_a_kept_process_plays_the_next_game(pool: Pool) -> None:
    link = started(pool, faulty("words"))
    ask(link)
    first = pid_of(pool)
    assert link.last_words(0)
    link.close(keep=frozenset({0}))
    link = started(pool, faulty("words"))
    assert pid_of(pool) == first
    assert link.last_words(0) == ()
    assert action(ask(link)).id == 1


def test_a_bot_that_is_not_kept_is_killed(pool: Pool) -> None:
    link = started(pool, faulty("ok"))
    first = pid_of(pool)
    link.close(keep=frozenset())
    assert eventually(lambda: not is_alive(first))
    started(pool, faulty("ok"))
    assert pid_of(pool) != first


def test_a_bot_that_enters_twice_has_two_processes(pool: Pool) -> None:
    link = started(pool, faulty("ok"))
    link.close(keep=frozenset({0}))
    link = started(pool, faulty("ok"), faulty("ok"))
    assert len({bot.process.pid for bot in pool._bots}) == 2


def pids(link: LocalLink) -> list[int]:
    """The processes of a game by seat; they are kept for the next."""
    found = [link._bots[seat].process.pid for seat in sorted(link._bots)]
    link.close(keep=frozenset(link._bots))
    return found


def on(pool: Pool, deal: int, *specs: BotSpec) -> LocalLink:
    link = LocalLink(pool, specs, (b"secret", deal))
    assert all(isinstance(one, Hello) for one in link.open().values())
    return link


def test_a_process_meets_no_deal_twice(pool: Pool) -> None:
    one = faulty("ok")
    assert pool.missing([one], (b"secret", 1)) == [one]
    first = pids(on(pool, 1, one))
    assert pool.missing([one, one], (b"secret", 2)) == [one]
    assert pids(on(pool, 2, one)) == first
    again = pids(on(pool, 1, one))
    assert again != first
    assert pids(on(pool, 3, one, one)) == [*again, *first], "who waited last comes first"
    assert pids(LocalLink(pool, [one], (b"another", 1))) == [], "nothing is taken before `open`"
    assert pool.missing([one], (b"another", 1)) == [], "deals of different tournaments are different"


def test_who_waits_is_started_for_no_deal_that_it_may_meet(pool: Pool) -> None:
    one = faulty("ok")
    link = on(pool, 1, one)
    pool.start_ahead([one], (b"secret", 2))
    assert len(pool._bots) == 1, "it plays, and can meet that deal afterwards"
    pool.start_ahead([one], (b"secret", 1))
    assert len(pool._bots) == 2
    link.close(keep=frozenset({0}))


def test_who_was_needed_longest_ago_ends_first(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.core.link.pool.LEAST_WAITING", 1)
    monkeypatch.setattr("arena.core.link.pool.MOST_WAITING", 2)
    a, b, c = (faulty("ok", start_ms=60_000 + number) for number in range(3))
    for deal, spec in enumerate([a, b, a, c]):
        on(pool, deal, spec).close(keep=frozenset({0}))
    assert [bot.spec for bot in pool._idle] == [a, c]
    monkeypatch.setattr("arena.core.link.pool._has_memory", lambda: False)
    on(pool, 5, c).close(keep=frozenset({0}))
    assert [bot.spec for bot in pool._idle] == [c], "fewer wait where memory is short"


def test_nobody_serves_without_end(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.core.link.running.MOST_MET", 2)
    kept = []
    for deal in range(3):
        on(pool, deal, faulty("ok")).close(keep=frozenset({0}))
        kept.append(len(pool._idle))
    assert kept == [1, 0, 1]


def test_who_waits_and_knows_a_deal_is_frozen_before_the_next_game(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the level has that: another process of the same bot may play that deal."""
    on(pool, 1, faulty("ok")).close(keep=frozenset({0}))
    [waiting] = pool._idle
    frozen: list[str] = []
    monkeypatch.setattr(waiting.process.fence, "freeze", lambda: frozen.append("frozen"))
    monkeypatch.setattr(waiting.process.fence, "thaw", lambda: frozen.append("thawed"))
    on(pool, 1, faulty("ok")).close(keep=frozenset({0}))
    assert frozen == ["frozen"]


def test_who_computes_while_they_wait_or_grows_serves_no_more(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        started(pool, faulty("ok"), faulty("ok")).close(keep=frozenset({0, 1}))
    for bot in pool._idle:
        bot.met.add((b"secret", 1))
    restless, calm = pool._idle
    monkeypatch.setattr(restless.process.fence, "known_cpu_ns", lambda: restless.rests_since_ns + 2 * 10**9)
    pool.tidy()
    pool.tidy()
    assert list(pool._idle) == [calm]
    link = started(pool, faulty("ok"))
    calm.first_mib = calm.spec.memory_mib * 3 // 5
    monkeypatch.setattr(type(calm.watch), "most_mib", calm.spec.memory_mib * 9 // 10)
    link.close(keep=frozenset({0}))
    assert not pool._idle, "before its next game takes more than it may"
    assert eventually(lambda: pool.tidy() or calm.process.end() is not None)


@pytest.mark.long
def test_with_a_block_its_processes_end_and_nobody_waits_for_that(pool: Pool) -> None:
    specs = [faulty("ok", start_ms=60_000 + number) for number in range(20)]
    pool.enter("one")
    started(pool, *specs).close(keep=frozenset(range(len(specs))))
    pool.enter("one")
    assert len(pool._idle) == len(specs), "within a block all are kept"
    old = [bot.process for bot in pool._bots]
    pool.enter("another")
    assert not pool._idle
    link = started(pool, specs[0])
    assert action(ask(link)).id == 1
    assert eventually(lambda: all(process.end() is not None for process in old))
    assert {str(process.end()).count("exited with status 0") for process in old} == {1}, "they were told goodbye"
    link.close(keep=frozenset({0}))
    LocalLink(pool, []).open()
    assert [bot.process for bot in pool._bots] == [pool._idle[0].process], "the dead were not buried"


def test_bots_that_were_started_ahead_serve_the_next_block(pool: Pool) -> None:
    pool.enter("one")
    link = started(pool, faulty("ok"))
    for _ in range(2):
        pool.start_ahead([faulty("words"), faulty("words"), faulty("ok")])
    ahead = {bot.process.pid for bot in pool._ahead}
    assert len(ahead) == 3, "each is started once"
    assert action(ask(link)).id == 1
    link.close(keep=frozenset({0}))
    again = started(pool, faulty("ok"))
    assert pool._bots[0].process.pid not in ahead
    assert {bot.process.pid for bot in pool._ahead} == ahead, "they do not serve this block"
    again.close(keep=frozenset({0}))

    pool.enter("another")
    link = started(pool, faulty("ok"), faulty("words"), faulty("words"))
    assert {bot.process.pid for bot in link._bots.values()} == ahead
    assert [action(ask(link, seat)).id for seat in range(3)] == [1, 1, 1]


def test_bots_that_were_started_ahead_at_another_level_end(pool: Pool) -> None:
    """A bot that was started without protection must not play a block that promises some."""
    pool.enter("one", Level.TRUSTED)
    pool.start_ahead([faulty("ok")])
    [bot] = pool._ahead
    pool.enter("another", Level.ISOLATED)
    assert bot not in (*pool._idle, *pool._ahead)
    assert eventually(lambda: pool.tidy() or bot.process.end() is not None)


def test_a_bot_that_was_started_ahead_may_say_hello_when_it_is_needed(pool: Pool) -> None:
    slow = command("sh", "-c", f"sleep 0.3; exec {sys.executable} {FAULTY / 'bot.py'} ok")
    pool.start_ahead([slow])
    pool.enter("another")
    ahead = pool._idle[0].process.pid
    link = started(pool, slow)
    assert link._bots[0].process.pid == ahead
    assert action(ask(link)).id == 1


def test_a_bot_that_was_started_ahead_and_waits_already_has_its_first_words_kept(pool: Pool) -> None:
    loud = command("sh", "-c", f"echo I begin; exec {sys.executable} {FAULTY / 'bot.py'} ok")
    pool.start_ahead([loud])
    pool.enter("another")
    bot = pool._idle[0]
    assert eventually(lambda: pool.tidy() or bot.connection is not None)
    link = started(pool, loud)
    assert link._bots[0] is bot
    assert link.output(0) == "I begin"


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (("false",), "exited with status 1 before it said hello"),
        ((sys.executable, str(FAULTY / "bot.py"), "hello:bad_token"), "was refused: "),
    ],
)
def test_a_start_ahead_that_failed_is_told_when_the_bot_is_needed(
    pool: Pool, words: tuple[str, ...], detail: str
) -> None:
    spec = command(*words)
    pool.start_ahead([spec])
    process = pool._ahead[0].process
    pool.enter("another")
    assert eventually(lambda: pool.tidy() or process.end() is not None or bool(pool._idle[0].refusal))
    fault = LocalLink(pool, [spec]).open()[0]
    assert isinstance(fault, Fault)
    assert fault.code is Termination.START_FAILED
    assert fault.detail.startswith(detail)


def test_a_program_that_cannot_be_started_ahead_disturbs_no_game(pool: Pool, tmp_path: Path) -> None:
    spec = command("true", folder=tmp_path / "nowhere")
    pool.start_ahead([spec])
    pool.enter("another")
    fault = LocalLink(pool, [spec]).open()[0]
    assert isinstance(fault, Fault)
    assert "could not be started" in fault.detail


def test_a_bot_that_speaks_before_it_is_needed_is_replaced(pool: Pool) -> None:
    spec = faulty("hello:twice")
    pool.start_ahead([spec])
    bot = pool._ahead[0]
    assert eventually(lambda: pool.tidy() or bot not in pool._ahead)
    pool.enter("another")
    link = started(pool, faulty("ok"))
    assert link._bots[0] is not bot
    assert action(ask(link)).id == 1
    assert eventually(lambda: pool.tidy() or bot.process.end() is not None)


def test_without_memory_nothing_is_started_ahead(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.core.link.pool.FREE_MEMORY", 1.0)
    pool.start_ahead([faulty("ok")])
    assert not pool._ahead


def test_those_that_were_started_ahead_end_with_the_pool(pool: Pool) -> None:
    pool.start_ahead([faulty("ok")])
    bot = pool._ahead[0]
    assert eventually(lambda: pool.tidy() or bot.connection is not None)
    pool.shutdown()
    assert "exited with status 0" in str(bot.process.end()), "it was told goodbye"


def test_a_waiting_bot_that_died_is_replaced(pool: Pool) -> None:
    link = started(pool, faulty("ok"))
    first = pid_of(pool)
    link.close(keep=frozenset({0}))
    waiting = pool._bots[-1].process
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: waiting.end() is not None)
    link = started(pool, faulty("ok"))
    assert action(ask(link)).id == 1


KILLED = "was killed by SIGKILL, probably because the machine ran out of memory"
CLOSED = "closed its connection"
BREACH = "sent a message that the protocol does not allow: expected"
SEVERAL = f"{BREACH} one frame per message, got: several"
HUGE = f"{BREACH} at most 65536 bytes, got: "


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("step", "code", "detail", "rule"),
    [
        ("crash", Termination.CRASHED, "exited with status 3", ""),
        ("exit", Termination.CRASHED, "exited with status 0", ""),
        ("segfault", Termination.CRASHED, "was killed by SIGSEGV", ""),
        ("killed", Termination.OUT_OF_MEMORY, KILLED, ""),
        ("multipart", Termination.PROTOCOL_VIOLATION, SEVERAL, "§5.1-1"),
        ("disconnect", Termination.DISCONNECTED, CLOSED, "§4.3-2"),
    ],
)
def test_what_fails_in_the_middle_of_a_turn(pool: Pool, step: str, code: Termination, detail: str, rule: str) -> None:
    link = started(pool, faulty(f"ok,{step}"), faulty("ok"))
    assert action(ask(link)).id == 1
    fault = ask(link, number=2)
    assert isinstance(fault, Fault)
    assert replace(fault, error_code="") == Fault(code, detail, rule, seat=0)
    # It stays failed, is reported once, and does not concern the other.
    link.send(0, request(3))
    assert action(ask(link, seat=1)).id == 1
    assert link.receive(link.now_ns()) is None


def test_a_frame_a_bit_too_long_is_left_to_the_session_to_refuse(pool: Pool) -> None:
    link = started(pool, faulty("ok,oversized"))
    assert action(ask(link)).id == 1
    frame = ask(link, number=2)
    assert isinstance(frame, Frame)
    assert len(frame.data) > MAX_FRAME


def test_a_huge_frame_is_refused_before_it_has_come(pool: Pool) -> None:
    link = started(pool, faulty("huge"))
    fault = ask(link)
    assert isinstance(fault, Fault)
    assert (fault.code, fault.rule, fault.error_code) == (Termination.PROTOCOL_VIOLATION, "§5.1-4", "oversized")
    assert fault.detail.startswith(HUGE)


def test_a_bot_can_read_the_error_that_ended_its_game(pool: Pool) -> None:
    link = started(pool, faulty("ok"))
    process = pool._bots[-1].process
    link.send(0, link.session(0).send(Error(code="illegal_action")))
    link.stop(0, LAST_MESSAGE_MS)
    link.close(keep=frozenset())
    assert eventually(lambda: process.end() is not None)
    end = process.end()
    assert end is not None
    assert end.detail == "exited with status 7"


def test_a_bot_that_sent_two_frames_can_read_that_it_must_not(pool: Pool) -> None:
    link = started(pool, faulty("multipart"))
    process = pool._bots[-1].process
    violation = Termination.PROTOCOL_VIOLATION
    assert ask(link) == Fault(violation, SEVERAL, "§5.1-1", "protocol_violation", seat=0)
    link.send(0, link.session(0).send(Error(code="protocol_violation")))
    link.stop(0, 60_000)
    assert eventually(lambda: process.end() is not None)
    assert process.end() == Exit(Termination.CRASHED, "exited with status 7")


def test_an_answer_comes_before_the_end_that_followed_it(pool: Pool) -> None:
    link = started(pool, faulty("answer_exit"))
    assert action(ask(link)).id == 1
    assert wait(link) == Fault(Termination.CRASHED, "exited with status 0", seat=0)


CRASHED = Fault(Termination.CRASHED, "exited with status 3", seat=0)


def test_an_end_is_named_though_the_deadline_has_passed(pool: Pool) -> None:
    link = started(pool, faulty("crash"))
    crashing = pool._bots[-1].process
    link.send(0, request())
    assert eventually(lambda: crashing.end() is not None)
    assert link.receive(link.now_ns()) == CRASHED


@pytest.fixture
def stop(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to have this process stopped for a minute, so to speak, the next time it waits."""
    real_wait, real_clock = pool.wait, local.monotonic_ns
    stopped, due = [0], [False]

    def wait(wait_ms: int) -> list[Bot]:
        if due[0]:
            due[0] = False
            stopped[0] += 3 * PATIENCE_NS
        return real_wait(wait_ms)

    monkeypatch.setattr(pool, "wait", wait)
    monkeypatch.setattr(local, "monotonic_ns", lambda: real_clock() + stopped[0])
    return lambda: due.__setitem__(0, True)


def test_nobody_is_charged_for_the_time_in_which_this_process_was_stopped(pool: Pool, stop: Callable[[], None]) -> None:
    """As when somebody stops the terminal's processes all at once, or a virtual machine."""
    link = started(pool, faulty("ok,ok"))
    stop()
    sent_ns = link.send(0, request())
    arrival = link.receive(sent_ns + PATIENCE_NS)
    assert isinstance(arrival, Frame)
    assert 0 < arrival.at_ns - sent_ns < PATIENCE_NS
    assert sent_ns < link.now_ns() < sent_ns + 2 * PATIENCE_NS
    sent_ns = link.send(0, request(2))
    again = link.receive(sent_ns + PATIENCE_NS)
    assert isinstance(again, Frame)
    assert arrival.at_ns < sent_ns < again.at_ns


def test_nor_is_a_bot_that_starts_meanwhile(pool: Pool, stop: Callable[[], None]) -> None:
    stop()
    started(pool, faulty("ok"))


def is_closed(bot: Bot) -> bool:
    """Whether the bot has closed its connection, read or not."""
    assert bot.connection is not None
    poll = select.poll()
    poll.register(bot.connection.descriptor, 0)
    return bool(poll.poll(0))


def test_who_closes_first_and_ends_later_has_crashed(pool: Pool) -> None:
    link = started(pool, faulty("close_exit:500"))
    assert ask(link) == CRASHED


def test_who_closes_before_the_deadline_and_ends_after_it_has_crashed(pool: Pool) -> None:
    link = started(pool, faulty("close_exit:500"))
    link.send(0, request())
    assert eventually(lambda: is_closed(pool._bots[0]))
    assert link.receive(link.now_ns()) == CRASHED


def test_others_are_heard_while_an_end_is_awaited(pool: Pool) -> None:
    link = started(pool, faulty("close_exit:1200"), faulty("late:300"))
    link.send(0, request())
    link.send(1, request())
    assert eventually(lambda: is_closed(pool._bots[0]))
    until_ns = link.now_ns()
    frame, fault = sorted((link.receive(until_ns), link.receive(until_ns)), key=lambda it: isinstance(it, Fault))
    assert fault == CRASHED
    assert isinstance(frame, Frame)
    assert frame.seat == 1
    assert until_ns < frame.at_ns < link.now_ns(), "it came too late, and one can see that"


def test_anothers_time_ends_though_an_end_is_awaited(pool: Pool) -> None:
    link = started(pool, faulty("close_exit:500"), faulty("silent"))
    link.send(0, request())
    link.send(1, request())
    assert eventually(lambda: is_closed(pool._bots[0]))
    until_ns = link.now_ns()
    assert link.receive(until_ns) == CRASHED
    assert link.receive(until_ns) is None


def test_who_closes_between_two_requests_has_crashed_when_it_is_asked(pool: Pool) -> None:
    link = started(pool, faulty("close_exit:500"), faulty("ok"))
    link.send(0, request())
    assert action(ask(link, seat=1)).id == 1
    assert eventually(lambda: is_closed(pool._bots[0]))
    assert ask(link) == CRASHED


@pytest.mark.parametrize("step", ["hold_crash", "escape_crash"])
def test_a_child_that_holds_the_connection_open_hides_no_end(pool: Pool, step: str) -> None:
    link = started(pool, faulty(step))
    assert ask(link) == CRASHED


@pytest.mark.long
def test_a_crash_has_the_same_name_on_a_busy_machine(pool: Pool) -> None:
    link = started(pool, *[faulty("close_work:100")] * 6)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for seat in range(6):
            link.send(seat, request())
        faults = [wait(link) for _ in range(6)]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert {(fault.code, fault.detail) for fault in faults if isinstance(fault, Fault)} == {
        (CRASHED.code, CRASHED.detail)
    }
    assert {fault.seat for fault in faults} == set(range(6))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
def test_who_has_failed_does_not_run_on(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "SETTLE_MS", 100)
    link = started(pool, faulty("disconnect"))
    fault = ask(link)
    assert isinstance(fault, Fault)
    assert fault.code is Termination.DISCONNECTED
    assert eventually(lambda: not is_alive(pid_of(pool)))


def test_a_closed_connection_is_no_timeout_though_the_deadline_passes(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """§10-4."""
    monkeypatch.setattr(watch, "SETTLE_MS", 600)
    link = started(pool, faulty("disconnect"))
    until_ns = link.send(0, request()) + 300 * 10**6
    fault = link.receive(until_ns)
    assert isinstance(fault, Fault)
    assert fault.code is Termination.DISCONNECTED
    assert link.now_ns() > until_ns


def test_lateness_is_kept_for_all_whose_time_ended_at_one_moment(pool: Pool) -> None:
    link = started(pool, faulty("silent"))
    until_ns = link.now_ns() + 30 * 10**6
    assert link.receive(until_ns) is None
    link.lateness_ns = 10**15
    assert link.receive(until_ns) is None
    assert link.lateness_ns == 10**15
    assert link.receive(link.now_ns() + 10**6) is None
    assert link.lateness_ns < 10**15


def test_silence_ends_at_the_deadline(pool: Pool) -> None:
    link = started(pool, faulty("silent"))
    until_ns = link.send(0, request()) + 80 * 10**6
    assert link.receive(until_ns) is None
    assert link.now_ns() >= until_ns
    assert link.lateness_ns >= 0


def test_a_stopped_bot_is_gone_without_a_fault(pool: Pool) -> None:
    link = started(pool, faulty("ok,silent"), faulty("ok"))
    first = pool._bots[0].process.pid
    link.send(0, request())
    link.stop(0)
    assert eventually(lambda: not is_alive(first))
    assert action(ask(link, seat=1)).id == 1
    assert link.receive(link.now_ns()) is None


def test_nothing_is_heard_of_a_bot_that_may_still_read(pool: Pool) -> None:
    link = started(pool, faulty("late:100"), faulty("late:300"))
    link.send(0, request())
    link.send(1, request())
    link.stop(0, 60_000)
    assert wait(link).seat == 1
    assert link.receive(link.now_ns()) is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
def test_an_end_can_be_brought_forward(pool: Pool) -> None:
    link = started(pool, faulty("spin"), faulty("spin"))
    first, second = (bot.process.pid for bot in pool._bots)
    link.send(0, request())
    link.send(1, request())
    link.stop(0, 600_000)
    link.stop(0)
    link.stop(1, 600_000)
    link.stop(1, 1)
    assert eventually(lambda: not is_alive(first))
    assert eventually(lambda: not is_alive(second))


STOPPED_WORKER = """
import os, signal, sys
sys.path.insert(0, {root!r})
sys.path.insert(0, {here!r})
import test_link
from arena.core.link.pool import Pool
pool = Pool()
link = test_link.started(pool, test_link.faulty("illegal_spin"))
test_link.action(test_link.ask(link))
link.send(0, link.session(0).send(test_link.Error(code="illegal_action")))
link.stop(0, test_link.LAST_MESSAGE_MS)
print(pool._bots[0].process.pid, flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
def test_a_stopped_bot_dies_though_its_worker_does_nothing_at_all() -> None:
    program = STOPPED_WORKER.format(root=str(ROOT), here=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        try:
            pid = int(worker.stdout.readline())
            assert eventually(lambda: not is_alive(pid))
            assert worker.poll() is None
        finally:
            worker.kill()


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("script", "detail"),
    [
        ("hello:crash", "exited with status 3 before it said hello"),
        ("hello:garbage", "was refused: expected one msgpack map"),
        ("hello:list", "was refused: expected a map"),
        ("hello:oversized", "was refused: expected at most 65536 bytes"),
        ("hello:multipart", "was refused: expected one frame per message"),
        ("hello:bad_token", "was refused: expected the value of ARENA_TOKEN"),
        ("hello:bad_version", "was refused: expected a protocol version 1.x"),
    ],
)
def test_a_start_that_fails(pool: Pool, script: str, detail: str) -> None:
    link = LocalLink(pool, [faulty(script), faulty("ok")])
    opened = link.open()
    fault = opened[0]
    assert isinstance(fault, Fault)
    assert fault.code is Termination.START_FAILED
    assert fault.detail.startswith(detail)
    assert isinstance(opened[1], Hello)
    assert action(ask(link, seat=1)).id == 1


def test_a_bot_whose_start_was_refused_can_read_why(pool: Pool) -> None:
    link = LocalLink(pool, [faulty("hello:bad_version")])
    link.open()
    process = pool._bots[-1].process
    link.close(keep=frozenset())
    assert eventually(lambda: process.end() is not None)
    assert process.end() == Exit(Termination.CRASHED, "exited with status 7")


def test_a_greeting_at_the_last_moment_is_heard(pool: Pool) -> None:
    link = started(pool, faulty("hello:answer_exit"))
    assert ask(link) == Fault(Termination.CRASHED, "exited with status 0", seat=0)


def test_who_closes_after_its_greeting_and_ends_later_has_crashed(pool: Pool) -> None:
    link = started(pool, faulty("hello:answer_close_exit:500"))
    assert ask(link) == CRASHED


def test_a_greeting_that_never_comes(pool: Pool) -> None:
    opened = LocalLink(pool, [faulty("hello:silent", start_ms=300)]).open()
    assert opened[0] == Fault(
        Termination.START_FAILED, "did not say hello within 300 ms (limits.start_ms in bot.toml)", "§4.3-1", seat=0
    )


def test_a_message_of_an_unknown_type_before_hello_is_ignored(pool: Pool) -> None:
    started(pool, faulty("hello:unknown"))


def test_a_program_that_is_not_there(pool: Pool, tmp_path: Path) -> None:
    link = LocalLink(pool, [command("/no/such/program"), command("true", folder=tmp_path / "none")])
    opened = link.open()
    assert opened[0] == Fault(Termination.START_FAILED, "exited with status 127 before it said hello", seat=0)
    assert "/no/such/program" in link.last_words(0)[0]
    assert isinstance(opened[1], Fault)
    assert opened[1].detail.startswith("could not be started: ")
    assert link.last_words(1) == ()


def test_a_second_connection_is_refused(pool: Pool) -> None:
    """§4.1-2: nobody listens any more, and the first one plays on."""
    link = started(pool, faulty("second"))
    assert action(ask(link)).note == "no answer"
    assert action(ask(link, number=2)).id == 2


def test_a_bot_that_never_reads(pool: Pool) -> None:
    """§4.1-3."""
    link = started(pool, faulty("deaf"), faulty("ok"))
    message = encode(Request(id=1, kind="x" * 8_000, clock=RequestClock(limit_ms=1000, bank_ms=None)))
    for _ in range(2_000):
        link.send(0, message)
    violation = Termination.PROTOCOL_VIOLATION
    assert wait(link) == Fault(violation, "did not read the messages that were sent to it", "§4.1-3", seat=0)
    assert action(ask(link, seat=1)).id == 1


def test_a_flood_of_output_is_capped(pool: Pool) -> None:
    link = started(pool, faulty("flood", file_mib=2))
    output = pool._bots[-1].process._output
    assert action(ask(link)).id == 1
    assert os.fstat(output).st_size <= 2 * 2**20
    words = link.last_words(0)
    assert sum(map(len, words)) < 10_000
    assert "spam spam" in words[-1]


def test_of_a_flood_the_beginning_and_the_end_are_kept(pool: Pool) -> None:
    link = started(pool, faulty("flood", file_mib=2))
    ask(link)
    kept = link.output(0)
    assert len(kept) < KEPT_BYTES + 100
    first, middle, last = re.split(r"\n\.\.\. (\d+) bytes are left out \.\.\.\n", kept)
    assert first.startswith("spam")
    assert "spam" in last
    assert int(middle) > 2**20


def test_last_words_cannot_steer_a_terminal(pool: Pool) -> None:
    link = started(pool, faulty("words"))
    ask(link)
    assert link.last_words(0) == ("thinking", "\\x1b[31mred\\x1b[0m \\xff \\u202e")
    assert link.output(0) == "\n".join(link.last_words(0))
    link.stop(0)
    assert link.last_words(0)[0] == "thinking"


def test_output_that_cannot_be_read_is_the_bots_loss(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int, most: int, start: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    link = started(pool, faulty("words"))
    ask(link)
    bot = pool._bots[-1].process
    monkeypatch.setattr(process.os, "pread", broken)
    link.close(keep=frozenset())
    assert bot.reap(wait=True)
    assert bot.last_words() == ("(what it wrote cannot be read: Input/output error)",)
    assert bot.reap()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
def test_no_open_file_of_the_output_is_shared_with_the_bot(pool: Pool) -> None:
    link = started(pool, faulty("words"))
    ask(link)
    ours, pid = pool._bots[-1].process._output, pid_of(pool)
    modes = [
        int(Path(place).read_text().split("flags:")[1].split()[0], 8) & os.O_ACCMODE
        for place in (f"/proc/self/fdinfo/{ours}", f"/proc/{pid}/fdinfo/1", f"/proc/{pid}/fdinfo/2")
    ]
    assert modes == [os.O_RDWR, os.O_WRONLY, os.O_WRONLY]
    same = [int(name) for name in os.listdir("/proc/self/fd") if Path(f"/proc/self/fd/{name}").exists()]
    assert [number for number in same if os.path.sameopenfile(number, ours)] == [ours]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
def test_memory_is_limited(pool: Pool) -> None:
    link = started(pool, faulty("memory:300", memory_mib=150))
    first = pid_of(pool)
    fault = ask(link)
    assert isinstance(fault, Fault)
    assert fault.code is Termination.OUT_OF_MEMORY
    assert fault.detail.endswith("MiB of memory; its limit is 150 MiB")
    assert eventually(lambda: not is_alive(first))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
def test_memory_is_limited_while_a_bot_waits_for_its_game(pool: Pool) -> None:
    hog = command(sys.executable, "-c", "x = b'x' * (300 << 20); import time; time.sleep(1000)", memory_mib=150)
    link = started(pool, faulty("ok"))
    pool.start_ahead([hog])
    waiting = pool._ahead[0].process
    assert eventually(lambda: link.receive(link.now_ns() + 10**7) is None and waiting.end() is not None)
    link.close(keep=frozenset())
    pool.enter("another")
    fault = LocalLink(pool, [hog]).open()[0]
    assert isinstance(fault, Fault)
    assert fault.code is Termination.OUT_OF_MEMORY
    assert fault.detail.endswith("MiB of memory; its limit is 150 MiB")


def test_children_die_with_their_bot(pool: Pool) -> None:
    link = started(pool, faulty("child,crash"))
    child = int(action(ask(link)).note or "")
    assert ask(link, number=2) == Fault(Termination.CRASHED, "exited with status 3", seat=0)
    link.close(keep=frozenset())
    assert eventually(lambda: not is_alive(child))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and subreapers, which only Linux has")
def test_a_child_in_its_own_session_ends_with_its_bot(pool: Pool) -> None:
    link = started(pool, faulty("daemon"))
    child = int(action(ask(link)).note or "")
    link.close(keep=frozenset())
    pool.shutdown()
    assert not is_alive(child)


def test_what_a_bot_is_given(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """§4.2-1: both variables of the protocol, and hardly any other."""
    monkeypatch.setenv("SECRET", "1")
    program = "import os; print(sorted(os.environ)); print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1]); " + (
        "print(os.getcwd(), os.getpgid(0) == os.getsid(0) == os.getpid(), repr(input.__class__ and os.read(0, 1)))"
    )
    link = LocalLink(pool, [command(sys.executable, "-u", "-c", program, folder=tmp_path)])
    link.open()
    environment, descriptors, place = link.last_words(0)
    assert "SECRET" not in environment
    assert "'ARENA_ENDPOINT', 'ARENA_TOKEN'" in environment
    assert descriptors == "[0, 1, 2]"
    assert place == f"{tmp_path} True b''"


@pytest.mark.parametrize("step", ["twice", "parts"])
def test_a_waiting_bot_that_speaks_is_ended(pool: Pool, step: str) -> None:
    """With a second answer, or with a remark of two frames."""
    link = started(pool, faulty(step))
    ask(link)
    first = pid_of(pool)
    link.close(keep=frozenset({0}))
    pool.wait(20_000)  # until what it adds has come
    link = started(pool, faulty(step))
    assert pid_of(pool) != first
    assert eventually(lambda: not is_alive(first))


def test_a_system_without_pidfd_and_waitid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    monkeypatch.setattr(process, "_CAN_PEEK", False)
    pool = Pool()
    link = started(pool, faulty("ok,crash"), faulty("silent"), faulty("hello:ok"))
    assert action(ask(link)).id == 1
    assert ask(link, number=2) == Fault(Termination.CRASHED, "exited with status 3", seat=0)
    link.close(keep=frozenset({2}))
    pool.shutdown()
    assert not pool.directory.exists()


EXECUTOR = """
import concurrent.futures, multiprocessing, sys
sys.path.insert(0, {root!r})
sys.path.insert(0, {here!r})
import test_link
from arena.core.link.pool import worker_pool

def game():
    pool = worker_pool()
    link = test_link.started(pool, test_link.faulty("ok"))
    link.close(keep=frozenset({{0}}))
    return str(pool.directory), pool._bots[0].process.pid

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")  # any other would look for `game` in a file
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as executor:
        first = executor.submit(game).result()
        assert executor.submit(game).result() == first
    print(first[0], test_link.is_alive(first[1]))
"""


def test_a_worker_of_an_executor_shuts_its_pool_down() -> None:
    program = EXECUTOR.format(root=str(ROOT), here=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    folder, living = done.stdout.split()
    assert living == "False"
    assert not Path(folder).exists()


def test_shutdown_says_goodbye() -> None:
    pool = Pool()
    link = started(pool, faulty("ok"), faulty("hello:ok"))
    processes = [bot.process for bot in pool._bots]
    link.close(keep=frozenset({0, 1}))
    pool.shutdown()
    assert [str(process.end()).count("exited with status 0") for process in processes] == [1, 1]
    pool.shutdown()  # again: nothing happens


WORKER = """
import sys
sys.path.insert(0, {root!r})
sys.path.insert(0, {here!r})
import test_link
from arena.core.link.pool import Pool
pool = Pool()
link = test_link.started(pool, test_link.faulty("child,silent"), test_link.faulty("ok"))
child = int(test_link.action(test_link.ask(link)).note)
print(pool.directory, child, *(bot.process.pid for bot in pool._bots), flush=True)
link.send(0, test_link.request(2))
link.receive(link.now_ns() + 600 * 10**9)
"""


@pytest.mark.quick(1)
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, which only Linux has")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_a_worker(number: signal.Signals) -> None:
    here = Path(__file__).parent
    program = WORKER.format(root=str(ROOT), here=str(here))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as worker:
        assert worker.stdout is not None
        folder, *pids = worker.stdout.readline().decode().split()
        assert all(is_alive(int(pid)) for pid in pids)
        worker.send_signal(number)
    assert eventually(lambda: not any(is_alive(int(pid)) for pid in pids))
    assert eventually(lambda: not Path(folder).exists())


def test_the_referee_stays_small(pool: Pool) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc, which only Linux has")
    link = started(pool, faulty("flood,oversized", file_mib=64), faulty("ok"))
    before = resident()
    ask(link)
    link.last_words(0)
    ask(link, number=2)
    assert resident() - before < 16 * 2**20
