"""Puts together what each page of a tournament tells, as plain values for its template."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from heapq import nlargest
from typing import Final

import msgspec

from arena.core.face import (
    Payload,
    TimeControl,
    catalogue,
    game_rows,
    progress,
    ranking_tables,
    standings_reports,
    standings_texts,
    true_skill,
    value_types,
)
from arena.pages.exhibits import Member, ShownForfeit, ShownGame
from arena.pages.plots import BAND
from arena.pages.site.figures import Scale, bars, curve, histogram, scale_of, shade

PAGE: Final = 500
CROSSED: Final = 40  # bots in a cross-table: a larger one cannot be read, and each bot's page has all its opponents
DRAWN: Final = 24
NAMED: Final = 12  # characters of a name that heads a column of a cross-table
LAST: Final = 12
FACE: Final = ("rules", "told", "address", "dates")
"""Keys of the document `league.json` that a season's page tells."""
_PRE_WIDTH: Final = 96
"""Columns of a bracket or a table of rounds."""

MOST_SLOW: Final = 5
MOST_GAMES: Final = 20
"""The number of last games that are named, of those that were won, drawn and lost each."""


class BotTally:
    """What a bot did in all its games."""

    def __init__(self) -> None:
        self.seats: dict[int, game_rows.Tally] = {}
        self.codes: Counter[str] = Counter()
        self._last: dict[value_types.Outcome, deque[int]] = {}
        """The numbers of the last games that were won, drawn and lost."""
        self._means: list[float] = []
        self._slow: list[tuple[float, int]] = []

    def add(self, number: int, seat: int, did: value_types.SeatResult, tally: game_rows.Tally) -> None:
        """Adds a game: its number, the bot's seat, what it did there, and the sums of that."""
        self.seats[seat] = self.seats[seat].plus(tally) if seat in self.seats else tally
        outcome: value_types.Outcome = "won" if tally.wins else "drawn" if tally.draws else "lost"
        self._last.setdefault(outcome, deque(maxlen=MOST_GAMES)).append(number)
        if did.forfeit is not None:
            self.codes[did.forfeit.code] += 1
        if did.decisions:
            self._means.append(did.total_ms / did.decisions)
        self._slow.append((did.max_ms, -number))
        if len(self._slow) > 20 * MOST_SLOW:
            self._slow = nlargest(MOST_SLOW, self._slow)

    @property
    def games(self) -> int:
        """How many games it played."""
        return sum(seat.games for seat in self.seats.values())

    def last(self) -> list[int]:
        """Returns the numbers of its last games, in order: of those that were won, drawn and lost so many each."""
        return sorted(number for numbers in self._last.values() for number in numbers)

    def slowest(self) -> list[tuple[int, float]]:
        """Returns the games with its slowest decisions, and how long these took."""
        return [(-number, ms) for ms, number in nlargest(MOST_SLOW, self._slow)]

    def times(self) -> list[int]:
        """Returns the histogram of its mean time per decision, by game."""
        return histogram(self._means)


def add_up(games: Iterable[ShownGame]) -> dict[int, BotTally]:
    """Returns the sums by entrant."""
    bots: dict[int, BotTally] = {}
    for game in games:
        sums = game_rows.Tally.of_game(game.entrants, game.seats)
        for seat, (did, tally) in enumerate(zip(game.seats, sums, strict=True)):
            bots.setdefault(tally.entrant, BotTally()).add(game.number, seat, did, tally)
    return bots


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the pages of a tournament are made from."""

    row: game_rows.Tournament
    is_league: bool
    """Whether it is a season of a league."""
    head: Payload
    entrants: Sequence[game_rows.Entrant]
    members: Mapping[int, Member]
    """Members of a league's open season by entrant."""
    report: standings_reports.Report
    tallies: Mapping[int, BotTally]
    courses: Mapping[int, Sequence[tuple[int, float, float]]]
    made: Collection[int]
    promises: Sequence[Payload]
    """Promises as `promises.listed` returns them."""
    checked: str | None
    command: str
    last: int
    """The number of its last game that is shown; -1 before any."""
    frozen: Payload | None = None
    """The final standings of a season that is closed, or those of a final that is played."""
    face: Payload = {}
    """Facts that everybody may know of the league, by `FACE`; nothing of a season that is over."""

    @property
    def is_cooperative(self) -> bool:
        """Whether all seats of a game are of one team."""
        return value_types.is_cooperative(self.row.settings["game"].get("teams"))

    @property
    def tuned(self) -> Sequence[progress.Tuned]:
        """The parameters that are tuned, with the values found; none in other tournaments."""
        return () if self.report.progress is None else self.report.progress.tuned

    def named(self, bot: str) -> game_rows.Entrant:
        """Returns an entrant by its name."""
        return next(entrant for entrant in self.entrants if entrant.name == bot)


