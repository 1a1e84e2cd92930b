"""Which of several turns is the best, by what follows them in guessed worlds.

All that are still in the race are tried in the same worlds, under the same luck, and the worst of them drop out again
and again: so the effort goes where the choice is open.
"""

PRIOR = 80
"""As how many worlds the first guess of a turn's worth counts: many, for what a round brings is mostly luck."""
FIELD = 16
"""How many turns are compared at first."""
DEPTH = 3
"""How many turns a rollout goes on after the one that is to be chosen, at least: it includes one of the own seat."""


class Candidate:
    """A turn that may be the best."""

    __slots__ = ("_total", "plays", "state", "tried")

    def __init__(self, plays, chance, state):
        self.plays, self.state = plays, state
        self._total, self.tried = PRIOR * chance, 0

    def add(self, chance):
        """Takes note of one more rollout."""
        self._total += chance
        self.tried += 1

    @property
    def chance(self):
        """Returns how likely this turn is to win, as far as is known."""
        return self._total / (self.tried + PRIOR)


def compare(turns, rollouts, state, worlds, spent):
    """Returns the turn that does best, and how many rollouts that took.

    Args:
        turns: Pairs of a chance to win, as it looks at once, and plays; the best first.
        rollouts: How games go on.
        state: The engine's state before the turn.
        worlds: Where to take worlds from.
        spent: The share of the effort that is spent after so many rollouts: the search ends when it is 1.
    """
    field = [Candidate(plays, chance, rollouts.play(state, plays)) for chance, plays in turns[:FIELD]]
    first, count = len(field), 0
    depth = max(DEPTH, rollouts.seats)
    while len(field) > 1 and spent(count) < 1:
        world = worlds.sample()
        for candidate in field:
            candidate.add(rollouts.run(candidate.state, world, depth))
            count += 1
            if spent(count) >= 1:
                break
        field.sort(key=lambda candidate: -candidate.chance)
        field = field[: max(2, round(first * max(0, 1 - spent(count)) ** 2))]
    return field[0], count
