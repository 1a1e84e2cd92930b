"""What a league tells about itself, as plain documents: what commands print as JSON, and what the service publishes.

Laws:
1. A document for an author holds nothing of another's but what everybody may see.
2. A rating is never without its interval, nor a version of level `remote` without that level. `ranking.py` says which
   rating it is.
"""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Final

import msgspec

from arena import __version__
from arena.core.face import Payload, beacons, counted, errors, files, processor_cores, runtimes
from arena.league.door.health import address, health
from arena.league.folder import Folder
from arena.league.matches import final_tables
from arena.league.matches.planning import longest_wait
from arena.league.public.ranking import RATING, Ranking, confinement, ranking_of
from arena.league.settings import Settings
from arena.league.store import LeagueReader
from arena.league.store.notices import NOTICES
from arena.league.store.notices import found as findings
from arena.league.store.played import Only
from arena.league.store.records import HOUSE, StepReport, Version
from arena.league.store.states import State

_VERSION: Final = re.compile(r"[0-9]+(\.[0-9]+)+")
_VERSION_OPTIONS: Final = ("--version", "-v", "-W version")
"""What programs say their version to. No other word is given to one, since it would be a script."""
BY_RATING: Final = "refit of versions, ranks by all pairs"
"""The method of a season without a final, and of earlier ones in which every finalist came before all others."""
BY_FINAL: Final = f"{BY_RATING}, nobody behind a finalist shown to be worse, but for the winner"
"""How standings are computed: a new version is expected to be about as strong as its predecessor, and a rank is 1 and 1
more for each version that is shown to be better. An older arena checks a season that was closed by another method."""


def league(reader: LeagueReader, settings: Settings, folder: Folder) -> Payload:
    """Returns what everybody may know of a league: what is played, who is in, where it is entered, what is tried."""
    season = reader.seasons.current()
    row = None if season is None else reader.finder.tournament(season.tournament)
    game = (settings.season_settings() if row is None else row.settings)["game"]
    return {
        "name": settings.name,
        "rules": game["rules"],
        "ruleset": game["ruleset"],
        "options": game["options"],
        "players": list(settings.game.players),
        "board": game["board"] and game["board"]["name"],
        "time": settings.game.time,
        "level": settings.bots.level,
        "remote": settings.bots.remote,
        "limits": msgspec.structs.asdict(settings.limits),
        "caps": msgspec.structs.asdict(settings.caps),
        "runtimes": (runs := versions_here()),
        "cores": processor_cores.available_cores(),
        "told": _told(reader, settings, game, runs),
        "address": address(folder.path),
        "dates": settings.season.dates.of_season(season.opened if season else None).document(),
        "season": season and season.name,
        "commitment": row and row.commitment,
        "games": 0 if row is None else reader.finder.counted(row.id)[0],
        "seasons": [
            {
                "name": one.name,
                "tournament": one.tournament,
                "closed": one.closed,
                "digest": one.digest,
                "head": msgspec.to_builtins(reader.seasons.head(one)),
            }
            for one in reader.seasons.all()
        ],
    }


def _awaited(reader: LeagueReader) -> Iterator[str]:
    """Yields which beacon's value the open season awaits, and where that will stand."""
    season = reader.seasons.current()
    beacon = "" if season is None else reader.finder.tournament(season.tournament).awaits
    if (round := beacons.round_of(beacon)) is not None:
        yield f"round {round} of drand before the first game, out at {beacons.moment(round)}: {beacons.where(beacon)}"


