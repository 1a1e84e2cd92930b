"""`arena league backup` and `arena league restore`: a league in one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import json_option
from arena.cli.output import counted, say, show_json, show_line

if TYPE_CHECKING:
    from arena.league.keeping.backup import Backup

MOST_MISSING = 10
"""How many missing files are named; `--json` has all."""


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@click.option("--without-logs", is_flag=True, help="Leave out the games' logs, which are most of it.")
@json_option
def backup(folder: Path, file: Path, without_logs: bool, as_json: bool) -> None:
    """Copy a league into one file, while it runs.

    FOLDER is the league's, FILE the archive to write; an older one is replaced once the new one is good. It holds what
    cannot be made again: the database, submissions, logs, keys, orders. Only you may read it, for it holds secrets. The
    copy is checked before the command ends. Games that are running are played again by a league that is restored.

    \b
    Example:
      arena league backup cup cup.tar
    """
    from arena.league.commands.here import folder_of
    from arena.league.keeping.backup import back_up

    done = back_up(folder_of(folder).path, file, with_logs=not without_logs)
    _show(file, done, as_json)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="[FOLDER]", required=False)
@json_option
def restore(file: Path, folder: Path | None, as_json: bool) -> None:
    """Make a league from a backup, or only check the backup.

    FILE is a backup, FOLDER the new league's folder. Without FOLDER nothing is written, and the backup is checked:
    every byte, that its database is whole, and that each log is the one that the database names. Never run two copies
    of a league: they would play the same deals.

    \b
    Example:
      arena league restore cup.tar cup2
      arena league restore cup.tar
    """
    from arena.league.keeping.backup import check_backup
    from arena.league.keeping.backup import restore as restore_into

    done = check_backup(file) if folder is None else restore_into(file, folder)
    _show(file, done, as_json)
    if folder is not None:
        say(f"Restored to {folder}. Next: arena league run {folder}")


def _show(file: Path, done: Backup, as_json: bool) -> None:
    """Prints what is in a backup."""
    if as_json:
        show_json({"file": str(file), "backup": done})
        return
    size = f"{counted(done.files, 'file')}, {done.bytes / 1e6:,.1f} MB, logs of {counted(done.logs, 'game')}"
    show_line(f"{file}: {size}, as of {done.made}; every byte was checked")
    for name in done.missing[:MOST_MISSING]:
        say(f"a version cannot be built again without this archive, which is missing: {name}")
    if len(done.missing) > MOST_MISSING:
        say(f"and {len(done.missing) - MOST_MISSING} more (--json has all)")
