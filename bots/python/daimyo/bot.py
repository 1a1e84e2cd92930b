"""Searches its whole turn, fast tiles, switch and move included, for the best chance to win the majorities."""

import os
import sys

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from arena_bot import run
from samurai_commander import Commander, Outlook
from samurai_requests import told, wire


class Daimyo(Commander):
    name = "daimyo"
    version = "1.0"
    rules = (("samurai", 1),)

    def turn(self, view, legal):
        outlook = Outlook(self.reader, view)
        turns = self.ranked(outlook, view, legal)
        chance, plays = turns[0]
        note = f"{chance:.0%} to win after {told(plays)}; {len(turns)} turns weighed"
        return [wire(play) for play in plays], note


if __name__ == "__main__":
    run(Daimyo())
