"""Shows the rounds of a tournament as text: a Swiss table, a knockout's bracket, the open pairs of an adaptive one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import msgspec
from rich.cells import cell_len
from rich.text import Text

from arena.core.progress import Met, Neighbour, Progress, RoundProgress
from arena.core.show.layout import shelves
from arena.core.show.standings import percent
from arena.core.show.tables import Column, elide, fitted, in_blocks, least_width, wrapped
from arena.core.text import plain


def swiss_text(progress: Progress, width: int) -> Text:
    """Returns how a Swiss tournament stands."""
    signs = "3+ is a round won against number 3 of this table, 3= drawn, 3- lost; a percentage is a mean share."
    return Text("\n\n").join([swiss_table(progress.rounds, progress.points or {}, width), wrapped(signs, width)])


def bracket_text(progress: Progress, width: int) -> Text:
    """Returns how a knockout stands."""
    first = [bot for bot, place in (progress.places or {}).items() if place == 1]
    return bracket(progress.rounds, width, winner=first[0] if len(first) == 1 else None)


def adaptive_text(progress: Progress, width: int) -> Text:
    """Returns how an adaptive tournament stands."""
    return adaptive_table(progress.neighbours, progress.needed, width)


def swiss_table(rounds: Sequence[RoundProgress], points: Mapping[str, float], width: int) -> Text:
    """Returns whom each bot met in each round, and how it ended.

    `3+` means that it won against number 3 of this table, `3=` that they drew, `3-` that it lost, and `3` that they
    still play. At a table of three or more it is the bot's mean share.
    """
    place = {bot: str(number) for number, bot in enumerate(points, 1)}
    columns = [
        Column(title="points", cells=[f"{round(number, 2):g}" for number in points.values()]),
        *(Column(title=str(number), cells=_outcomes(shown, place)) for number, shown in enumerate(rounds, 1)),
    ]
    blocks = in_blocks(Column(title="#", cells=list(place.values())), list(points), columns, width)
    return Text("\n\n").join(blocks)


def _outcomes(shown: RoundProgress, place: Mapping[str, str]) -> list[str]:
    """Returns what each bot did in a round, in the order of the table."""
    outcome = dict.fromkeys(shown.byes, "bye")
    for met in shown.meetings:
        for bot, share in zip(met.bots, met.shares or [None] * len(met.bots), strict=True):
            others = [place[other] for other in met.bots if other != bot]
            if len(others) > 1:
                outcome[bot] = "" if share is None else percent(share)
            else:
                outcome[bot] = others[0] + (_sign(share) if met.done and share is not None else "")
    return [outcome.get(bot, "") for bot in place]


def _sign(share: float) -> str:
    return "=" if share == 0.5 else "+" if share > 0.5 else "-"


def bracket(rounds: Sequence[RoundProgress], width: int, *, winner: str | None = None) -> Text:
    """Returns a knockout as a bracket, from left to right. A winner stands beside the second of the two that met.

    Rounds for which there is no room, the match for the third place, and rounds with more than two bots at a table are
    listed above or below. Replays count with the meeting that they decide.

    Args:
        winner: Who won the final; None if that is open.
    """
    stages = _stages(rounds)
    names = {plain(bot) for stage in stages for met in stage.meetings for bot in met.bots}
    tree = [stage for stage in stages if stage.title != THIRD and all(len(met.bots) == 2 for met in stage.meetings)]
    while tree and _room(len(tree), width) < least_width(names):
        tree = tree[1:]
    if len(tree) < 2:
        return Text("\n").join(line for stage in stages for line in _listed(stage, width))
    above = [stage for stage in stages if stage not in tree and stage.title != THIRD]
    room = min(_room(len(tree), width), max(map(cell_len, names)))
    lines = [line for stage in above for line in [*_listed(stage, width), Text()]]
    lines += _Tree(tree, room).lines(winner)
    lines += [line for stage in stages if stage.title == THIRD for line in [Text(), *_listed(stage, width)]]
    return Text("\n").join(lines)


THIRD = "third place"
"""Title of the round in which the losers of the semi-finals meet."""
_BESIDE = 8  # what a column of a bracket has beside a name: a share, the line to the next column, and spaces


def _room(stages: int, width: int) -> int:
    """Returns how wide names of a bracket may be; there is one more column, for the winner."""
    return (width - _BESIDE * stages) // (stages + 1)


def _stages(rounds: Sequence[RoundProgress]) -> list[RoundProgress]:
    stages = []
    for title, group in groupby(rounds, key=lambda shown: shown.title.partition(",")[0]):
        parts = list(group)
        ties: dict[frozenset[str], Met] = {}
        for met in (met for shown in parts for met in shown.meetings):
            key = frozenset(met.bots)
            ties[key] = _added(ties[key], met) if key in ties else met
        stages.append(RoundProgress(title=title, meetings=tuple(ties.values()), byes=parts[0].byes))
    return stages


def _added(first: Met, replay: Met) -> Met:
    """Returns a meeting with its replay: the shares of all deals together."""
    if not (first.shares and replay.shares):
        return msgspec.structs.replace(first if first.shares else replay, done=replay.done)
    again = dict(zip(replay.bots, replay.shares, strict=True))
    deals = first.deals + replay.deals
    shares = tuple(
        (share * first.deals + again[bot] * replay.deals) / deals
        for bot, share in zip(first.bots, first.shares, strict=True)
    )
    return Met(bots=first.bots, shares=shares, deals=deals, done=replay.done)


def _shares(met: Met) -> list[str]:
    return [f"{share:.0%}" for share in met.shares] if met.shares else [""] * len(met.bots)


def _listed(stage: RoundProgress, width: int) -> list[Text]:
    """Returns a round as its title, and blocks of those who met, side by side."""
    names = [bot for met in stage.meetings for bot in met.bots] + list(stage.byes)
    room = min(max(cell_len(plain(name)) for name in names), width - _BESIDE)
    blocks = [[_entry(*cells, room) for cells in zip(met.bots, _shares(met), strict=True)] for met in stage.meetings]
    blocks += [[_entry(bot, "bye", room)] for bot in stage.byes]
    lines = [Text("  ") + line if line else line for line in shelves(blocks, width - 2)]
    for line in lines:
        line.rstrip()
    return [Text(elide(plain(stage.title), width), style="bold"), *lines]


def _entry(bot: str, share: str, room: int) -> Text:
    name = elide(plain(bot), room)
    return Text(f"{name}{' ' * (room - cell_len(name))} {share:>4}")


class _Tree:
    """A bracket on a grid: a row for each bot that begins, a column for each round."""

    def __init__(self, stages: Sequence[RoundProgress], room: int) -> None:
        self._stages = stages
        self._room = room
        self._met = [{bot: met for met in stage.meetings for bot in met.bots} for stage in stages]
        self._rows: list[list[str]] = []
        self._ends: list[int] = []
        """The rows in which a meeting ends that no other follows."""
        for column in range(len(stages) - 1, -1, -1):
            later = self._met[column + 1] if column + 1 < len(stages) else {}
            for met in stages[column].meetings:
                if not any(bot in later for bot in met.bots):
                    self._ends.append(self._place(met, column))

    def lines(self, winner: str | None) -> list[Text]:
        """Returns the grid, below the titles of its rounds."""
        wide = self._room + _BESIDE
        heads = [elide(plain(stage.title), wide - 1) for stage in self._stages]
        titles = "".join(f"{head}{' ' * (wide - cell_len(head))}" for head in heads)
        if winner is not None and self._ends:
            self._rows[self._ends[0]].append(elide(plain(winner), self._room))
        return [Text(titles.rstrip(), style="bold"), *(Text("".join(row).rstrip()) for row in self._rows)]

    def _place(self, met: Met, column: int) -> int:
        """Writes a meeting, and those before it that led to it. Returns the row in which its winner goes on."""
        before = self._met[column - 1] if column else {}
        ends = [self._place(before[bot], column - 1) if bot in before else self._begin() for bot in met.bots]
        first, last = ends
        for row in range(first, last + 1):
            self._rows[row] += [" " * (self._room + _BESIDE)] * (column - len(self._rows[row]))
            self._rows[row].append(f"{' ' * (self._room + 5)} │ ")
        for bot, share, row, mark in zip(met.bots, _shares(met), ends, "┐┴", strict=True):
            self._rows[row][column] = f"{_entry(bot, share, self._room).plain} {mark} "
        return last

    def _begin(self) -> int:
        self._rows.append([])
        return len(self._rows) - 1


def adaptive_table(neighbours: Sequence[Neighbour], needed: float | None, width: int) -> Text:
    """Returns what is known about each bot and the next one, and how many pairs are open; `needed` settles a pair."""
    numbers = [str(number) for number in range(1, len(neighbours) + 1)]
    met = [shown for shown in neighbours if shown.verdict is not None]
    columns = [
        Column(title="#", cells=numbers),
        Column(title="than the\nnext", cells=[shown.verdict or "" for shown in neighbours], leaves=4, left=True),
        Column(title="deals", cells=[str(shown.deals) if shown.verdict else "" for shown in neighbours], leaves=3),
        Column(
            title="share", cells=["" if shown.share is None else percent(shown.share) for shown in neighbours], leaves=1
        ),
        Column(title="evidence", cells=[_odds(shown.evidence) for shown in neighbours], leaves=2),
    ]
    table = fitted(columns, [shown.bot for shown in neighbours], width)
    left = sum(shown.verdict == "open" for shown in met)
    table.append(f"\n{left} of {len(met)} neighbours open." if left else "\nThe order is settled.")
    if needed is not None:
        table.append(f"\n{_odds(needed)} settles a pair.")
    return table


def _odds(evidence: float | None) -> str:
    if evidence is None:
        return ""
    return "> 9,999 : 1" if evidence > 9999 else f"{evidence:.3g} : 1" if evidence < 100 else f"{evidence:,.0f} : 1"
