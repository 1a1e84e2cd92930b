"""Hosts a game of OpenSpiel: a state is the history of its actions, and OpenSpiel's own state is a cache of it.

Laws:
1. A history holds the actions of chance and of seats in their order. Where seats decide at once it holds one action for
   each seat, 0 for one that has none.
2. A seat is shown what OpenSpiel shows it: its information state, or its observation where the game has none. Where
   nothing is hidden everybody is shown the whole position.
3. A choice among others that are made at once is shown when all have been made.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from math import ceil, lcm
from typing import Any, ClassVar, Final

import msgspec
import pyspiel

from arena.core.face import Payload, Seat, catalogue, errors, game_kit, value_types
from arena_openspiel.parameters import VIEW, options_of, parameters_of
from arena_openspiel.worlds import other_world

NO_ACTION: Final = 0
"""What stands in a history for a seat that has no action where others decide at once."""
CHANCE: Final = int(pyspiel.PlayerId.CHANCE)
SIMULTANEOUS: Final = int(pyspiel.PlayerId.SIMULTANEOUS)
TERMINAL: Final = int(pyspiel.PlayerId.TERMINAL)
MOST_GAMES: Final = 64
"""The number of games that are kept in memory: some warn of themselves, in the terminal, whenever they are loaded."""
MOST_CHANCES: Final = 1_024
"""The number of probabilities of which it is kept in memory what they mean."""
THOUSAND: Final = 1_000
FINEST: Final = 1_000_000
"""The largest denominator of a probability that a game of OpenSpiel means."""
FRACTION_DIGITS: Final = 6
"""Digits of a score after the point that count: what is beyond them is how computers add tenths."""
PARTNERS: Final = frozenset({"bridge", "cribbage", "euchre", "spades", "tiny_bridge_4p"})
"""The games in which four are two teams, those who sit across from each other."""
PARTS: Final = {"coop_box_pushing": 10, "tiny_bridge_2p": 6}
"""The number of parts of a point by game, so that scores are whole; 1 in most."""
OTHER_FORMS: Final = frozenset({"tensor", "struct"})
"""Forms of a view beside the words, and the keys under which they stand."""
KNOWN: Final = frozenset({("hanabi", "tensor"), ("hearts", "struct")})
"""Forms of views that tell beside the words what a seat knows anyway: the last play, the cards that it received.

What else they might tell is not checked.
"""
WIN_TO_LOSS: Final = 2
"""From the least that a seat can get to the most, in games that count nothing but who won."""


class State(msgspec.Struct, frozen=True, dict=True):
    """What was done, chance included, and what seats that decide at once have chosen so far.

    `Spiel.node` keeps the position beside it, which is no part of the state.
    """

    history: tuple[int, ...] = ()
    chosen: tuple[tuple[Seat, int], ...] = ()
    failed: bool = False
    """Whether a seat of a cooperative game forfeited: then all have failed."""


class Move(msgspec.Struct, frozen=True):
    """An action, by OpenSpiel's number."""

    action: int