def heading(row: game_rows.Tournament, counted: tuple[int, int], name: str = "") -> Payload:
    """Returns what a tournament is called, and what it is in a few words; `counted` is as `Reader.counted` has it."""
    settings, game = row.settings, row.settings["game"]
    players = sorted({one["players"] for one in settings.get("games", [game])})
    seated = f"{' or '.join(map(str, players))} players"
    if len(players) == 1:
        seated = standings_texts.players_text(players[0], game.get("teams"))
    rules, _, rest = standings_texts.game_text(settings).partition(" ")
    played = f"{rules.capitalize()}, {rest.replace('_', ' ')}, {seated}"
    deals = settings.get("deals")
    facts = [f"{deals} deal{'' if deals == 1 else 's'}"] if isinstance(deals, int) else []
    facts += [settings.get("format", "round-robin"), f"time {time_of(settings)}"]
    if game["board"]:
        facts.append(f"board {game['board']['name']}")
    if settings.get("level", "trusted") != "trusted":
        facts.append(settings["level"])
    return {
        "id": row.id,
        "title": f"Season {name}" if name else played,
        "facts": [played, *facts] if name else facts,
        "finished": row.status == "finished",
        "when": moment(row.finished or row.created),
        "games": counted[0],
        "uncounted": counted[1],
        "planned": row.games,
        "open": row.open,
    }


def time_of(settings: Payload) -> str:
    """Returns the time of a seat, as the command line takes it, and that of entrants with another."""
    return f"{msgspec.convert(settings['game']['time'], TimeControl)}{standings_texts.times_text(settings)}"


def moment(at: str) -> str:
    """Returns a time in UTC for people.

    >>> moment("2026-01-02T03:04:05.678+00:00")
    '2026-01-02 03:04 UTC'
    """
    return f"{at[:10]} {at[11:16]} UTC" if len(at) >= 16 else at


def tournament(shown: Shown) -> Payload:
    """Returns what the page of a tournament tells."""
    document, progress = msgspec.to_builtins(shown.report), shown.report.progress
    rows = shown.report.standings
    rated = [measured for row in rows if (measured := _measured(shown, row)) is not None]
    scale = scale_of(rated)
    return {
        "head": shown.head,
        "void": "; ".join(filter(None, (shown.report.void, shown.report.struck))),
        "league": shown.is_league,
        "scale": [(tick, scale.at(tick)) for tick in scale.ticks()] if rated else [],
        "even": scale.at(true_skill.MU) if rated and scale.low < true_skill.MU < scale.high else None,
        "rows": [_standing(shown, row, rank, scale) for row, rank in zip(rows, _ranks(shown), strict=True)],
        "has_scores": not shown.is_cooperative and any(row.mean_score is not None for row in rows),
        "cooperative": shown.is_cooperative,
        "order": _order(shown.report, document),
        "won": "" if shown.frozen is None else won_text(shown.frozen),
        "face": shown.face and _face(shown.face),
        "shares": len({row.rank for row in rows}) < len(rows),
        "cross": _crosstable(shown),
        "numbered": len(rows) > 6 or any(len(row.bot) > NAMED for row in rows),
        "cut": len(rows) > CROSSED,
        "courses": _course_words(shown),
        "rounds": "" if progress is None else standings_reports.progress_text(progress, _PRE_WIDTH).plain,
        "tunes": bool(shown.tuned),
        "settings": _settings(shown),
        "command": shown.command,
        "promises": shown.promises,
        "checked_on": shown.checked and moment(shown.checked),
        "last_page": (max(shown.last, 0)) // PAGE,
    }


def _measured(shown: Shown, row: ranking_tables.Standing) -> tuple[float, float] | None:
    """Returns what an entrant is ranked by, its rating or in a cooperative game its score, and half of its interval."""
    by_score = shown.is_cooperative
    number, half = (row.mean_score, row.score_half_width) if by_score else (row.rating, row.half_width)
    return None if number is None else (number, half or 0.0)


