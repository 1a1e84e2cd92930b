"""Finds the log that an argument names: by its path, or by the id of its game in the database."""

from __future__ import annotations

import os
from pathlib import Path

import click

from arena.cli.help import RESULTS, option
from arena.core.errors import ConfigError, StoreError
from arena.core.record import compressed
from arena.core.record.log import SUFFIX, Log, existing_log, find_logs

db_option = option(
    RESULTS, "--db", default="arena.db", show_default=True, type=click.Path(path_type=Path),
    help="The database in which ids are looked up.",
)  # fmt: skip
"""`--db FILE`, for commands that need it only for an id."""

moved_option = click.option(
    "--logs", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
    help="Where the logs of the ids are now, if their folder has moved.",
)  # fmt: skip
"""`--logs DIR`, for the same commands."""


def find_game(text: str, db: Path, logs: Path | None) -> Path:
    """Returns the path of a log, as `find_log` does; of a folder, that of the game that ended last."""
    path = find_log(text, db, logs)
    return _latest(path) if path.is_dir() else path


def check_seat(game: Log, seat: int | None) -> None:
    """Refuses a seat that a game does not have.

    Raises:
        click.BadParameter: It is none of the game's.
    """
    players = game.header.settings.players
    if seat is not None and seat >= players:
        raise click.BadParameter(f"expected a seat in 0..{players - 1}, got: {seat}", param_hint="--seat")


def find_log(text: str, db: Path, logs: Path | None) -> Path:
    """Returns the path of a log or of a folder of logs.

    Args:
        text: A path; or the id of a game, or its beginning, or `TOURNAMENT:NUMBER`; or the id of a tournament, which
            stands for the folder of its logs.
        db: The database in which ids are looked up.
        logs: The folder that the logs are in now, if they have moved; None means where they were written.

    Raises:
        ConfigError: There is no such file.
        StoreError: There is no such game, or its log is gone.
    """
    path = existing_log(Path(text))
    if path.exists():
        return path
    if os.sep in text or path.suffix in (SUFFIX, compressed.SUFFIX):
        raise ConfigError(f"expected a game's log, or a folder of logs, got: {text}, where there is no such file")
    if not db.exists():
        raise ConfigError(
            f"expected a log, a folder of logs, or the id of a game in a database, got: {text}, which is no file here, "
            f"and there is no database at {db}; use --db"
        )
    from arena.core.store.finding import open_finder

    with open_finder(db) as finder:
        place = finder.place(text)
    name = place.log or ""
    written = Path(place.folder)
    if logs is None:
        places = [written / name]
    else:
        places = [logs / place.tournament / name] + ([logs / name] if name else [])
        places += [logs] if not name and logs.name == place.tournament else []
    for found in map(existing_log, places):
        if found.exists():
            return found
    what = f"the log of game {name.removesuffix('.jsonl')}" if name else f"the logs of tournament {place.tournament}"
    raise StoreError(
        f"expected {what}, got: no such file - at {places[0]}; "
        f"if {written.parent} has moved, give the folder that it is now with --logs"
    )


def _latest(folder: Path) -> Path:
    """Returns the log that was written last; of logs written at the same moment, the last by name."""
    logs = [(log.stat().st_mtime_ns, log.name, log) for log in find_logs(folder) if log.is_file()]
    if not logs:
        raise ConfigError(f"expected a folder with game logs (*.jsonl, *.jsonl.zst), got: {folder}")
    return max(logs)[-1]
