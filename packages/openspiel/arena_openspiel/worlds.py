"""Other worlds that a seat cannot tell from this one: actions that it has not seen are exchanged.

OpenSpiel resamples the states of few games itself. Here draws and plays of others are exchanged: one for another that
was possible, or two for each other, as where cards are dealt. Then all that followed is played again. The other world
counts if the game can go that way and the seat sees the same at every step.

A world in which a seat sees something certain is found in the same way, step by step nearer to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from operator import ne
from typing import TYPE_CHECKING, Any, Final

from arena.core.face import Payload, Seat, game_kit

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


def other_world(rules: Spiel, state: State, seat: Seat, choose: game_kit.Choose) -> State:
    """Returns another state that a seat cannot tell from this one, or the same where none was found."""
    course = _Course(rules, state, seat)
    known = rules.known(state, seat)
    found = 0
    for _ in range(max(TRIES, WORK // len(state.history)) if course.places else 0):
        changed = course.changed(choose)
        if changed is not None and course.take_if(changed, rules.known(changed, seat) == known):
            found += 1
            if found == ENOUGH:
                break
    node, chosen = rules.node(course.state), dict(state.chosen)
    for player in chosen:
        if player != seat and player in node.legal:
            chosen[player] = node.legal[player][choose(len(node.legal[player]))]
    return rules.state(node, course.state.history, tuple(sorted(chosen.items())))


def world_where(
    rules: Spiel, state: State, seat: Seat, wanted: Payload, choose: game_kit.Choose, tries: int
) -> State | None:
    """Returns a state in which a seat sees something, and saw the same before; None if none was found.

    Args:
        rules: The game.
        state: Where the search begins: the seat sees something like it there.
        seat: Whose view it is.
        wanted: What it is to see.
        choose: Makes every choice.
        tries: The number of exchanges that are tried. One is kept if the seat then sees nothing less like it.
    """
    course = _Course(rules, state, seat)
    distance = _distance(rules.view(state, seat), wanted)
    while tries and (any(distance) or rules.view(course.state, seat) != wanted):
        tries -= 1
        changed = course.changed(choose, everywhere=True) if course.places else None
        if changed is not None:
            other = _distance(rules.view(changed, seat), wanted)
            if course.take_if(changed, other <= distance):
                distance = other
    return course.state if tries else None


def _distance(view: Payload, wanted: Payload) -> tuple[int, int]:
    """Returns how little two views are alike: by legal actions and the characters of each line, then by their order."""
    others, moved = len({*view["actions"]} ^ {*wanted["actions"]}), 0
    for line, other in zip_longest(view["text"].splitlines(), wanted["text"].splitlines(), fillvalue=""):
        if line != other:
            one, two = Counter(line), Counter(other)
            others += (one - two).total() + (two - one).total()
            moved += sum(map(ne, line, other))
    return others, moved


class _Course:
    """How a game may have gone, as far as it matters to a seat."""

    def __init__(self, rules: Spiel, state: State, seat: Seat) -> None:
        self._rules = rules
        self._seat = seat
        self._refused: set[tuple[int, ...]] = set()
        """The histories that were looked at, and not taken."""
        self._starts: list[int] = []
        """For each action of the history where its step begins: several are one step where seats decide at once."""
        self._seen: dict[int, tuple[object, ...]] = {}
        """What the seat saw before each step."""
        self.places: list[int] = []
        """The actions that the seat did not make."""
        self._take(state)
        while (at := len(self._starts)) < len(state.history):
            node = self._nodes[at]
            if not rules.remembers:
                self._seen[at] = self._look(node.spiel)
            if node.spiel.is_simultaneous_node():
                self.places += [at + player for player, own in node.legal.items() if player != seat and len(own) > 1]
                self._starts += [at] * rules.seats
            else:
                self.places += [at] if node.player != seat else []
                self._starts.append(at)

    def changed(self, choose: game_kit.Choose, everywhere: bool = False) -> State | None:
        """Returns a state after other actions, if they were possible and the seat saw the same before each step.

        Args:
            choose: Makes every choice.
            everywhere: Whether two numbers may change places wherever others did them, too: so a card that was dealt,
                passed and played becomes another in one step.
        """
        other, first = self._exchanged(choose, *((1, 4) if everywhere else (LATEST, 2)))
        if first is None or other in self._refused:
            return None
        if not self._is_possible(other, first):
            self._refused.add(other)
            return None
        node = self._nodes[first].through(other[self._starts[first] :])
        return self._rules.state(node, other, self.state.chosen)

    def take_if(self, state: State, wanted: bool) -> bool:
        """Takes the game to have gone so if that is wanted, and returns whether it is."""
        if wanted:
            self._take(state)
        else:
            self._refused.add(state.history)
        return wanted

    def _take(self, state: State) -> None:
        self.state, node = state, self._rules.node(state)
        self._nodes = [node]
        """The position in which each action was done, and then the last one."""
        while node.before is not None:
            self._nodes += [node.before] * len(node.actions)
            node = node.before
        self._nodes.reverse()

    def _exchanged(self, choose: game_kit.Choose, latest: int, ways: int) -> tuple[tuple[int, ...], int | None]:
        """Returns a history with actions exchanged, and where it differs first; None if it does not."""
        places, history = self.places, self.state.history
        pick = places[-latest:] if choose(2) else places
        place = pick[choose(len(pick))]
        action, how = history[place], choose(ways)
        other = list(history)
        if how == 0:
            actions = [one for one in self._actions(place) if one != action]
            if not actions:
                return history, None
            other[place] = actions[choose(len(actions))]
            return tuple(other), place
        partner = places[choose(len(places))]
        instead = history[partner]
        if action == instead:
            return history, None
        if how == 1:
            other[place], other[partner] = instead, action
            return tuple(other), min(place, partner)
        for at in places:
            other[at] = {action: instead, instead: action}.get(history[at], history[at])
        return tuple(other), next(at for at in places if other[at] != history[at])

    def _actions(self, place: int) -> Sequence[int]:
        """Returns the actions that were possible where one was made."""
        node = self._nodes[place]
        if node.draw is not None:
            return node.draws[0]
        return node.legal.get(place - self._starts[place] if node.spiel.is_simultaneous_node() else node.player, [])

    def _is_possible(self, history: tuple[int, ...], first: int) -> bool:
        """Tells whether the game could go this way from some action on, and the seat would have seen the same."""
        at = self._starts[first]
        spiel = self._nodes[first].spiel.clone()
        while at < len(history):
            if spiel.is_terminal() or spiel.current_player() != self._nodes[at].player:
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

    def _look(self, spiel: Any) -> tuple[object, ...]:
        """Returns what the seat sees of a position."""
        rules, seat = self._rules, self._seat
        return rules.read_text(spiel, seat), tuple(_legal(spiel, seat))


def _legal(spiel: Any, seat: Seat) -> list[int]:
    if spiel.is_terminal() or spiel.is_chance_node():
        return []
    if spiel.is_simultaneous_node() or spiel.current_player() == seat:
        found: list[int] = spiel.legal_actions(seat)
        return found
    return []
