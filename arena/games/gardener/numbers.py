"""Plays and views as numbers, for programs that learn."""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import chain

from arena.core.face import Seat, errors, game_kit
from arena.games.gardener.deck import CARDS, KINDS
from arena.games.gardener.geometry import HIGH, LENGTHS, NEAR, WIDE, point, square
from arena.games.gardener.rounds import BONUS, POINTS
from arena.games.gardener.state import Done, Garden, Near, NearRow, Plant, Play, ScoreRow, Seize, State, Tables

MOST_ROWS = 12
"""So many rows can a card make at most: two on each of its short lines, three on each of its long ones."""

_NOUGHT = array("h", [0])


def most_rounds(tables: Tables) -> int:
    """Returns how many rounds a deck can last: most if all but two forfeit at once."""
    return (CARDS - tables.seats) // 2


def every_play(tables: Tables) -> game_kit.Legal:
    """Returns all plays at a table. A place is counted from the first card of the seat's own garden that it touches: so
    there are few, and each keeps its number as the garden grows."""
    places, either = range(len(NEAR) * (most_rounds(tables) + 1)), (False, True)
    return game_kit.Legal(
        [
            game_kit.Product.of(Seize, range(CARDS)),
            game_kit.Product.of(Near, places, either),
            game_kit.Product.of(NearRow, places, either),
            game_kit.Product.of(Done),
        ]
    )


def relative(tables: Tables, state: State, seat: Seat, legal: game_kit.Legal) -> game_kit.Legal:
    """Returns legal plays as `every_play` has them."""
    if state.phase not in ("plant", "score"):
        return legal
    places = tables.layout(state.gardens[seat]).touching
    found = []
    for product in legal.products:
        if product.make == Plant.at:
            positions, either = product.choices
            product = game_kit.Product(Near, ([places[position] for position in positions], either), product.size)
        elif product.make is ScoreRow:
            (x,), (y,), down = product.choices
            product = game_kit.Product(NearRow, ((places[square(x, y)],), down), 1)
        found.append(product)
    return game_kit.Legal(found)


def absolute(state: State, seat: Seat, play: Play | Near | NearRow) -> Play:
    """Returns what a play of `every_play` is in a seat's garden."""
    if not isinstance(play, Near | NearRow):
        return play
    card, near = divmod(play.place, len(NEAR))
    if card >= len(state.gardens[seat]):
        raise errors.IllegalAction(f"the garden of seat {seat} has no card {card}, counted from 0, to touch")
    _, x, y, _ = state.gardens[seat][card]
    position = square(x, y) + NEAR[near]
    return Plant.at(position, play.turned) if isinstance(play, Near) else ScoreRow(*point(position), play.down)


def observe(tables: Tables, state: State, own: Seat) -> array[int]:
    """Returns what a seat sees as numbers; seats come in their order round the table, its own first.

    `round`, cards in the `deck`, 1 + the `next` card, a 1 for each card of the `offer`. Then for each seat: how far it
    sits from the `starter`, its score, whether it forfeited, 1 + the card that it has taken, a 1 for each feature card
    that is face up, its rows (`at`, a 1 for `down`, 1 + kind, length), and its garden: of each card 1 + its number, x,
    y and a 1 if it is turned. What is not there is 0.
    """
    seats, width, gone = tables.seats, 4 * (most_rounds(tables) + 1), {*chain.from_iterable(state.forfeited)}
    offer = bytearray(CARDS)
    for card in state.offer:
        offer[card] = 1
    found = array("h", (state.round, len(state.deck) + (state.top is not None), _card(state.top), *offer))
    for turn in range(seats):
        seat = (own + turn) % seats
        first = ((seat - state.starter) % seats, state.scores[seat], seat in gone, _card(state.taken[seat]))
        found.extend((*first, *[state.features[seat] >> kind & 1 for kind in range(len(KINDS))]))
        for row in state.rows[seat]:
            found.extend((row.x, row.y, row.down, 1 + row.kind, row.length))
        found += _NOUGHT * (5 * (MOST_ROWS - len(state.rows[seat]))) + _planted(state.gardens[seat], width)
    return found


@lru_cache(maxsize=256)  # a garden is seen by all, and several times, before the next card is planted in it
def _planted(garden: Garden, width: int) -> array[int]:
    found = array("h", chain.from_iterable((1 + card, x, y, turned) for card, x, y, turned in garden))
    return found + _NOUGHT * (width - len(found))


def bounds(tables: Tables) -> game_kit.Bounds:
    """Returns the bounds of `numbers` and of what can happen: each in the order of `numbers`."""
    seats, rounds = tables.seats, most_rounds(tables)
    x, y, some = WIDE * rounds, HIGH * rounds, (0, CARDS)
    points = min(rounds, tables.target + 1) * (MOST_ROWS * max(POINTS.values()) + max(BONUS))
    row = [(-x, x + WIDE - 1), (-y, y + HIGH - 1), (0, 1), (0, len(KINDS)), (0, LENGTHS[-1])]
    card = [some, (-x, x), (-y, y), (0, 1)]
    own = [(0, seats - 1), (0, points), (0, 1), some, *[(0, 1)] * len(KINDS), *row * MOST_ROWS, *card * (rounds + 1)]
    found = [(0, rounds), some, some, *[(0, 1)] * CARDS, *own * seats]
    return game_kit.Bounds(found, seats * rounds * (MOST_ROWS + 3), CARDS, (0.0, float(points)))


def _card(card: int | None) -> int:
    return 0 if card is None else 1 + card