def _order(report: standings_reports.Report, document: Payload) -> str:
    """Returns how much of the order is settled, in words; empty before any game."""
    words = standings_texts.order_text(document["order"], document["standings"])
    has_places = report.progress is not None and report.progress.places is not None
    return f"# is the place reached. {words}" if words and has_places else words


def _face(face: Payload) -> Payload:
    """Returns what a league's page says of it: rows of a table, and the commands by which one enters."""
    at = face["address"] or "ADDRESS"
    return {
        "rows": face["told"] or (),
        "dates": [
            (name, at, moment(datetime.fromisoformat(at).astimezone(UTC).isoformat()))
            for name, at in (face["dates"] or {}).items()
            if at
        ],
        "rules": f"arena rules show {face['rules']}",
        "commands": f"arena bot new NAME\narena match ./NAME random --rules {face['rules']}\narena league token new ME",
        "submit": f"arena league submit ./NAME --at {at} --token ME.token\n"
        f"arena league status --at {at} --token ME.token",
        "me": face["address"] and f"{at.partition('#')[0]}/me",
    }


def won_text(frozen: Payload) -> str:
    """Returns who has won a season, how, and whether that is settled.

    >>> final = {"outcome": "settled", "deals": 40, "finalists": ["fox/1", "owl/2"], "reason": "the winner is settled"}
    >>> items = [{"name": "fox/1", "author": "anna", "rank": 1}, {"name": "owl/2", "author": "bert", "rank": 2}]
    >>> won_text({"items": items, "final": final})
    'Won by fox/1 of anna, in a final of 2 versions over 40 deals, settled: the winner is settled.'
    >>> won_text({"items": items})
    'Won by fox/1 of anna, by all games of the season; no final was played.'
    """
    best = (item for item in frozen["items"] if item["rank"] == 1)
    first = [f"{item['name']} of {item.get('author', '')}".removesuffix(" of ") for item in best]
    final = frozen.get("final")
    if not any(item.get("games", 1) for item in frozen["items"]):
        return "Nobody has won: no game was played."
    if final and not final["outcome"]:
        deals = f"{final['deals']} of at most {final['most_deals']} deals"
        return f"The final is being played by {len(final['finalists'])} versions: {deals}. First is {', '.join(first)}."
    won = f"{'Won by' if len(first) == 1 else 'The first place is shared by'} {', '.join(first)}"
    if not final or final["outcome"] == "not played":
        reason = f": {final['reason']}" if final else ""
        return f"{won}, by all games of the season; no final was played{reason}."
    of = f"a final of {len(final['finalists'])} versions over {final['deals']} deals"
    return f"{won}, in {of}, {final['outcome']}: {final['reason']}."


def _ranks(shown: Shown) -> list[str]:
    return standings_texts.rank_texts([row.rank for row in shown.report.standings])


def _standing(shown: Shown, row: ranking_tables.Standing, rank: str, scale: Scale) -> Payload:
    entrant = shown.named(row.bot)
    member, level = shown.members.get(entrant.number), shown.row.settings.get("level")
    measured = _measured(shown, row)
    is_rated = measured is not None
    rating, half = measured or (0.0, 0.0)
    final = (shown.frozen or {}).get("final") or {}
    return {
        "number": entrant.number,
        "rank": rank,
        "bot": row.bot,
        "display": row.display_name,
        "version": "" if shown.is_league else row.version,
        "author": member.author if member else "",
        "final": next((item["rank"] for item in final.get("items", ()) if item["name"] == row.bot), None),
        "remark": " · ".join(_remarks(member, level)) if member or not shown.is_league else "plays no more",
        "rating": f"{rating:.1f}" if is_rated else "",
        "half": f"{half:.1f}" if is_rated else "",
        "at": scale.at(rating) if is_rated else None,
        "low": scale.at(rating - half),
        "high": scale.at(rating + half),
        "ahead": ""
        if row.ahead_of_next is None
        else standings_texts.percent(min(max(row.ahead_of_next, 0.0001), 0.9999)),
        "points": "" if row.points is None else standings_texts.percent(row.points),
        "games": row.games,
        "record": "\u2013".join(map(str, (row.wins, row.draws, row.losses))),
        "score": "" if row.mean_score is None or shown.is_cooperative else f"{row.mean_score:.1f}",
        "forfeits": row.forfeits,
        "costs": [] if row.tokens is None else [f"{row.tokens:,}", f"{row.dollars:,.2f}", row.retries],
        "mean_ms": row.mean_ms,
        "max_ms": row.max_ms,
        "conservative": "" if row.conservative is None else f"{row.conservative:.1f}",
    }


