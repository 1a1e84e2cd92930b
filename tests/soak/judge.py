"""Judges what a league has left after a soak: pure functions from evidence to findings.

Each finding is a promise of the league, with what was compared. What must hold is computed here from the stored
results alone, from the first to the last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from arena.core.ratings.pairs import PairResult, add_up, pairs_of
from arena.core.ratings.refit import refit
from arena.core.ratings.running import Rating, rate
from tests.soak.evidence import Evidence, FoundLog, Game
from tests.soak.scenario import Arrival

OUT: Final = ("suspended", "rejected")  # the states in which hostile bots must end
GOOD: Final = ("active", "superseded")  # the states in which honest ones must
_CLOSE: Final = 1e-9


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one promise."""

    promise: str
    """What must hold."""
    seen: str
    """What was compared, and how much of it."""
    wrong: tuple[str, ...] = ()
    """Where it does not hold."""

    @property
    def ok(self) -> bool:
        """Whether it holds."""
        return not self.wrong


def judge(evidence: Evidence, arrivals: Iterable[Arrival], told: Mapping[str, tuple[str, str, str]]) -> list[Finding]:
    """Returns what came of every promise about the league itself.

    Args:
        evidence: What it has left.
        arrivals: What was submitted and accepted.
        told: What was announced while it ran: by game its play digest, its log's SHA-256, its ranks.
    """
    came = list(arrivals)
    return [
        counted_once(evidence),
        announced(evidence, told),
        logs(evidence),
        ratings(evidence),
        submissions(evidence, came),
        states(evidence, came),
        forfeits(evidence, came),
        ranks(evidence, came),
        nothing_open(evidence),
        files(evidence),
    ]


def counted_once(evidence: Evidence) -> Finding:
    """Every game has one number and one result, which is in every sum once."""
    wrong = list(evidence.broken)
    games = evidence.games
    if [game.number for game in games] != list(range(evidence.planned)):
        wrong.append(f"the season has {evidence.planned} games by its own row, and rows of {len(games)}")
    wrong += [f"{game.game} is {game.status}" for game in games if game.status not in ("done", "void", "planned")]
    for game in games:
        if sorted(seat.entrant for seat in game.seats) != (sorted(game.seating) if game.is_done else []):
            wrong.append(f"{game.game} is {game.status}, and has {len(game.seats)} seats of {len(game.seating)}")
    wrong += _sums(evidence)
    pairs = add_up(
        pair for game in games if game.counted for pair in pairs_of(game.deal, _entrants_of(game), game.ranks)
    )
    expected = {(pair.deal, pair.one, pair.other): (pair.better, pair.equal, pair.worse) for pair in pairs}
    stored = {row[:3]: row[3:] for row in evidence.pairs}
    for key in sorted(expected.keys() | stored.keys()):
        if expected.get(key) != stored.get(key):
            deal, one, other = key
            wrong.append(
                f"deal {deal}, entrants {one} and {other}: {stored.get(key)} stored, {expected.get(key)} played"
            )
    done, void = (sum(game.status == status for game in games) for status in ("done", "void"))
    counts = sum(game.counted for game in games)
    return Finding(
        promise="every game is counted once",
        seen=f"{done} games done, {counts} of them rated, {void} void; {len(expected)} sums of pairs",
        wrong=tuple(wrong),
    )


