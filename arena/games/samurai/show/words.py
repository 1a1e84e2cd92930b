"""Puts the events of a game of Samurai into sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import atan2, pi, sqrt

from rich.text import Text

from arena.core.face import Payload, counted, plain, seat_styles
from arena.games.samurai.board import Board, Space

_DIRECTIONS = ("E", "SE", "S", "SW", "W", "NW", "N", "NE")
_REASONS = {
    "caste_exhausted": "a caste has no piece left on the board",
    "set_aside": "four pieces or more are set aside",
    "pieces_gone": "no piece is left on the board",
    "passes": "nobody can play any more",
    "last_seat": "one seat is left",
}


class Narrator:
    """Tells the events of a game on one board, as some of its seats see them."""

    def __init__(self, board: Board, seats: seat_styles.Seats) -> None:
        self.board = board
        self._seats = seats
        self._named = [space for space in board.spaces if space.name]
        self._places: dict[int, str] = {}

    def where(self, number: int) -> str:
        """Returns a space in words: its number, and its name or its direction from the nearest named space."""
        if number not in self._places:
            self._places[number] = self._place(number)
        return self._places[number]

    def _place(self, number: int) -> str:
        space = self.board.spaces[number]
        if not self._named:
            return f"{number}"
        nearest = min(self._named, key=lambda named: _distance(space, named))
        name = plain(nearest.name)
        if nearest is space:
            return f"{number} ({name})"
        return f"{number} ({_distance(space, nearest)} {_direction(nearest, space)} of {name})"

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        """Yields events as sentences, without those that the frame's heading or its record tells."""
        for taker, run in groupby(events, lambda event: event["seat"] if event["event"] == "hand" else None):
            for event in [_together(list(run))] if taker is not None else run:
                if sentence := self._sentence(event):
                    yield sentence

    def _sentence(self, event: Payload) -> Text | None:
        match event["event"]:
            case "hand":
                tiles = ": " + ", ".join(map(tile_name, event["tiles"])) if "tiles" in event else ""
                return self._seat(event, f"takes {counted(event['count'], 'tile')}{tiles}")
            case "piece" if event["seat"] is None:
                return None  # there can be many, and the map shows them all
            case "piece":
                return self._seat(event, f"puts a {event['caste']} on {self.where(event['space'])}")
            case "placed":
                return self._seat(event, f"places {tile_name(event['tile'])} on {self.where(event['space'])}")
            case "switched":
                here = f"the {event['caste']} on {self.where(event['space'])}"
                there = f"the {event['with_caste']} on {self.where(event['with'])}"
                return self._seat(event, f"switches {here} and {there}")
            case "moved":
                way = f"from {self.where(event['from'])} to {self.where(event['to'])}"
                return self._seat(event, f"moves {tile_name(event['tile'])} {way}")
            case "captured":
                return self._seat(event, f"captures the {event['caste']} on {self.where(event['space'])}")
            case "set_aside":
                return Text(f"the {event['caste']} on {self.where(event['space'])} is set aside: nobody leads there")
            case "passed":
                return self._seat(event, "passes, having nothing to play")
            case "over":
                return self._over(event)
        return None

    def _seat(self, event: Payload, words: str) -> Text:
        return self._seats.who(event["seat"]).append(f" {words}")

    def _over(self, event: Payload) -> Text:
        text = Text(f"The game is over: {_REASONS.get(event['reason'], plain(event['reason']))}. ")
        return text.append_text(self._seats.places(event["ranks"]))


def changed_spaces(event: Payload) -> Iterable[int]:
    """Returns the spaces on which an event changed something."""
    return [event[key] for key in ("space", "with", "from", "to") if key in event]


def tile_name(tile: str) -> str:
    """Returns a tile's name for people: `rice 3` for `rice3`."""
    return f"{tile[:-1]} {tile[-1]}" if tile[-1].isdigit() else plain(tile)


def _together(hands: Sequence[Payload]) -> Payload:
    """Joins draws of tiles into one event: tiles are drawn one by one, but told together."""
    tiles = {"tiles": [tile for hand in hands for tile in hand["tiles"]]} if "tiles" in hands[0] else {}
    return hands[0] | {"count": sum(hand["count"] for hand in hands)} | tiles


def _distance(one: Space, other: Space) -> int:
    """Returns how many steps apart two spaces are on a map without gaps."""
    across = other.col - one.col
    down = (other.row - other.col // 2) - (one.row - one.col // 2)
    return max(abs(across), abs(down), abs(across + down))


def _direction(start: Space, end: Space) -> str:
    right = 1.5 * (end.col - start.col)
    down = sqrt(3) * (end.row - start.row + (end.col % 2 - start.col % 2) / 2)
    return _DIRECTIONS[round(atan2(down, right) / (pi / 4)) % 8]
