"""From pieces to victory: the chance of each seat to win the game, by what is captured and how the battles stand.

A seat leads a caste if it has more of its pieces than any other seat; whoever leads two castes has won. How many
pieces a seat will have is taken as normally distributed: mean and variance add up from its chances in the battles.
"""

from math import erf, exp, sqrt

from samurai_battles import CASTES_OF

CASTES = range(3)
SET_ASIDE_LIMIT = 4
"""The game ends when so many pieces are set aside."""
TINY = 1e-9
"""So that where no caste can be led nothing is divided by 0."""
PIECE = 0.02
"""What a piece is worth in chance to win where it seems to decide nothing."""


class Position:
    """A position at the end of a turn, or at its beginning."""

    __slots__ = ("at", "captured", "garrisons", "reserves", "set_aside")

    def __init__(self, at, garrisons, captured, set_aside, reserves):
        self.at = at
        """By space, the code of what lies there."""
        self.garrisons = garrisons
        self.captured = captured
        """By seat, the captured pieces by caste."""
        self.set_aside = set_aside
        """How many pieces are set aside."""
        self.reserves = reserves
        """By seat, what the tiles that it has not yet played promise."""


def promise(realm, tiles):
    """By caste, how many pieces tiles that are not played yet can be expected to win."""
    each = realm.promises
    return [sum([each[tile][caste] for tile in tiles]) for caste in CASTES]


def evaluate(realm, position, following):
    """By seat the chance to win after a turn: pieces of surrounded settlements count as taken.

    `following` has the next turn.
    """
    means, variances, taken = prospects(realm, position, following)
    return victory(means, variances, realm.lore) if taken is None else final(taken)


def prospects(realm, position, following):
    """Returns what can be expected of each caste.

    Returns:
        By caste and seat, how many pieces the seat is expected to have in the end; by caste, the variance of the
        difference between two seats; and if the game is over, by caste and seat the pieces captured, else None.
    """
    at, aside = position.at, position.set_aside
    front_of, chances = realm.front, realm.chances
    taken = [[own[caste] for own in position.captured] for caste in CASTES]
    means = [[0.0] * realm.seats for _ in CASTES]
    variances = [0.0, 0.0, 0.0]
    open_castes = 0
    for settlement, mask in position.garrisons.masks.items():
        front = front_of(settlement, at)
        empty = front[0]
        if empty:
            open_castes |= mask
        for caste in CASTES_OF[mask]:
            odds = chances(empty, front[caste + 1], following)
            if empty:
                mean = means[caste]
                doubt = 1.0
                for seat, chance in enumerate(odds):
                    mean[seat] += chance
                    doubt -= chance * chance
                variances[caste] += doubt
            elif 1.0 in odds:
                taken[caste][odds.index(1.0)] += 1
            else:
                aside += 1
    if open_castes != 7 or aside >= SET_ASIDE_LIMIT:
        return means, variances, taken
    for caste, mean in enumerate(means):
        sure = taken[caste]
        for seat, reserve in enumerate(position.reserves):
            mean[seat] += sure[seat] + reserve[caste]
    scale = 2 / (realm.seats - 1)
    return means, [variance * scale for variance in variances], None


def victory(means, variances, lore):
    """By seat the chance to win the game, by what can be expected of each caste."""
    spread = [lore.spread * variance for variance in variances]
    lead = [leads(mean, variance, lore) for mean, variance in zip(means, spread, strict=True)]
    # Where nobody leads two castes, it is between those who lead one, and decided by the pieces of the others.
    others = []
    for expected, led in zip(zip(*means, strict=True), zip(*lead, strict=True), strict=True):
        inside = sum([mean * chance for mean, chance in zip(expected, led, strict=True)]) / (sum(led) + TINY)
        others.append(sum(expected) - lore.outside * inside)
    highest, pull = max(others), lore.pull / sqrt(sum(spread) + lore.pull_doubt * lore.pull_doubt)
    wins, weights = [], []
    for a, b, c, other in zip(*lead, others, strict=True):
        wins.append(a * b + a * c + b * c - 2 * a * b * c)
        weights.append((1 - (1 - a) * (1 - b) * (1 - c) + lore.slack) * exp(pull * (other - highest)))
    share = (1 - sum(wins)) / sum(weights)
    return [win + share * weight for win, weight in zip(wins, weights, strict=True)]


def leads(means, variance, lore):
    """By seat the chance to lead a caste, of which the seats are expected to have so many pieces, more or less."""
    scale, least = 1 / sqrt(2 * (variance + lore.doubt * lore.doubt)), lore.lead
    chances = []
    for seat, own in enumerate(means):
        chance = 1.0
        for other, mean in enumerate(means):
            if other != seat:
                chance *= 0.5 + 0.5 * erf((own - mean - least) * scale)
        chances.append(chance)
    return chances


def final(captured):
    """By seat the share in the victory when the game is over, by caste and seat the pieces that it has captured."""
    seats = range(len(captured[0]))
    scores = []
    for seat in seats:
        own = [pieces[seat] for pieces in captured]
        led = [
            caste for caste in CASTES if own[caste] == max(captured[caste]) and captured[caste].count(own[caste]) == 1
        ]
        scores.append((len(led), sum(own) - sum([own[caste] for caste in led]), sum(own)))
    best = max(scores)
    return [(score == best) / scores.count(best) for score in scores]


def stakes(realm, position, following):
    """What a piece matters: by seat, caste and seat, how much likelier the first wins if the last expects one more."""
    means, variances, _ = prospects(realm, position, following)
    seats = range(realm.seats)
    matter = [[[0.0] * realm.seats for _ in CASTES] for _ in seats]
    for caste, mean in enumerate(means):
        for other in seats:
            known = mean[other]
            mean[other] = known + 0.5
            more = victory(means, variances, realm.lore)
            mean[other] = known - 0.5
            less = victory(means, variances, realm.lore)
            mean[other] = known
            for seat in seats:
                least = PIECE if seat == other else -PIECE / (realm.seats - 1)
                matter[seat][caste][other] = more[seat] - less[seat] + least
    return matter