def _told(reader: LeagueReader, settings: Settings, game: Payload, runs: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the same for people: what is played, how, what an author may, who is in, and what is tried."""
    versions, limits, season = reader.versions.all(), settings.limits, reader.seasons.current()
    players = " or ".join(map(str, settings.game.players))
    board = f", board {game['board']['name']}" if game["board"] else ""
    remote = ", or play from machines of their authors" if settings.bots.remote else ""
    quota = (
        f"{limits.bots} bots, {limits.pending} versions that wait, {limits.submissions} submissions a day of at most "
        f"{limits.archive_mib} MiB"
    )
    caps, workers = settings.caps, reader.controls.workers or settings.games_at_a_time
    active = [version.author for version in versions if version.state is State.ACTIVE]
    owners = [counted(len(others), "author")] if (others := {*active} - {HOUSE}) else []
    owners += ["the house"] * (HOUSE in active)
    return [
        ("what is played", f"{game['rules']} {game['ruleset']}, {players} players{board}"),
        ("time", f"{settings.game.time} for each seat"),
        ("bots are confined", f"{settings.bots.level}{remote}"),
        ("an author may have", quota),
        ("a bot may have", f"{caps.memory_mib:,} MiB of memory, {caps.start_ms / 1_000:g} s to start"),
        ("runs here", ", ".join(f"{name} {version}".strip() for name, version in runs.items())),
        ("on", f"{counted(processor_cores.available_cores(), 'core')}, {counted(workers, 'game')} at a time"),
        ("in it", " of ".join(filter(None, (counted(len(active), "version"), " and ".join(owners))))),
        *(
            ("taken back", f"all results of {one.what}, {counted(one.matches, 'match')}: {one.reason}")
            for one in reader.controls.taken_back
            if season is not None and one.season == season.name
        ),
        *(("awaited", text) for text in _awaited(reader)),
        ("now tried", ", ".join(version.name for version in versions if version.is_pending) or "nothing"),
    ]


def versions_here() -> dict[str, str]:
    """Returns by name the version of each runtime that bots may call here; empty if it does not tell one."""
    own = {runtimes.PYTHON: platform.python_version(), runtimes.PYTHON_WITH_ARENA: f"arena {__version__}"}
    paths = [(name, runtimes.find(name)) for name in runtimes.names() if name not in own]
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(_version_of, [path or "" for _, path in paths])
        return {**own, **{name: version for (name, _), version in zip(paths, found, strict=True)}}


@cache
def _version_of(path: str) -> str:
    """Returns what a program of the operator says of its version, as long as it is asked by this process."""
    with suppress(errors.MachineFault):
        for option in _VERSION_OPTIONS:
            said = runtimes.output([path, option]).decode(errors="replace")
            if found := _VERSION.search(said):
                return found[0]
    return ""


def keys(reader: LeagueReader) -> dict[str, str]:
    """Returns whose key each is, of those that are not revoked."""
    return {key.public_key: key.author for key in reader.authors.keys_of() if key.revoked is None}


def standings(reader: LeagueReader, ranking: Ranking | None = None) -> Payload:
    """Returns the standings of the open season: the versions that play; those of its final come first.

    If no season is open, they are those of the last one.

    Args:
        ranking: The ranking of the open season, if it is known; else it is computed.
    """
    season = reader.seasons.current()
    if season is None:
        last = reader.seasons.all()[-1:]
        return dict(last[0].standings or {}) if last else {"season": None, "method": BY_RATING, "items": []}
    ranking = ranking or Ranking(reader, season)
    order = ranking.order and {"enough": ranking.order.enough, "open": [list(group) for group in ranking.order.open]}
    document = {
        "season": season.name,
        "digest": season.digest,
        "method": BY_RATING if season.final is None else BY_FINAL,
        "remaking": None,  # once said how far it was; programs may ask for it
        "final_matches": ranking.final_matches,
    }
    final = final_tables.document(reader, season)
    if final is None:
        return {**document, "order": order, "items": list(ranking.items)}
    return {
        **document,
        "order": None,
        "final": final,
        "items": finalists_first(final["items"], ranking.items, ranking.better),
    }


def finalists_first(
    finalists: Sequence[Payload], items: Sequence[Payload], better: Collection[tuple[str, str]] = ()
) -> list[Payload]:
    """Returns the rows of a ranking, those of a final first, in its order and with its ranks. All others come after.

    Args:
        better: The names of pairs of whom the first is shown to be the better one by all results. Nobody stands behind
            a finalist who is so, but for who won the final.
    """
    others = {item["name"]: item for item in items}
    playing = [(one["rank"], others.pop(one["name"])) for one in finalists if one["name"] in others]
    rows: list[Payload] = []
    ahead, least = 0, 1

    def put(names: Sequence[str]) -> None:
        nonlocal ahead, least
        first = len(rows) + 1
        rows.extend([{**others[name], "rank": max(others.pop(name)["rank"], first)} for name in names])
        ahead, least = ahead + len(names), len(rows) + 1 if names else least

    for rank, item in playing:
        put([name for name in others if rank > 1 and (name, item["name"]) in better])
        rows.append({**item, "rank": max(rank + ahead, least)})
    put(list(others))
    return rows


def author_status(reader: LeagueReader, author: str, ranking: Ranking | None = None) -> Payload:
    """Returns how an author's versions stand, the latest first, and the last notices for them, the latest last."""
    ranking = ranking or ranking_of(reader)
    versions = sorted(reader.versions.of_author(author), key=lambda version: -version.id)
    notices = reversed(reader.notices.of(author, limit=NOTICES))
    known = reader.authors.get(author)
    return {
        "author": author,
        "kept": {
            "created": known and known.created,
            "quotas": known and known.quotas,
            "tokens": [msgspec.to_builtins(key) for key in reader.authors.keys_of(author)],
        },
        "versions": [_version(version, ranking) for version in versions],
        "notices": [
            {"at": notice.at, "kind": notice.kind, "version": notice.version, "text": notice.text} for notice in notices
        ],
    }


def _version(version: Version, ranking: Ranking | None) -> Payload:
    own = (*RATING, "mu", "sigma", "matches", "provisional", "games", "forfeits")
    found = ranking.of(version) if ranking is not None else None
    return {
        "version": version.name,
        "bot": version.bot,
        "author": version.author,
        "state": version.state,
        "since": version.since,
        "digest": version.digest,
        **confinement(version.level),
        **{name: found and found.get(name) for name in own},
    }


def status(reader: LeagueReader, settings: Settings, folder: Folder) -> Payload:
    """Returns how the league is: for its operator, and for monitoring."""
    season = reader.seasons.current()
    versions = reader.versions.all()
    ranking = ranking_of(reader)
    matches = reader.matches.count() if season is not None else 0
    wait = longest_wait(reader.facts.standing(), matches, settings.game.players)
    service = _service(folder)
    return {
        "name": settings.name,
        "season": season and season.name,
        "running": folder.is_running,
        "paused": reader.controls.paused,
        "ends": reader.controls.closing is not None,
        "final": season and final_tables.document(reader, season),
        "remaking": None,
        "workers": reader.controls.workers or settings.service.workers or None,
        "games": reader.played.counts("" if season is None else season.tournament),
        "matches": matches,
        "longest_wait": wait.matches,
        "longest_wait_rounds": wait.rounds,
        "authors": _authors(reader),
        "league": league(reader, settings, folder),
        "states": {str(state): sum(version.state is state for version in versions) for state in State},
        "versions": [
            _version(version, ranking)
            for version in versions
            if version.is_pending or version.state in (State.ACTIVE, State.SUSPENDED)
        ],
        "notices": [
            {"id": one.id, "at": one.at, "kind": one.kind, "version": one.version, "text": one.text}
            for one in reversed(reader.notices.of(None, unread=True, limit=NOTICES))
        ],
        "orders_waiting": len(folder.orders()),
        "machine_faults": service.get("machine_faults"),
        "logs_bytes": service.get("logs_bytes"),
        "door": msgspec.to_builtins(health(folder.path)),
    }


def _authors(reader: LeagueReader) -> int:
    return sum(author.status == "active" and author.name != HOUSE for author in reader.authors.all())


def _service(folder: Folder) -> Payload:
    """Returns what the service has published about itself; nothing if none has run yet."""
    if not folder.service.exists():
        return {}
    data = files.read(folder.service, "what the service publishes", files.MIB, errors.StoreError)
    return msgspec.json.decode(data, type=Payload)


def games(
    reader: LeagueReader,
    *,
    author: str | None = None,
    bot: str | None = None,
    only: Only | None = None,
    matches: range | None = None,
    limit: int | None = None,
) -> list[Payload]:
    """Returns games of the open season, a row for each seat that is asked for, the latest first.

    Args:
        author: Of this author's versions; None means everybody's.
        bot: Of this bot, or this version of one; None means all.
        only: Which games; None means all.
        matches: In matches with these numbers; None means all.
        limit: The most rows; None means all.

    Raises:
        Refused: There is no such bot, or it is not the author's.
    """
    season = reader.seasons.current()
    if season is None:
        return []
    names: set[str] | None = None
    if author is not None:
        names = {version.name for version in reader.versions.of_author(author)}
    if bot is not None:
        version = reader.versions.named(bot)
        wanted = {version.name} if "/" in bot else {one.name for one in reader.versions.of_bot(bot)}
        names = wanted if names is None else wanted & names
    rows = reader.played.of(season.tournament, names=names, only=only, matches=matches, limit=limit)
    return [_game(row) for row in rows]


def _game(row: Payload) -> Payload:
    name, seat = row["game"], row["seat"]
    bot = row["version"].partition("/")[0]
    is_asked = row["forfeit"] not in (None, "start_failed") and row["published"]
    return {
        **row,
        "bot": bot,
        "lost": row["outcome"] == "lost",
        "replay": f"arena replay {name}.jsonl --seat {seat}" if row["published"] else None,
        "rerun": shlex.join(["arena", "bot", "rerun", f"{name}.jsonl", bot, "--seat", str(seat)]) if is_asked else None,
    }


def report(version: Version, found: StepReport) -> Payload:
    """Returns what a step found out about a version, for its author."""
    return {
        "version": version.name,
        "state": version.state,
        "kind": found.kind,
        "attempt": found.attempt,
        "verdict": found.verdict,
        "at": found.at,
        **findings(found),
        "output": found.output.decode(errors="replace"),
    }


def reports(reader: LeagueReader, name: str, kind: str | None = None) -> list[Payload]:
    """Returns the reports on a version, or on the newest of a bot, in the order of its steps.

    Raises:
        Refused: There is no such version.
    """
    version = reader.versions.named(name)
    return [report(version, found) for found in reader.reports.of(version.id) if kind in (None, found.kind)]
