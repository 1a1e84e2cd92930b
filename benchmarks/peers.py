"""A move of a chess tournament beside a decision of ours, all processor time of both, engines and bots included.

fastchess and c-chess-cli are measured if they are on the path. Both play one game that two engines in Python know by
heart. What a program pays once is not in it: the figure is the difference between many games and few.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chess.engine import MOVES
from costs import FEW, INSTANT, Place, decisions
from rows import Row, cost, pin, turn_about

ENGINE = Path(__file__).parent / "chess" / "engine.py"
ROUNDS = 5
CHESS_GAMES = (2, 242)


def fastchess(program: str, games: int) -> list[str]:
    """Returns the command for so many games one at a time."""
    engines = [word for name in "ab" for word in ("-engine", f"cmd={sys.executable}", f"args={ENGINE}", f"name={name}")]
    each = ("-each", "proto=uci", "tc=60", "-games", "2", "-rounds", str(games // 2))
    return [program, *engines, *each, "-concurrency", "1", "-ratinginterval", "0", "-pgnout", "file=games.pgn"]


def c_chess_cli(program: str, games: int) -> list[str]:
    """Returns the command for so many games one at a time."""
    engines = [word for name in "ab" for word in ("-engine", f"cmd={sys.executable} {ENGINE}", f"name={name}")]
    return [program, *engines, "-each", "tc=60", "-games", str(games), "-concurrency", "1", "-pgn", "games.pgn"]


def rows() -> Iterator[Row]:
    """Yields a row for each of the two programs that is there."""
    pin()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        each = decisions(place.played(FEW) / "arena.db")

        def ours() -> float:
            return place.difference(INSTANT, INSTANT) / each * 1e3

        for name, words in (("fastchess", fastchess), ("c-chess-cli", c_chess_cli)):
            if (program := shutil.which(name)) is None:
                print(f"{name} is not on the path: left out", file=sys.stderr)
                continue

            def peer(words=words, program=program) -> float:
                few, many = (cost(words(program, games), place.new()) for games in CHESS_GAMES)
                return many.per(few, (CHESS_GAMES[1] - CHESS_GAMES[0]) * MOVES, 1e6)

            mine, theirs = turn_about([ours, peer], ROUNDS)
            yield Row("a decision of a tournament, all processes", "us", mine, f"a move of {name}, all", theirs)