class Node:
    """A position of OpenSpiel's. Nobody changes `spiel`: what follows it is a copy."""

    legal: Mapping[Seat, list[int]] = {}
    """The actions of each seat that decides here, in the order of the seats."""
    draw: game_kit.Draw | None = None
    """What chance must draw here."""
    draws: tuple[Sequence[int], Sequence[int]] = (), ()
    """The actions of chance here, and for each how many of equally likely outcomes are its own or one's before."""

    def __init__(self, spiel: Any, before: Node | None = None, actions: Sequence[int] = ()) -> None:
        self.spiel = spiel
        self.before = before
        """The position before this one; None at the start."""
        self.actions = actions
        """The actions that led here: one, or one of each seat where they decide at once."""
        self.views: dict[Seat, Payload] = {}
        """What each seat is shown, as far as somebody asked."""
        self.player: int = spiel.current_player()
        """Who decides, in OpenSpiel's numbers: chance, several at once and nobody have numbers below 0."""
        if self.player >= 0:
            self.legal = {self.player: spiel.legal_actions()}
        elif self.player == CHANCE:
            actions, chances = zip(*spiel.chance_outcomes(), strict=True)
            ends = _ends(chances)
            self.draws, self.draw = (actions, ends), game_kit.Draw("chance", ends[-1])
        elif self.player == SIMULTANEOUS:
            legal = {seat: spiel.legal_actions(seat) for seat in range(spiel.num_players())}
            self.legal = {seat: actions for seat, actions in legal.items() if actions}

    def after(self, actions: Sequence[int]) -> Node:
        """Returns the position after an action, or after one of each seat where they decide at once."""
        if self.player == SIMULTANEOUS:
            spiel = self.spiel.clone()
            spiel.apply_actions(actions)
        else:
            spiel = self.spiel.child(actions[0])
        return Node(spiel, self, actions)

    def through(self, actions: Sequence[int]) -> Node:
        """Returns the position after some actions in their order, as a history has them."""
        node, done = self, 0
        while done < len(actions):
            step = self.spiel.num_players() if node.player == SIMULTANEOUS else 1
            node = node.after(actions[done : done + step])
            done += step
        return node

    def last(self, seat: Seat | None) -> Payload | None:
        """Returns the last action of a seat as views show it, or None if there is none; None stands for anybody."""
        node = self
        while (before := node.before) is not None:
            if seat is None or seat == before.player:
                return _shown(before, before.player, node.actions[0])
            if before.player == SIMULTANEOUS and seat in before.legal:
                return _shown(before, seat, node.actions[seat])
            node = before
        return None


def _shown(before: Node, player: int, action: int) -> Payload:
    """Returns an action in a position as views show it; the seat of chance is None."""
    name = before.spiel.action_to_string(player, action)
    return {"seat": player if player >= 0 else None, "action": action, "name": name}


@lru_cache(MOST_CHANCES)
def _exact(chance: float) -> Fraction:
    """Returns the probability that a game means."""
    return Fraction(chance).limit_denominator(FINEST)


