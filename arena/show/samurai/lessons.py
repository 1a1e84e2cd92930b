"""Says how Samurai is played, under the options of a table, to somebody who never saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_FAST = {
    "optional": "Ships, the ronin and the switch tile are fast: play as many of them as you like, and one other tile.",
    "must_follow": (
        "Ships, the ronin and the switch tile are fast: play as many of them as you like, "
        "but then one that is not fast must end the turn."
    ),
    "specials": "The switch and the move tile are extra: after them one other tile must end the turn.",
}
_NEAR = {
    "near_pieces": " It must lie next to a settlement that still holds a piece.",
    "land_near_pieces": " On land it must lie next to a settlement that still holds a piece.",
}
_QUESTIONS = {
    "hand": "Five tiles are your first hand. The other fifteen come later, one for each that you played.",
    "space": "It counts for the settlements next to it.",
    "from": "It goes elsewhere, and the move tile stays in its place.",
    "caste": "Two pieces change places.",
    "with": "Two pieces change places.",
}


def primer(options: Mapping[str, str]) -> Iterator[str]:
    """Yields the rules in short."""
    yield (
        "The villages, cities and Edo hold pieces of three castes: buddha, rice and castle. You lead a caste if you "
        "capture more of its pieces than each of the others."
    )
    if options["scoring"] == "two_majorities":
        yield "Whoever leads two castes wins; else pieces of the castes that one does not lead count, then all pieces."
    else:
        yield (
            "Whoever leads more castes wins; if that is equal, pieces of the castes that one does not lead count, "
            "then all pieces."
        )
    yield (
        "In your turn, play at least one tile of your hand: ships on the sea, others on empty land."
        + _NEAR.get(options["placement"], "")
    )
    fast = _FAST[options["fast"]]
    if options["move_is_fast"] == "yes" and options["fast"] != "specials":
        fast = fast.replace("the ronin and the switch tile", "the ronin, the switch and the move tile")
    yield fast
    yield (
        "A tile has influence on the settlements next to it, as much as its number. Tiles with a figure influence "
        "that caste alone; samurai, ships and the ronin influence every caste."
    )
    yield (
        "The switch tile exchanges two pieces on the board. The move tile moves one of your own tiles of an earlier "
        "turn, and takes its place."
    )
    when = "At once" if options["captures"] == "instant" else "At the end of the turn"
    yield (
        f"{when}, a settlement with a tile on every land space around it is decided: whoever has most influence on a "
        "piece there captures it. If two have equally much, it is set aside for nobody."
    )
    yield (
        "Then your hand is filled up to five tiles. The game ends when a caste is gone from the board, or four pieces "
        "are set aside."
    )


def hint(kind: str, key: str, options: Mapping[str, str], *, begun: bool) -> str:
    """Returns what helps to choose a value for a key of a play."""
    if kind == "setup":
        return "Put the pieces on the cities first, then on the villages." if key == "caste" else ""
    if key == "tile":
        return "You may play another, or end the turn." if begun else "First the tile, then where it goes."
    return _QUESTIONS.get(key, "")
