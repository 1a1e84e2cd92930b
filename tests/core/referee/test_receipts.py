"""Receipts: what a seat is told at the end of a game is what its log and its own messages give, and nothing else.

§8.7-5, and §L3.6-8 of the log.
"""

from __future__ import annotations

import itertools
import json
import runpy
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack
import pytest
from msgspec.structs import replace
from referee_kit import SECRET, first_legal, make_job, on_turn, referee, revealed

from arena.core.catalogue import rules_of
from arena.core.errors import ReplayMismatch
from arena.core.record.kept import Receipts
from arena.core.record.log import ActionRecord, Log, OutcomeRecord, drop, read_log, write_log
from arena.core.record.receipts import contradictions, receipts_of
from arena.core.referee.game import Game
from arena.core.referee.verify import verify
from arena.core.resources import bots_folder, protocol_folder
from arena.core.standings.audit import Auditor
from arena.core.standings.examined import examine
from arena.core.types import Seat
from arena.core.wire.messages import Action, GameOver, Request
from arena.league.visible import visible
from tests.memory_link import CRASH, MemoryBot, MemoryLink, Reply, answer

CLIENT: dict[str, Any] = runpy.run_path(str(bots_folder() / "python" / "arena_bot.py"))
CHECK_RECEIPTS: dict[str, Any] = runpy.run_path(str(protocol_folder() / "check_receipts.py"))
EVENTS = ("legal", "events")


class Keeper(MemoryBot):
    """A bot that keeps a receipt as the Python client does, from nothing but its messages."""

    def __init__(self, decide: Callable[[Request], Any] | None = None, want: Any = EVENTS) -> None:
        super().__init__(decide or self._noted, want=want)
        self._numbers = itertools.count()
        self.line: dict[str, Any] = {}

    def _noted(self, request: Request) -> list[Reply]:
        number = next(self._numbers)
        note = None if number % 3 else f"„{number}“ \n €"
        action = first_legal(request)
        for play in action["plays"]:  # chosen values in another order than the log will have them
            play |= {key: value[::-1] for key, value in play.items() if "choose" in request.legal[0][key]}
        return [answer(request, action, after_ms=1.25 * (number % 4), note=note)]

    def hear(self, message: Any) -> Any:
        replies = list(super().hear(message))
        plain = msgpack.unpackb(CLIENT["encode"](_plain(message)))
        if plain["type"] == "game_start":
            self._receipt = CLIENT["Receipt"](plain)
        elif plain["type"] == "request" and isinstance(replies[0].body, Action):
            self._receipt.add(plain, _plain(replies[0].body))
        elif plain["type"] == "game_over" and plain["ranks"]:
            self.line = self._receipt.line(plain)
        return replies


def _plain(message: Any) -> dict[str, Any]:
    """A message as it is read from a frame."""
    from arena.core.wire.codec import encode

    found: dict[str, Any] = msgpack.unpackb(encode(message))
    return found


def logged(log: Log) -> dict[Seat, tuple[str, str | None]]:
    assert log.outcome.receipts is not None
    return {one.seat: (one.digest, one.notes) for one in log.outcome.receipts}


@pytest.mark.parametrize(
    ("rules", "ruleset", "seats"),
    [("samurai", "standard", 2), ("samurai", "classic", 4), ("gardener", "race", 3), ("gardener", None, 2)],
)
def test_the_bot_the_referee_and_the_log_have_the_same_receipt(
    tmp_path: Path, rules: str, ruleset: str | None, seats: int
) -> None:
    """In a race as well, with late claims; and with notes that no ASCII holds."""
    bots = [Keeper() for _ in range(seats)]
    result, _ = referee(tmp_path, bots, rules=rules, ruleset=ruleset)
    log = read_log(tmp_path / result.log)
    kept = {seat: (bot.line["own"], bot.line["notes"]) for seat, bot in enumerate(bots)}
    assert kept == logged(log)
    assert [bot.line["told"] for bot in bots] == [bot.line["own"] for bot in bots]
    assert len({*kept.values()}) == seats
    assert all(notes for _, notes in kept.values())
    for seat, bot in enumerate(bots):
        line = bot.line
        assert (line["seat"], line["bot_seed"]) == (seat, log.header.bots[seat].bot_seed)
        assert (line["ranks"], line["termination"]) == (list(result.ranks), "finished")


