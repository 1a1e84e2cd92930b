"""Shows standings and cross-table as tables for people and as rows for CSV, and says what was played."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET, UnsetType

from arena.core.catalogue import game, is_installed
from arena.core.ratings.running import BETA
from arena.core.text import plain
from arena.core.types import Termination, is_cooperative, own_times

if TYPE_CHECKING:
    from rich.text import Text

    from arena.core.show.tables import Column
    from arena.core.types import Forfeit
MUCH_MS: Final = 100
"""CPU time of a game that is not worth a word: runtimes collect garbage and compile when they find time."""
MUCH_SHARE: Final = 0.5
"""So much of its opponents' time: they may have lacked what the bot took."""


def game_text(settings: Mapping[str, Any]) -> str:
    """Returns what a tournament's settings play: `samurai standard`, `samurai custom: basic with captures=instant`.

    Custom options are described by their differences from the closest ruleset.
    """
    played = settings["game"]
    rules, options = played["rules"], played["options"]
    words = f"{rules} {played['ruleset']}"
    if played["ruleset"] == "custom" and is_installed(rules):
        differing = {
            name: [f"{option}={value}" for option, value in options.items() if ruleset.options.get(option) != value]
            for name, ruleset in game(rules).rulesets.items()
        }
        nearest = min(differing, key=lambda name: len(differing[name]))
        words += f": {' with '.join(filter(None, [nearest, ' '.join(differing[nearest])]))}"
    return plain(words)


def players_text(players: int, teams: Sequence[int] | UnsetType | None) -> str:
    """Returns how many play, and who with whom.

    >>> players_text(2, None), players_text(3, (0, 0, 0)), players_text(4, (0, 1, 0, 1))
    ('2 players', '3 players together', '4 players, seats 0 and 2 against 1 and 3')
    """
    if teams is None or teams is UNSET:
        return f"{players} players"
    if is_cooperative(teams):
        return f"{players} players together"
    found: dict[int, list[str]] = {}
    for seat, team in enumerate(teams):
        found.setdefault(team, []).append(str(seat))
    return f"{players} players, seats {' against '.join(' and '.join(seats) for seats in found.values())}"


def between(teams: Sequence[int] | UnsetType | None) -> str:
    """Returns the word between the names of those who play a game.

    >>> between(None), between((0, 1, 0, 1)), between((0, 0))
    ('v.', 'v.', 'and')
    """
    return "and" if is_cooperative(teams) else "v."


def local_time(utc: str) -> str:
    """Returns a stored moment as local time, to the minute."""
    return f"{datetime.fromisoformat(utc).astimezone():%Y-%m-%d %H:%M}"


def subject_text(settings: Mapping[str, Any]) -> str:
    """Returns a heading for a tournament's settings: `swiss, samurai standard, 2 players, board japan, isolated`.

    A round-robin is not named, nor is the level `trusted`, since most tournaments are so.
    """
    played, format = settings["game"], settings.get("format", "round-robin")
    named = "" if format == "round-robin" else f"{format}, "
    board = f", board {played['board']['name']}" if played["board"] else ""
    seated = players_text(played["players"], played.get("teams"))
    level = "" if (confined := settings.get("level", "trusted")) == "trusted" else f", {confined}"
    return plain(f"{named}{game_text(settings)}, {seated}{board}{level}{times_text(settings)}")


def times_text(settings: Mapping[str, Any]) -> str:
    """Returns what is said of entrants with a time of their own: `, fox at 5+0.05`; mostly nothing."""
    return plain("".join(f", {name} at {time}" for name, time in own_times(settings).items()))


_BARS = "▁▂▃▄▅▆▇█"


def sparklines(courses: Mapping[str, Sequence[float]]) -> dict[str, str]:
    """Returns by bot the course of a number as a line of bars, all on one scale.

    >>> sparklines({"up": [0, 1, 7], "down": [7, 3, 0]})
    {'up': '▁▂█', 'down': '█▄▁'}
    """
    numbers = [number for course in courses.values() for number in course]
    least, most = min(numbers, default=0.0), max(numbers, default=0.0)
    step = (most - least) / (len(_BARS) - 1) or 1.0
    return {bot: "".join(_BARS[round((number - least) / step)] for number in course) for bot, course in courses.items()}


