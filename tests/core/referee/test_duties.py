"""What the specification demands of a referee and no recorded bytes can show: a test for each such number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from referee_kit import SECRET, first_legal, make_job, on_turn, referee

from arena.author.rerun import requests_of
from arena.core.catalogue import rules_of
from arena.core.errors import IllegalAction
from arena.core.link.base import LAST_MESSAGE_MS
from arena.core.record.log import ActionRecord, Chance, ForfeitRecord, read_log
from arena.core.referee.chance import deal_secret
from arena.core.referee.game import Game
from arena.core.types import NS_PER_MS, Payload, Seat
from arena.core.wire.codec import decode_from_referee, encode
from arena.core.wire.messages import Error, FromReferee, GameOver, GameStart, Request
from tests.memory_link import MemoryBot, MemoryLink, Reply, answer

EVERYTHING = ("view", "events", "legal")


def after(ms: float) -> Any:
    """What decides after so many milliseconds."""
    return lambda request: [answer(request, first_legal(request), after_ms=ms)]


def asked(bot: MemoryBot) -> list[Request]:
    return [message for message in bot.heard if isinstance(message, Request)]


def sent_to(link: MemoryLink, seat: Seat) -> Iterator[tuple[bytes, FromReferee]]:
    for at, frame in link.frames:
        message = decode_from_referee(frame)
        if at == seat and message is not None:
            yield frame, message


@pytest.mark.parametrize(("rules", "seats"), [("samurai", 3), ("gardener", 2)])
def test_events_are_all_that_the_seat_was_to_learn_in_order(tmp_path: Path, rules: str, seats: int) -> None:
    """§8.5-3: what all requests and the end bring together is what the log has for the seat."""
    bots = [MemoryBot(first_legal, want=EVERYTHING) for _ in range(seats)]
    result, _ = referee(tmp_path, bots, rules=rules)
    happened = [
        event
        for record in read_log(tmp_path / result.log).records
        if isinstance(record, ActionRecord | Chance | ForfeitRecord)
        for event in record.events
    ]
    for seat, bot in enumerate(bots):
        told = [message.events for message in bot.heard if isinstance(message, Request | GameOver)]
        assert [event for events in told for event in events or []] == [
            event.data for event in happened if event.reaches(seat)
        ]
    assert rules == "gardener" or any(event.to for event in happened), "nothing was hidden"


def test_legal_holds_every_legal_first_play_and_no_other(tmp_path: Path) -> None:
    """§8.5-4: every tile on every space, every exchange and every move is tried in the position of a request."""
    result, _ = referee(tmp_path, [MemoryBot(first_legal), MemoryBot(first_legal)])
    log = read_log(tmp_path / result.log)
    rules = rules_of(log.header.settings)
    spaces = range(len(rules.board_payload["spaces"]))
    turns = [one for one in requests_of(log, 0) if one.request.kind == "turn"]
    for one in turns[:: len(turns) // 3]:
        view = one.request.view
        assert view is not None
        tried: list[Payload] = [{"tile": tile, "space": space} for tile in {*view["hand"]} for space in spaces]
        tried += [{"tile": "move", "from": a, "to": b} for a in spaces for b in spaces]
        legal = [
            dict(zip(product, values, strict=True))
            for product in one.request.legal or []
            for values in itertools.product(*product.values())
        ]
        possible = [play for play in tried if is_legal(rules, one.state, play)]
        assert key(possible) == key(play for play in legal if play["tile"] != "switch")
        assert all(is_legal(rules, one.state, play) for play in legal)


def is_legal(rules: Any, state: Any, play: Payload) -> bool:
    if play["tile"] == "switch" and "with" not in play:
        return False
    if play["tile"] == "move" and "from" not in play:
        return False
    try:
        rules.act(state, 0, rules.read_action(state, 0, {"plays": [play]}))
    except IllegalAction:
        return False
    return True


def key(plays: Any) -> list[str]:
    return sorted(str(sorted(play.items())) for play in plays)


def test_keys_that_the_rules_do_not_name_are_ignored(tmp_path: Path) -> None:
    """§8.6-6: of an action and of a play. They are not in the log either."""

    def talkative(request: Request) -> Payload:
        plays = [play | {"x_why": "because", "colour": 3} for play in first_legal(request)["plays"]]
        return {"plays": plays, "x_sure": True, "captures_": [1]}

    result, _ = referee(tmp_path, [MemoryBot(talkative), MemoryBot(first_legal)])
    assert result.termination == "finished"
    actions = [r for r in read_log(tmp_path / result.log).records if isinstance(r, ActionRecord)]
    assert not any("why" in str(record.action) or "sure" in str(record.action) for record in actions)


@pytest.mark.parametrize(
    ("misbehave", "code", "reading_ms"),
    [
        (lambda r: {"plays": []}, "illegal_action", LAST_MESSAGE_MS),
        (lambda r: {"plays": 3}, "malformed", LAST_MESSAGE_MS),
        (lambda r: [Reply(b"\xc1")], "malformed", LAST_MESSAGE_MS),
        (lambda r: [Reply(b"x" * 70_000)], "oversized", LAST_MESSAGE_MS),
        (lambda r: [Reply(encode({"type": "ready", "game": 1}))], "protocol_violation", LAST_MESSAGE_MS),
        (lambda r: [], "timeout", 0),
    ],
)
def test_who_forfeits_is_told_and_has_a_moment_to_read_it(
    tmp_path: Path, misbehave: Any, code: str, reading_ms: int
) -> None:
    """§8.9-2: but for one whose time is over."""
    bots = [MemoryBot(on_turn(2, misbehave)), MemoryBot(first_legal)]
    _, link = referee(tmp_path, bots)
    *_, (_, last) = sent_to(link, 0)
    assert isinstance(last, Error)
    assert last.code == code
    assert link.reading_ms == {0: reading_ms}


def test_the_referee_s_own_work_is_charged_to_nobody(tmp_path: Path) -> None:
    """§9-1: a second of work between any two decisions, and ten milliseconds of thought."""
    bots = [MemoryBot(after(10)), MemoryBot(after(10))]
    link = MemoryLink(bots)
    job = make_job(tmp_path, 2, time="1+0")
    result = Game(job, rules_of(job.settings), link, watch=lambda record: link.advance(1_000)).play()
    assert result.termination == "finished"
    assert link.now_ns() > 60_000 * NS_PER_MS
    for seat in result.seats:
        assert seat.max_ms == 10
        assert seat.total_ms == 10 * seat.decisions


def test_seats_that_decide_together_have_clocks_of_their_own(tmp_path: Path) -> None:
    """§9-5: all choose their hands at once, one slowly."""
    bots = [MemoryBot(after(300)), MemoryBot(after(7)), MemoryBot(after(0))]
    referee(tmp_path, bots, time="10+0")
    banks = [[request.clock.bank_ms for request in asked(bot)[:2]] for bot in bots]
    assert asked(bots[0])[0].kind == "hand"
    assert banks == [[10_000, 9_700], [10_000, 9_993], [10_000, 10_000]]


def test_ready_costs_no_bank(tmp_path: Path) -> None:
    """§9-6."""

    class Slow(MemoryBot):
        def hear(self, message: FromReferee) -> Any:
            replies = super().hear(message)
            delay = 5_000 if isinstance(message, GameStart) else 0
            return [msgspec.structs.replace(reply, after_ms=delay) for reply in replies]

    bots = [Slow(first_legal), MemoryBot(first_legal)]
    referee(tmp_path, bots, time="1+0")
    assert asked(bots[0])[0].clock.bank_ms == 1_000


def test_all_requests_of_a_race_are_ready_before_the_first_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """§9-7: no seat begins earlier because another's legal plays are still being worked out."""
    order: list[str] = []
    settings = make_job(tmp_path, 3, rules="gardener", ruleset="race").settings
    rules = rules_of(settings)
    write_legal = type(rules).write_legal

    class Listening(MemoryLink):
        def send(self, seat: Seat, data: bytes) -> int:
            if isinstance(decode_from_referee(data), Request):
                order.append("sent")
            return super().send(seat, data)

    def work(self: Any, state: Any, seat: Seat) -> list[Payload]:
        order.append("worked out")
        return write_legal(self, state, seat)

    monkeypatch.setattr(type(rules), "write_legal", work)
    job = make_job(tmp_path, 3, rules="gardener", ruleset="race")
    Game(job, rules, Listening([MemoryBot(first_legal) for _ in range(3)])).play()
    assert order[:6] == ["worked out"] * 3 + ["sent"] * 3


def test_nobody_learns_who_the_others_are(tmp_path: Path) -> None:
    """§12-2: no name, version, digest or token of another bot is in any frame."""
    bots = [MemoryBot(first_legal, want=EVERYTHING) for _ in range(3)]
    _, link = referee(tmp_path, bots)
    for _, frame in link.frames:
        for secret in (b"bot0", b"bot1", b"bot2", b"token-", b"0" * 64):
            assert secret not in frame


def test_no_frame_has_a_secret(tmp_path: Path) -> None:
    """§12-3: neither the tournament's nor the deal's, as bytes or as hex; the commitment is another text."""
    bots = [MemoryBot(first_legal, want=EVERYTHING) for _ in range(2)]
    _, link = referee(tmp_path, bots)
    deal = deal_secret(SECRET, 0)
    for _, frame in link.frames:
        for secret in (SECRET, deal):
            assert secret not in frame
            assert secret.hex().encode() not in frame
    starts = [message for seat in range(2) for _, message in sent_to(link, seat) if isinstance(message, GameStart)]
    assert {len(bytes.fromhex(start.commitment)) for start in starts} == {32}
