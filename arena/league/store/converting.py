"""Gives the open season of an arena of 0.2 its lines, from its rows: they are dated when that is done."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from arena.core.face import chance, databases, game_rows, record_files, stores
from arena.league.record import old, rounds
from arena.league.store import lines, rows
from arena.league.store.changes import entered
from arena.league.store.matches import over
from arena.league.store.records import MatchGame, SeasonFinal


def convert(store: stores.Store) -> None:
    """Adds the lines of the open season if it has none yet."""
    db = store._db
    row = db.execute(
        "SELECT tournament, name, opened, final FROM seasons WHERE closed IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM season_lines WHERE season_lines.tournament = seasons.tournament)"
    ).fetchone()
    if row is None:
        return
    with databases.immediate(db):
        _convert(store, *row)


def _convert(store: stores.Store, tournament: str, season: str, opened: str, final: str | None) -> None:
    db, found = store._db, store.tournament(tournament)
    told = record_files.sha256_of(lines.commitment_of(found, opened))
    lines.note(db, tournament, rounds.Opened(tournament=tournament, season=season, commitment_sha256=told))
    entrants = store.entrants(tournament)
    names = {entrant.number: entrant.name for entrant in entrants}
    versions = {version.entrant: version for version in rows.versions(db, "WHERE entrant IS NOT NULL")}
    before = dict(
        db.execute(
            "SELECT versions.entrant, other.entrant FROM versions JOIN versions AS other"
            " ON other.id = versions.predecessor WHERE versions.entrant > other.entrant"
        ).fetchall()
    )
    came = [entered(one, versions[one.number], found, names.get(before.get(one.number, -1))) for one in entrants]
    begun = None if final is None else msgspec.json.decode(final, type=SeasonFinal)
    matches = [*_matches(store, found, names)]
    if begun is not None:
        finalists = [names[entrant] for entrant in begun.entrants]
        begins = rounds.FinalBegun(entrants=finalists, deals=begun.deals, reason="" if finalists else begun.reason)
        planned = ((at, one.match) for at, one in enumerate(matches) if isinstance(one, rounds.Planned))
        matches.insert(next((at for at, match in planned if match >= begun.first_match), len(matches)), begins)
        if begun.outcome in ("settled", "not settled"):
            matches.append(rounds.Decided(outcome=begun.outcome, reason=begun.reason))
    left = () if begun is None else [names[entrant] for entrant in begun.left]
    states = {one.name: str(versions[one.number].state) for one in entrants if versions[one.number].state != "active"}
    for line in old.in_turn(came, matches, left, states):
        lines.note(db, tournament, line)


def _matches(store: stores.Store, tournament: game_rows.Tournament, names: dict[int, str]) -> Iterator[rounds.Line]:
    """Yields what is known of the matches of a season."""
    db = store._db
    found = db.execute(
        "SELECT number, rated, published, coalesce(reason, '') FROM matches WHERE tournament = ? ORDER BY number",
        (tournament.id,),
    ).fetchall()
    for number, rated, published, reason in found:
        games = [
            MatchGame(game=game, number=at, rotation=rotation, entrants=msgspec.json.decode(seating), status=status)
            for game, at, rotation, seating, status in db.execute(
                "SELECT id, number, rotation, seating, status FROM games WHERE tournament = ? AND match = ?"
                " ORDER BY number",
                (tournament.id, number),
            ).fetchall()
        ]
        seats = [[names[entrant] for entrant in game.entrants] for game in games]
        yield rounds.Planned(match=number, games=[game.number for game in games], seats=seats, rated=bool(rated))
        if published is not None:
            secret = chance.deal_secret(tournament.secret, number).hex()
            yield rounds.Over(match=number, secret=secret, games=over(db, games), reason=reason)