def _sums(evidence: Evidence) -> list[str]:
    """Returns whose games are not those of its sums."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for game in evidence.games:
        if game.counted:
            firsts = sum(rank == 1 for rank in game.ranks)
            for seat in game.seats:
                sums = found[seat.entrant]
                sums["games"] += 1
                sums["wins"] += seat.rank == 1 and firsts == 1
                sums["draws"] += seat.rank == 1 and firsts > 1
                sums["forfeits"] += seat.forfeit is not None
    wrong = []
    for number, entrant in enumerate(evidence.entrants):
        for name in ("games", "wins", "draws", "forfeits"):
            if getattr(entrant, name) != found[number][name]:
                wrong.append(f"{entrant.name}: {getattr(entrant, name)} {name} stored, {found[number][name]} played")
    return wrong


def announced(evidence: Evidence, told: Mapping[str, tuple[str, str, str]]) -> Finding:
    """What was announced stands."""
    games = {game.game: game for game in evidence.games if game.is_done}
    wrong = []
    for name, before in told.items():
        game = games.get(name)
        ranks = None if game is None else msgspec.json.encode(game.ranks).decode()
        after = None if game is None else (game.play_digest, game.log_sha256, ranks)
        if after != before:
            wrong.append(f"{name} was announced as {before}, and is {after}")
    return Finding(
        promise="what was announced stands", seen=f"{len(told)} results seen while the league ran", wrong=tuple(wrong)
    )


def logs(evidence: Evidence) -> Finding:
    """Every game that is done has its log, which verifies and says the same as the row; and there are no others."""
    found = {log.game: log for log in evidence.logs}
    done = {game.game: game for game in evidence.games if game.is_done}
    wrong = [f"{game}: a log of no result" for game in sorted(found.keys() - done.keys())]
    for name, game in done.items():
        log = found.get(name)
        if log is None:
            wrong.append(f"{name}: no log")
        elif log.fault:
            wrong.append(f"{name}: {log.fault}")
        else:
            wrong += [f"{name}: {what}" for what in _differences(evidence, game, log)]
    public, expected = set(evidence.public), {name for name, game in done.items() if game.is_published}
    wrong += [f"{name}: no public log" for name in sorted(expected - public)]
    wrong += [f"{name}: a public log, and its match is not over" for name in sorted(public - expected)]
    wrong += [f"{evidence.unpublished} matches are over and not published"] if evidence.unpublished else []
    return Finding(
        promise="every result has its log, and the log gives that result",
        seen=f"{len(found)} logs played again, dealt again from the secret",
        wrong=tuple(wrong),
    )


def _differences(evidence: Evidence, game: Game, log: FoundLog) -> list[str]:
    names = tuple(_bot_of(evidence.entrants[number].name) for number in game.seating)
    return [
        f"the log has the {what} {by_log}, the row {by_row}"
        for what, by_log, by_row in (
            ("SHA-256", log.sha256, game.log_sha256),
            ("play digest", log.play_digest, game.play_digest),
            ("ranks", log.ranks, game.ranks),
            ("seats", log.seats, names),
        )
        if by_log != by_row
    ]


def ratings(evidence: Evidence) -> Finding:
    """The ratings are those of playing the stored results again from the beginning."""
    again = [Rating(entrant.mu0, entrant.sigma0) for entrant in evidence.entrants]
    moved = 0
    for game in evidence.games[: evidence.rated]:
        if game.counted and len(game.seats) == len(game.seating):
            who = _entrants_of(game)
            for number, rating in zip(who, rate([again[number] for number in who], game.ranks), strict=True):
                again[number] = rating
            moved += 1
    wrong = [
        f"{entrant.name}: {entrant.mu:.6f} ± {entrant.sigma:.6f} stored, {rating.mu:.6f} ± {rating.sigma:.6f} again"
        for entrant, rating in zip(evidence.entrants, again, strict=True)
        if abs(entrant.mu - rating.mu) > _CLOSE or abs(entrant.sigma - rating.sigma) > _CLOSE
    ]
    settled = next((game.number for game in evidence.games if game.status not in ("done", "void")), evidence.planned)
    if evidence.rated != settled:
        wrong.append(f"{evidence.rated} games are rated, {settled} are over without a gap")
    return Finding(
        promise="ratings are those of the results from the beginning",
        seen=f"{len(again)} versions, {moved} results",
        wrong=tuple(wrong),
    )


def submissions(evidence: Evidence, arrivals: Sequence[Arrival]) -> Finding:
    """Every submission that was accepted is one version, and there are no others."""
    expected = Counter(arrival.bot.name for arrival in arrivals)
    stored = Counter(version.bot for version in evidence.versions if version.author != "house")
    wrong = [
        f"{bot}: {expected[bot]} submissions, {stored[bot]} versions"
        for bot in sorted(expected.keys() | stored.keys())
        if expected[bot] != stored[bot]
    ]
    contents = Counter((version.bot, version.digest) for version in evidence.versions)
    wrong += [f"{bot}: {count} versions of one content" for (bot, _), count in contents.items() if count > 1]
    by_door = sum(arrival.by_door for arrival in arrivals)
    return Finding(
        promise="every submission is one version",
        seen=f"{len(arrivals)} submissions, {by_door} of them through the door",
        wrong=tuple(wrong),
    )


def states(evidence: Evidence, arrivals: Sequence[Arrival]) -> Finding:
    """Hostile bots are suspended or rejected, and nobody else is."""
    hostile = hostile_of(arrivals)
    wrong = []
    for version in evidence.versions:
        expected = OUT if version.bot in hostile else GOOD
        if version.state not in expected:
            wrong.append(f"{version.name} is {version.state}, not {' or '.join(expected)}: {version.reason[:300]}")
    found = Counter(version.state for version in evidence.versions if version.bot in hostile)
    said = ", ".join(f"{count} {state}" for state, count in sorted(found.items()))
    return Finding(
        promise="hostile bots are out, and nobody else is",
        seen=f"of {len(hostile)} hostile bots {said or 'none came'}",
        wrong=tuple(wrong),
    )


def forfeits(evidence: Evidence, arrivals: Sequence[Arrival]) -> Finding:
    """No honest bot forfeits, but for losses on time that are marked as the machine's fault."""
    hostile = hostile_of(arrivals)
    wrong = []
    counts: Counter[str] = Counter()
    for game in evidence.games:
        for seat in game.seats:
            name = evidence.entrants[seat.entrant].name
            if seat.forfeit is None:
                continue
            if _bot_of(name) in hostile:
                counts["hostile"] += 1
            elif seat.overloaded:
                counts["machine"] += 1
            else:
                wrong.append(f"{name} forfeited {game.game}, {seat.forfeit}: {(seat.sentence or '')[:200]}")
    return Finding(
        promise="no honest bot forfeits but by the machine's fault",
        seen=f"{counts['hostile']} forfeits of hostile bots, {counts['machine']} of the machine",
        wrong=tuple(wrong),
    )


