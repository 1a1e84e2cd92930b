"""Draws standings and the course of ratings with matplotlib, as SVG or PNG.

1. matplotlib is imported when something is drawn: that takes a second.
2. The same figures give the same bytes: no date, no random identifiers, and nobody's own settings of matplotlib.
3. A picture is drawn once, in the colours of light pages. `darkened` gives those of dark ones.
4. Names are text: matplotlib would read `$` as mathematics.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from arena.core.face import plain, progress, text_tables, true_skill
from arena.pages.exhibits import exhibits_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from arena.core.face import Reader

INK: Final = "#33291c"
FAINT: Final = "#655a4a"
LINE: Final = "#d9cfba"
LINK: Final = "#0b5cad"
COLOURS: Final = ("#b5381e", "#8a6800", "#0b63a5", "#00714f", "#6a3d9a", "#b80070", "#5d4a2f", "#2f4858")
"""Colours of the first bots' lines; further ones have that of `LINE`."""
DARK: Final[Mapping[str, str]] = {
    INK: "#ece7dc",
    FAINT: "#b3ab9c",
    LINE: "#414754",
    LINK: "#8fc1ff",
    **dict(
        zip(
            COLOURS,
            ("#ff9d8a", "#f0c419", "#7cc4ee", "#5fd3a8", "#c9a5f5", "#ff8ccb", "#d3b98f", "#a9c3d6"),
            strict=True,
        )
    ),
}
"""Colour of a dark page, by that of a light one."""
POINTS: Final = 150
"""The most points of a rating's curve."""
LABEL: Final = 18
"""Characters of a name beside its line."""
BAND: Final = 1.96
"""Half the width of a band of 95 %, in deviations."""

_DPI: Final = 144


class RatingCurve(msgspec.Struct, frozen=True):
    """How a running rating moved."""

    name: str
    points: Sequence[tuple[int, float, float]]


class Interval(msgspec.Struct, frozen=True):
    """A rating with its interval."""

    name: str
    rating: float
    half_width: float


def courses_svg(courses: Sequence[RatingCurve]) -> bytes:
    """Returns the running ratings with their bands over the games, best first, as SVG in the colours of light pages."""
    with _drawing(6.4, 3.7) as figure:
        axes = figure.add_axes((0.065, 0.085, 0.735, 0.89))
        _draw_courses(axes, courses)
        return _saved(figure, "svg")


def tuned_svg(tuned: Sequence[progress.Tuned]) -> bytes:
    """Returns where parameters were after each round, within their ranges, as SVG in the colours of light pages."""
    with _drawing(6.4, 3.7) as figure:
        axes = figure.add_axes((0.065, 0.085, 0.685, 0.89))
        _draw_tuned(axes, tuned)
        return _saved(figure, "svg")


def plot_of_standings(document: Any, title: str, form: str, reader: Reader | None) -> bytes:
    """Returns standings as a picture; arguments are those of `arena.core.plugs.plot`."""
    rows = [row for row in document.standings if row.rating is not None]
    courses = []
    if reader is not None:
        id = document.tournament.id
        moved = exhibits_of(reader).rating_courses(id, reader.rated(id), POINTS)
        numbers = {entrant.name: entrant.number for entrant in reader.entrants(id)}
        courses = [RatingCurve(row.bot, moved.get(numbers[row.bot], ())) for row in rows]
    intervals = [Interval(row.bot, row.rating, row.half_width or 0.0) for row in rows]
    return standings_plot(intervals, courses, title, form)


def standings_plot(intervals: Sequence[Interval], courses: Sequence[RatingCurve], title: str, form: str) -> bytes:
    """Returns a figure for a report: ratings with their intervals, and beside them how the running ratings moved.

    Args:
        intervals: The ratings, best first.
        courses: The same bots' courses; empty leaves that part out.
        form: `svg` or `png`.
    """
    height = max(2.6, 0.8 + 0.28 * len(intervals))
    with _drawing(11.0 if courses else 6.0, max(height, 3.6) if courses else height) as figure:
        figure.patch.set_facecolor("white")
        figure.text(0.015, 0.97, plain(title), color=INK, fontsize=11, weight="bold", va="top", parse_math=False)
        left, right = (0.13, 0.36) if courses else (0.2, 0.76)
        axes = figure.add_axes((left, 0.12, right, 0.73))
        _draw_intervals(axes, intervals)
        if courses:
            axes.set_title("rating, 95 %", color=FAINT, fontsize=8.5, loc="left")
            beside = figure.add_axes((0.55, 0.12, 0.36, 0.73))
            _draw_courses(beside, courses)
            beside.set_title("running rating over games, 95 %", color=FAINT, fontsize=8.5, loc="left")
        return _saved(figure, form)


def darkened(svg: bytes) -> bytes:
    """Returns an SVG picture of this module in the colours of dark pages."""
    text = svg.decode()
    for light, dark in DARK.items():
        text = text.replace(light, dark)
    return text.encode()