def rank_texts(ranks: Sequence[int]) -> list[str]:
    """Returns ranks for people: one that several share has a sign of equality.

    >>> rank_texts([1, 1, 3])
    ['1=', '1=', '3']
    """
    count = Counter(ranks)
    return [f"{rank}{'=' if count[rank] > 1 else ''}" for rank in ranks]


_COSTS: dict[str, Callable[[Any], str]] = {"tokens": "{:,}".format, "dollars": "{:,.2f}".format, "retries": str}
"""Columns of costs by the notes of bots; mostly there are none."""


def standings_table(
    rows: Sequence[Mapping[str, Any]],
    width: int,
    *,
    verbose: bool = False,
    courses: Mapping[str, Sequence[float]] | None = None,
    more: Sequence[Column] = (),
) -> Text:
    """Returns the standings as a table; `rows` are those of the JSON document.

    What fits 80 columns is always there, the rest if it was asked for. Columns leave a narrow terminal in the order of
    `leaves`. A column without any value, such as the mean score of a game that has no scores, is left out.

    Args:
        courses: By bot how its rating moved, for a line of bars.
        more: Columns that come after the names.
    """
    from arena.core.show.tables import Column, fitted

    def column(title: str, key: str, form: Callable[[Any], str], leaves: int, *, extra: bool = False) -> Column:
        cells = ["" if row.get(key) is None else form(row[key]) for row in rows]
        return Column(title=title, cells=cells, leaves=leaves, extra=extra)

    ranks = rank_texts([row["rank"] for row in rows])
    single = " " if any(rank.endswith("=") for rank in ranks) else ""
    ranks = [rank if rank.endswith("=") else rank + single for rank in ranks]
    cooperative = is_by_score(rows)
    lines = {} if cooperative else sparklines(courses or {})
    results = [
        column("W", "wins", str, 5, extra=True),
        column("D", "draws", str, 5, extra=True),
        column("L", "losses", str, 5, extra=True),
    ]
    score = column("mean\nscore", "mean_score", "{:.1f}".format, 15 if cooperative else 4, extra=not cooperative)
    basic = [
        *([score, column("95 %", "score_half_width", "±{:.1f}".format, 14)] if cooperative else ()),
        column("rating", "rating", "{:.1f}".format, 15),
        column("95 %", "half_width", interval_text, 14),
        Column(title="ranks", cells=_open_ranks(rows), leaves=9),
        column("mu", "mu", "{:.2f}".format, 12),
        column("sigma", "sigma", "{:.2f}".format, 12),
        column("points", "points", percent, 13),
        column("games", "games", str, 11),
        column("forfeits", "forfeits", str, 10),
        *(column(name, name, form, 6) for name, form in _COSTS.items()),
    ]
    rest = [
        column("ahead\nof next", "ahead_of_next", lambda likely: percent(min(max(likely, 0.0001), 0.9999)), 9),
        Column(title="course", cells=[lines.get(row["bot"], "") for row in rows], leaves=7, extra=True, left=True),
        *(() if cooperative else (*results, score)),
        column("mean\nms", "mean_ms", "{:.1f}".format, 8),
        column("max\nms", "max_ms", "{:.0f}".format, 3, extra=True),
        column("off turn\nms", "mean_off_turn_ms", "{:.0f}".format, 6, extra=True),
        Column(title="version", cells=[_version(row) for row in rows], leaves=1, extra=True, left=True),
    ]
    # The last one: what is written from right to left, or looks like another's name, then touches nothing else.
    shown = Column(title="shown as", cells=[plain(row.get("display_name", "")) for row in rows], leaves=2, left=True)
    columns = [Column(title=f"#{single}", cells=ranks), *more, *basic, *(rest if verbose else ()), shown]
    return fitted([column for column in columns if any(column.cells)], [row["bot"] for row in rows], width)


