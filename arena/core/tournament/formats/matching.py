"""Finds who meets in a round of Swiss: entrants of about equal points who have not met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import Final, TypeAlias

Met: TypeAlias = Sequence[Mapping[int, int]]
"""Number of times that an entrant has met each other one. Those it has not met are absent."""

MOST_EXACT: Final = 200
"""The most entrants for whom the best pairing is computed; that takes about a second."""
FAR_TABLES: Final = 3
"""Largest number of tables that an entrant goes away to avoid somebody it has met."""


def pairs(order: Sequence[int], points: Sequence[float], met: Met) -> list[tuple[int, int]]:
    """Returns who meets whom.

    Pairs that have met come again only if there is no other way. Of the rest, the points within pairs differ as little
    as possible, and within a group of equal points the upper half meets the lower half, in order.

    Args:
        order: Entrants from the best to the worst; an even number.
    """
    return _best(order, points, met) if len(order) <= MOST_EXACT else _by_groups(order, points, met)


def _best(order: Sequence[int], points: Sequence[float], met: Met) -> list[tuple[int, int]]:
    # Imported when used, like all that is slow to import.
    import networkx

    # Half a point weighs at least as much as all distances of a round together, a repeated pair more than all points.
    gap = max(4_000, len(order) ** 2)
    repeated = 10**6 * gap * len(order)
    half = [size // 2 for size in (len(group) for group in _groups(order, points)) for _ in range(size)]
    graph = networkx.Graph()
    for upper, lower in combinations(range(len(order)), 2):
        one, other = order[upper], order[lower]
        cost = round(gap * (points[one] - points[other]) ** 2) + abs(lower - upper - half[upper])
        graph.add_edge(upper, lower, weight=-cost - repeated * met[one].get(other, 0))
    found = networkx.max_weight_matching(graph, maxcardinality=True)
    return [(order[upper], order[lower]) for upper, lower in sorted((min(pair), max(pair)) for pair in found)]


def _by_groups(order: Sequence[int], points: Sequence[float], met: Met) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    left: list[int] = []
    for group in _groups(order, points):
        paired, left = _fold([*left, *group], met)
        found += paired
    for pair in zip(left[::2], left[1::2], strict=True):
        _place(pair, found, met)
    return found


def _fold(pool: Sequence[int], met: Met) -> tuple[list[tuple[int, int]], list[int]]:
    """Pairs the upper half of a pool with its lower half. Returns the pairs, and who is left."""
    upper, lower = pool[: len(pool) // 2], pool[len(pool) // 2 :]
    free = [True] * len(lower)
    found, left = [], []
    for place, one in enumerate(upper):
        for near in _outward(place, len(lower)):
            if free[near] and lower[near] not in met[one]:
                free[near] = False
                found.append((one, lower[near]))
                break
        else:
            left.append(one)
    left += [other for other, is_free in zip(lower, free, strict=True) if is_free]
    still_left: list[int] = []
    for one in left:
        partner = next((other for other in still_left if other not in met[one]), None)
        if partner is None:
            still_left.append(one)
        else:
            still_left.remove(partner)
            found.append((partner, one))
    return found, still_left


def _place(pair: tuple[int, int], found: list[tuple[int, int]], met: Met) -> None:
    """Adds a pair that has met, and exchanges partners with the lowest pair for which nobody meets again then."""
    one, other = pair
    for place in reversed(range(len(found))):
        third, fourth = found[place]
        for first, second in ((third, fourth), (fourth, third)):
            if first not in met[one] and second not in met[other]:
                found[place] = (first, one)
                found.append((second, other))
                return
    found.append(pair)


def tables(order: Sequence[int], players: int, points: Sequence[float], met: Met) -> list[tuple[int, ...]]:
    """Returns who meets at tables of three or more.

    The tables are filled from the top. Then entrants of near tables change places while that lowers the sum, over all
    tables, of 1,000 times the variance of points and 50 times the square of the number of pairs that have met.

    Args:
        order: Entrants from the best to the worst; so many that all tables are full.
    """

    def cost(table: Sequence[int]) -> float:
        repeated = sum(met[one].get(other, 0) for one, other in combinations(table, 2))
        mean = sum(points[entrant] for entrant in table) / players
        variance = sum((points[entrant] - mean) ** 2 for entrant in table) / players
        return 1_000 * variance + 50 * repeated**2

    found = [list(order[start : start + players]) for start in range(0, len(order), players)]
    costs = [cost(table) for table in found]
    # Filled from the top, the tables have the least variance that is possible. So only those with repeated pairs need
    # a change, and those that a change has touched.
    todo = {place for place, table in enumerate(found) if any(b in met[a] for a, b in combinations(table, 2))}
    while todo:
        place = min(todo)
        todo.remove(place)
        best = (-1e-9, place, 0, 0)
        for far in range(max(0, place - FAR_TABLES), min(len(found), place + FAR_TABLES + 1)):
            if far == place:
                continue
            for mine, theirs in ((a, b) for a in range(players) for b in range(players)):
                _exchange(found[place], mine, found[far], theirs)
                change = cost(found[place]) + cost(found[far]) - costs[place] - costs[far]
                _exchange(found[place], mine, found[far], theirs)
                best = min(best, (change, far, mine, theirs))
        if best[1] != place:
            _, far, mine, theirs = best
            _exchange(found[place], mine, found[far], theirs)
            for changed in (place, far):
                costs[changed] = cost(found[changed])
            todo |= {place, far}
    return [tuple(table) for table in found]


def _exchange(table: list[int], place: int, other: list[int], there: int) -> None:
    table[place], other[there] = other[there], table[place]


def _groups(order: Sequence[int], points: Sequence[float]) -> list[list[int]]:
    """Returns the entrants by equal points, from the best to the worst."""
    return [list(group) for _, group in groupby(order, key=lambda entrant: points[entrant])]


def _outward(middle: int, length: int) -> Iterator[int]:
    """Yields all numbers below a length, from the middle outward."""
    for distance in range(length):
        if middle + distance < length:
            yield middle + distance
        if distance and 0 <= middle - distance < length:
            yield middle - distance