@contextmanager
def _drawing(width: float, height: float) -> Iterator[Figure]:
    """Yields an empty figure of so many inches, whatever the user's settings of matplotlib are."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its font cache
    import matplotlib
    from matplotlib.figure import Figure

    own: Any = {"svg.fonttype": "none", "svg.hashsalt": "arena", "font.family": "DejaVu Sans", "font.size": 8.5}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name may have letters that the font lacks
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(own)
        yield Figure(figsize=(width, height), facecolor="none")


def _saved(figure: Figure, form: str) -> bytes:
    file = io.BytesIO()
    about: dict[str, Any] = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    figure.savefig(file, format=form, dpi=_DPI, metadata=about)
    return file.getvalue()


def _plain_axes(axes: Axes) -> None:
    axes.set_facecolor("none")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, colors=FAINT)
    axes.set_axisbelow(True)


def _draw_courses(axes: Axes, courses: Sequence[RatingCurve]) -> None:
    from matplotlib.ticker import MaxNLocator

    _plain_axes(axes)
    axes.grid(axis="y", color=LINE, linewidth=0.7)
    drawn = list(enumerate(courses))
    last = max((course.points[-1][0] + 1 for course in courses if course.points), default=1)
    ends = []
    alpha = 0.13 if len(courses) <= 4 else 0.07
    for place, course in reversed(drawn):  # the best lie above
        colour = COLOURS[place] if place < len(COLOURS) else LINE
        games = [0, *(game + 1 for game, _, _ in course.points)]
        means = [true_skill.MU, *(mu for _, mu, _ in course.points)]
        widths = [true_skill.MU * BAND / 3, *(BAND * sigma for _, _, sigma in course.points)]
        if course.points and course.points[-1][0] + 1 < last:  # it stays where it is
            games, means, widths = [*games, last], [*means, means[-1]], [*widths, widths[-1]]
        if place < len(COLOURS):
            low = [mean - width for mean, width in zip(means, widths, strict=True)]
            high = [mean + width for mean, width in zip(means, widths, strict=True)]
            axes.fill_between(games, low, high, color=colour, alpha=alpha, linewidth=0, step="post")
            ends.append((means[-1], course.name, colour))
        width = 1.7 if place < len(COLOURS) else 0.9
        axes.plot(games, means, color=colour, linewidth=width, solid_joinstyle="round", drawstyle="steps-post")
    means = [mu for course in courses for _, mu, _ in course.points] or [true_skill.MU]
    room = max(4.0, 0.12 * (max(means) - min(means)))
    axes.set_ylim(min(means) - room, max(means) + room)
    axes.set_xlim(0, last)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(7, integer=True))
    _label_ends(axes, ends, last)


def _draw_tuned(axes: Axes, tuned: Sequence[progress.Tuned]) -> None:
    from matplotlib.ticker import MaxNLocator

    _plain_axes(axes)
    axes.grid(axis="y", color=LINE, linewidth=0.7)
    last = max(1, *(len(one.path) for one in tuned))
    ends = []
    for place, one in enumerate(tuned):
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(range(1, len(one.path) + 1), one.path, color=colour, linewidth=1.7, solid_joinstyle="round")
        if one.path:
            ends.append((one.path[-1], f"{one.name} {one.found}", colour))
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, 0.5, 1], ["low", "", "high"])
    axes.set_xlim(1, max(2, last))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    _label_ends(axes, ends, last)


def _label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]], last: int) -> None:
    low, high = axes.get_ylim()
    step = (high - low) / 17
    ordered = sorted(ends, key=lambda end: end[0])
    places: list[float] = []
    for mean, _, _ in ordered:
        places.append(max(mean, places[-1] + step if places else low + step / 2))
    ceiling = high - step / 2
    for at in reversed(range(len(places))):  # what was pushed out at the top comes back
        places[at] = ceiling = min(places[at], ceiling)
        ceiling -= step
    for (_, name, colour), place in zip(ordered, places, strict=True):
        shown = text_tables.elide(plain(name), LABEL)
        drawn = axes.text(last * 1.015, place, shown, color=colour, va="center", weight="bold", parse_math=False)
        drawn.set_fontsize(8.5 * min(1.0, 14 / max(1, len(shown))))  # else a long one is cut off at the edge


def _draw_intervals(axes: Axes, intervals: Sequence[Interval]) -> None:
    _plain_axes(axes)
    axes.grid(axis="x", color=LINE, linewidth=0.7)
    rows = range(len(intervals))
    axes.errorbar(
        [one.rating for one in intervals], list(rows), xerr=[one.half_width for one in intervals], fmt="o", color=LINK,
        ecolor=FAINT, elinewidth=1.3, capsize=3, markersize=5.5,
    )  # fmt: skip
    axes.set_ylim(len(intervals) - 0.5, -0.5)
    axes.set_yticks(list(rows))
    axes.set_yticklabels([text_tables.elide(plain(one.name), LABEL) for one in intervals], parse_math=False)
    axes.tick_params(axis="y", labelcolor=INK)
