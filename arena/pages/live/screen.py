"""What runs now on a terminal: standings, one game with its board, and the other games. It prints nothing.

Laws:
1. The board stays at its place: the lines above it are as many whatever happens.
2. What is not public is shown only if the operator asked for all hands.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from functools import partial
from typing import Final

from rich.text import Text

from arena.core.face import errors, layouts, plain, ranking_tables, replays, scenes, seat_styles, text_tables
from arena.pages.live.games import SOURCE, Games, LiveGame, ended
from arena.pages.live.scores import Scores, after

NEEDED: Final = scenes.LEAST_HEIGHT + 6
"""Lines that a screen needs."""
_STANDINGS: Final = 3
"""Bots that are shown above the board at least."""
_NAMES: Final = 30
KEYS: Final = (
    ("n p", "the next and the previous running game; stays with it to its end"),
    ("a", "the running game that began last"),
    ("s", "all standings, and back"),
    ("f", "the last finished games, and back"),
    ("? q", "these keys; quit"),
)


class Screen:
    """What somebody watches on a terminal.

    Args:
        games: The games of which the feed tells.
    """

    def __init__(self, games: Games, *, hands: bool = False) -> None:
        self._games = games
        self._hands = hands
        self._onlooker: replays.Onlooker | None = None
        self._game: LiveGame | None = None
        self._seen = 0
        self._place = scenes.Shift()
        self._none = ""
        """Text where no running game can be listed."""
        self._page = ""
        """Name of what is shown instead of the board: `standings`, `finished` or `keys`."""

    def press(self, key: str) -> bool:
        """Does what a key says. Returns whether to go on."""
        if key in ("q", "Q", ""):
            return False
        pages = {"s": "standings", "f": "finished", "?": "keys"}
        if key in pages:
            self._page = "" if self._page == pages[key] else pages[key]
            return True
        self._page = ""
        if key == "a":
            self._look_at_newest()
        elif key in ("n", "p") and self._games.running:
            running = list(self._games.running)
            at = running.index(self._game.id) if self._game is not None and self._game.id in running else -1
            self._look_at(self._games.running[running[(at + (1 if key == "n" else -1)) % len(running)]])
        return True

    def draw(self, scores: Scores, error: str, width: int, height: int) -> list[Text]:
        """Returns what is on the screen."""
        if width < scenes.LEAST_WIDTH or height < NEEDED:
            told = f"This needs {scenes.LEAST_WIDTH} columns and {NEEDED} lines, not {width} and {height}. Or q quits."
            return [Text(line) for line in textwrap.wrap(told, max(1, width))][:height]
        title = _title(scores, error, width)
        self._none = self._games.none_running(time.monotonic(), played=scores.running)
        if self._page:
            pages = {"standings": _standings(scores, height - 2, width), "finished": self._finished(width)}
            lines = [title, *pages.get(self._page, _keys())][: height - 1]
            return [*lines, *(Text() for _ in range(height - 1 - len(lines))), Text(" any key: back ", "reverse")]
        rows = _STANDINGS + max(0, height - NEEDED - 6) // 3
        above = [title, *_standings(scores, rows + 1, width)]
        above += [Text() for _ in range(rows + 2 - len(above))]
        return [*above, self._others(width), *self._board(width, height - len(above) - 1)]

    def _board(self, width: int, height: int) -> list[Text]:
        self._choose()
        bar = Text(" live  n p games  s standings  ? keys ", "reverse")
        if self._onlooker is not None and self._game is not None:
            try:
                for record in self._game.records[self._seen :]:
                    self._onlooker.see(record)
                    self._seen += 1
                page = self._onlooker.page(self._onlooker.frame(), bar, width, height, self._place)
                self._place = page.place
                return page.lines
            except errors.LogError:  # a bug of ours, or of the game: the next game is shown
                self._onlooker = None
        words = self._none if self._game is None else "This game cannot be shown."
        return [Text(words, "dim"), *(Text() for _ in range(height - 2)), bar]

    def _choose(self) -> None:
        """Stays with a game to its end, and goes on to the one that began last."""
        running = self._games.running
        is_running = self._game is not None and running.get(self._game.id) is self._game and self._game.is_whole
        if is_running or not running:
            return
        self._look_at_newest()

    def _look_at_newest(self) -> None:
        if new := [game for game in self._games.running.values() if game.is_whole]:
            self._look_at(new[-1])

    def _look_at(self, game: LiveGame) -> None:
        if game is not self._game:
            self._game, self._seen, self._place = game, 0, scenes.Shift()
            self._onlooker = replays.Onlooker(game.header, SOURCE, None if self._hands else seat_styles.EVERYBODY)

    def _others(self, width: int) -> Text:
        """Returns a line on the other games: how many run, and how the last one ended."""
        count = len(self._games.running)
        line = Text(f"{count} running" if count else self._none.rstrip("."), "dim")
        if self._games.finished:
            line.append("; last: ").append(ended(self._games.finished[0].summary()))
        line.truncate(width, overflow="ellipsis")
        return line

    def _finished(self, width: int) -> list[Text]:
        lines = [Text("Last finished", "bold")]
        for game in self._games.finished:
            line = Text(ended(game.summary()))
            line.truncate(width, overflow="ellipsis")
            lines.append(line)
        return lines if len(lines) > 1 else [*lines, Text("None since the watch began.", "dim")]


def _title(scores: Scores, error: str, width: int) -> Text:
    if not scores.id:
        return Text(layouts.clip(error or "Nothing has been played yet.", width), "bold")
    count = f"{scores.done} games" if scores.games is None else f"{scores.done} of {scores.games} games"
    state = "finished" if scores.finished else "running" if scores.running else "nobody plays now"
    end = f"  {count}, {state}{after(scores)}"
    title = Text(layouts.clip(scores.title, width - len(end)), "bold")
    return title.append(end, "dim")


def _standings(scores: Scores, most: int, width: int) -> list[Text]:
    """Returns a head and as many rows as there is room for."""
    value, counts = ("score", "") if scores.cooperative else ("rating", "   W   D   L")
    head = Text(f"{'#':>3} {'bot':{_NAMES}} {value:>7} {'± 95 %':>7} {'games':>6}{counts} forfeits", "dim")
    lines = [head, *map(partial(_row, scores.cooperative), scores.ranks[: most - 1], scores.rows)]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _row(cooperative: bool, rank: str, row: ranking_tables.Standing) -> Text:
    name = text_tables.elide(plain(row.bot), _NAMES)
    rating = "-" if row.rating is None else f"{row.rating:.1f}"
    half = "-" if row.half_width is None else f"{row.half_width:.1f}"
    padded = Text(name)
    padded.append(" " * (_NAMES - padded.cell_len))
    counts = "" if cooperative else f" {row.wins:>3} {row.draws:>3} {row.losses:>3}"
    figures = f" {rating:>7} {half:>7} {row.games:>6}{counts} {row.forfeits:>8}"
    return Text(f"{rank:>3} ").append_text(padded).append(figures).append(f"  {row.display_name}", "dim")


def _keys() -> Iterator[Text]:
    yield Text("Keys", "bold")
    for keys, what in KEYS:
        yield Text.assemble((f"  {keys:<6}", "bold"), what)
