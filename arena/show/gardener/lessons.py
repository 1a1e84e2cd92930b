"""Says how Samurai Gardener is played, under the options of a table, to somebody who never saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def primer(options: Mapping[str, str]) -> Iterator[str]:
    """Yields the rules in short."""
    yield (
        f"Lay a garden of cards and score rows in it. A score above {options['target']} ends the game at the end of "
        "the round, and the highest score wins."
    )
    yield "In each round as many cards are turned up as there are players, and everybody takes one."
    yield (
        "Whoever is first has the card."
        if options["seize"] == "race"
        else "The starting player chooses first; in the next round the next player does."
    )
    over = " or over it" if options["exactly_over"] == "no" else ", over it, or even exactly over another card"
    yield (
        f"Plant your card beside your garden{over}: a side must touch, a corner is not enough. It lies as it is, or "
        "turned upside down. It may not cover any square of a row."
    )
    yield (
        "A row is three or more squares of one kind (tatami, path, pond or garden) in a line, across or down. Rows "
        "that your new card made or lengthened can score now: 1 point for three squares, 2 for four, 4 for five, "
        "nothing for more."
    )
    if options["features"] != "off":
        yield (
            "A row scores only while your feature card of its kind is face up, and turns it face down. When all four "
            "are down, all turn up again. So the order matters: you choose the rows one after another."
        )
    yield "Rows of two kinds in one round bring 2 points more, of three kinds 4, of all four 6."


def hint(kind: str, key: str, options: Mapping[str, str], *, begun: bool) -> str:
    """Returns what helps to choose a value for a key of a play."""
    if key == "card":
        return "It goes into your garden." if options["seize"] != "race" else "Whoever is first has it."
    if kind == "plant" and key == "at":
        return "The dots are where the middle of your card can lie; point at one to see it."
    if kind == "score" and key == "at":
        return "Score another row, or end the turn." if begun else "Each turns its feature card down."
    return ""
