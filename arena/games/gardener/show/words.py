"""Puts the events of a game of Samurai Gardener into sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.text import Text

from arena.core.face import Payload, counted, layouts, seat_styles

_KINDS = {"tatami": "tatami", "path": "paths", "pond": "ponds", "garden": "gardens"}


class Narrator:
    """Tells the events of a game, given its seats and options."""

    def __init__(self, seats: seat_styles.Seats, *, features: bool, target: str) -> None:
        self._seats = seats
        self._features = features
        self._reasons = {
            "target": f"a score is above {target}",
            "deck": "the deck has fewer cards than there are players",
            "last_seat": "one seat is left",
        }

    def tell(self, events: Sequence[Payload]) -> Iterator[Text]:
        """Yields events as sentences, without those that the frame's heading or its record tells."""
        for kind, run in groupby(events, lambda event: event["event"]):
            if kind == "turned_up":  # they come one by one and are told together
                yield Text(f"turned up: {cards(event['card'] for event in run)}")
                continue
            for event in run:
                if sentence := self._sentence(event):
                    yield sentence

    def _sentence(self, event: Payload) -> Text | None:
        match event["event"]:
            case "garden":
                return self._seat(event, f"begins with {cards([event['card']])}")
            case "round":
                return Text(f"round {event['round']:d} begins, and ").append_text(
                    self._seats.who(event["starter"]).append(" starts")
                )
            case "seized":
                return self._seat(event, f"seizes {cards([event['card']])}")
            case "planted":
                turned = ", turned" if event["turned"] else ""
                rows = f", and makes {layouts.listed(map(row, event['rows']))}" if event["rows"] else ""
                return self._seat(event, f"plants {cards([event['card']])} at {square(event['at'])}{turned}{rows}")
            case "scored":
                # The last feature card was turned down, and so all were turned up again.
                up = "; all four feature cards turn up" if self._features and len(event["features"]) == 4 else ""
                return self._seat(event, f"scores {row(event['row'])}: {counted(event['points'], 'point')}{up}")
            case "bonus":
                return self._seat(event, f"scored {event['kinds']:d} kinds: {counted(event['points'], 'point')} more")
            case "over":
                return Text(f"The game is over: {self._reasons[event['reason']]}. ").append_text(
                    self._seats.places(event["ranks"], event["scores"])
                )
        return None

    def _seat(self, event: Payload, words: str) -> Text:
        return self._seats.who(event["seat"]).append(f" {words}")


def cards(numbers: Iterable[int]) -> str:
    """Returns cards by their numbers: `card 12`, `cards 5 and 12`."""
    names = [f"{number:d}" for number in numbers]
    return f"card{'s' if len(names) > 1 else ''} {layouts.listed(names)}"


def square(at: Sequence[int]) -> str:
    """Returns a square as actions write it, in one word: `[2,-1]`."""
    x, y = at
    return f"[{x:d},{y:d}]"


def row(found: Payload) -> str:
    """Returns a row in words: `3 ponds across from [0,2]`."""
    along = {"across": "across", "down": "down"}[found["along"]]
    return f"{found['length']:d} {_KINDS[found['kind']]} {along} from {square(found['at'])}"
