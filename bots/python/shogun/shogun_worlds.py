"""What a seat cannot see, guessed: states of the engine that agree with all that it knows."""

from random import Random

from msgspec.structs import replace
from samurai_battles import FULL_SET, NUMBER, SWITCH, tile_code

from arena.rules.samurai.board import Board, Space
from arena.rules.samurai.game import Samurai
from arena.rules.samurai.state import CASTES, State


def rules_of(game):
    """Returns the engine's rules for the game that a `game_start` begins."""
    board, seats = game["board"], game["seats"]
    spaces = [Space(space["kind"], tuple(space["neighbours"]), space["col"], space["row"]) for space in board["spaces"]]
    return Samurai(seats, game["options"], Board(board["name"], "", "", tuple(spaces), (seats,)))


class World:
    """One way in which the hidden tiles may lie, and what chance will do."""

    __slots__ = ("hands", "luck", "stacks")

    def __init__(self, hands, stacks, luck):
        self.hands, self.stacks = hands, stacks
        """By seat; of the seat itself they are what it knows."""
        self.luck = luck
        """By seat, a number from 0 to 1 for each draw from its stack: turns are compared under the same luck."""

    def deal(self, state, seat):
        """Returns the state with the hidden tiles of this world; `seat` keeps what it has by now."""
        hands, stacks = list(self.hands), list(self.stacks)
        hands[seat], stacks[seat] = state.hands[seat], state.stacks[seat]
        return replace(state, hands=tuple(hands), stacks=tuple(stacks))


class Worlds:
    """All worlds that agree with a view."""

    def __init__(self, view, seed):
        seat = view["seat"]
        self._seat, self._random = seat, Random(seed)
        self._counts = view["hands"]
        self._unseen = [list(FULL_SET) for _ in view["hands"]]
        for _, owner, tile in view["tiles"]:
            self._unseen[owner].remove(NUMBER[tile])
        for owner in view["switch_used"]:
            self._unseen[owner].remove(SWITCH)
        self._hand = bytes(sorted(NUMBER[tile] for tile in view["hand"]))
        for tile in self._hand:
            self._unseen[seat].remove(tile)

    def sample(self):
        """Returns a world, each equally likely."""
        hands, stacks, luck = [], [], []
        for seat, unseen in enumerate(self._unseen):
            if seat == self._seat:
                hand, stack = self._hand, bytes(unseen)
            else:
                tiles, count = self._random.sample(unseen, len(unseen)), self._counts[seat]
                hand, stack = bytes(sorted(tiles[:count])), bytes(sorted(tiles[count:]))
            hands.append(hand)
            stacks.append(stack)
            luck.append([self._random.random() for _ in unseen])
        return World(hands, stacks, luck)


def state_of(rules, view, captured, world):
    """Returns the engine's state at a view of a turn, in a world. `captured`: by seat, the captured pieces by caste."""
    start = rules.start()
    tiles = {space: tile_code(seat, NUMBER[tile]) for space, seat, tile in view["tiles"]}
    return State(
        phase="turns",
        turn=view["turn"],
        to_move=view["seat"],
        land=bytes(space for space in start.land if space not in tiles),
        sea=bytes(space for space in start.sea if space not in tiles),
        at=bytes(tiles.get(space, 0) for space in range(len(start.at))),
        pieces=tuple(bytes(view["pieces"][caste]) for caste in CASTES),
        supply=(0, 0, 0),
        hands=tuple(world.hands),
        stacks=tuple(world.stacks),
        captured=tuple(map(tuple, captured)),
        set_aside=tuple(view["set_aside"][caste] for caste in CASTES),
        placed=bytes(view["placed"]),
        fast_only=view["fast_only"],
        switch_used=bytes(view["switch_used"]),
        forfeited=tuple((seat,) for seat in view["forfeited"]),
    )
