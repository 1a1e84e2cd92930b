"""A chess engine of one game that it knows by heart: each side answers at once with its next move, until mate.

So what a match of it costs is what the program costs that runs the match, and two pipes.
"""

from __future__ import annotations

import sys

GAME = (
    "g1h3 e7e5 h1g1 g7g5 g2g4 f8e7 h3f4 b8a6 f4d5 b7b6 d5c3 d7d5 g1g3 d8d7 b2b4 e8f8 h2h4 f8g7 g3g2 d7e8 f2f4 g5f4 "
    "d2d3 a6b8 g2f2 h7h5 c3e4 e8c6 e4d6 c6b7 b1c3 g7h7 f2f4 h5g4 e1d2 e7f8 f4f3 f8d6 d3d4 b8d7 c3b1 e5d4 h4h5 a8b8 "
    "f3f6 a7a5 f6f5 b7a7 f5d5 a7a8 d5c5 d6c5 d2d3 g8f6 e2e4 b6b5 b4c5 c7c6 d1g4 b8b7 c1d2 a5a4 d2e3 a8a6 e3d2 a6a7 "
    "g4g1 a7a6 d2h6 d7e5 d3e2 f6d7 e2d1 e5g6 d1e1 b7b6 f1d3 h7h6 h5g6 h8d8 e4e5 d7c5 a2a3 d8d6 e1e2 a6a5 c2c4 f7f6 "
    "g6g7 c5a6 e2f3 c8h3 g1g6"
)
MOVES = GAME.count(" ") + 1
"""Moves of both sides in a game."""


def moves_made(words: list[str]) -> int:
    """Returns how many moves lie before a position: `startpos moves …`, or `fen …` of a later one `moves …`."""
    if words[1] == "startpos":
        return max(0, len(words) - 3)
    return 2 * (int(words[7]) - 1) + (words[3] == "b") + max(0, len(words) - 9)


def main() -> None:
    made, moves = 0, GAME.split()
    write, flush = sys.stdout.write, sys.stdout.flush
    for line in sys.stdin:
        word = line[:4]
        if word == "posi":
            made = moves_made(line.split())
        elif word.startswith("go"):
            write(f"info depth 1 score cp 0\nbestmove {moves[made]}\n")
            flush()
        elif word == "isre":
            write("readyok\n")
            flush()
        elif line == "uci\n":
            write("id name canned\nid author arena\nuciok\n")
            flush()
        elif word == "quit":
            return


if __name__ == "__main__":
    main()