def _ends(chances: tuple[float, ...]) -> Sequence[int]:
    """Returns how many of equally likely outcomes there are up to each of some probabilities, and with it."""
    if chances.count(chances[0]) == len(chances):
        return range(1, len(chances) + 1)
    exact = {chance: _exact(chance) for chance in set(chances)}
    whole = lcm(*(share.denominator for share in exact.values()))
    outcomes = {chance: share.numerator * (whole // share.denominator) for chance, share in exact.items()}
    ends = list(accumulate(outcomes[chance] for chance in chances))
    if ends[-1] != whole:
        raise ArithmeticError(f"expected probabilities that add up to 1, got: {chances}")
    return ends


def is_open(kind: Any) -> bool:
    """Tells whether nothing is hidden in a game of OpenSpiel."""
    perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    return bool(perfect and kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL)


def read_struct(spiel: Any, seat: Seat | None) -> Payload:
    """Returns what a seat sees of a position as a map; None stands for the whole position.

    Raises:
        SpielError: OpenSpiel has no such map of this game.
    """
    struct = spiel.to_struct() if seat is None else spiel.to_observation_struct(seat)
    found: Payload = _structs.decode(struct.to_json())
    return found


def _whole(text: str) -> int | str:
    """Returns a number as messages have it: they have no fractions."""
    number = float(text)
    return int(number) if number.is_integer() else text


_structs = msgspec.json.Decoder(float_hook=_whole)


@lru_cache(MOST_GAMES)
def _loaded(short: str, parameters: tuple[tuple[str, Any], ...]) -> Any:
    """Returns a game of OpenSpiel. It never changes, so rules with the same parameters share it.

    Raises:
        SpielError: OpenSpiel has no such game.
    """
    return pyspiel.load_game(short, dict(parameters))


class Spiel(game_kit.Rules[State]):
    """A game of OpenSpiel. There is a subclass for each."""

    short: ClassVar[str]
    """OpenSpiel's name of the game."""
    kind: ClassVar[Any]
    """OpenSpiel's type of the game."""
    cooperative: ClassVar[bool]
    """Whether OpenSpiel gives all players the same."""
    state_type = State
    play_type = Move

    def __init__(self, seats: int, options: Mapping[str, str], board: game_kit.Board | None = None) -> None:
        super().__init__(seats, options, board)
        try:
            self.game = _loaded(self.short, tuple(parameters_of(self.kind, options, seats).items()))
        except (pyspiel.SpielError, ValueError) as error:
            raise errors.ConfigError(
                f"expected options with which OpenSpiel plays {self.short}, got: {dict(options)}: {error}; use --rule"
            ) from None
        if self.game.num_players() != seats:
            raise errors.ConfigError(
                f"expected {self.game.num_players()} players for {self.name} with these options, got: {seats}; "
                "use --players"
            )
        self._shows = options[VIEW]
        self._owed = [(game_kit.Decision(seat, "move"),) for seat in range(seats)]

    @classmethod
    def teams(cls, seats: int, options: Mapping[str, str]) -> value_types.Teams | None:
        if cls.cooperative:
            return (0,) * seats
        return (0, 1, 0, 1) if seats == 4 and cls.short in PARTNERS else None

    @classmethod
    def margin(cls, seats: int, options: Mapping[str, str]) -> game_kit.Margin | None:
        if cls.cooperative:
            return None
        game = cls(seats, options).game
        most = ceil(game.max_utility() - game.min_utility())  # no lead is cut: what seats get is what they play for
        return game_kit.Margin("points", most) if most > WIN_TO_LOSS else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.name, self.seats, self.options)  # its class is none that a module has

    def node(self, state: State) -> Node:
        """Returns the position of a state."""
        kept: tuple[Spiel, Node] | None = state.__dict__.get("position")
        if kept is None or kept[0] is not self:  # other options may make another position of the same history
            kept = self, Node(self.game.new_initial_state()).through(state.history)
            state.__dict__["position"] = kept
        return kept[1]

    def state(self, node: Node, history: tuple[int, ...], chosen: tuple[tuple[Seat, int], ...] = ()) -> State:
        """Returns the state of a position, of which the history is known."""
        state = State(history, chosen)
        state.__dict__["position"] = self, node
        return state

    # The engine

    def start(self) -> State:
        return State()

    def draw_wanted(self, state: State) -> game_kit.Draw | None:
        return None if state.failed else self.node(state).draw

    def draw(self, state: State, index: int, events: list[game_kit.Event] | None = None) -> State:
        node = self.node(state)
        actions, ends = node.draws
        return self._done(state, node, (actions[bisect(ends, index)],), events)

    def legal_of(self, state: State, seat: Seat) -> list[int]:
        """Returns the actions of a seat that still owes a decision; none for any other."""
        if state.failed or (state.chosen and any(seat == done for done, _ in state.chosen)):
            return []
        return self.node(state).legal.get(seat, [])

    def pending(self, state: State) -> tuple[game_kit.Decision, ...]:
        if state.failed:
            return ()
        node = self.node(state)
        if node.player >= 0:
            return self._owed[node.player]
        chosen = dict(state.chosen)
        return tuple(game_kit.Decision(seat, "move") for seat in node.legal if seat not in chosen)

    def legal(self, state: State, seat: Seat) -> game_kit.Legal:
        actions = self.legal_of(state, seat)
        return game_kit.Legal([game_kit.Product(Move, (actions,), len(actions))] if actions else [])

    def check(self, state: State, seat: Seat, play: Move) -> None:
        if play.action not in self.legal_of(state, seat):
            raise errors.IllegalAction(f"expected one of the legal actions, got: {play.action}")

    def apply(self, state: State, seat: Seat, play: Move, events: list[game_kit.Event] | None = None) -> State:
        node = self.node(state)
        if node.player != SIMULTANEOUS:
            return self._done(state, node, (play.action,), events)
        chosen = dict(state.chosen) | {seat: play.action}
        if len(chosen) == len(node.legal):
            joint = tuple(chosen.get(player, NO_ACTION) for player in range(self.seats))
            return self._done(state, node, joint, events)
        after = self.state(node, state.history, tuple(sorted(chosen.items())))
        if events is not None:
            self._tell(state, after, events)
        return after

    def _done(self, before: State, node: Node, actions: tuple[int, ...], events: list[game_kit.Event] | None) -> State:
        """Returns the state after an action, or after one of each seat."""
        after = self.state(node.after(actions), before.history + actions)
        if events is not None:
            self._tell(before, after, events)
        return after

    def _tell(self, before: State, after: State, events: list[game_kit.Event]) -> None:
        """Tells each seat what it sees now that it did not see before."""
        for seat in range(1 if self.nothing_hidden else self.seats):
            old, new = self.view(before, seat), self.view(after, seat)
            # Where nothing is hidden each step is told, so that its actions are the history.
            changed = {
                key: value for key, value in new.items() if old[key] != value or (key == "last" and self.nothing_hidden)
            }
            if changed:
                events.append(game_kit.Event({"event": "seen", **changed}, to=None if self.nothing_hidden else (seat,)))

    def forfeit(self, state: State, seats: Sequence[Seat], events: list[game_kit.Event] | None = None) -> State | None:
        return State(state.history, state.chosen, failed=True) if self.cooperative else None

    def outcome(self, state: State) -> game_kit.Outcome | None:
        if state.failed:  # the worst that can happen, so that nobody gives up to be spared it
            return self._ranked([self.game.min_utility()] * self.seats)
        node = self.node(state)
        return self._ranked(node.spiel.returns()) if node.player == TERMINAL else None

    def returns(self, state: State) -> Sequence[float]:
        if state.failed:
            return [float(self.game.min_utility())] * self.seats
        returns: list[float] = self.node(state).spiel.returns()
        return returns

    def bounds(self) -> game_kit.Bounds:
        together = self.kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS  # then each step is one of each seat
        steps = self.game.max_game_length() * (self.seats if together else 1)
        return game_kit.Bounds(steps=steps, returns=(float(self.game.min_utility()), float(self.game.max_utility())))

    def amounts(self, state: State) -> tuple[int, ...]:
        return tuple(map(round, self.node(state).spiel.returns()))  # a split pot leaves halves of a chip

    def _ranked(self, gains: Sequence[float]) -> game_kit.Outcome:
        scores = [round(PARTS.get(self.short, 1) * gain, FRACTION_DIGITS) for gain in gains]
        whole = all(float(score).is_integer() for score in scores)
        ranks = tuple(1 + sum(other > score for other in scores) for score in scores)
        return game_kit.Outcome(ranks, tuple(map(int, scores)) if whole else None)

    def turn(self, state: State) -> int:
        return len(state.history) + 1

    # What a seat may know

    def view(self, state: State, seat: Seat) -> Payload:
        node = self.node(state)
        if seat not in node.views:
            node.views[seat] = self._open_view(node, seat) if self.nothing_hidden else self._own_view(node, seat)
        view = node.views[seat]
        chosen = dict(state.chosen)
        if seat not in chosen:
            return view
        return {**view, "last": _shown(node, seat, chosen[seat]), "actions": [], "names": []}

    def known(self, state: State, seat: Seat) -> Payload:
        """Returns the view without its numbers or its map, which may tell a seat no more than the words do.

        `resample` goes by it alone. So the kit's law of secrecy finds a form of the view that does tell more.
        """
        view = self.view(state, seat)
        if (self.short, self._shows) in KNOWN:
            return view
        return {key: value for key, value in view.items() if key not in OTHER_FORMS}

    def _open_view(self, node: Node, seat: Seat) -> Payload:
        """Returns what everybody sees where nothing is hidden: the position, and what may be done in it."""
        to_move = node.player if node.player >= 0 else None
        view = {"seat": seat, "text": str(node.spiel), "to_move": to_move, "last": node.last(None)}
        return self._completed(view, node, to_move or 0)

    def _own_view(self, node: Node, seat: Seat) -> Payload:
        """Returns what OpenSpiel shows a seat, what it did last, and what it may do."""
        view = {"seat": seat, "text": self.read_text(node.spiel, seat), "last": node.last(seat)}
        return self._completed(view, node, seat)

    def _completed(self, view: Payload, node: Node, eye: Seat) -> Payload:
        if self._shows == "tensor":
            view["tensor"] = self._read_tensor(node.spiel, eye)
        if self._shows == "struct":
            view["struct"] = read_struct(node.spiel, None if self.nothing_hidden else eye)
        actions = node.legal.get(eye, [])
        view["actions"] = actions
        view["names"] = [node.spiel.action_to_string(eye, action) for action in actions]
        view["returns"] = [f"{gain:g}" for gain in node.spiel.returns()] if node.player == TERMINAL else None
        return view

    def read_text(self, spiel: Any, seat: Seat) -> str:
        """Returns what a seat sees of a position, in words. Some games have nothing to show before the deal."""
        try:
            if self.remembers:
                return str(spiel.information_state_string(seat))
            return str(spiel.observation_string(seat))
        except (pyspiel.SpielError, RuntimeError):
            return ""

    def _read_tensor(self, spiel: Any, seat: Seat) -> list[int]:
        """Returns what a seat sees of a position in numbers, as thousandths: messages have no fractions."""
        try:
            if self.kind.provides_information_state_tensor:
                numbers = spiel.information_state_tensor(seat)
            else:
                numbers = spiel.observation_tensor(seat)
        except (pyspiel.SpielError, RuntimeError):
            return []
        return [round(THOUSAND * number) for number in numbers]

    @cached_property
    def remembers(self) -> bool:
        """Whether what a seat is shown holds all that it has ever seen."""
        return bool(self.kind.provides_information_state_string)

    def every_play(self) -> game_kit.Legal:
        actions = range(self.game.num_distinct_actions())
        return game_kit.Legal([game_kit.Product.of(Move, actions)])

    def numbers(self, view: Payload) -> list[int] | None:
        if self._shows != "tensor":
            return None
        return view["tensor"] or [0] * self._tensor_size

    @cached_property
    def _tensor_size(self) -> int:
        if self.kind.provides_information_state_tensor:
            return int(self.game.information_state_tensor_size())
        return int(self.game.observation_tensor_size())

    def fold(self, view: Payload, event: Payload) -> Payload:
        return {**view, **{key: value for key, value in event.items() if key != "event"}}

    def resample(self, state: State, seat: Seat, choose: game_kit.Choose) -> State:
        return state if self.nothing_hidden or state.failed else other_world(self, state, seat, choose)


def _remade(name: str, seats: int, options: Mapping[str, str]) -> game_kit.Rules[Any]:
    return catalogue.game(name)(seats, options)


def game_class(
    name: str,
    short: str,
    about: str,
    players: range,
    *,
    changed: Mapping[str, str] | None = None,
    has_struct: bool = False,
    withheld: Mapping[str, str] = {},
) -> type[Spiel]:
    """Returns the rules of a game.

    Args:
        name: Its name in the arena.
        short: OpenSpiel's name of it.
        about: The game in one sentence.
        players: The numbers of players that it can have.
        changed: The parameters that are not as OpenSpiel has them.
        has_struct: Whether OpenSpiel describes what a seat sees by a map.
        withheld: By form of a view that is not offered why not.
    """
    kind = pyspiel.load_game(short).get_type()
    cooperative = kind.utility == pyspiel.GameType.Utility.IDENTICAL
    options = tuple(options_of(kind, has_struct=has_struct, withheld=withheld))
    rulesets = {
        "standard": game_kit.Ruleset("OpenSpiel's defaults", {option.name: option.default for option in options})
    }
    if changed:
        why = ", ".join(f"{option}={value}" for option, value in changed.items())
        usual = game_kit.Ruleset(f"OpenSpiel's defaults, but for {why}", {**rulesets["standard"].options, **changed})
        rulesets = {"played": usual, **rulesets}
    return type(
        short,
        (Spiel,),
        {
            "__doc__": about,
            "__module__": __name__,
            "name": name,
            "short": short,
            "kind": kind,
            "about": about,
            "seat_counts": players,
            "option_list": options,
            "rulesets": rulesets,
            "nothing_hidden": is_open(kind),
            "cooperative": cooperative,
            "version": 2 if cooperative or short in PARTNERS else 1,
        },
    )
