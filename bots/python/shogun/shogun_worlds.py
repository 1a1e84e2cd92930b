"""What a seat cannot see, guessed: states of the engine that agree with all that it knows."""

from random import Random

from msgspec.structs import replace
from samurai_battles import FULL_SET, NUMBER, SWITCH, tile_code

from arena.games.samurai.board import Board, Space
from arena.games.samurai.game import Samurai
from arena.games.samurai.state import CASTES, State


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
    """All worlds that agree with what a seat knows in a state of the engine."""

    def __init__(self, rules, state, seat, seed):
        self._rules, self._state, self._seat = rules, state, seat
        self._random = Random(seed)

    def sample(self):
        """Returns a world, each equally likely."""
        dealt = self._rules.resample(self._state, self._seat, self._random.randrange)
        tiles = map(len, map(bytes.__add__, dealt.hands, dealt.stacks))
        return World(dealt.hands, dealt.stacks, [[self._random.random() for _ in range(count)] for count in tiles])


def state_of(rules, view, captured):
    """Returns one of the engine's states that a view of a turn allows; `Worlds` has the others.

    Args:
        rules: The engine's rules.
        view: What the seat sees.
        captured: By seat, the captured pieces by caste.
    """
    start = rules.start()
    hands, stacks = zip(*_some_hands(view), strict=True)
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
        hands=hands,
        stacks=stacks,
        captured=tuple(map(tuple, captured)),
        set_aside=tuple(view["set_aside"][caste] for caste in CASTES),
        placed=bytes(view["placed"]),
        fast_only=view["fast_only"],
        switch_used=bytes(view["switch_used"]),
        forfeited=tuple((seat,) for seat in view["forfeited"]),
    )


def _some_hands(view):
    """Yields for each seat a hand and a stack of the tiles that it still has; the seat's own are as it knows them."""
    spent = [[] for _ in view["hands"]]
    for _, owner, tile in view["tiles"]:
        spent[owner].append(NUMBER[tile])
    for owner in view["switch_used"]:
        spent[owner].append(SWITCH)
    own = bytes(sorted(NUMBER[tile] for tile in view["hand"]))
    for seat, count in enumerate(view["hands"]):
        left = list(FULL_SET)
        for tile in [*spent[seat], *(own if seat == view["seat"] else ())]:
            left.remove(tile)
        cut = 0 if seat == view["seat"] else count
        yield (own if seat == view["seat"] else bytes(left[:cut])), bytes(left[cut:])