def _open_ranks(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns which ranks are open for each bot, where the shared ranks do not tell: why bots that lie apart share one.

    >>> _open_ranks([{"rank": 1, "worst_rank": 2}, {"rank": 1, "worst_rank": 3}, {"rank": 3, "worst_rank": 3}])
    ['1-2', '1-3', '3']
    """
    spans = [(row["rank"], row.get("worst_rank")) for row in rows]
    sharing = Counter(rank for rank, _ in spans)
    if all(worst in (None, rank + sharing[rank] - 1) for rank, worst in spans):
        return [""] * len(rows)
    return ["" if worst is None else f"{rank}-{worst}" if worst > rank else str(rank) for rank, worst in spans]


def is_by_score(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tells whether standings are those of a cooperative game: there are games, and no ratings."""
    return any(row["games"] for row in rows) and all(row["rating"] is None and row["mu"] is None for row in rows)


def _version(row: Mapping[str, Any]) -> str:
    """Returns the version; nothing where the bot's name in the table has it already, because versions compete."""
    bot, version = plain(row["bot"]), plain(row["version"])
    return "" if bot.endswith(f" {version}") or f" {version} (" in bot else version


def interval_text(number: float) -> str:
    """Returns how close the true rating is to the one that is shown, with 95 %: half the width of its interval."""
    return f"±{number:.1f}" if number else "fixed"


def percent(number: float) -> str:
    """Returns a share in per cent. Only all is 100 %, only nothing is 0 %.

    >>> [percent(number) for number in (0.5, 0.9962, 0.9999, 1.0)]
    ['50 %', '99.6 %', '> 99.9 %', '100 %']
    """
    if 0.9995 <= number < 1:
        return "> 99.9 %"
    if 0 < number < 0.0005:
        return "< 0.1 %"
    return f"{number:.1%}".replace("%", " %") if 0 < number < 0.01 or 0.99 < number < 1 else f"{100 * number:.0f} %"


ENOUGH_DEALS = 10
"""That of `arena.core.ratings.refit`, which is slow to import."""
MOST_GROUPS = 6
"""Number of groups of bots with a shared rank that are named, and of bots of each."""


def order_text(order: Mapping[str, Any] | None, rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns what is settled among the entrants of a document, and what a difference of ratings means."""
    if order is None:
        together = "All seats win or lose together: mean scores are compared. "
        return f"{together}Ranks differ where intervals lie apart (95 %)." if is_by_score(rows) else ""
    if not order["open"]:
        settled = "Order settled (95 %, all pairs at once)."
    elif len(order["open"][0]) == sum(row["games"] > 0 for row in rows):
        settled = "Order open: no bot is shown to be better than another (95 %, all pairs at once)."
    else:
        groups = [_equals(names) for names in order["open"]]
        more = [f"{len(groups) - MOST_GROUPS} more groups"] if len(groups) > MOST_GROUPS else []
        settled = f"Order settled (95 %, all pairs at once) but for: {'; '.join([*groups[:MOST_GROUPS], *more])}."
    rough = "" if order["enough"] else f"Too few deals, under {ENOUGH_DEALS}: the intervals are rough. "
    won = round(50 * (1 + math.erf(0.5)))
    if _lie_apart(rows):
        settled += " An interval is about one bot alone, so that equal bots may lie apart among many."
    return f"{rough}{settled} Ratings are relative; {BETA:.1f} apart means {won} : {100 - won}."


def _lie_apart(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tells whether two bots share a rank whose intervals do not touch."""
    ends: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row.get("half_width") is not None:
            ends[row["rank"]].append((row["rating"] - row["half_width"], row["rating"] + row["half_width"]))
    return any(max(low for low, _ in shared) > min(high for _, high in shared) for shared in ends.values())


def _equals(names: Sequence[str]) -> str:
    shown = [plain(name) for name in names]
    if len(shown) > MOST_GROUPS:
        shown = [*shown[: MOST_GROUPS - 1], f"… ({len(shown)} bots)"]
    return " = ".join(shown)


def crosstable_table(rows: Sequence[Mapping[str, Any]], width: int) -> Text:
    """Returns each bot's share, in per cent, against each other bot; `rows` are those of the JSON document.

    What does not fit beside each other comes in blocks of columns, one below the other.
    """
    from rich.text import Text

    from arena.core.show.tables import Column, in_blocks

    bots = [row["bot"] for row in rows]
    place = {row["bot"]: number for number, row in enumerate(rows)}
    cells = [["·" if one == other else "" for one in range(len(rows))] for other in range(len(rows))]
    for number, row in enumerate(rows):
        for met in row["against"]:
            if met["games"]:
                cells[place[met["bot"]]][number] = f"{met['score']:.0%}"
    numbers = Column(title="#", cells=[str(number) for number in range(1, len(rows) + 1)])
    columns = [Column(title=str(number), cells=cells[number - 1]) for number in range(1, len(rows) + 1)]
    blocks = list(in_blocks(numbers, bots, columns, width))
    return Text("\n\n").join(blocks)


_FIRST = ("rank", "bot", "version", "rating", "half_width", "ahead_of_next", "points")
CROSSTABLE_COLUMNS = ("bot", "against", "games", "better", "equal", "worse", "share")


def standings_columns(rows: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """Returns the columns of standings as CSV: all keys of the JSON document's rows, the most important ones first."""
    return [*_FIRST, *(key for row in rows[:1] for key in row if key not in _FIRST)]


def crosstable_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yields a row for each bot and each other bot that it met; `rows` are those of the JSON document."""
    for row in rows:
        for met in row["against"]:
            yield {**met, "bot": row["bot"], "against": met["bot"], "share": met["score"]}


def forfeit_text(forfeit: Forfeit, bot: str, ref: str, files: Mapping[str, str]) -> str:
    """Returns why a bot lost: the forfeit's sentence with its name and the turn.

    Args:
        ref: How the operator named it, so that they can name it again.
        files: What else there is to say, by what it is: the paths of what was kept; the `log` is one.
    """
    seat = f"seat {forfeit.seat}"
    lines = [f"{bot} ({seat}, turn {forfeit.turn}) {forfeit.sentence.removeprefix(f'{seat} ')}"]
    lines += [f"  {kind}: {path}" for kind, path in files.items()]
    lines += [f"  its last words: {line}" for line in _last_words(forfeit.stderr)]
    if forfeit.code is not Termination.START_FAILED:
        again = ["arena", "bot", "rerun", files["log"], ref, "--seat", str(forfeit.seat)]
        lines.append(f"  ask it again: {shlex.join(again)}")
    return "\n".join(map(plain, lines))


_PLACE = r'File ".+", line \d+|[\w./-]+\.[A-Za-z]\w*:\d+'
"""Matches a file and a line, as tracebacks of Python and of most other languages have them."""


def _last_words(lines: Sequence[str]) -> list[str]:
    """Returns where and how a bot crashed: the last line that names a file and a line, and the last line of all."""
    places = [line.strip() for line in lines if re.search(_PLACE, line)]
    last = [line.strip() for line in lines[-1:]]
    return last if places[-1:] == last else places[-1:] + last


def off_turn_lines(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns a sentence for each bot that computed for much of its opponents' time; `rows` are like a `Tally`."""
    return [
        f"{plain(row['bot'])} computed while others were to move: {row['mean_off_turn_ms']:,.0f} ms of CPU a game, "
        f"{100 * row['off_turn_share']:.0f} % of the time that they thought. --level strict prevents that."
        for row in rows
        if (row["mean_off_turn_ms"] or 0) >= MUCH_MS and (row["off_turn_share"] or 0) >= MUCH_SHARE
    ]
