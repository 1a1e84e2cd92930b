"""`arena export`: the decisions of logged games as a table for programs that learn."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli import complete as completers
from arena.cli.output import counted, say
from arena.core.face import errors, files, log_options, log_records, plain, progress_lines


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="LOG|ID...", shell_complete=completers.games)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default="decisions.parquet",
    show_default=True,
    metavar="FILE",
    help="What is written: FILE.parquet, or FILE.jsonl with a line of JSON for each play.",
)
@click.option("--numbers", is_flag=True, help="Add the view and the legal plays as environments have them, in numbers.")
@log_options.db_option
@log_options.moved_option
def export(names: tuple[str, ...], out: Path, numbers: bool, db: Path, logs: Path | None) -> None:
    """Write the decisions of games as a table, to learn from.

    LOG is a game's log, or a folder that holds logs; ID is that of a game or a tournament in the database, or `latest`.
    Each play is a row: the game, its rules and the bot, what the seat could see before it, the legal plays, what it did
    and how long that took, its rank and score in the end, and how the game ended. A row holds nothing else that the
    seat could not know. Every log is played again for it; one that breaks the rules of its game ends the command, and
    nothing is written.

    \b
    Example:
      arena export latest
      arena export logs --out decisions.jsonl
    """
    from arena.core.face import need, processor_cores
    from arena.learn.export import SUFFIX, write_lines, write_parquet

    if out.suffix not in (SUFFIX, ".jsonl"):
        raise errors.ConfigError(
            f"expected a file that ends with .parquet or .jsonl, got: {plain(str(out))!r} - at --out"
        )
    if out.suffix == SUFFIX:
        need("data", f"--out {plain(out.name)}")
    paths = [str(file) for name in names for file in _logs(log_options.find_log(name, db, logs))]
    rows = 0
    try:
        with files.writing(out) as file, progress_lines.progress_bar(len(paths), 0, "logs") as advance:
            cores = processor_cores.available_cores()
            for count in (
                write_parquet(paths, file, cores, numbers=numbers)
                if out.suffix == SUFFIX
                else write_lines(paths, file, numbers=numbers)
            ):
                rows += count
                advance(lambda: "")
    except OSError as error:
        raise errors.ConfigError(
            f"expected a file that can be written, got: '{plain(str(out))}': {error.strerror}"
        ) from None
    say(f"{plain(str(out))}: {counted(rows, 'play')} of {counted(len(paths), 'game')}")


def _logs(path: Path) -> list[Path]:
    return sorted(log_records.find_logs(path)) if path.is_dir() else [path]