def _remarks(member: Member | None, level: str | None = None) -> Iterable[str]:
    """Yields what all must know of a league's version: plays no more, few matches, less confined than others."""
    if member is not None and member.state != "active":
        yield member.state
    if member is not None and member.state == "active" and member.provisional:
        yield "provisional"
    if member is not None and member.level == "remote":
        yield "remote, uncontrolled"
    if member is not None and member.level == "fenced" != level:
        yield "fenced"


def _crosstable(shown: Shown) -> list[Payload]:
    table = shown.report.crosstable
    if table is None or len(table) < 2:
        return []
    table = table[:CROSSED]
    order = [row.bot for row in table]
    numbers = {entrant.name: entrant.number for entrant in shown.entrants}
    found = []
    for place, row in enumerate(table, start=1):
        met = {one.bot: one for one in row.against}
        cells = [
            None if bot == row.bot else _cell(row.bot, met[bot]) if bot in met else {"shade": None} for bot in order
        ]
        found.append({"place": place, "bot": row.bot, "number": numbers[row.bot], "cells": cells})
    return found


def _cell(bot: str, met: ranking_tables.HeadToHead) -> Payload:
    return {
        "shade": shade(met.score),
        "share": f"{100 * met.score:.0f}",
        "title": f"{bot} v. {met.bot}: {met.games} games, {met.better} better, {met.equal} equal, {met.worse} worse",
    }


def _course_words(shown: Shown) -> str:
    """Returns the picture of the courses in words; empty if there is none."""
    if shown.tuned:
        found = ", ".join(f"{one.name} {one.found}" for one in shown.tuned)
        return f"The value of each parameter after each round, within its range. Found: {found}."
    if not shown.courses:
        return ""
    last = [
        f"{row.bot} {shown.courses[number][-1][1]:.1f}"
        for row in shown.report.standings[:DRAWN]
        if (number := shown.named(row.bot).number) in shown.courses
    ]
    return f"The running rating of each bot over the games, with a band of 95 %. At the end: {', '.join(last)}."


_GAME: Final = ("rules", "ruleset", "rules_version", "race_window_ms")
_NO_SETTING: Final = ("game", "games", "bots", "format", "chance", "level", "seed", "on_overload", "processes", "tuned")


def _settings(shown: Shown) -> list[tuple[str, str]]:
    row, settings = shown.row, shown.row.settings
    game = settings["game"]
    players = sorted({one["players"] for one in settings.get("games", [game])})
    found = [(name.replace("_", " "), str(game[name])) for name in _GAME if name in game]
    found += [(f"option {name}", str(value)) for name, value in game["options"].items()]
    found += [("players", " or ".join(map(str, players))), ("time", time_of(settings))]
    if game["board"]:
        found.append(("board", f"{game['board']['name']} ({game['board']['hash'][:12]})"))
    found.append(("format", str(settings.get("format", "round-robin"))))
    found += [(name.replace("_", " "), str(value)) for name, value in settings.items() if name not in _NO_SETTING]
    found += [
        ("bots are confined", str(settings.get("level", "trusted"))),
        ("losses by overload", str(settings.get("on_overload", "rate"))),
        ("a bot's process is kept for a", str(settings.get("processes", "tournament"))),
        ("seed", "none: chance is the system's" if row.seed is None else row.seed),
        ("commitment", row.commitment),
    ]
    if row.beacon:
        found.append(("value of the beacon", row.beacon))
    found += [("begun", moment(row.created)), ("finished", moment(row.finished) if row.finished else "not yet")]
    return [(name, "none" if value == "None" else value) for name, value in found]


def measure(shown: Shown) -> str:
    """Returns what a list of games tells beside ranks: scores, or leads in the unit of the game; empty if neither."""
    if any(row.mean_score is not None for row in shown.report.standings):
        return "score"
    played = shown.row.settings["game"]
    margin = catalogue.margin_of(played["rules"], played["players"], played["options"])
    return "" if margin is None else f"ahead by, {margin.unit} (up to {margin.most})"


