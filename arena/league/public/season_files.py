"""Writes what is published of a season, in `published/seasons/TOURNAMENT/`; `protocol/LEAGUE.md` describes the files.

    commitment.json      before the first game: the settings, and the commitment to the season's secret
    contributions.json   before the first game: the value of the beacon that the settings name, if they name one
    rounds-N.jsonl       a line for each thing that was decided, when it was decided; the last has the final standings
    secret.json          last: the secret, from which every deal's secret follows

Laws:
1. All of it follows from the database. So it can be written again.
2. What stands in a file stays there, even if it contradicts the database: the operator is told, authors will see it.
3. No file has more bytes than a client reads: lines are split by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arena.core.face import chance, files, game_rows, record_files
from arena.league.folder import Folder
from arena.league.record import rounds
from arena.league.record.old import SEASON_FILE
from arena.league.store import LeagueReader, lines
from arena.league.store.records import Season


def folder_of(folder: Folder, tournament: str) -> Path:
    """Returns where the files of a season are published."""
    return folder.published / rounds.SEASONS / tournament


def write_commitment(folder: Folder, season: Season, tournament: game_rows.Tournament) -> None:
    """Writes what is fixed before the first game of a season. Raises OSError: it cannot be written."""
    place = folder_of(folder, season.tournament)
    place.mkdir(parents=True, exist_ok=True)
    record_files.publish(place, record_files.COMMITMENT_FILE, lines.commitment_of(tournament, season.opened))


def write_beacon(folder: Folder, tournament: game_rows.Tournament) -> None:
    """Writes the value of a season's beacon, if it is known. Raises OSError: it cannot be written."""
    if value := tournament.beacon:
        document = chance.contributions_of(tournament.id, value, ())
        record_files.publish(folder_of(folder, tournament.id), record_files.CONTRIBUTIONS_FILE, document)


class Rounds:
    """Copies the lines of seasons from the database into their files."""

    def __init__(
        self, store: LeagueReader, folder: Folder, tell: Callable[[str], object] = lambda sentence: None
    ) -> None:
        """Takes the league, its folder, and what is called with a sentence about files that contradict it."""
        self._store = store
        self._folder = folder
        self._tell = tell
        self._written: dict[str, int] = {}
        """Lines in the files, by tournament."""

    def write(self, season: Season) -> None:
        """Adds the lines of a season that are not there yet.

        Raises:
            OSError: They cannot be written.
            LogError: What is there cannot be read.
        """
        place = folder_of(self._folder, season.tournament)
        there = self._written.pop(season.tournament, None)
        if there is None:
            there = self._there(season, place)
        while some := list(self._store.seasons.lines(season, there, there - there % rounds.PAGE + rounds.PAGE)):
            files.append_lines(place / rounds.page(there), b"".join(line + b"\n" for line in some))
            there += len(some)
        self._written[season.tournament] = there

    def _there(self, season: Season, place: Path) -> int:
        """Returns how many lines the files have. A last one that was not written whole is taken off."""
        place.mkdir(parents=True, exist_ok=True)
        found = rounds.pages(place)
        if not found:
            return 0
        files.append_lines(found[-1], b"")
        last = rounds.read(found[-1])
        there = (len(found) - 1) * rounds.PAGE + len(last)
        if last and [*self._store.seasons.lines(season, there - 1, there)] != last[-1:]:
            self._tell(
                f"What was published of season {season.name} in {place} is not what the database says: authors will "
                "see that it was changed"
            )
        return there


def catch_up(store: LeagueReader, folder: Folder, copy: Rounds) -> None:
    """Writes what is missing of all seasons: a kill may have come before it, or the league is restored from a backup.

    Raises:
        OSError: Something cannot be written.
        LogError: What is there cannot be read.
    """
    for season in store.seasons.all():
        place = folder_of(folder, season.tournament)
        if season.closed is not None and (place / record_files.SECRET_FILE).exists():
            continue
        tournament = store.finder.tournament(season.tournament)
        if not any((place / file).exists() for file in (record_files.COMMITMENT_FILE, SEASON_FILE)):
            write_commitment(folder, season, tournament)
        write_beacon(folder, tournament)
        copy.write(season)
        if season.closed is not None:
            secret = record_files.Secret(season.tournament, tournament.secret.hex(), tournament.commitment)
            record_files.publish(place, record_files.SECRET_FILE, secret)