def ranks(evidence: Evidence, arrivals: Sequence[Arrival]) -> Finding:
    """Nobody's rating is touched by hostile bots: without their games it lies within the interval.

    Both refits are compared after their mean over the honest bots was taken off: only differences mean anything.
    """
    hostile = hostile_of(arrivals)
    names = [entrant.name for entrant in evidence.entrants]
    bad = {number for number, name in enumerate(names) if _bot_of(name) in hostile}
    pairs = [PairResult(*row) for row in evidence.pairs]
    without = [pair for pair in pairs if pair.one not in bad and pair.other not in bad]
    compared = sorted({number for pair in without for number in (pair.one, pair.other)})
    if not compared:
        return Finding(promise=_UNTOUCHED, seen="no games of honest bots")
    fits = [refit(some, len(names), players=2, anchors={}) for some in (pairs, without)]
    means = [sum(fit.ratings[number] for number in compared) / len(compared) for fit in fits]
    wrong = []
    worst = 0.0
    for number in compared:
        both, alone = (fit.ratings[number] - mean for fit, mean in zip(fits, means, strict=True))
        half = max(fit.half_width[number] or 0.0 for fit in fits)
        worst = max(worst, abs(both - alone))
        if abs(both - alone) > half:
            wrong.append(f"{names[number]}: {both:+.2f} with hostile bots, {alone:+.2f} without, ± {half:.2f}")
    games = sum(game.counted and not bad.isdisjoint(_entrants_of(game)) for game in evidence.games)
    return Finding(
        promise=_UNTOUCHED,
        seen=f"{len(compared)} honest versions, without {games} games with hostile ones moved by {worst:.2f} at most",
        wrong=tuple(wrong),
    )


_UNTOUCHED: Final = "nobody's rank is touched by hostile bots"


def nothing_open(evidence: Evidence) -> Finding:
    """No attack reported that it worked."""
    worked = [f"{log.game}: {what}" for log in evidence.logs for what in log.open]
    return Finding(promise="no attack worked", seen="notes of all decisions", wrong=tuple(worked))


def files(evidence: Evidence) -> Finding:
    """No order, upload, unfinished file or socket is left in the league's folder."""
    return Finding(promise="nothing unfinished is left in its folder", seen="all files of it", wrong=evidence.left)


def hostile_of(arrivals: Iterable[Arrival]) -> set[str]:
    """Returns the names of the hostile bots."""
    return {arrival.bot.name for arrival in arrivals if arrival.bot.is_hostile}


def _entrants_of(game: Game) -> list[int]:
    return [seat.entrant for seat in game.seats]


def _bot_of(version: str) -> str:
    return version.partition("/")[0]
