"""What the referee sends, as the search of Samurai needs it, and its plays as the referee wants them."""

from samurai import CASTES, TILES, plays
from samurai_battles import FULL_SET, MOVE, NUMBER, SWITCH, Realm, tile_code
from samurai_majorities import Position, promise
from samurai_turns import Choices, Customs


class Reader:
    """Reads the requests of a game. It remembers captures, for where captured pieces are hidden."""

    def __init__(self, game):
        """`game` is the message `game_start`."""
        self.seat, self.seats = game["seat"], game["seats"]
        self.realm = Realm(game["board"]["spaces"], self.seats)
        self.customs = Customs(game["options"])
        self._captured = [[0, 0, 0] for _ in range(self.seats)]

    def listen(self, request):
        """Takes note of what happened since the last request. Call it for each request."""
        for event in request.get("events", ()):
            if event["event"] == "captured":
                self._captured[event["seat"]][CASTES.index(event["caste"])] += 1

    def position(self, view):
        """Returns the position that a view shows."""
        at = bytearray(len(self.realm.is_land))
        for space, seat, tile in view["tiles"]:
            at[space] = tile_code(seat, NUMBER[tile])
        garrisons = self.realm.garrisons(tuple(bytes(view["pieces"][caste]) for caste in CASTES))
        left = [list(FULL_SET) for _ in range(self.seats)]
        for _, seat, tile in view["tiles"]:
            left[seat].remove(NUMBER[tile])
        for seat in view["switch_used"]:
            left[seat].remove(SWITCH)
        aside = sum(view["set_aside"].values())
        return Position(at, garrisons, self.captured(view), aside, [promise(self.realm, tiles) for tiles in left])

    def captured(self, view):
        """By seat, the captured pieces by caste: those that the view shows, and what was heard of the others."""
        return [
            heard if shown is None else [shown[caste] for caste in CASTES]
            for shown, heard in zip(view["captured"], self._captured, strict=True)
        ]

    def following(self, view):
        """By seat, the one that has the turn after it."""
        active = [seat for seat in range(self.seats) if seat not in view["forfeited"]]
        return [min(active, key=lambda other: (other - seat - 1) % self.seats) for seat in range(self.seats)]

    @staticmethod
    def choices(view, legal):
        """Returns what may be played first in a turn."""
        choices = Choices([NUMBER[tile] for tile in view["hand"]])
        choices.any = number(next(plays(legal)))
        for product in legal:
            tiles = [NUMBER[tile] for tile in product["tile"]]
            if tiles == [SWITCH]:
                choices.switch = True
            elif tiles == [MOVE]:
                choices.sources, choices.targets = product["from"], product["to"]
            else:
                choices.places.append((tiles, product["space"]))
        return choices


def number(play):
    """Returns a play of `samurai.plays` in numbers."""
    tile, *rest = play
    return NUMBER[tile], *(CASTES.index(part) if part in CASTES else part for part in rest)


def wire(play):
    """Returns a play as an action holds it."""
    tile, *rest = play
    entry = {"tile": TILES[tile]}
    if tile == SWITCH:
        space, caste, other, other_caste = rest
        return entry | {"space": space, "caste": CASTES[caste], "with": other, "with_caste": CASTES[other_caste]}
    if tile == MOVE:
        return entry | {"from": rest[0], "to": rest[1]}
    return entry | {"space": rest[0]}


def told(plays):
    """Returns a turn in few words, for a note."""
    return ", ".join(" ".join(map(str, wire(play).values())) for play in plays)