def _told(game: ShownGame, seat: int | None = None) -> str:
    """Returns the scores of a game, or the leads of those who won; of a seat its own score first, or its lead."""
    scores = [one.score for one in game.seats]
    if None not in scores:
        own = [] if seat is None else [scores.pop(seat)]
        return " : ".join(map(str, [*own, *scores]))
    whose = [one for one in game.seats if one.rank == 1] if seat is None else [game.seats[seat]]
    leads = dict.fromkeys(one.margin for one in whose if one.margin is not None)
    return " : ".join(f"{lead:+d}".replace("-", "\u2212") for lead in leads)


def games(shown: Shown, found: Sequence[ShownGame]) -> list[Payload]:
    """Returns the rows of a list of games, the latest first."""
    names = {entrant.number: entrant.name for entrant in shown.entrants}
    teams = shown.row.settings["game"].get("teams") or range(99)

    def between(seat: int) -> str:
        return "and" if seat and teams[seat] == teams[seat - 1] else "v."

    return [
        {
            "number": game.number,
            "game": game.game,
            "watch": game.number in shown.made,
            "when": moment(game.finished),
            "seats": [
                {"bot": names[entrant], "number": entrant, "seat": seat, "between": between(seat), "did": did}
                for seat, (entrant, did) in enumerate(zip(game.entrants, game.seats, strict=True))
            ],
            "end": _end(game),
            "told": _told(game),
            "turns": game.turns,
            "seconds": f"{game.seconds:.2f}",
        }
        for game in reversed(found)
    ]


def _bot_games(shown: Shown, entrant: int, found: Sequence[ShownGame]) -> list[Payload]:
    """Returns the rows of a list of games as a bot sees them, the latest first."""
    rows = []
    for row, game in zip(games(shown, found), reversed(found), strict=True):
        own = game.entrants.index(entrant)
        others = [seat for seat in row["seats"] if seat["seat"] != own]
        forfeit = game.seats[own].forfeit
        code = forfeit.code.replace("_", " ") if forfeit else ""
        outcome = value_types.outcomes(game.seats)[own]
        rows.append({**row, "outcome": outcome, "code": code, "others": others, "told": _told(game, own)})
    return rows


def _end(game: ShownGame) -> str:
    ended = game.termination.replace("_", " ")
    return ended if game.counts else f"{ended}, unrated"


def bot(
    shown: Shown, entrant: game_rows.Entrant, last: Sequence[ShownGame], forfeits: Sequence[ShownForfeit], more: Payload
) -> Payload:
    """Returns what the page of a bot tells.

    Args:
        forfeits: Its last forfeits, the latest first.
        more: What else the page shows: `versions`, `reruns`.
    """
    row, rank = next(
        (row, rank) for row, rank in zip(shown.report.standings, _ranks(shown), strict=True) if row.bot == entrant.name
    )
    tally = shown.tallies.get(entrant.number) or BotTally()
    points = [
        (0, true_skill.MU, BAND * true_skill.SIGMA),
        *((game + 1, mu, BAND * sigma) for game, mu, sigma in shown.courses.get(entrant.number, ())),
    ]
    table = shown.report.crosstable or ()
    against = next((row.against for row in table if row.bot == entrant.name), ())
    return {
        "head": shown.head,
        "league": shown.is_league,
        "entrant": entrant,
        "row": _standing(shown, row, rank, Scale(0.0, 1.0)),
        "cooperative": shown.is_cooperative,
        "curve": None if shown.is_cooperative else curve(points),
        "opponents": [
            {**_cell(entrant.name, met), "bot": met.bot, "number": shown.named(met.bot).number, "met": met}
            for met in against
        ],
        "seats": []
        if shown.is_cooperative
        else [(seat, one, standings_texts.percent(one.wins / one.games)) for seat, one in sorted(tally.seats.items())],
        "bars": bars(tally.times()),
        "slowest": [
            {"number": number, "watch": number in shown.made, "ms": ms} for number, ms in tally.slowest() if ms > 0
        ],
        "codes": tally.codes.most_common(),
        "forfeits": [{"shown": one, "forfeit": one.forfeit, "watch": one.number in shown.made} for one in forfeits],
        "games": _bot_games(shown, entrant.number, last),
        "measure": measure(shown),
        **more,
    }
