"""Samurai Gardener in the numbers that a policy has learnt: as arena's environments give them, without arena."""

KINDS = ("tatami", "path", "pond", "garden")
POINTS = {3: 1, 4: 2, 5: 4}
"""What a row brings, by its length."""
MOST_ROWS = 12
"""The most rows that a card can make."""
NEAR = [(x, y) for x in range(-2, 3) for y in range(-3, 4) if (abs(x), abs(y)) != (2, 3)]
"""From a card to the places that touch it."""


class Table:
    """The numbers of one game, from the message `game_start`."""

    def __init__(self, game):
        self.cards = len(game["board"]["cards"])
        self.most_cards = 1 + (self.cards - game["seats"]) // 2
        """Cards that a garden can have."""
        self.rows = self.cards + 2 * len(NEAR) * self.most_cards
        """The action of the first row."""
        self.actions = self.rows + 2 * len(NEAR) * self.most_cards + 1

    def numbers(self, view):
        """Returns a view as numbers."""
        seats = len(view["scores"])
        found = [view["round"], view["deck"], number_of(view["next"])]
        found += [card in view["offer"] for card in range(self.cards)]
        for turn in range(seats):
            seat = (view["seat"] + turn) % seats
            found += [(seat - view["starter"]) % seats, view["scores"][seat], seat in view["forfeited"]]
            found += [number_of(view["taken"][seat]), *[kind in view["features"][seat] for kind in KINDS]]
            rows = view["rows"][seat]
            for row in rows:
                found += [*row["at"], row["along"] == "down", 1 + KINDS.index(row["kind"]), row["length"]]
            found += [0] * 5 * (MOST_ROWS - len(rows))
            garden = view["gardens"][seat]
            for card, x, y, turned in garden:
                found += [1 + card, x, y, turned]
            found += [0] * 4 * (self.most_cards - len(garden))
        return found

    def plays(self, view, legal):
        """Returns the legal plays by their actions; the play {} ends a decision."""
        garden = view["gardens"][view["seat"]]
        found = {}
        for product in legal:
            for card in product.get("card", ()):
                found[card] = {"card": card}
            for at in product.get("at", ()):
                place = 2 * place_of(garden, at)
                for turned in product.get("turned", ()):
                    found[self.cards + place + turned] = {"at": at, "turned": turned}
                for along in product.get("along", ()):
                    found[self.rows + place + (along == "down")] = {"at": at, "along": along}
                    found[self.actions - 1] = {}
        return found

    def after(self, view, play, plays):
        """Returns the view and the plays after a play of the same decision; no plays where nothing is left of it."""
        if "along" not in play:
            return view, {}
        seat = view["seat"]
        row = next(row for row in view["rows"][seat] if (row["at"], row["along"]) == (play["at"], play["along"]))
        left = [other for other in view["rows"][seat] if other != row]
        face_up = [kind for kind in view["features"][seat] if kind != row["kind"]] or list(KINDS)
        view = {
            **view,
            "rows": replaced(view["rows"], seat, left),
            "features": replaced(view["features"], seat, face_up),
            "scores": replaced(view["scores"], seat, view["scores"][seat] + POINTS[row["length"]]),
        }
        return view, self.plays(view, [{"at": [r["at"]], "along": [r["along"]]} for r in left if r["kind"] in face_up])


def number_of(card):
    """Returns the number that stands for a card, or for none."""
    return 0 if card is None else 1 + card


def place_of(garden, at):
    """Returns the number of a place: which card it is the first to touch, and where from there."""
    for number, (_, x, y, _) in enumerate(garden):
        offset = at[0] - x, at[1] - y
        if offset in NEAR:
            return number * len(NEAR) + NEAR.index(offset)
    raise ValueError(f"expected a place that touches the garden, got: {at}")


def replaced(values, at, value):
    """Returns a list with another value at one place."""
    return [*values[:at], value, *values[at + 1 :]]
