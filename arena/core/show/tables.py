"""Lays out tables that fit a terminal of any width from 40 columns on.

Laws:
1. No line is longer than the width.
2. A name keeps at least `LEAST` of its characters, its first and its last ones; a shorter name is whole.
3. Columns leave in a fixed order. An extra column is there only if all names are whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from rich.cells import cell_len
from rich.text import Text

from arena.core.show.layout import wrapper
from arena.core.text import plain

if TYPE_CHECKING:
    from rich.table import Table

LEAST = 12  # how many characters of a name are always left
GAP = 2


class Column(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A column with its cells, from top to bottom."""

    title: str
    cells: Sequence[str]
    """Plain: nothing in them acts on a terminal."""
    leaves: int = 0
    """When it leaves a table that is too wide: 1 is first, 0 is never."""
    extra: bool = False
    """Whether it leaves before a name is shortened."""
    left: bool = False

    @cached_property
    def width(self) -> int:
        """Width of the widest cell or line of the heading."""
        return max(map(cell_len, [*self.title.split("\n"), *self.cells]), default=0)


def elide(name: str, width: int) -> str:
    """Returns a name without its middle if it is wider than `width`. At least `LEAST` of its characters are left.

    >>> elide("shogun-deep-search-2027", 13)
    'shogun…h-2027'
    """
    if len(name) <= LEAST or cell_len(name) <= width:
        return name
    longest = width - 1 if name.isascii() else 2 * width
    for kept in range(min(len(name) - 1, longest), LEAST, -1):
        shorter = _without_middle(name, kept)
        if cell_len(shorter) <= width:
            return shorter
    return min(name, _without_middle(name, LEAST), key=cell_len)


def _without_middle(name: str, kept: int) -> str:
    return f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}"


def least_width(names: Iterable[str]) -> int:
    """Returns the width of the widest name after all that can be shortened are."""
    return max((cell_len(elide(name, 0)) for name in names), default=0)


def fitted(columns: Sequence[Column], names: Sequence[str], width: int) -> Text:
    """Returns a table with the columns that fit. The names, which need not be plain, come after the first column."""
    bots = Column(title="bot", cells=[plain(name) for name in names], left=True)
    least = max(least_width(bots.cells), len(bots.title))
    shown = list(columns)
    leaving = sorted((column for column in columns if column.leaves), key=lambda column: column.leaves)
    for leaves, group in groupby(leaving, key=lambda column: column.leaves):
        needed = bots.width if all(column.extra for column in group) else least
        if _total(shown) + GAP + needed > width:
            shown = [column for column in shown if column.leaves != leaves]
    room = max(least, min(bots.width, width - _total(shown) - GAP))
    bots = msgspec.structs.replace(bots, cells=[elide(name, room) for name in bots.cells])
    return drawn([shown[0], bots, *shown[1:]])


def in_blocks(first: Column, names: Sequence[str], columns: Sequence[Column], width: int) -> Iterator[Text]:
    """Yields tables of the first column, the names (need not be plain), and as many of the other columns as fit."""
    bots = Column(title="bot", cells=[plain(name) for name in names], left=True)
    if _total([first, bots, *columns]) > width:
        room = max(least_width(bots.cells), min(bots.width, width // 3))
        bots = msgspec.structs.replace(bots, cells=[elide(name, room) for name in bots.cells])
    left = list(columns)
    while left:
        block = [first, bots, left.pop(0)]
        while left and _total([*block, left[0]]) <= width:
            block.append(left.pop(0))
        yield drawn(block)


def folding(columns: Sequence[Column], least: int, width: int) -> Table:
    """Returns a table whose second column folds, and whose others are never shortened.

    Args:
        least: How wide the second column is at least, if its cells are.
        width: Of the terminal. The last columns are left out as long as the second one would be too narrow.
    """
    widths = [column.width for column in columns]
    widths[1] = min(widths[1], least)
    shown = len(columns)
    while shown > 2 and sum(widths[:shown]) + shown > width:
        shown -= 1
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns[:shown]):
        justify: Literal["left", "right"] = "left" if column.left else "right"
        table.add_column(column.title, justify=justify, no_wrap=number != 1, overflow="fold")
    for row in zip(*(column.cells for column in columns[:shown]), strict=True):
        table.add_row(*row)
    return table


def wrapped(words: str, width: int) -> Text:
    """Returns a sentence in lines that fit, without spaces at their ends."""
    kept = words.replace(" %", "\ue000%")  # a number and its unit stay on one line
    lines = Text(kept).wrap(wrapper(), width)
    return Text("\n".join(line.plain.rstrip() for line in lines).replace("\ue000", " "))


def _total(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def drawn(columns: Sequence[Column]) -> Text:
    """Returns a table with the names, which are bold, in the second column."""
    titles = [column.title.split("\n") for column in columns]
    height = max(map(len, titles))
    heads = [[*[""] * (height - len(title)), *title] for title in titles]
    lines = [Text(_line(cells)) for cells in zip(*map(_padded, columns, heads), strict=True)]
    lines.append(Text("─" * _total(columns)))
    names = columns[1].cells
    for name, cells in zip(
        names, zip(*(_padded(column, column.cells) for column in columns), strict=True), strict=True
    ):
        line = Text(_line(cells))
        line.stylize("bold", len(cells[0]) + GAP, len(cells[0]) + GAP + len(name))
        lines.append(line)
    return Text("\n").join(lines)


def _padded(column: Column, cells: Sequence[str]) -> Iterator[str]:
    for cell in cells:
        space = " " * (column.width - cell_len(cell))
        yield cell + space if column.left else space + cell


def _line(cells: Sequence[str]) -> str:
    return (" " * GAP).join(cells).rstrip()


def paces_table(workers: Sequence[Mapping[str, Any]], width: int) -> Text | None:
    """Returns by bot the mean time of a decision on the worker of a cluster where it was quickest, and slowest.

    Returns None if there are not two workers to compare.

    Args:
        workers: Each has `worker` and `bots`, and of these each `bot` and `mean_ms`.
    """
    if len(workers) < 2:
        return None
    means: dict[str, dict[str, float]] = {}
    games: Counter[str] = Counter()
    for each in workers:
        for row in each["bots"]:
            means.setdefault(row["bot"], {})[each["worker"]] = row["mean_ms"]
            games[row["bot"]] += row["games"]
    rows = []
    for bot, found in means.items():
        quick, slow = min(found, key=lambda worker: found[worker]), max(found, key=lambda worker: found[worker])
        times = f"{found[slow] / found[quick]:.2f}" if found[quick] else ""
        rows.append((str(games[bot]), f"{found[quick]:.2f}", plain(quick), f"{found[slow]:.2f}", plain(slow), times))
    cells = list(zip(*rows, strict=True))
    return fitted(
        [
            Column(title="games", cells=cells[0]),
            Column(title="quickest\nmean ms", cells=cells[1]),
            Column(title="on\nworker", cells=cells[2], leaves=1, left=True),
            Column(title="slowest\nmean ms", cells=cells[3]),
            Column(title="on\nworker", cells=cells[4], leaves=1, left=True),
            Column(title="times\nas slow", cells=cells[5], leaves=2),
        ],
        list(means),
        width,
    )
