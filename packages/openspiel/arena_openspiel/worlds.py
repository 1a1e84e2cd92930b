"""Other worlds that a seat cannot tell from this one: actions that it has not seen are exchanged.

OpenSpiel resamples the states of few games itself. Here draws and plays of others are exchanged: one for another that
was possible, or two for each other, as where cards are dealt. Then all that followed is played again. The other world
counts if the game can go that way and the seat sees the same at every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from arena.rules.base import Choose
from arena.types import Seat

if TYPE_CHECKING:
    from arena_openspiel.game import Spiel, State

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
    course = _Course(rules, state.history, seat)
    history, chosen = list(state.history), dict(state.chosen)
    shown = rules.view(state, seat)
    places = course.places
    unseen = [player for player in chosen if player != seat]
    found = 0
    for _ in range(max(TRIES, WORK // len(history)) if places else 0):
        changed = _exchanged(course, history, choose)
        if changed is None:
            continue
        other, first = changed
        if course.is_possible(other, first) and rules.view(_state(state, other, chosen), seat) == shown:
            history = other
            found += 1
            if found == ENOUGH:
                break
    for player in unseen:
        actions = rules.node(tuple(history)).legal.get(player, [])
        if actions:
            chosen[player] = actions[choose(len(actions))]
    return _state(state, history, chosen)


def _state(like: State, history: list[int], chosen: dict[Seat, int]) -> State:
    return type(like)(tuple(history), tuple(sorted(chosen.items())))


def _exchanged(course: _Course, history: list[int], choose: Choose) -> tuple[list[int], int] | None:
    """Returns a history in which one action is another one, or two have changed places, and where it differs first."""
    places = course.places
    pick = places[-LATEST:] if choose(2) else places
    place = pick[choose(len(pick))]
    other = list(history)
    if choose(2):
        partner = places[choose(len(places))]
        if history[place] == history[partner]:
            return None
        other[place], other[partner] = history[partner], history[place]
        return other, min(place, partner)
    actions = [action for action in course.actions(history, place) if action != history[place]]
    if not actions:
        return None
    other[place] = actions[choose(len(actions))]
    return other, place


class _Course:
    """How a game went, as far as it matters to a seat."""

    def __init__(self, rules: Spiel, history: tuple[int, ...], seat: Seat) -> None:
        self._rules = rules
        self._seat = seat
        self._starts: list[int] = []
        """For each action of the history where its step begins: several are one step where seats decide at once."""
        self._players: list[int] = []
        """Who made each action, in OpenSpiel's numbers."""
        self._seen: dict[int, tuple[object, ...]] = {}
        """What the seat saw before each step."""
        self.places: list[int] = []
        """The actions that the seat did not make."""
        spiel = rules.game.new_initial_state()
        at = 0
        while at < len(history):
            if not rules.remembers:
                self._seen[at] = self._look(spiel)
            if spiel.is_simultaneous_node():
                legal = [spiel.legal_actions(player) for player in range(rules.seats)]
                self.places += [at + player for player, own in enumerate(legal) if player != seat and len(own) > 1]
                self._starts += [at] * rules.seats
                self._players += range(rules.seats)
                spiel.apply_actions(list(history[at : at + rules.seats]))
                at += rules.seats
                continue
            player = spiel.current_player()
            if player != seat:
                self.places.append(at)
            self._starts.append(at)
            self._players.append(player)
            spiel.apply_action(history[at])
            at += 1

    def _look(self, spiel: Any) -> tuple[object, ...]:
        """Returns what the seat sees of a position."""
        rules, seat = self._rules, self._seat
        return rules.read_text(spiel, seat), tuple(_legal(spiel, seat))

    def actions(self, history: list[int], place: int) -> list[int]:
        """Returns the actions that were possible where one of a history was made."""
        start = self._starts[place]
        node = self._rules.node(tuple(history[:start]))
        return node.draws[0] if node.is_chance else node.legal.get(self._players[place], [])

    def is_possible(self, history: list[int], first: int) -> bool:
        """Tells whether the game could go this way from some action on, and the seat would have seen the same."""
        at = self._starts[first]
        spiel = self._rules.node(tuple(history[:at])).spiel.clone()
        while at < len(history):
            if spiel.is_terminal() or spiel.current_player() != self._player_at(at):
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

    def _player_at(self, at: int) -> int:
        """Returns whose step begins at an action, in OpenSpiel's numbers."""
        import pyspiel

        is_joint = at + 1 < len(self._starts) and self._starts[at + 1] == at
        return int(pyspiel.PlayerId.SIMULTANEOUS) if is_joint else self._players[at]


def _legal(spiel: Any, seat: Seat) -> list[int]:
    if spiel.is_terminal() or spiel.is_chance_node():
        return []
    if spiel.is_simultaneous_node() or spiel.current_player() == seat:
        found: list[int] = spiel.legal_actions(seat)
        return found
    return []