def test_a_bot_without_events_keeps_what_it_is_told(tmp_path: Path) -> None:
    bots = [Keeper(want=("legal",)), Keeper(lambda request: first_legal(request))]
    result, _ = referee(tmp_path, list(bots))
    log = read_log(tmp_path / result.log)
    assert [bot.line["own"] for bot in bots] == [None, logged(log)[1][0]]
    assert [bot.line["told"] for bot in bots] == [logged(log)[seat][0] for seat in range(2)]
    assert bots[1].line["notes"] is None is logged(log)[1][1]


def test_a_seat_that_forfeits_has_no_receipt_and_the_others_have_theirs(tmp_path: Path) -> None:
    """An answer that had lapsed belongs to none."""
    bots = [Keeper(), Keeper(on_turn(2, lambda request: [Reply(CRASH)])), Keeper()]
    result, _ = referee(tmp_path, list(bots))
    log = read_log(tmp_path / result.log)
    assert logged(log).keys() == {0, 2}
    assert bots[1].line == {}
    for seat in (0, 2):
        assert (bots[seat].line["own"], bots[seat].line["notes"]) == logged(log)[seat]


def test_a_game_that_is_interrupted_has_none(tmp_path: Path) -> None:
    def stop(request: Request) -> Any:
        raise KeyboardInterrupt

    bots = [MemoryBot(stop), MemoryBot(first_legal)]
    job = make_job(tmp_path, 2)
    with pytest.raises(KeyboardInterrupt):
        Game(job, rules_of(job.settings), MemoryLink(bots)).play()
    [over] = [message for message in bots[1].heard if isinstance(message, GameOver)]
    assert (over.ranks, over.receipt) == ([], None)


def test_a_game_that_is_begun_again_leaves_a_trace_in_its_log(tmp_path: Path) -> None:
    """An honest client with a receipt for each time makes nobody a forger, and whoever hides one is found.

    The first is interrupted; of the second the end was told, and its log was dropped before it counted.
    """

    def stop(request: Request) -> Any:
        raise KeyboardInterrupt

    job = make_job(tmp_path, 2)
    told: list[dict[str, Any]] = []
    for again in range(3):
        bots = [Keeper(), MemoryBot(stop if again == 0 else first_legal)]
        with suppress(KeyboardInterrupt):
            Game(job, rules_of(job.settings), MemoryLink(bots)).play()
        told.append(bots[0].line)
        if again == 1:
            drop(tmp_path, {job.game})
    log = read_log(tmp_path / f"{job.game}.jsonl")
    noted = tmp_path / f"{job.game}.begun"
    assert log.header.attempt == 3 == len(noted.read_text().splitlines())
    auditor = Auditor(tmp_path)
    auditor.add(examine(log.source))
    assert auditor.result().begun == 2
    noted.unlink()
    auditor = Auditor(tmp_path)
    auditor.add(examine(log.source))
    assert auditor.result().begun == 2, "the log says it, too"

    told[0] = told[2] | {"own": None, "told": None, "notes": None, "termination": "interrupted", "ranks": []}
    told[1] |= {"own": "5e" * 32, "told": "5e" * 32}  # as if another course of the game had been told
    kept = tmp_path / "kept"

    def compared(lines: list[dict[str, Any]], attempt: int = 3) -> list[str]:
        kept.write_text("".join(json.dumps(one) + "\n" for one in lines))
        write_log(tmp_path / "again.jsonl", [replace(log.header, attempt=attempt), *log.records])
        again = read_log(tmp_path / "again.jsonl")
        receipts = Receipts(kept)
        found = [difference.reason for difference in receipts.differences(again)]
        assert receipts.unknown == []
        assert found or receipts.begun == 2
        by_page = list(CHECK_RECEIPTS["compare"](kept, [Path(again.source)]))
        assert bool(by_page) == bool(found), by_page
        return found

    for strange in ({"seat": -1}, {"own": "x"}, {"termination": 7}):
        kept.write_text(json.dumps(told[0] | strange))
        assert CHECK_RECEIPTS["main"](["receipts", str(kept), str(log.source)]) == 2, "no receipt, as for arena"
    assert compared(told) == []
    assert compared(told, attempt=0) == [], "an earlier version did not note it"
    assert "begun 2 times" in compared(told, attempt=2)[-1]
    assert "another course" in compared(told[:2])[0], "no receipt proves the log"
    assert "another course" in compared(told[1:], attempt=1)[0]
    told[1]["own"] = "6e" * 32
    assert "its messages give the receipt" in compared(told)[0], "the referee told it something else than it played"


