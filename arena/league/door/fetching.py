"""Fetches from a league elsewhere what it publishes of a season, so that its authors can check it."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count, groupby
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from arena.core.face import compression, counted, errors, files, game_rows, log_records, record_files
from arena.league.door.client import Client
from arena.league.door.messages import BUNDLE
from arena.league.record import rounds
from arena.league.record.old import DEALS, RESULTS, SEASON_FILE, STANDINGS_FILE, DealRevealed
from arena.league.record.rounds import LOGS, SEASONS

MOST_TRIES: Final = 5
"""Tries to fetch a file that grows meanwhile."""
_T = TypeVar("_T")


def fetch_seasons(client: Client, out: Path) -> None:
    """Fetches what a league publishes of all seasons but the logs. Arguments and errors are those of `fetch_season`."""
    for season in client.seasons():
        fetch_season(client, season.tournament, out, with_logs=False)


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
    seasons = client.seasons()
    if (season := next((one for one in seasons if name in (one.name, one.tournament)), None)) is None:
        known = ", ".join(one.name for one in seasons) or "none"
        raise errors.ConfigError(f"expected the name of a season, got: {name!r}; there are: {known:.400}")
    tournament = season.tournament
    folder = out / SEASONS / tournament
    folder.mkdir(parents=True, exist_ok=True)
    (out / LOGS).mkdir(exist_ok=True)
    logs: dict[int, str] = {}
    games: dict[int, list[int]] = {}
    for kind in (rounds.ROUNDS, DEALS, RESULTS):  # the last two of a season of arena 0.2
        for file, data in _pages(client, tournament, kind):
            _keep(folder / file, data, grows=True)
            logs |= _logs_in(tournament, kind, data, games) if with_logs and kind != RESULTS else ()
    there = _fetch_logs(client, tournament, logs, out / LOGS, tell)
    for file in (
        record_files.COMMITMENT_FILE, record_files.CONTRIBUTIONS_FILE, record_files.SECRET_FILE,
        SEASON_FILE, STANDINGS_FILE,
    ):  # fmt: skip
        if (content := _asked(partial(client.season, tournament, file))) is not None:
            _keep(folder / file, content)
    left = f"; {counted(len(logs) - there, 'log')} the league has no more" if there < len(logs) else ""
    state = "closed" if season.closed else "open"
    return f"Season {season.name}, {state}: {counted(there, 'log')}{left}"


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


def _logs_in(tournament: str, kind: str, data: bytes, games: dict[int, list[int]]) -> Iterator[tuple[int, str]]:
    """Yields the numbers of games with a log, each with its SHA-256; `games` are of matches planned in files before.

    It raises `DoorError` if these are no lines of a season.
    """
    try:
        for line in data.splitlines():
            if kind == DEALS:
                for game, log in msgspec.json.decode(line, type=DealRevealed).logs.items():
                    yield int(game.removeprefix(f"{tournament}-")), log
                continue
            told = rounds.decoded(line)
            if isinstance(told, rounds.Planned):
                games[told.match] = told.games
            elif isinstance(told, rounds.Over):
                for number, one in zip(games.pop(told.match, ()), told.games, strict=False):
                    if one.log is not None:
                        yield number, one.log
    except (ValueError, RecursionError) as error:
        raise errors.DoorError(
            f"expected the lines of a season, got: {error}; tell the operator", "no_answer"
        ) from None


def _asked(fetch: Callable[[], _T]) -> _T | None:
    """Returns a file, or logs, which may grow while it is fetched; None if the league has none."""
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


def _fetch_logs(
    client: Client, tournament: str, logs: dict[int, str], folder: Path, tell: Callable[[str], object]
) -> int:
    """Fetches public logs, by game with their SHA-256, unless they are there already. Returns how many are there."""
    paths = {game: folder / f"{game_rows.game_id(tournament, game)}{log_records.SUFFIX}" for game in sorted(logs)}
    left = []
    for game, path in paths.items():
        data = files.read(path, "a log", files.MOST_LOG, errors.ConfigError) if path.exists() else b""
        if hashlib.sha256(data).hexdigest() != logs[game]:
            left.append(game)
    there = len(logs) - len(left)
    while left:
        asked = {f"{paths[game].name}.zst": game for game in left[:BUNDLE]}
        packed = _asked(partial(client.logs, tournament, _ranges(asked.values()))) or {}
        last = max((asked.get(name, -1) for name in packed), default=left[len(asked) - 1])
        for name, data in packed.items():
            if name in asked:
                files.write(paths[asked[name]], compression.expand(data, f"the log of {name}"))
                there += 1
        left = left[bisect_right(left, last) :]
        tell(f"{there} of {counted(len(logs), 'log')}")
    return there


def _ranges(numbers: Iterable[int]) -> str:
    """Returns ascending numbers as `LogsQuery` has them: `0-2,5-5`."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda each: each[1] - each[0])]
    return ",".join(f"{run[0]}-{run[-1]}" for run in runs)
