"""Writes the recorded requests and greedy's answers anew: `python tests/bots/record.py`.

Do it after a change of greedy's algorithm or of the requests, and read the difference before you keep it. Where only
games are added, keep the lines that are there: an engine that lists plays in another order makes random play another
game. Each line has the game's number, the `game_start` in the line where a game begins, and a request with its answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from kit import Table, at_default_board

from arena.core.catalogue import game
from arena.core.rules.base import Rules
from tests.bots.games import GREEDY, RANDOM, ROOT, answer, play_game

DATA = ROOT / "tests/data"
RECORDS = {"samurai": DATA / "greedy.jsonl", "gardener": DATA / "greedy-gardener.jsonl"}  # the files, by game


def samurai_games() -> list[Rules[Any]]:
    """The games of Samurai: rulesets and options under which greedy's decisions are different ones."""
    games = [(seats, ruleset, {}) for seats in (2, 3, 4) for ruleset in ("standard", "basic")]
    follow = {"fast": "must_follow", "placement": "near_pieces"}
    games += [(2, "classic", {}), (3, "summary", follow)]
    games += [(4, "standard", {"captures": "instant", "move_is_fast": "yes"})]
    games += [(3, "summary", follow | {"captures": "instant"})]
    games += [(3, "summary", {}), (2, "summary", {"captures": "instant"})]
    return [at_default_board("samurai", seats, ruleset, **options) for seats, ruleset, options in games]


def gardener_games() -> list[Rules[Any]]:
    """A game of Gardener under each ruleset, for each number of players, and some with options that greedy knows."""
    rulesets, counts = game("gardener").rulesets, game("gardener").seat_counts
    games = [Table("gardener", ruleset, seats).rules for ruleset in rulesets for seats in counts]
    options = ({"features": "on,off"}, {"features": "off,on"}, {"exactly_over": "yes"})
    return games + [at_default_board("gardener", 2, "draft", **setting) for setting in options]


def lines(games: Sequence[Rules[Any]], share: float) -> Iterator[str]:
    """The requests to one seat of some games, in which greedy moves half of the time, and chance otherwise.

    Args:
        games: What is played.
        share: How many of the requests are kept.
    """
    for number, rules in enumerate(games):
        chance, keep, entries = Random(number), Random(f"keep {number}"), []

        def ask(seat, bot, start, request, chance=chance, keep=keep, entries=entries, number=number):
            greedy = GREEDY()
            greedy.start(start)
            action, note = greedy.decide(request)
            if seat == start["seats"] - 1 and keep.random() < share:
                first = {} if entries else {"game_start": start}
                entries.append({"game": number, **first, "request": request, "action": action, "note": note})
            return action if chance.random() < 0.5 else answer(seat, bot, start, request)

        play_game([RANDOM() for _ in range(rules.seats)], rules, number, ask)
        for entry in entries:
            yield json.dumps(entry, separators=(",", ":"))


def write() -> None:
    """Write both files."""
    for name, games, share in (("samurai", samurai_games(), 1), ("gardener", gardener_games(), 0.25)):
        RECORDS[name].write_text("".join(f"{line}\n" for line in lines(games, share)), encoding="utf-8")


if __name__ == "__main__":
    write()
