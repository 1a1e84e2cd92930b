"""Plays and views as numbers, for programs that learn."""

from __future__ import annotations

from arena.core.rules.base import Legal, Product
from arena.core.rules.numbering import counted
from arena.core.types import Payload
from arena.games.gardener.deck import CARDS, KINDS
from arena.games.gardener.geometry import HIGH, WIDE, square
from arena.games.gardener.state import Done, Plant, ScoreRow, Seize, Tables

MOST_ROWS = 12
"""So many rows can a card make at most: two on each of its short lines, three on each of its long ones."""


def most_rounds(tables: Tables) -> int:
    """Returns how many rounds a deck can last: most if all but two forfeit at once."""
    return (CARDS - tables.seats) // 2


def every_play(tables: Tables) -> Legal:
    """Returns all plays at a table: a garden grows by at most a card's width and height a round, in any direction."""
    rounds = most_rounds(tables)
    left, right, top, bottom = -WIDE * rounds, WIDE * rounds, -HIGH * rounds, HIGH * rounds
    positions = [square(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)]
    return Legal(
        [
            Product.of(Seize, range(CARDS)),
            Product.of(Plant.at, positions, (False, True)),
            Product.of(ScoreRow, range(left, right + WIDE), range(top, bottom + HIGH), (False, True)),
            Product.of(Done),
        ]
    )


def numbers(tables: Tables, view: Payload) -> list[int]:
    """Returns a view as numbers; seats come in their order round the table, the view's own first.

    `round`, cards in the `deck`, 1 + the `next` card, a 1 for each card of the `offer`. Then for each seat: how far it
    sits from the `starter`, its score, whether it forfeited, 1 + the card that it has taken, a 1 for each feature card
    that is face up, its rows (`at`, a 1 for `down`, 1 + kind, length), and its garden: of each card 1 + its number, x,
    y and a 1 if it is turned. What is not there is 0.
    """
    seats = tables.seats
    found = [view["round"], view["deck"], _card(view["next"]), *counted(view["offer"], CARDS)]
    for turn in range(seats):
        seat = (view["seat"] + turn) % seats
        found += [(seat - view["starter"]) % seats, view["scores"][seat], seat in view["forfeited"]]
        found.append(_card(view["taken"][seat]))
        found += [kind in view["features"][seat] for kind in KINDS]
        rows = [
            [*row["at"], row["along"] == "down", 1 + KINDS.index(row["kind"]), row["length"]]
            for row in view["rows"][seat]
        ]
        found += _padded(rows, MOST_ROWS, 5)
        found += _padded([[1 + card, *rest] for card, *rest in view["gardens"][seat]], most_rounds(tables) + 1, 4)
    return found


def _card(card: int | None) -> int:
    return 0 if card is None else 1 + card


def _padded(groups: list[list[int]], most: int, width: int) -> list[int]:
    """Returns groups of numbers one after another, with noughts for those that are missing."""
    found = [number for group in groups for number in group]
    return found + [0] * (most * width - len(found))
