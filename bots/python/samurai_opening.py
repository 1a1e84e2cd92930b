"""The set-up of Samurai: the first hand, and where to put a piece."""

from samurai import CASTES

HAND = ("buddha4", "rice4", "castle4", "samurai3", "ship2")
"""The first hand: what can win a piece of any caste at once. A weak hand to begin with lost clearly more games."""


def settle(realm, view, legal):
    """Puts a caste near pieces of its own, so that one tile serves two; else keeps the supply even.

    Returns the best of the legal plays, and its score.
    """
    pieces = {(settlement, caste) for caste in CASTES for settlement in view["pieces"][caste]}
    best = None
    for product in legal:
        for space in product["space"]:
            near = [other for around in realm.around[space] for other in realm.near[around] if other != space]
            for caste in product["caste"]:
                score = sum((other, caste) in pieces for other in near) * 2 + view["supply"][caste]
                rank = (-score, CASTES.index(caste), space)
                if best is None or rank < best[0]:
                    best = rank, {"caste": caste, "space": space}
    return best[1], -best[0][0]
