"""A logged game of Samurai between bots that play at random, made without a referee."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.core.catalogue import make_settings, rules_of
from arena.core.record.log import (
    ActionRecord,
    Chance,
    ForfeitRecord,
    Header,
    LoggedBot,
    OutcomeRecord,
    Record,
    play_digest,
    write_log,
)
from arena.core.rules import course
from arena.core.rules.course import Course
from arena.core.types import LoggedForfeit, Termination

NAMES = ("greedy", "random", "evil\x1b[31m\u202e\nname", "a name that is far too long for any table")


def note_of(seat: int, turn: int) -> str:
    """What the bot of a seat notes in a turn."""
    return f"seat {seat} thinks in turn {turn}\x1b[2J"


@pytest.fixture(scope="session")
def play_log() -> Callable[..., Path]:
    """Plays a game and writes its log; with `forfeit_turn` the seat to move in that turn forfeits instead."""

    def play(path: Path, *, seats: int = 2, ruleset: str = "standard", seed: int = 1, forfeit_turn: int = 0) -> Path:
        settings = make_settings("samurai", seats, ruleset=ruleset)
        rules = rules_of(settings)
        rng = random.Random(seed)
        header = Header(
            arena="test",
            game="g1",
            tournament=None,
            settings=settings,
            bots=[LoggedBot(name, "1.0", "0" * 64, seat) for seat, name in enumerate(NAMES[:seats])],
            deal=1,
            rotation=0,
            board=rules.board_payload,
            commitment="0" * 64,
            salt="0" * 64,
            mix="0" * 64,
        )
        records: list[Header | Record] = [header]
        game = Course(rules)
        ms = 0
        while not isinstance(due := game.due, course.Over):
            ms += 1
            turn = game.turn
            match due:
                case course.Chance():
                    index = rng.randrange(due.draw.n)
                    events = game.draw(index)
                    records.append(Chance(stream=due.draw.stream, n=due.draw.n, draw=index, events=events, ms=ms))
                case course.Ask():
                    game.ask()
                case course.Answers(seats=(seat, *_)) if forfeit_turn and turn == forfeit_turn:
                    game.fail(seat, Termination.ILLEGAL_ACTION)
                case course.Answers(seats=(seat, *_)):
                    legal = rules.legal(game.state, seat)
                    action = rules.write_action([legal[rng.randrange(len(legal))]])
                    made = game.answer(seat, action)
                    assert isinstance(made, course.Accepted)
                    records.append(
                        ActionRecord(
                            seat=seat,
                            kind=made.decision.kind,
                            turn=turn,
                            action=made.action,
                            events=made.events,
                            note=note_of(seat, turn),
                            used_ns=rng.randrange(20000) * 100_000,
                            ms=ms,
                        )
                    )
                case course.Forfeits(seats=(seat,)):
                    sentence = f"seat {seat} played what it did not hold"
                    forfeit = LoggedForfeit(seat, "illegal_action", sentence)
                    events = game.forfeit()
                    records.append(ForfeitRecord(forfeits=[forfeit], turn=turn, events=events, ms=ms))
        outcome = OutcomeRecord(
            termination=game.termination,
            ranks=list(due.outcome.ranks),
            turns=game.turn,
            actions=game.accepted,
            play_digest="",
            ms=ms,
        )
        records.append(replace(outcome, play_digest=play_digest([*records, outcome])))
        write_log(path, records)
        return path

    return play
