"""Fetches from a league elsewhere what it publishes of a season, so that its authors can check it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from arena.core.face import Payload, compression, counted, errors, files, game_rows, log_records, record_files
from arena.league.door.client import Client
from arena.league.record import rounds
from arena.league.record.old import DEALS, RESULTS, SEASON_FILE, STANDINGS_FILE, DealRevealed
from arena.league.record.rounds import LOGS, SEASONS

TOLD: Final = 50
"""After so many logs it is told how many are there."""
MOST_TRIES: Final = 5
"""Tries to fetch a file that grows meanwhile."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


def fetch_seasons(client: Client, out: Path) -> None:
    """Fetches what a league publishes of all seasons but the logs. Arguments and errors are those of `fetch_season`."""
    for season in _known(client.hello().league.get("seasons")):
        fetch_season(client, str(season.get("tournament")), out, with_logs=False)


def fetch_season(
    client: Client, name: str, out: Path, *, with_logs: bool = True, tell: Callable[[str], object] = lambda text: None
) -> str:
    """Fetches what a league publishes of a season, into the folders `seasons` and `logs` of a folder.

    Of an open season that is the commitment, and what is over. Logs that are there already are not fetched again.

    Args:
        name: The season's name, or its identifier.
        with_logs: Whether to fetch the logs too.
        tell: Called again and again with how many are there.

    Returns:
        A sentence about what was fetched.

    Raises:
        ConfigError: There is no such season.
        DoorError: The league cannot be reached, does not give it, or has changed what was fetched before.
        OSError: Something cannot be written.
    """
    season = _named(name, client.hello().league.get("seasons"))
    tournament = season["tournament"]
    folder = out / SEASONS / tournament
    folder.mkdir(parents=True, exist_ok=True)
    (out / LOGS).mkdir(exist_ok=True)
    there = gone = 0
    for kind in (rounds.ROUNDS, DEALS, RESULTS):  # the last two of a season of arena 0.2
        for file, data in _pages(client, tournament, kind):
            _keep(folder / file, data, grows=True)
            for game, sha256 in _logs_in(tournament, kind, data) if with_logs and kind != RESULTS else ():
                if (there + gone) % TOLD == TOLD - 1:
                    tell(f"{counted(there, 'log')} so far")
                is_there = _fetch_log(client, tournament, game, sha256, out / LOGS)
                there, gone = there + is_there, gone + (not is_there)
    for file in (record_files.COMMITMENT_FILE, SEASON_FILE, STANDINGS_FILE, record_files.SECRET_FILE):
        if (content := _asked(partial(client.season, tournament, file))) is not None:
            _keep(folder / file, content)
    left = f"; {counted(gone, 'log')} the league has no more" if gone else ""
    state = "closed" if season.get("closed") else "open"
    return f"Season {season['name']}, {state}: {counted(there, 'log')}{left}"


def _keep(path: Path, data: bytes, *, grows: bool = False) -> None:
    """Writes what was fetched, unless it contradicts what was fetched before: that is evidence.

    Args:
        data: What was fetched.
        grows: Whether there may be more at its end than before.

    Raises:
        DoorError: It contradicts it.
    """
    if path.exists():
        before = files.read(path, "what was fetched before", files.MOST_DOCUMENT, errors.ConfigError)
        if not (data.startswith(before) if grows else data == before):
            raise errors.DoorError(
                f"expected {path.name} as it was when it was fetched before, got another - at {path}; "
                "keep that file, and ask the operator what was changed",
                "changed",
            )
    files.write(path, data)


def _known(seasons: object) -> list[Payload]:
    return [one for one in seasons if isinstance(one, dict)] if isinstance(seasons, list) else []


def _named(name: str, seasons: object) -> Payload:
    known = _known(seasons)
    for one in known:
        tournament = one.get("tournament")
        if name in (one.get("name"), tournament) and isinstance(tournament, str) and _NAME.match(tournament):
            return one
    there = ", ".join(str(one.get("name")) for one in known) or "none"
    raise errors.ConfigError(f"expected the name of a season, got: {name!r}; there are: {there:.400}")


def _logs_in(tournament: str, kind: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yields the games that have a log, each with its SHA-256.

    Raises:
        DoorError: These are no lines of a season.
    """
    games: dict[int, list[int]] = {}
    try:
        for line in data.splitlines():
            if kind == DEALS:
                yield from msgspec.json.decode(line, type=DealRevealed).logs.items()
                continue
            told = rounds.decoded(line)
            if isinstance(told, rounds.Planned):
                games[told.match] = told.games
            elif isinstance(told, rounds.Over):
                for number, game in zip(games.get(told.match, ()), told.games, strict=False):
                    if game.log is not None:
                        yield game_rows.game_id(tournament, number), game.log
    except (ValueError, RecursionError) as error:
        raise errors.DoorError(
            f"expected the lines of a season, got: {error}; tell the operator", "no_answer"
        ) from None


def _asked(fetch: Callable[[], bytes]) -> bytes | None:
    """Returns a file, which may grow while it is fetched; None if the league has none."""
    for tries in count(1):
        try:
            return fetch()
        except errors.DoorError as error:
            if error.refusal == "unknown":
                return None
            if error.refusal != "no_answer" or tries == MOST_TRIES:
                raise
    raise AssertionError


def _pages(client: Client, tournament: str, kind: str) -> Iterator[tuple[str, bytes]]:
    """Yields the files of a kind, until there is none of the next number."""
    for number in count():
        name = f"{kind}-{number}.jsonl"
        data = _asked(partial(client.season, tournament, name))
        if data is None:
            return
        yield name, data


def _fetch_log(client: Client, tournament: str, game: str, sha256: str, logs: Path) -> bool:
    """Fetches the public log of a game, unless it is there already. Returns whether it is."""
    if not game.startswith(f"{tournament}-") or not game.removeprefix(f"{tournament}-").isdigit():
        raise errors.DoorError(f"expected a game of {tournament}, got: {game!r:.80}; tell the operator", "no_answer")
    path = logs / f"{game}{log_records.SUFFIX}"
    if path.exists():
        data = files.read(path, "a log that was fetched", files.MOST_LOG, errors.ConfigError)
        if hashlib.sha256(data).hexdigest() == sha256:
            return True
    packed = _asked(partial(client.log, game, public=True))
    if packed is None:
        return False
    files.write(path, compression.expand(packed, f"the log of {game}"))
    return True
