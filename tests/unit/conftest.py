"""A logged game of Samurai between bots that play at random, made without a referee."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.record.log import (
    ActionRecord,
    Chance,
    ForfeitRecord,
    Header,
    LoggedBoard,
    LoggedBot,
    LoggedForfeit,
    OutcomeRecord,
    Record,
    play_digest,
    write_log,
)
from arena.referee.scribe import log_event
from arena.rules import make_rules, resolve_options
from arena.rules.base import Event

NAMES = ("greedy", "random", "evil\x1b[31m\u202e\nname", "a name that is far too long for any table")


def note_of(seat: int, turn: int) -> str:
    """What the bot of a seat notes in a turn."""
    return f"seat {seat} thinks in turn {turn}\x1b[2J"


@pytest.fixture(scope="session")
def play_log(root: Path) -> Callable[..., Path]:
    """Plays a game and writes its log; with `forfeit_turn` the seat to move in that turn forfeits instead."""

    def play(path: Path, *, seats: int = 2, ruleset: str = "standard", seed: int = 1, forfeit_turn: int = 0) -> Path:
        text = (root / "boards/japan.txt").read_text(encoding="utf-8")
        _, options = resolve_options("samurai", ruleset, {})
        rules = make_rules("samurai", text, "japan", seats, options)
        rng = random.Random(seed)
        records: list[Header | Record] = []
        records.append(
            Header(
                arena="test",
                game="g1",
                tournament=None,
                rules="samurai",
                rules_version=rules.version,
                ruleset=ruleset,
                options=options,
                seats=seats,
                board=LoggedBoard("Japan", rules.board_payload()["hash"], text),
                bots=[LoggedBot(name, "1.0", "0" * 64) for name in NAMES[:seats]],
                time="10+0.1",
                deal=1,
                rotation=0,
                commitment="0" * 64,
            )
        )
        state: Any = rules.start()
        ms = actions = 0
        while rules.ranks(state) is None:
            ms += 1
            events: list[Event] = []
            turn = rules.turn(state)
            if draw := rules.draw_wanted(state):
                index = rng.randrange(draw.n)
                state = rules.draw(state, index, events)
                records.append(
                    Chance(
                        stream=draw.stream, n=draw.n, draw=index, events=[log_event(event) for event in events], ms=ms
                    )
                )
                continue
            decision = rules.pending(state)[0]
            seat = decision.seat
            if forfeit_turn and turn == forfeit_turn:
                state = rules.forfeit(state, (seat,), events)
                forfeit = LoggedForfeit(
                    seat, "illegal_action", f"seat {seat} played what it did not hold", overloaded=False
                )
                records.append(
                    ForfeitRecord(forfeits=[forfeit], turn=turn, events=[log_event(event) for event in events], ms=ms)
                )
                continue
            before, plays = state, []
            while any((due.seat, due.kind) == (seat, decision.kind) for due in rules.pending(state)):
                if plays and (decision.kind != "turn" or rules.turn(state) != turn):
                    break
                legal = rules.legal(state, seat)
                plays.append(legal[rng.randrange(len(legal))])
                state = rules.apply(state, seat, plays[-1])
            action = rules.write_action(before, seat, plays)
            state = rules.act(before, seat, action, events)
            actions += 1
            records.append(
                ActionRecord(
                    seat=seat,
                    kind=decision.kind,
                    turn=turn,
                    action=action,
                    events=[log_event(event) for event in events],
                    note=note_of(seat, turn),
                    used_ms=rng.randrange(20000) / 10,
                    ms=ms,
                )
            )
        ranks = rules.ranks(state)
        assert ranks is not None
        outcome = OutcomeRecord(
            termination="finished", ranks=list(ranks), turns=rules.turn(state), actions=actions, play_digest="", ms=ms
        )
        records.append(replace(outcome, play_digest=play_digest([*records, outcome])))
        write_log(path, records)
        return path

    return play
