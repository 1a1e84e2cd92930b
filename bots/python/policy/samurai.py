"""Samurai in the numbers that a policy has learnt: as arena's environments give them, without arena."""

from itertools import combinations

CASTES = ("buddha", "rice", "castle")
TILES = (
    *(f"{caste}{value}" for caste in CASTES for value in (2, 3, 4)),
    *("samurai1", "samurai2", "samurai3", "ship1", "ship2", "ronin1", "switch", "move"),
)
COPIES = {"samurai1": 2, "samurai2": 2, "ship1": 2}
"""How many of a tile every player has, where it is not one."""
PLACED = [tile for tile in TILES if tile not in ("switch", "move")]
PHASES = ("hand", "setup", "turns", "over")
HAND = 5
"""Tiles of a hand."""


class Table:
    """The numbers of one game, from the message `game_start`."""

    def __init__(self, game):
        options, self.spaces = game["options"], game["board"]["spaces"]
        self.fast = {"ship1", "ship2", "ronin1", "switch"} | ({"move"} if options["move_is_fast"] == "yes" else set())
        self.after_slow = self.fast
        """The tiles that may follow one that is not fast."""
        if options["fast"] == "specials":
            self.fast, self.after_slow = {"switch", "move"}, set()
        self.must_follow = options["fast"] != "optional"
        self.instant = options["captures"] == "instant"
        kinds = [space["kind"] for space in self.spaces]
        self.land = [space for space, kind in enumerate(kinds) if kind == "land"]
        towns = [space for space, kind in enumerate(kinds) if kind not in ("land", "sea")]
        tiles = [tile for tile in range(len(TILES)) for _ in range(COPIES.get(TILES[tile], 1))]
        hands = sorted(set(combinations(tiles, HAND)))
        open_spaces = [space for space, kind in enumerate(kinds) if kind in ("land", "sea")]
        kinds_of_plays = (
            (("hand",), [hands]),
            (("caste", "space"), [CASTES, towns]),
            (("tile", "space"), [PLACED, open_spaces]),
            (("from", "to"), [self.land, self.land]),
            (("space", "caste", "with", "with_caste"), [towns, CASTES, towns, CASTES]),
            (("space", "caste"), [towns, CASTES]),  # what is captured first, which is left to the referee
        )
        self.first, self.actions = {}, 0
        """By keys of a play, the action of the first such play, and by key what each value adds to it."""
        for keys, choices in kinds_of_plays:
            size, steps = 1, {}
            for key, values in reversed(list(zip(keys, choices, strict=True))):
                steps[key] = {value: size * at for at, value in enumerate(values)}
                size *= len(values)
            self.first[keys] = self.actions, steps
            self.actions += size
        self.actions += 1  # the end of a turn

    def numbers(self, view):
        """Returns a view as numbers."""
        own, seats, spaces = view["seat"], len(view["hands"]), len(self.spaces)
        to_move = 0 if view["to_move"] is None else 1 + (view["to_move"] - own) % seats
        found = [PHASES.index(view["phase"]), view["turn"], to_move, view["fast_only"]]
        found += [view[pieces][caste] for pieces in ("supply", "set_aside") for caste in CASTES]
        found += [view["hand"].count(tile) for tile in TILES]
        for turn in range(seats):
            seat = (own + turn) % seats
            captured = view["captured"][seat] or dict.fromkeys(CASTES, -1)
            found += [view["hands"][seat], view["stacks"][seat], seat in view["switch_used"], seat in view["forfeited"]]
            found += [captured[caste] for caste in CASTES]
        tiles = [0] * spaces
        for space, owner, tile in view["tiles"]:
            tiles[space] = 1 + (owner - own) % seats * len(TILES) + TILES.index(tile)
        found += tiles
        for marked in (*[view["pieces"][caste] for caste in CASTES], view["placed"]):
            found += [space in marked for space in range(spaces)]
        return found

    def plays(self, view, legal):
        """Returns the legal plays by their actions; the play {} ends a decision."""
        found = {}
        for product in legal:
            if "hand" in product:
                first, steps = self.first["hand",]
                found |= {first + at: {"hand": [TILES[tile] for tile in hand]} for hand, at in steps["hand"].items()}
                continue
            keys = tuple(key for key in product if key != "tile" or product["tile"][0] in PLACED)
            first, steps = self.first[keys]
            plays = [(first, {key: values[0] for key, values in product.items() if key not in keys})]
            for key in keys:
                plays = [(n + steps[key][value], {**play, key: value}) for n, play in plays for value in product[key]]
            found.update(plays)
        return found

    def after(self, view, play, plays):
        """Returns the view and the plays after a play of the same decision; no plays where nothing is left of it, or
        where the referee asks for the rest."""
        tile = play.get("tile")
        if tile is None or (self.must_follow and tile in self.fast):
            return view, {}
        seat = view["seat"]
        hand = list(view["hand"])
        hand.remove(tile)
        hands = [count - (at == seat) for at, count in enumerate(view["hands"])]
        view = {**view, "hand": hand, "hands": hands, "fast_only": view["fast_only"] or tile not in self.fast}
        if tile == "switch":
            pieces = {caste: list(towns) for caste, towns in view["pieces"].items()}
            pieces[play["caste"]].remove(play["space"])
            pieces[play["with_caste"]].remove(play["with"])
            pieces[play["caste"]].append(play["with"])
            pieces[play["with_caste"]].append(play["space"])
            view |= {"pieces": pieces, "switch_used": [*view["switch_used"], seat]}
        elif tile == "move":
            moved = next(entry[2] for entry in view["tiles"] if entry[0] == play["from"])
            stay = [entry for entry in view["tiles"] if entry[0] != play["from"]]
            view["tiles"] = [*stay, [play["from"], seat, "move"], [play["to"], seat, moved]]
            view["placed"] = [*view["placed"], play["from"], play["to"]]
        else:
            view["tiles"] = [*view["tiles"], [play["space"], seat, tile]]
            view["placed"] = [*view["placed"], play["space"]]
        if self.instant and self.captures(view):
            return view, {}
        able = self.after_slow.intersection(hand) if view["fast_only"] else set(hand)
        filled = {play.get("to", play.get("space"))} if tile != "switch" else set()
        left = {
            action: other
            for action, other in plays.items()
            if other
            and other["tile"] in able
            and (other["tile"] == "switch" or other.get("to", other.get("space")) not in filled)
        }
        if left:
            left[self.actions - 1] = {}
        return view, left

    def captures(self, view):
        """Returns whether a settlement with pieces is surrounded."""
        filled = {entry[0] for entry in view["tiles"]}
        return any(
            all(space in filled or self.spaces[space]["kind"] != "land" for space in self.spaces[town]["neighbours"])
            for towns in view["pieces"].values()
            for town in towns
        )
