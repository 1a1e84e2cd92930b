"""What the rules of Samurai Gardener are about: plays, the state of a game, and tables computed once.

The deck is `bytes` of the numbers of its cards, ascending; a set of kinds is a number with a bit for each kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from arena.core.face import Seat, game_kit, value_types
from arena.games.gardener import geometry
from arena.games.gardener.deck import Deck
from arena.games.gardener.geometry import Layout, Row, point
from arena.games.gardener.options import FEATURES

# Plays: the steps of the engine


class Seize(msgspec.Struct, frozen=True):
    """Takes a card that is turned up."""

    card: int


class Plant(msgspec.Struct, frozen=True):
    """Puts the card that was taken into the garden."""

    x: int
    y: int
    turned: bool

    @classmethod
    def at(cls, position: int, turned: bool) -> Plant:
        """Makes the play of a position of the garden's geometry."""
        return cls(*point(position), turned)


class ScoreRow(msgspec.Struct, frozen=True):
    """Scores a new row, named by where it begins and how it runs."""

    x: int
    y: int
    down: bool


class Done(msgspec.Struct, frozen=True):
    """Scores no more rows. Needed only where more could be scored."""


Play: TypeAlias = Seize | Plant | ScoreRow | Done


class Near(msgspec.Struct, frozen=True):
    """A `Plant` for programs that learn: by the number of its place in the garden, see `Layout.touching`."""

    place: int
    turned: bool


class NearRow(msgspec.Struct, frozen=True):
    """A `ScoreRow` in the same way."""

    place: int
    down: bool


# The state

Phase: TypeAlias = Literal["deal", "turn_up", "seize", "plant", "score", "over"]
Planted: TypeAlias = tuple[int, int, int, bool]
"""A card of a garden: its number, x, y, and whether it is turned."""
Garden: TypeAlias = tuple[Planted, ...]
"""The cards of a garden in the order in which they were put."""

ALL_KINDS = 0b1111


class State(msgspec.Struct, frozen=True):
    """Everything about a position, secrets included."""

    phase: Phase
    """`deal`: chance deals the first cards; `turn_up`: it turns up those of a round; `seize`; `plant`; `score`;
    `over`."""
    round: int
    starter: Seat
    """The starting player of the round."""
    deck: bytes
    """The cards left: which ones, not in which order; the order comes about as chance draws."""
    top: int | None
    """The card on top of the deck, which is then not among `deck`, where the deck lies face up and is not empty."""
    offer: tuple[int, ...]
    """The cards turned up in this round and not taken, ascending."""
    taken: tuple[int | None, ...]
    """Card that each seat seized and has not planted."""
    gardens: tuple[Garden, ...]
    rows: tuple[tuple[Row, ...], ...]
    """New rows of this round that each seat has not scored."""
    scored: tuple[int, ...]
    """Kinds of rows that each seat scored in this round."""
    features: tuple[int, ...]
    """Kinds whose feature cards are face up, by seat."""
    scores: tuple[int, ...]
    due: tuple[Seat, ...] = ()
    """The seats that still owe the decision of this phase, ascending; those of a draft in its order."""
    forfeited: tuple[tuple[Seat, ...], ...] = ()
    """The seats that forfeited, in order; those of one moment together."""
    ranks: value_types.Ranks = ()
    """Set when the game is over."""


def deck_size(state: State) -> int:
    """Returns how many cards the deck has, the one on top included."""
    return len(state.deck) + (state.top is not None)


# Tables


class Tables:
    """The deck as the rules read it, and the objects that would otherwise be made again at every step."""

    def __init__(self, deck: Deck, seats: int, options: Mapping[str, str]) -> None:
        self.seats = seats
        self.race = options["seize"] == "race"
        self.features = [value == "on" for value in FEATURES.by_seat(options["features"], seats)]
        """Flag by seat: whether feature cards matter to it."""
        self.face_up = options["deck"] == "face_up"
        self.exactly_over = options["exactly_over"] == "yes"
        self.target = int(options["target"])
        self.cards = [(card, card[::-1]) for card in deck.cards]
        """Kinds of the squares of each card, by number, as it is, and turned."""
        self.everyone = tuple(range(seats))
        self.draws = [game_kit.Draw("deck", n) for n in range(len(deck.cards) + 1)]
        """Draw of a card, by the size of the deck."""
        self.decisions = {
            kind: [game_kit.Decision(seat, kind, race=self.race and kind == "seize") for seat in range(seats)]
            for kind in ("seize", "plant", "score")
        }
        """The objects of decisions, by kind and seat."""
        self.layout = lru_cache(maxsize=256)(self._layout)
        """A garden as it lies. Each is asked for several times, and is quickly made of the one before it."""
        self.start = State(
            phase="deal", round=0, starter=0, deck=bytes(range(len(deck.cards))), top=None, offer=(),
            taken=(None,) * seats, gardens=((),) * seats, rows=((),) * seats, scored=(0,) * seats,
            features=(ALL_KINDS,) * seats, scores=(0,) * seats,
        )  # fmt: skip

    def _layout(self, garden: Garden) -> Layout:
        if not garden:
            return geometry.EMPTY
        card, x, y, turned = garden[-1]
        return geometry.plant(
            self.layout(garden[:-1]), self.cards[card][turned], geometry.square(x, y), self.exactly_over
        )