def edited(log: Log, path: Path, **edits: Any) -> None:
    """Writes the log as somebody who changed an action of seat 0 would."""
    index = next(
        at for at, one in enumerate(log.records) if isinstance(one, ActionRecord) and one.seat == 0 and one.note
    )
    records = list(log.records)
    records[index] = replace(records[index], **edits)
    write_log(path, [log.header, *records])


@pytest.mark.parametrize(
    ("edit", "reason"), [({"note": "never said"}, "the notes of seat 0"), ({"used_ns": 77}, "what seat 0 saw and did")]
)
def test_a_note_or_a_time_that_was_changed_is_found_in_the_log_alone(
    tmp_path: Path, edit: dict[str, Any], reason: str
) -> None:
    """Neither is covered by the play digest, nor given by the rules. Moved within what the clock allows, at that."""
    result, _ = referee(tmp_path, [Keeper(), Keeper()])
    path = tmp_path / result.log
    edited(read_log(path), path, **edit)
    with pytest.raises(ReplayMismatch, match=reason):
        verify(path, revealed(SECRET))


def test_of_a_log_without_notes_the_rest_is_checked(tmp_path: Path) -> None:
    """What others are shown of a game verifies, and a time that was moved in it is found."""
    result, _ = referee(tmp_path, [Keeper(), Keeper()])
    path = tmp_path / result.log
    log = read_log(path)
    for seats in ((), (1,)):
        write_log(path, visible(log, seats))
        assert verify(path, revealed(SECRET)).draws_checked
        assert logged(read_log(path)) == logged(log)
    shown = read_log(path)
    index = next(at for at, one in enumerate(shown.records) if isinstance(one, ActionRecord))
    records = list(shown.records)
    records[index] = replace(records[index], used_ns=77)
    assert list(contradictions(shown.header, records, shown.outcome)) != []


def test_receipts_of_other_seats_than_those_that_stayed_are_refused(tmp_path: Path) -> None:
    result, _ = referee(tmp_path, [Keeper(), Keeper()])
    log = read_log(tmp_path / result.log)
    assert list(contradictions(log.header, log.records, log.outcome)) == []
    assert log.outcome.receipts is not None
    for receipts in ([], log.outcome.receipts[::-1], [*log.outcome.receipts, log.outcome.receipts[0]]):
        outcome = replace(log.outcome, receipts=receipts)
        [reason] = contradictions(log.header, log.records, outcome)
        assert "expected the receipts of the seats that did not forfeit" in reason
    without = replace(log.outcome, receipts=None)
    [reason] = contradictions(log.header, log.records, without)
    assert "expected receipts" in reason
    assert list(contradictions(replace(log.header, chance=0), log.records, without)) == [], "an earlier version"


def test_a_receipt_tells_nothing_that_the_seat_does_not_know(tmp_path: Path) -> None:
    """Notes and times of others, and events that did not reach the seat, change nothing of it."""
    result, _ = referee(tmp_path, [Keeper(), Keeper()])
    log = read_log(tmp_path / result.log)
    records: list[Any] = []
    for record in log.records:
        if isinstance(record, ActionRecord) and record.seat == 1:
            record = replace(record, note="another", used_ns=5, ms=9, action={"plays": []})
        if not isinstance(record, OutcomeRecord) and hasattr(record, "events"):
            shown = [event for event in record.events if event.to is None or 0 in event.to]
            record = replace(record, events=shown)
        records.append(record)
    outcome = log.outcome
    found = receipts_of(log.header, records, outcome.termination, outcome.ranks, outcome.scores)
    assert found[0] is not None
    assert (found[0].digest, found[0].notes) == logged(log)[0]
    assert found[1] is not None
    assert found[1].digest != logged(log)[1][0]


def test_the_client_adds_a_line_and_complains_of_another_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"own": "aa", "told": "aa", "seat": 0}
    for told in ("aa", "bb"):
        CLIENT["keep"](tmp_path / "kept", line | {"told": told})
    assert [json.loads(text)["told"] for text in (tmp_path / "kept").read_text().splitlines()] == ["aa", "bb"]
    assert capsys.readouterr().err.startswith("receipt: computed aa, got: bb;")
