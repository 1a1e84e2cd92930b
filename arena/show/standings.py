"""Shows standings and cross-table as tables for people, and says what was played."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arena.games import game, names
from arena.text import plain
from arena.types import Termination

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from arena.types import Forfeit


def game_text(settings: Mapping[str, Any]) -> str:
    """Returns what a tournament's settings play: `samurai standard`, `samurai custom: basic with captures=instant`.

    Custom options are described by their differences from the closest ruleset.
    """
    played = settings["game"]
    rules, options = played["rules"], played["options"]
    words = f"{rules} {played['ruleset']}"
    if played["ruleset"] == "custom" and rules in names():
        differing = {
            name: [f"{option}={value}" for option, value in options.items() if ruleset.options.get(option) != value]
            for name, ruleset in game(rules).rulesets.items()
        }
        nearest = min(differing, key=lambda name: len(differing[name]))
        words += f": {' with '.join(filter(None, [nearest, ' '.join(differing[nearest])]))}"
    return plain(words)


def subject_text(settings: Mapping[str, Any]) -> str:
    """Returns a heading for a tournament's settings: `samurai standard, 2 players, board japan`."""
    played = settings["game"]
    board = f", board {played['board']['name']}" if played["board"] else ""
    return plain(f"{game_text(settings)}, {played['players']} players{board}")


def standings_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Returns the standings as a table for 80 columns; `rows` are those of the JSON document.

    There is a column of mean scores if the game has scores.
    """
    scored = any(row["mean_score"] is not None for row in rows)
    columns = ("#", "bot", "rating", "mu", "sigma", "games", "W", "D", "L", "for-\nfeits", "mean\nms", "max\nms")
    table = _table(*columns, *(["mean\nscore"] if scored else []))
    for row in rows:
        table.add_row(
            str(row["rank"]),
            _words(f"{row['bot']} {row['version']}"),
            f"{row['conservative']:.2f}",
            f"{row['mu']:.2f}",
            f"{row['sigma']:.2f}",
            *(str(row[key]) for key in ("games", "wins", "draws", "losses", "forfeits")),
            f"{row['mean_ms']:.1f}",
            f"{row['max_ms']:.0f}",
            *([_score(row["mean_score"])] if scored else []),
        )
    return table


def _score(mean: float | None) -> str:
    return "" if mean is None else f"{mean:.1f}"


def crosstable_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Returns each bot's score, in per cent, against each other bot; `rows` are those of the JSON document."""
    table = _table("#", "bot", *(str(number) for number in range(1, len(rows) + 1)))
    for number, row in enumerate(rows):
        cells = [f"{score['score']:.0%}" if score["games"] else "" for score in row["against"]]
        table.add_row(str(number + 1), _words(row["bot"]), *cells[:number], "·", *cells[number:])
    return table


def forfeit_text(forfeit: Forfeit, bot: str, ref: str, files: Mapping[str, str], *, brief: bool = False) -> str:
    """Returns why a bot lost: the forfeit's sentence with its name and the turn.

    Args:
        forfeit: The forfeit.
        bot: Its name in the tournament.
        ref: How the operator named it, so that they can name it again.
        files: The paths of what was kept, by kind; the `log` is one.
        brief: Whether to leave out the files, its last words, and the command that reruns it.
    """
    seat = f"seat {forfeit.seat}"
    lines = [f"{bot} ({seat}, turn {forfeit.turn}) {forfeit.sentence.removeprefix(f'{seat} ')}"]
    if not brief:
        lines += [f"  {kind}: {path}" for kind, path in files.items()]
        lines += [f"  its last words: {line}" for line in _last_words(forfeit.stderr)]
        if forfeit.code is not Termination.START_FAILED:
            again = ["arena", "bot", "rerun", files["log"], ref, "--seat", str(forfeit.seat)]
            lines.append(f"  ask it again: {shlex.join(again)}")
    return "\n".join(map(plain, lines))


_PLACE = re.compile(r'File ".+", line \d+|[\w./-]+\.[A-Za-z]\w*:\d+')
"""Matches a file and a line, as tracebacks of Python and of most other languages have them."""


def _last_words(lines: Sequence[str]) -> list[str]:
    """Returns where and how a bot crashed: the last line that names a file and a line, and the last line of all."""
    places = [line.strip() for line in lines if _PLACE.search(line)]
    last = [line.strip() for line in lines[-1:]]
    return last if places[-1:] == last else places[-1:] + last


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        if column == "bot":
            table.add_column(column, style="bold", overflow="fold", vertical="top")
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table


def _words(text: str) -> Text:
    from rich.text import Text

    return Text(plain(text))
