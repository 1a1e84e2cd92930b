"""Other worlds that a seat cannot tell from this one: actions that it has not seen are exchanged.

OpenSpiel resamples the states of few games itself. Here draws and plays of others are exchanged: one for another that
was possible, or two for each other, as where cards are dealt. Then all that followed is played again. The other world
counts if the game can go that way and the seat sees the same at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from arena.rules.base import Choose
from arena.types import Seat

if TYPE_CHECKING:
    from arena_openspiel.game import Node, Spiel, State

TRIES: Final = 16
"""How many exchanges are tried at least."""
WORK: Final = 2_000
"""How many actions may be played again in all; where a history is short, more exchanges are tried."""
ENOUGH: Final = 3
"""The number of exchanges after which a world differs enough."""
LATEST: Final = 4
"""How many of the latest actions are exchanged as often as all the others together."""


def other_world(rules: Spiel, state: State, seat: Seat, choose: Choose) -> State:
    """Returns another state that a seat cannot tell from this one, or the same where none was found."""
    course = _Course(rules, state, seat)
    chosen = dict(state.chosen)
    shown = rules.view(state, seat)
    refused: set[tuple[int, ...]] = set()
    found = 0
    for _ in range(max(TRIES, WORK // len(state.history)) if course.places else 0):
        changed = _exchanged(course, choose)
        if changed is None or changed[0] in refused:
            continue
        other, first = changed
        node = course.followed(other, first) if course.is_possible(other, first) else None
        if node is None or rules.view(rules.state(node, other, state.chosen), seat) != shown:
            refused.add(other)
            continue
        course.take(other, node)
        found += 1
        if found == ENOUGH:
            break
    node = course.nodes[-1]
    for player in chosen:
        if player != seat and player in node.legal:
            chosen[player] = node.legal[player][choose(len(node.legal[player]))]
    return rules.state(node, course.history, tuple(sorted(chosen.items())))


def _exchanged(course: _Course, choose: Choose) -> tuple[tuple[int, ...], int] | None:
    """Returns a history in which one action is another one, or two have changed places, and where it differs first."""
    places, history = course.places, course.history
    pick = places[-LATEST:] if choose(2) else places
    place = pick[choose(len(pick))]
    other = list(history)
    if choose(2):
        partner = places[choose(len(places))]
        if history[place] == history[partner]:
            return None
        other[place], other[partner] = history[partner], history[place]
        return tuple(other), min(place, partner)
    actions = [action for action in course.actions(place) if action != history[place]]
    if not actions:
        return None
    other[place] = actions[choose(len(actions))]
    return tuple(other), place


class _Course:
    """How a game may have gone, as far as it matters to a seat."""

    def __init__(self, rules: Spiel, state: State, seat: Seat) -> None:
        self._rules = rules
        self._seat = seat
        self.history = state.history
        self._starts: list[int] = []
        """For each action of the history where its step begins: several are one step where seats decide at once."""
        self._players: list[int] = []
        """Who made each action, in OpenSpiel's numbers."""
        self._seen: dict[int, tuple[object, ...]] = {}
        """What the seat saw before each step."""
        self.places: list[int] = []
        """The actions that the seat did not make."""
        self.nodes: list[Node] = []
        """The position in which each action was done, and then the last one."""
        self.take(state.history, rules.node(state))
        at = 0
        while at < len(self.history):
            node = self.nodes[at]
            if not rules.remembers:
                self._seen[at] = self._look(node.spiel)
            if node.spiel.is_simultaneous_node():
                self.places += [at + player for player, own in node.legal.items() if player != seat and len(own) > 1]
                self._starts += [at] * rules.seats
            else:
                self.places += [at] if node.player != seat else []
                self._starts.append(at)
            at = len(self._starts)

    def take(self, history: tuple[int, ...], last: Node) -> None:
        """Takes the game to have gone another way, which led to a position."""
        self.history, self.nodes = history, [last]
        while last.before is not None:
            self.nodes += [last.before] * len(last.actions)
            last = last.before
        self.nodes.reverse()

    def _look(self, spiel: Any) -> tuple[object, ...]:
        """Returns what the seat sees of a position."""
        rules, seat = self._rules, self._seat
        return rules.read_text(spiel, seat), tuple(_legal(spiel, seat))

    def actions(self, place: int) -> Sequence[int]:
        """Returns the actions that were possible where one was made."""
        node = self.nodes[place]
        if node.draw is not None:
            return node.draws[0]
        return node.legal.get(place - self._starts[place] if node.spiel.is_simultaneous_node() else node.player, [])

    def followed(self, history: tuple[int, ...], first: int) -> Node:
        """Returns where a history leads that differs from some action on."""
        return self.nodes[first].through(history[self._starts[first] :])

    def is_possible(self, history: tuple[int, ...], first: int) -> bool:
        """Tells whether the game could go this way from some action on, and the seat would have seen the same."""
        at = self._starts[first]
        spiel = self.nodes[first].spiel.clone()
        while at < len(history):
            if spiel.is_terminal() or spiel.current_player() != self.nodes[at].player:
                return False
            if at in self._seen and self._look(spiel) != self._seen[at]:
                return False
            if spiel.is_simultaneous_node():
                joint = history[at : at + self._rules.seats]
                for player, action in enumerate(joint):
                    own = spiel.legal_actions(player)
                    if own and action not in own:
                        return False
                spiel.apply_actions(joint)
                at += self._rules.seats
                continue
            if history[at] not in spiel.legal_actions():
                return False
            spiel.apply_action(history[at])
            at += 1
        return True


def _legal(spiel: Any, seat: Seat) -> list[int]:
    if spiel.is_terminal() or spiel.is_chance_node():
        return []
    if spiel.is_simultaneous_node() or spiel.current_player() == seat:
        found: list[int] = spiel.legal_actions(seat)
        return found
    return []
