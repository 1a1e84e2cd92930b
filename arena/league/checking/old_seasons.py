"""Tells a season of arena 0.2 as lines of today, so that it is checked as those are.

No file of 0.2 said when anything was decided: all its lines have the season's beginning as their date.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from arena.core.face import errors, examining, record_files
from arena.league.record import old, rounds


def lines(folder: Path, opened: old.SeasonOpened, logs: Mapping[int, examining.Examined]) -> Iterator[rounds.Line]:
    """Yields a season as lines. Those of one that is open tell of the matches whose logs are there.

    Args:
        logs: By the game's number what is known of its log.

    Raises:
        LogError: A file cannot be read, or contradicts another.
    """
    told = record_files.sha256_of(old.commitment_of(opened))
    yield rounds.Opened(at=opened.opened, tournament=opened.tournament, season=opened.season, commitment_sha256=told)
    closed = record_files.published(folder, old.STANDINGS_FILE, old.SeasonClosed)
    results, final = _results(folder, opened, closed, logs)
    entered = [
        rounds.Entered(
            name=one.name, digest="", archive=one.digest, level=one.level, mu=one.mu, sigma=one.sigma, after=one.after
        )
        for one in (closed.entrants if closed is not None else _entrants(results, logs))
    ]
    matches = [*_matches(folder, opened, results, whole=closed is not None)]
    if final is not None:
        begun = rounds.FinalBegun(entrants=final.entrants, deals=final.deals, reason="")
        planned = ((at, line.games) for at, line in enumerate(matches) if isinstance(line, rounds.Planned))
        matches.insert(next((at for at, games in planned if min(games) >= final.final), len(matches)), begun)
        if closed is not None and final.outcome != "not played":
            matches.append(rounds.Decided(outcome=final.outcome, reason=str(closed.standings["final"]["reason"])))
    rows = {one.name for one in entered} if closed is None else {row["name"] for row in closed.standings["items"]}
    states = {one.name: "superseded" for one in entered if one.name not in rows}
    for line in old.in_turn(entered, matches, final.left if final is not None else (), states):
        yield msgspec.structs.replace(line, at=opened.opened)
    if closed is not None:
        yield rounds.Closed(at=closed.closed, standings=closed.standings)


def _matches(
    folder: Path, opened: old.SeasonOpened, results: Mapping[int, old.OldResult], *, whole: bool
) -> Iterator[rounds.Line]:
    """Yields what is told of matches. If that is not the `whole`, those are left out of which results are missing."""
    deals = sorted({one.match: one for one in old.deals_in(folder)}.values(), key=lambda one: one.match)
    for number, deal in enumerate(deals):
        rows = [results[game] for game in deal.games if game in results]
        is_right = (
            (deal.match, deal.deal, deal.tournament) == (number, number, opened.tournament)
            and len(rows) == len(deal.games) > 0
            and len({row.counts for row in rows}) == 1
            and hashlib.sha256(bytes.fromhex(deal.secret)).hexdigest() == deal.commitment
        )
        if whole and not is_right:
            raise errors.LogError(
                f"expected match {number} of {opened.tournament} on deal {number}, with its commitment, and results "
                f"that count as a whole, got: match {deal.match} on deal {deal.deal} - at {folder}"
            )
        if not is_right:
            continue
        yield rounds.Planned(
            match=deal.match, games=deal.games, seats=[row.entrants for row in rows], rated=rows[0].counts
        )
        over = [
            rounds.GameOver(
                status=row.status,
                ranks=row.ranks,
                play_digest=row.play_digest,
                log=deal.logs.get(f"{opened.tournament}-{row.number:06d}"),
            )
            for row in rows
        ]
        yield rounds.Over(match=deal.match, secret=deal.secret, games=over, reason="")


def _results(
    folder: Path, opened: old.SeasonOpened, closed: old.SeasonClosed | None, logs: Mapping[int, examining.Examined]
) -> tuple[dict[int, old.OldResult], old.FinalResult | None]:
    """Returns by number the results of games, from their list or from logs, and what is told of the final."""
    if closed is None:
        return {number: _of_log(number, logs[number]) for number in logs}, None
    digest = hashlib.sha256(f"{opened.digest_before}\n".encode())
    found: dict[int, old.OldResult] = {}
    final = None
    for at, line in old.lines_of(folder, old.RESULTS):
        digest.update(line + b"\n")
        if final is None and line.startswith(b'{"deals"'):
            final = old.decoded(line, at, old.FinalResult)
            continue
        row = old.decoded(line, at, old.OldResult)
        if row.number != len(found) or final is not None:
            raise errors.LogError(f"expected the result of game {len(found)}, got: {row.number} - at {at}")
        found[row.number] = row
    if digest.hexdigest() != closed.digest:
        raise errors.LogError(f"expected the digest of the results, got: another - at {folder / old.STANDINGS_FILE}")
    return found, final


def _of_log(number: int, log: examining.Examined) -> old.OldResult:
    assert log.result is not None
    return old.OldResult(
        number=number, status="done", counts=True, entrants=[f"{bot.name}/{bot.version}" for bot in log.head.bots],
        ranks=list(log.result.ranks), play_digest=log.result.play_digest,
    )  # fmt: skip


def _entrants(results: Mapping[int, old.OldResult], logs: Mapping[int, examining.Examined]) -> list[old.SeasonEntrant]:
    """Returns the versions of a season that is open, from the logs of its games."""
    levels = {name: str(logs[row.number].head.level) for row in results.values() for name in row.entrants}
    return [
        old.SeasonEntrant(name=name, digest="", level=level, mu=0.0, sigma=1.0, after=None)
        for name, level in levels.items()
    ]
