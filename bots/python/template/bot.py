"""A bot for Samurai and Samurai Gardener: it takes the first legal play of each request."""

from arena_bot import Bot, run


def first(products):
    """The first play of some products. A product lists the values that each key of a play may have."""
    return {key: values[0] for key, values in products[0].items()}


class MyBot(Bot):
    # "legal" lists the legal plays, "view" shows all that the seat may know, "events" what has happened.
    want = ("legal",)

    def start(self, game):
        """A game begins: what stays the same in it, such as the board, is told now."""
        self.game = game

    def decide(self, request):
        """Answer a request. Here is the place for your own idea."""
        kind, legal = request["kind"], request["legal"]

        # Samurai: choose a hand, put a piece on the board, play a tile or more.
        if kind == "hand":
            return {"hand": legal["hand"][: legal["choose"]]}
        if kind == "setup":
            return first(legal["setup"])
        if kind == "turn":
            # A note is kept in the log; no opponent sees it during the game.
            return {"plays": [first(legal["plays"])]}, "the first will do"

        # Gardener: take a card, plant it, score rows.
        if kind == "seize":
            return first(legal["seize"])
        if kind == "plant":
            return first(legal["plant"])
        return {"rows": [first(legal["score"])]}


run(MyBot())
