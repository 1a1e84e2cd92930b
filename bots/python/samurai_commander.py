"""What daimyo and shogun do alike: they read requests, open the game, and know which turns look best by themselves."""

from arena_bot import Bot
from samurai_majorities import evaluate, stakes
from samurai_opening import HAND, settle
from samurai_requests import Reader
from samurai_turns import Gauge, Node, TurnSearch


class Outlook:
    """A position as the seat to move sees it at the beginning of its turn."""

    def __init__(self, reader, view):
        realm = reader.realm
        self.position = reader.position(view)
        self.stakes = stakes(realm, self.position, reader.seat)
        self.following = reader.following(view)
        """By seat, the one that has the turn after it."""
        self.gauges = [
            Gauge(realm, seat, following, stake)
            for seat, (following, stake) in enumerate(zip(self.following, self.stakes, strict=True))
        ]
        """By seat."""


class Commander(Bot):
    """A bot for Samurai, but for `turn`. A method for each kind returns plays and a note."""

    want = ("view", "events", "legal")
    finalists = 12
    """How many of the turns that gain most to first order are weighed exactly."""

    def start(self, game):
        self.reader = Reader(game)

    def decide(self, request):
        self.reader.listen(request)
        plays, note = getattr(self, request["kind"])(request["view"], request["legal"])
        return {"plays": plays}, note

    def hand(self, view, legal):
        return [{"hand": list(HAND)}], "strength for every caste"

    def setup(self, view, legal):
        play, score = settle(self.reader.realm, view, legal)
        return [play], f"score {score}"

    def turn(self, view, legal):
        """Decides a turn: returns its plays and a note."""
        raise NotImplementedError

    def ranked(self, outlook, view, legal, enough=None):
        """Returns the turns that look best: (chance to win, plays). `enough` says when to stop looking."""
        reader = self.reader
        seat, position = reader.seat, outlook.position
        search = TurnSearch(reader.customs, reader.choices(view, legal), enough)
        found = search.run(Node(outlook.gauges[seat], position.at, position.garrisons))
        weighed = []
        for _, plays, node in found[: self.finalists]:
            chances = evaluate(reader.realm, node.position(position, plays), outlook.following[seat])
            weighed.append((chances[seat], plays))
        return sorted(weighed, key=lambda turn: -turn[0])
