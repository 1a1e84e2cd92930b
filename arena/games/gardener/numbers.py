"""Plays and views as numbers, for programs that learn."""

from __future__ import annotations

from array import array
from itertools import chain

from arena.core.face import Payload, Seat, errors, game_kit, numbering
from arena.games.gardener.deck import CARDS, KINDS
from arena.games.gardener.geometry import HIGH, LENGTHS, NEAR, WIDE, point, square
from arena.games.gardener.rounds import BONUS, POINTS
from arena.games.gardener.state import Done, Near, NearRow, Plant, Play, ScoreRow, Seize, State, Tables

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


def numbers(tables: Tables, view: Payload) -> array[int]:
    """Returns a view as numbers; seats come in their order round the table, the view's own first.

    `round`, cards in the `deck`, 1 + the `next` card, a 1 for each card of the `offer`. Then for each seat: how far it
    sits from the `starter`, its score, whether it forfeited, 1 + the card that it has taken, a 1 for each feature card
    that is face up, its rows (`at`, a 1 for `down`, 1 + kind, length), and its garden: of each card 1 + its number, x,
    y and a 1 if it is turned. What is not there is 0.
    """
    seats, cards = tables.seats, 4 * (most_rounds(tables) + 1)
    found = array("h", (view["round"], view["deck"], _card(view["next"])))
    found.extend(numbering.counted(view["offer"], CARDS))
    for turn in range(seats):
        seat = (view["seat"] + turn) % seats
        features, rows, garden = view["features"][seat], array("h"), array("h")
        found.extend(((seat - view["starter"]) % seats, view["scores"][seat], seat in view["forfeited"]))
        found.append(_card(view["taken"][seat]))
        found.extend([kind in features for kind in KINDS])
        for row in view["rows"][seat]:
            rows.extend((*row["at"], row["along"] == "down", 1 + KINDS.index(row["kind"]), row["length"]))
        garden.extend(chain.from_iterable(view["gardens"][seat]))
        for place in range(0, len(garden), 4):
            garden[place] += 1
        found += rows + _NOUGHT * (5 * MOST_ROWS - len(rows)) + garden + _NOUGHT * (cards - len(garden))
    return found


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
