"""How a game may go on: the engine plays turns in a guessed world, and every seat answers with a quick turn.

The engine is the judge of what happens. It draws tiles by the world's luck, and says who has won if that ends the
game; where it does not, `evaluate` says how likely each seat is to win.
"""

from samurai_battles import MOVE, SWITCH
from samurai_majorities import Position, evaluate, promise
from samurai_turns import Node

from arena.games.samurai.state import TILES, End, Move, Place, Switch

ON_LAND = frozenset(number for number, tile in enumerate(TILES) if tile.goes_on == "land" and number != MOVE)
ON_SEA = frozenset(number for number, tile in enumerate(TILES) if tile.goes_on == "sea")


class Rollouts:
    """Continuations of one position, seen by the seat whose turn it is there."""

    def __init__(self, rules, reader, outlook):
        self.rules, self.outlook = rules, outlook
        self.realm, self.customs = reader.realm, reader.customs
        self.seat, self.seats = reader.seat, reader.seats
        placement = rules.options["placement"]
        self._land_near_pieces, self._sea_near_pieces = placement != "anywhere", placement == "near_pieces"

    def play(self, state, plays):
        """Returns the state after a whole turn: these plays, and more where the rules demand them."""
        rules, seat, turn = self.rules, state.to_move, state.turn
        for play in plays:
            state = rules.apply(state, seat, engine_play(play))
        while state.turn == turn and state.phase in ("turns", "captures"):
            if state.phase == "captures":
                more = rules.legal(state, seat)[0]  # no order changes who gets what
            else:
                more = engine_play(self.quick_turn(state)[0]) if state.must_follow else End()
            state = rules.apply(state, seat, more)
        return state

    def run(self, state, world, depth):
        """Returns the seat's chance to win after its own turn has led to `state`, in a world, `depth` turns later."""
        luck = [iter(numbers) for numbers in world.luck]
        state = self._refill(world.deal(state, self.seat), luck)
        for _ in range(depth):
            if state.phase == "over":
                break
            state = self._refill(self.play(state, self.quick_turn(state)), luck)
        if state.phase == "over":
            return (state.ranks[self.seat] == 1) / state.ranks.count(1)
        return evaluate(self.realm, self._position(state), state.to_move)[self.seat]

    def _refill(self, state, luck):
        while state.phase == "refill":
            seat = state.to_move
            state = self.rules.draw(state, int(next(luck[seat]) * len(state.stacks[seat])))
        return state

    def _position(self, state):
        reserves = [promise(self.realm, hand + stack) for hand, stack in zip(state.hands, state.stacks, strict=True)]
        garrisons = self.realm.garrisons(state.pieces)
        return Position(state.at, garrisons, state.captured, sum(state.set_aside), reserves)

    def quick_turn(self, state):
        """Returns a turn for the seat to move, one play or more: the best placement, then fast ones while they gain."""
        seat, fast, after_slow = state.to_move, self.customs.fast, self.customs.after_slow
        garrisons = self.realm.garrisons(state.pieces)
        land, sea = list(state.land), list(state.sea)
        if self._land_near_pieces:
            land = [space for space in land if garrisons.touching[space]]
        if self._sea_near_pieces:
            sea = [space for space in sea if garrisons.touching[space]]
        node = Node(self.outlook.gauges[seat], state.at, garrisons)
        hand, fast_only = list(state.hands[seat]), state.fast_only
        plays = []
        while True:
            able = after_slow.intersection(hand) if fast_only else set(hand)
            found = node.placements(able & ON_LAND, land) + node.placements(able & ON_SEA, sea)
            if not found:
                break
            gain, play = max(found)
            if plays and gain <= 0:
                break
            plays.append(play)
            tile, space = play
            hand.remove(tile)
            (sea if tile in ON_SEA else land).remove(space)
            fast_only = fast_only or tile not in fast
            if fast_only and not after_slow.intersection(hand):
                break
            node = node.after(play)
            if self.customs.instant and node.captures():
                break
        return plays or [own_play(self.rules.legal(state, seat)[0])]


def engine_play(play):
    """Returns a play as the engine has it."""
    if play[0] == SWITCH:
        return Switch.of(*play[1:])
    return Move(*play[1:]) if play[0] == MOVE else Place(*play)


def own_play(play):
    """Returns the inverse of `engine_play`."""
    if isinstance(play, Switch):
        return SWITCH, play.space, play.caste, play.with_space, play.with_caste
    return (MOVE, play.source, play.target) if isinstance(play, Move) else (play.tile, play.space)
