"""The referee's logic, with bots in memory and a clock that jumps: every termination, over all seats."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from kit import Table, samurai, single_options, tables
from referee_kit import first_legal, make_job, on_turn, referee

from arena.core.errors import ConfigError
from arena.core.link.base import Cause, Fault
from arena.core.record.log import ActionRecord, ForfeitRecord, read_log
from arena.core.referee.clock import Clock
from arena.core.referee.game import Game
from arena.core.referee.transcript import Entry
from arena.core.types import MARGIN_MS, NS_PER_MS, Payload, Termination, TimeControl
from arena.core.wire.codec import encode
from arena.core.wire.messages import Action, Error, FromReferee, GameOver, GameStart, Hello, Ready, Request, RulesPlayed
from tests.memory_link import CRASH, MemoryBot, MemoryLink, Reply, answer


class NeverReady(MemoryBot):
    def hear(self, message: FromReferee) -> Iterable[Reply]:
        return [] if isinstance(message, GameStart) else super().hear(message)


class DeadBeforeHello(MemoryBot):
    def start(self, token: str) -> Iterable[Reply]:
        return [Reply(CRASH)]


class NeverHello(MemoryBot):
    def start(self, token: str) -> Iterable[Reply]:
        return []


class WrongGame(MemoryBot):
    def hear(self, message: FromReferee) -> Iterable[Reply]:
        return [Reply(Ready(game=7))] if isinstance(message, GameStart) else super().hear(message)


class SecondHello(MemoryBot):
    def hear(self, message: FromReferee) -> Iterable[Reply]:
        return [Reply(Hello(token="x", protocol="1.0"))] if isinstance(message, GameStart) else super().hear(message)


class WillNotPlay(MemoryBot):
    """Obeys §8.3: an error, and no ready."""

    def hear(self, message: FromReferee) -> Iterable[Reply]:
        if isinstance(message, GameStart):
            return [Reply(Error(code="x_unknown_rules", message="samurai 1\x1b[2J"), after_ms=5)]
        return super().hear(message)


class PlaysOther(MemoryBot):
    """Says in its hello that it plays other rules."""

    rules = (RulesPlayed("gardener", (1,)), RulesPlayed("samurai", (2, 3)))

    def start(self, token: str) -> Iterable[Reply]:
        return [Reply(Hello(token=token, protocol="1.0", want=("legal",), rules=self.rules))]


class PlaysThese(PlaysOther):
    rules = (RulesPlayed("samurai", (1, 2)),)


def raw(data: bytes) -> Callable[[Request], list[Reply]]:
    return lambda request: [Reply(data)]


def twice(request: Request) -> list[Reply]:
    """The second answer waits for the referee until the seat is asked again."""
    return [answer(request, first_legal(request)), answer(request, first_legal(request))]


OUT_OF_MEMORY = Cause(Termination.OUT_OF_MEMORY, "used 3000 MiB, and its limit is 2048 MiB")
GONE = Cause(Termination.DISCONNECTED, "closed its connection")
ON_CUE: dict[str, tuple[Callable[[Request], Any], Termination]] = {
    "silent": (lambda request: [], Termination.TIMEOUT),
    "late": (lambda request: [answer(request, first_legal(request), after_ms=60_000)], Termination.TIMEOUT),
    "crash": (lambda request: [Reply(CRASH, after_ms=5)], Termination.CRASHED),
    "disconnect": (lambda request: [Reply(GONE)], Termination.DISCONNECTED),
    "out of memory": (lambda request: [Reply(OUT_OF_MEMORY)], Termination.OUT_OF_MEMORY),
    "garbage": (raw(b"\xc1\xc1\xc1"), Termination.MALFORMED),
    "no map": (raw(b"\x93\x01\x02\x03"), Termination.MALFORMED),
    "oversized": (raw(b"x" * 70_000), Termination.PROTOCOL_VIOLATION),
    "wrong id": (lambda r: [Reply(Action(id=r.id + 1, action={}))], Termination.PROTOCOL_VIOLATION),
    "old id": (lambda r: [Reply(Action(id=r.id - 1, action={}))], Termination.PROTOCOL_VIOLATION),
    "second answer": (twice, Termination.PROTOCOL_VIOLATION),
    "ready again": (lambda r: [Reply(Ready(game=1))], Termination.PROTOCOL_VIOLATION),
    "unreadable action": (lambda r: {"plays": 3}, Termination.MALFORMED),
    "illegal action": (lambda r: {"plays": []}, Termination.ILLEGAL_ACTION),
    "not its tile": (
        lambda r: {"plays": [{"tile": "switch", "space": 0, "caste": "rice", "with": 1, "with_caste": "rice"}]},
        Termination.ILLEGAL_ACTION,
    ),
}
AT_START: dict[str, tuple[type[MemoryBot], Termination]] = {
    "never hello": (NeverHello, Termination.START_FAILED),
    "never ready": (NeverReady, Termination.START_FAILED),
    "dead before hello": (DeadBeforeHello, Termination.START_FAILED),
    "ready for another game": (WrongGame, Termination.PROTOCOL_VIOLATION),
    "a second hello": (SecondHello, Termination.PROTOCOL_VIOLATION),
    "an error for a ready": (WillNotPlay, Termination.START_FAILED),
    "other rules": (PlaysOther, Termination.START_FAILED),
}
SEATS = [(seats, guilty) for seats in (2, 3, 4) for guilty in range(seats)]


@pytest.mark.quick(24, 40)
@pytest.mark.parametrize(("seats", "guilty"), SEATS)
@pytest.mark.parametrize("fault", ON_CUE)
def test_a_fault_in_a_turn_is_that_seats_forfeit_alone(tmp_path: Path, fault: str, seats: int, guilty: int) -> None:
    misbehave, code = ON_CUE[fault]
    bots = [MemoryBot(on_turn(2, misbehave) if seat == guilty else first_legal) for seat in range(seats)]
    result, link = referee(tmp_path, bots)
    forfeits = [seat.forfeit for seat in result.seats]
    assert [forfeit is not None for forfeit in forfeits] == [seat == guilty for seat in range(seats)]
    forfeit = forfeits[guilty]
    assert forfeit is not None
    assert forfeit.code == code
    assert forfeit.sentence.startswith(f"seat {guilty} ")
    later = fault == "second answer"
    assert forfeit.turn == guilty + 1 + seats * (2 if later else 1)
    assert result.ranks[guilty] == seats
    assert result.ranks.count(seats) == 1
    assert result.termination == (code if seats == 2 else Termination.FINISHED)
    assert link.kept == frozenset(range(seats)) - {guilty}
    assert result.transcripts == (f"test-000000.seat{guilty}.transcript",)
    last = msgspec.json.decode((tmp_path / result.transcripts[0]).read_bytes().splitlines()[-1])
    assert last["from"] in ("referee", "bot")
    for seat, bot in enumerate(bots):
        over = [message for message in bot.heard if isinstance(message, GameOver)]
        assert len(over) == (seat != guilty)
    told = [message for message in bots[guilty].heard if isinstance(message, Error)]
    can_hear = code in ("timeout", "malformed", "illegal_action", "protocol_violation")
    assert len(told) == can_hear
    assert not told or told[0].code == ("oversized" if fault == "oversized" else code)


@pytest.mark.quick(12)
@pytest.mark.parametrize(("seats", "guilty"), SEATS)
@pytest.mark.parametrize("fault", AT_START)
def test_a_fault_at_the_start_is_that_seats_forfeit_alone(tmp_path: Path, fault: str, seats: int, guilty: int) -> None:
    """§10-3: it forfeits before anything else happens."""
    kind, code = AT_START[fault]
    bots = [kind(first_legal) if seat == guilty else MemoryBot(first_legal) for seat in range(seats)]
    result, _ = referee(tmp_path, bots)
    forfeit = result.seats[guilty].forfeit
    assert forfeit is not None
    assert (forfeit.code, forfeit.turn) == (code, 0)
    assert result.ranks[guilty] == seats
    assert sum(seat.forfeit is not None for seat in result.seats) == 1
    assert b'"record":"forfeit"' in (tmp_path / result.log).read_bytes().splitlines()[1]


def test_a_bot_that_says_it_will_not_play_is_not_waited_for(tmp_path: Path) -> None:
    """§8.4-2: the reason has its words, and nothing in them acts on a terminal."""
    result, link = referee(tmp_path, [WillNotPlay(first_legal), MemoryBot(first_legal)])
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert forfeit.sentence == "seat 0 would not play: x_unknown_rules: samurai 1\\x1b[2J (§8.4-2)"
    assert not forfeit.overloaded
    assert link.now_ns() == 5 * NS_PER_MS, "the rest of the start-up time is not waited for"


def test_an_error_that_comes_with_an_answer_is_a_remark(tmp_path: Path) -> None:
    """§6-3."""

    def remark(request: Request) -> list[Reply]:
        return [Reply(Error(code="x_hm")), answer(request, first_legal(request)), Reply(Error(code="x_well"))]

    result, _ = referee(tmp_path, [MemoryBot(remark), MemoryBot(first_legal)])
    assert result.termination == "finished"


def test_a_bot_that_names_its_rules_is_sent_no_other_game(tmp_path: Path) -> None:
    """§8.1-6."""
    other = PlaysOther(first_legal)
    result, _ = referee(tmp_path, [other, PlaysThese(first_legal)])
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert forfeit.sentence == (
        "seat 0 does not play samurai 1: by its hello it plays gardener 1; samurai 2, 3 (§8.1-6)"
    )
    assert [type(message).__name__ for message in other.heard] == ["Welcome"]
    assert result.seats[1].forfeit is None


def test_what_a_bot_wants_may_differ_by_rules(tmp_path: Path) -> None:
    """§8.1-5."""

    class Choosy(MemoryBot):
        def start(self, token: str) -> Iterable[Reply]:
            want = {"samurai": ("legal", "events"), "gardener": ("view", "legal")}
            return [Reply(Hello(token=token, protocol="1.0", want=want))]

    for rules, sent in (("samurai", (False, True)), ("gardener", (True, False))):
        bot = Choosy(first_legal)
        referee(tmp_path, [bot, MemoryBot(first_legal)], rules=rules)
        asked = [message for message in bot.heard if isinstance(message, Request)]
        assert {(one.view is not None, one.events is not None) for one in asked} == {sent}
        assert all(one.legal for one in asked)
        (over,) = (message for message in bot.heard if isinstance(message, GameOver))
        assert (over.events is not None) == sent[1]


@pytest.mark.parametrize("seats", [3, 4])
def test_the_set_up_that_a_forfeited_seat_owes_is_made_by_chance(tmp_path: Path, seats: int) -> None:
    bots = [NeverHello(first_legal), *(MemoryBot(first_legal) for _ in range(seats - 1))]
    result, _ = referee(tmp_path, bots)
    log = read_log(tmp_path / result.log)
    draws = [record for record in log.records if getattr(record, "stream", "") == "proxy/0"]
    assert len(draws) >= 7, "a hand, and a piece every round"
    assert not any(isinstance(record, ActionRecord) and record.seat == 0 for record in log.records)


def test_all_seats_failing_at_once_share_the_rank(tmp_path: Path) -> None:
    result, _ = referee(tmp_path, [MemoryBot(lambda request: []), MemoryBot(lambda request: [])])
    assert result.ranks == (1, 1)
    assert result.termination == "timeout"
    assert [seat.forfeit.code for seat in result.seats if seat.forfeit] == ["timeout", "timeout"]
    assert [len(r.forfeits) for r in read_log(tmp_path / result.log).records if isinstance(r, ForfeitRecord)] == [2]


def test_a_fault_between_turns_counts_when_the_seat_is_next_asked(tmp_path: Path) -> None:
    def answer_and_die(request: Request) -> list[Reply]:
        return [answer(request, first_legal(request)), Reply(CRASH)]

    result, _ = referee(tmp_path, [MemoryBot(on_turn(1, answer_and_die)), MemoryBot(first_legal)])
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert (forfeit.code, forfeit.turn) == ("crashed", 3)


def test_the_deadline_itself_is_in_time_and_a_nanosecond_later_is_not(tmp_path: Path) -> None:
    """§9-3."""
    limit_ms = 1_000 + MARGIN_MS
    for after_ms, code in ((limit_ms, None), (limit_ms + 1e-6, Termination.TIMEOUT)):
        bot = MemoryBot(on_turn(1, lambda r, ms=after_ms: [answer(r, first_legal(r), after_ms=ms)]))
        result, _ = referee(tmp_path, [bot, MemoryBot(first_legal)], time="1/move")
        forfeit = result.seats[0].forfeit
        assert (forfeit and forfeit.code) == code


def test_a_timed_out_seat_is_stopped_at_once(tmp_path: Path) -> None:
    bots = [MemoryBot(on_turn(1, lambda request: [])), MemoryBot(first_legal), MemoryBot(first_legal)]
    _, link = referee(tmp_path, bots)
    assert link.stopped == [0]


def test_a_time_loss_while_the_referee_ran_late_is_marked(tmp_path: Path) -> None:
    class Overloaded(MemoryLink):
        def receive(self, until_ns: int) -> Any:
            self.lateness_ns = 80 * NS_PER_MS
            return super().receive(until_ns)

    job = make_job(tmp_path, 2)
    link = Overloaded([MemoryBot(on_turn(1, lambda request: [])), MemoryBot(first_legal)])
    result = Game(job, samurai(2), link).play()
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert forfeit.overloaded
    assert "overloaded" in forfeit.sentence


def test_the_last_words_of_the_process_are_kept(tmp_path: Path) -> None:
    link = MemoryLink([MemoryBot(on_turn(1, lambda request: [Reply(CRASH)])), MemoryBot(first_legal)])
    link.words[0] = ("Traceback", "ZeroDivisionError")
    result = Game(make_job(tmp_path, 2), samurai(2), link).play()
    assert result.seats[0].forfeit is not None
    assert result.seats[0].forfeit.stderr == ("Traceback", "ZeroDivisionError")


def test_what_a_bot_printed_is_kept_for_each_game(tmp_path: Path) -> None:
    link = MemoryLink([MemoryBot(first_legal), MemoryBot(first_legal)])
    link.words[1] = ("thinking", "done")
    Game(make_job(tmp_path, 2), samurai(2), link).play()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test-000000.jsonl", "test-000000.seat1.output"]
    assert (tmp_path / "test-000000.seat1.output").read_text() == "thinking\ndone\n"


def test_a_tap_hears_every_message_in_the_order_of_the_wire(tmp_path: Path) -> None:
    heard: list[tuple[int, Entry]] = []
    bots = [MemoryBot(first_legal), MemoryBot(on_turn(2, lambda request: [Reply(b"\xc1")]))]
    link = MemoryLink(bots)
    Game(make_job(tmp_path, 2), samurai(2), link, tap=lambda seat, entry: heard.append((seat, entry))).play()
    for seat in range(2):
        sent = [entry.message for at, entry in heard if at == seat and entry.sender == "referee"]
        frames = [msgspec.msgpack.decode(data) for at, data in link.frames if at == seat]
        assert sent == [message for message in frames if message["type"] != "welcome"]
    assert [entry.ms for _, entry in heard] == sorted(entry.ms for _, entry in heard)
    (garbage,) = [entry for _, entry in heard if entry.message is None]
    assert (garbage.hex, garbage.bytes, garbage.sender) == ("c1", 1, "bot")


def test_time_is_charged_to_the_bank_with_its_increment(tmp_path: Path) -> None:
    banks: list[int | None] = []

    def slow(request: Request) -> list[Reply]:
        banks.append(request.clock.bank_ms)
        return [answer(request, first_legal(request), after_ms=100)]

    result, _ = referee(tmp_path, [MemoryBot(slow), MemoryBot(first_legal)], time="10+0.04")
    assert banks[:4] == [10_000, 9_940, 9_880, 9_820]
    assert result.seats[0].max_ms == pytest.approx(100)
    assert result.seats[0].total_ms == pytest.approx(100 * result.seats[0].decisions)
    assert result.seats[1].total_ms == 0, "the referee's own work and others' thinking are not charged"


def test_the_bank_bounds_the_decision(tmp_path: Path) -> None:
    slow = MemoryBot(lambda request: [answer(request, first_legal(request), after_ms=400)])
    result, _ = referee(tmp_path, [slow, MemoryBot(first_legal)], time="1+0.1")
    forfeit = result.seats[0].forfeit
    assert forfeit is not None
    assert forfeit.code == "timeout"
    assert result.seats[0].decisions == 3


def test_clock_takes_the_smaller_of_limit_and_bank() -> None:
    clock = Clock(TimeControl(bank_ms=1_000, increment_ms=10, limit_ms=300))
    assert clock.limit_ns() == 300 * NS_PER_MS
    clock.charge(900 * NS_PER_MS)
    clock.begin()
    assert clock.limit_ns() == 110 * NS_PER_MS
    clock.charge(140 * NS_PER_MS)
    assert clock.told().bank_ms == 10, "what is used of the margin never makes the bank negative"


@pytest.mark.quick(12)
@pytest.mark.parametrize("table", list(tables()), ids=str)
def test_what_was_wanted_is_sent_and_nothing_else(tmp_path: Path, table: Table) -> None:
    wants = [("legal",), ("legal", "events"), ("legal", "view"), ("view", "events", "legal"), ("legal",)]
    bots = [MemoryBot(first_legal, want=want) for want in wants[: table.seats]]
    referee(tmp_path, bots, rules=table.name, ruleset=table.ruleset)
    for bot, want in zip(bots, wants, strict=False):
        for message in bot.heard:
            if isinstance(message, Request):
                sent = {name for name in ("view", "events", "legal") if getattr(message, name) is not None}
                assert sent == set(want)


def test_events_over_the_wire_fold_to_the_views_over_the_wire(tmp_path: Path) -> None:
    rules = samurai(3)
    bots = [MemoryBot(first_legal, want=("view", "events", "legal")) for _ in range(3)]
    referee(tmp_path, bots)
    for seat, bot in enumerate(bots):
        view = rules.first_view(seat)
        for message in bot.heard:
            if isinstance(message, Request | GameOver):
                for event in message.events or []:
                    view = rules.fold(view, event)
            if isinstance(message, Request):
                assert view == message.view
        assert view["phase"] == "over"


def test_no_name_reaches_a_bot_and_numbers_are_the_sessions_own(tmp_path: Path) -> None:
    """§12-2, §6-6; §8.3-6: but each has a seed of its own."""
    bots = [MemoryBot(first_legal) for _ in range(4)]
    _, link = referee(tmp_path, bots)
    assert not any(b"bot0" in frame or b"bot1" in frame for _, frame in link.frames)
    for bot in bots:
        ids = [message.id for message in bot.heard if isinstance(message, Request)]
        assert ids == list(range(1, len(ids) + 1))
    starts = [message for bot in bots for message in bot.heard if isinstance(message, GameStart)]
    assert len({start.bot_seed for start in starts}) == 4
    assert len({start.commitment for start in starts}) == 1


def test_messages_that_ask_for_nothing_are_ignored_but_not_without_end(tmp_path: Path) -> None:
    unknown = Reply(encode({"type": "chatter"}))

    def chatty(count: int) -> Callable[[Request], list[Reply]]:
        return lambda request: [*[unknown] * count, answer(request, first_legal(request))]

    for count, code in ((300, None), (1_000, "protocol_violation")):
        result, _ = referee(tmp_path, [MemoryBot(on_turn(2, chatty(count))), MemoryBot(first_legal)])
        forfeit = result.seats[0].forfeit
        assert (forfeit and forfeit.code) == code


def test_a_seat_that_goes_on_after_its_fault_is_stopped(tmp_path: Path) -> None:
    def flood(request: Request) -> list[Reply]:
        return [answer(request, first_legal(request)), *[Reply(b"garbage")] * 2_000]

    slow = MemoryBot(lambda request: [answer(request, first_legal(request), after_ms=1)])
    result, link = referee(tmp_path, [MemoryBot(on_turn(1, flood)), slow])
    assert result.seats[0].forfeit is not None
    assert result.seats[0].forfeit.code == "malformed"
    assert link.stopped == [0]
    assert len((tmp_path / result.transcripts[0]).read_bytes().splitlines()) < 60


def test_a_late_answer_does_not_disturb_the_game_of_the_others(tmp_path: Path) -> None:
    late = MemoryBot(on_turn(1, lambda r: [answer(r, first_legal(r), after_ms=20_000)]))
    slow = MemoryBot(lambda r: [answer(r, first_legal(r), after_ms=90)])
    result, _ = referee(tmp_path, [late, slow, slow])
    assert [seat.forfeit is None for seat in result.seats] == [False, True, True]


def test_the_same_plays_have_the_same_digest_whatever_the_times_and_names(tmp_path: Path) -> None:
    digests = set()
    for number, after_ms in enumerate((0, 7)):
        folder = tmp_path / str(number)
        folder.mkdir()
        bots = [MemoryBot(lambda r, ms=after_ms: [answer(r, first_legal(r), after_ms=ms, note=f"{ms}")]) for _ in "ab"]
        result, _ = referee(folder, bots)
        digests.add(result.play_digest)
    assert len(digests) == 1
    other, _ = referee(tmp_path, [MemoryBot(first_legal), MemoryBot(first_legal)], deal=1)
    assert other.play_digest not in digests


def test_how_a_process_ended_is_not_in_the_digest(tmp_path: Path) -> None:
    """Whether a bot is found crashed, disconnected or out of memory can depend on how busy the machine is."""
    digests: dict[str, str] = {}
    for fault in ("crash", "disconnect", "out of memory", "silent"):
        folder = tmp_path / fault
        folder.mkdir()
        misbehave, _ = ON_CUE[fault]
        result, _ = referee(folder, [MemoryBot(on_turn(2, misbehave)), MemoryBot(first_legal)])
        digests[fault] = result.play_digest
    assert digests["crash"] == digests["disconnect"] == digests["out of memory"] != digests["silent"]


def test_an_interrupted_game_leaves_no_log_and_keeps_bots_for_a_goodbye(tmp_path: Path) -> None:
    def interrupt(request: Request) -> Payload:
        raise KeyboardInterrupt

    bots = [MemoryBot(first_legal), MemoryBot(on_turn(3, interrupt))]
    link = MemoryLink(bots)
    with pytest.raises(KeyboardInterrupt):
        Game(make_job(tmp_path, 2), samurai(2), link).play()
    assert [path.suffix for path in tmp_path.iterdir()] == [".begun"], "no log, and that it was begun"
    assert link.kept == frozenset({0, 1})
    over = [message for message in bots[0].heard if isinstance(message, GameOver)]
    assert [message.termination for message in over] == ["interrupted"]


def test_a_game_can_be_interrupted_before_it_began(tmp_path: Path) -> None:
    class Interrupted(MemoryLink):
        def open(self) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Game(make_job(tmp_path, 2), samurai(2), Interrupted([MemoryBot(first_legal)] * 2)).play()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.quick(12)
@pytest.mark.parametrize("table", [*tables(), *single_options()], ids=str)
def test_random_bots_play_at_every_table_one_legal_play_at_a_time(tmp_path: Path, table: Table) -> None:
    """§8.5-4, §8.5-5: any play of any product is accepted, and one is always enough."""
    chance = random.Random(7)

    def at_random(request: Request) -> Payload:
        product = chance.choice(request.legal or [])
        return {"plays": [{key: chosen(values) for key, values in product.items()}]}

    def chosen(values: Any) -> Any:
        return chance.sample(values["of"], values["choose"]) if isinstance(values, dict) else chance.choice(values)

    name, _, value = table.option.partition("=")
    option = {name: value} if name else {}
    bots = [MemoryBot(at_random) for _ in range(table.seats)]
    result, _ = referee(tmp_path, bots, rules=table.name, ruleset=table.ruleset, **option)
    assert result.termination == "finished"


@pytest.mark.parametrize("text", ["", "10", "0+1", "-1+0", "10+", "0/move", "x/move", "1e3+0", "10+0.0001", "10 + 1"])
def test_a_time_control_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected a time control"):
        TimeControl.parse(text)


def test_faults_are_plain_values() -> None:
    assert msgspec.json.decode(msgspec.json.encode(Fault(Termination.CRASHED, "x", seat=0))) == {
        "seat": 0,
        "code": "crashed",
        "detail": "x",
        "rule": "",
        "error_code": "",
        "excuse": "",
        "denied_ms": 0,
    }


class Slow(MemoryBot):
    """Says `hello` and `ready` late."""

    def start(self, token: str) -> Iterable[Reply]:
        return [Reply(reply.body, after_ms=700) for reply in super().start(token)]

    def hear(self, message: FromReferee) -> Iterable[Reply]:
        replies = super().hear(message)
        return [Reply(reply.body, after_ms=900) for reply in replies] if isinstance(message, GameStart) else replies


@pytest.mark.parametrize("guilty", range(2))
@pytest.mark.parametrize(("slow", "waited_ms"), [(Slow, 1_600), (NeverHello, 10_000), (NeverReady, 10_000)])
def test_a_result_says_for_each_seat_how_long_the_game_waited_for_it(
    tmp_path: Path, slow: type[MemoryBot], waited_ms: int, guilty: int
) -> None:
    bots = [slow(first_legal) if seat == guilty else MemoryBot(first_legal) for seat in range(2)]
    result, _ = referee(tmp_path, bots)
    assert result.starts_ms[guilty] == waited_ms
    assert result.starts_ms[1 - guilty] == 0
