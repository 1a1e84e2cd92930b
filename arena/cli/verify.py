"""`arena verify`: plays logged games again, and checks that they are the whole tournament that was committed to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from arena.cli import complete as completers
from arena.cli.logs import find_log, moved_option
from arena.cli.options import json_option
from arena.cli.output import counted, echo, say, show_json
from arena.cli.progress import progress_bar
from arena.errors import ConfigError, ReplayMismatch
from arena.record.log import find_logs
from arena.record.published import SECRET_FILE

if TYPE_CHECKING:
    from arena.standings.audit import Audit, Auditor, Examined


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one log."""

    log: str
    """Its path."""
    ok: bool
    turns: int | None = None
    """How many turns the game had."""
    draws_checked: bool | None = None
    """Whether the secret was known, so that the draws could be computed again."""
    reason: str | None = None
    """Where and how it departs from the rules, if it does."""

    @classmethod
    def of(cls, log: Examined) -> Row:
        """Returns the row of a log that was examined."""
        if log.fault is not None:
            return cls(log=log.path, ok=False, reason=log.fault.reason)
        return cls(log=log.path, ok=True, turns=log.turns, draws_checked=log.draws_checked)

    def __str__(self) -> str:
        if not self.ok:
            return f"FAILED  {self.reason}"
        draws = "draws checked" if self.draws_checked else f"draws not checked: its {SECRET_FILE} is not beside it"
        return f"ok  {self.log}  {counted(self.turns or 0, 'turn')}, {draws}"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="LOG|ID...", shell_complete=completers.games)
@click.option("--complete", is_flag=True, help="Demand every game of the schedule, and the secret.")
@click.option(
    "--noted",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A commitment.json that you kept from before the first game, to compare with.",
)
@click.option(
    "--db",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A database to compare with: all that it says must follow from the logs. Ids are looked up in it too.  "
    "[default for ids: arena.db]",
)
@moved_option
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    names: tuple[str, ...],
    complete: bool,
    noted: Path | None,
    db: Path | None,
    logs: Path | None,
    as_json: bool,
) -> None:
    """Check logged games, and that none was chosen, changed or left out.

    LOG is a game's log, or a folder that holds logs. ID is that of a game in the database, as `arena games` lists it,
    or that of a tournament, or `latest`. Every log is played again: each event, the outcome, the digests and the
    times are compared, and each draw too once the secret is out. A folder is checked as a whole as well: its
    commitment.json says which games of which bots there must be, on which deals. Each check supports a promise of the
    organiser, and is named with it. The exit code is 4 if anything is wrong.

    \b
    Example:
      arena verify logs
      arena verify logs/20260101-1a2b --complete --db arena.db
      arena verify latest --complete
    """
    from arena.standings.audit import Auditor, examine_all
    from arena.tournament.workers import available_cores

    paths = [find_log(name, db or Path("arena.db"), logs) for name in names]
    rows: list[Row] = []  # only for --json: of thousands of logs, little is kept
    audits: list[Audit] = []
    checked = failed = 0
    with ExitStack() as stack:
        reader = None
        if db is not None:
            from arena.store.store import open_reader, update

            update(db)
            reader = stack.enter_context(open_reader(db))
        found = [(path, path.is_dir(), _logs_in(path)) for path in paths]
        advance = stack.enter_context(progress_bar(sum(len(files) for _, _, files in found), 0, "logs"))
        for _, as_folder, files in found:
            for folder, group in groupby(files, key=lambda file: file.parent):
                auditor = Auditor(folder, reader, noted) if as_folder else None
                for log in examine_all([str(file) for file in group], available_cores()):
                    row = Row.of(log)
                    checked, failed = checked + 1, failed + (not row.ok)
                    if as_json:
                        rows.append(row)
                    if auditor is not None:
                        auditor.add(log)
                    if not (as_json or as_folder):
                        echo(str(row))
                    advance(lambda: "")
                if auditor is not None:
                    audits.append(_finish(auditor, complete=complete, quiet=as_json))
    faults = sum(len(audit.faults) for audit in audits) or failed
    if as_json:
        show_json({"logs": rows, "folders": audits, "failed": failed, "faults": faults})
    elif checked > 1:
        more = f"; {counted(faults, 'fault')} in all" if faults > failed else ""
        say(f"{checked} logs, {failed or 'none'} failed{more}")
    if faults:
        ctx.exit(ReplayMismatch.exit_code)


def _finish(auditor: Auditor, *, complete: bool, quiet: bool) -> Audit:
    """Returns what was found in a folder, and prints it unless `quiet`."""
    audit = auditor.result(complete=complete)
    if not quiet:
        for line in describe(audit):
            echo(line)
    return audit


def describe(audit: Audit) -> Iterable[str]:
    """Yields the lines that tell of a folder: each check with its promise, and under it what it found."""
    from arena.standings.audit import PROMISES

    if audit.games is None:
        yield f"{audit.folder}: {counted(audit.logs, 'log')} of no known tournament"
    else:
        yield f"{audit.folder}: tournament {audit.tournament}, {audit.logs} of {counted(audit.games, 'game')}"
    for name, promise in PROMISES.items():
        faults = [fault for fault in audit.faults if fault.check == name]
        if name not in audit.checked:
            yield f"  -       {name}: not checked, {_WHY_NOT[name]}"
            continue
        yield f"  {'FAILED' if faults else 'ok    '}  {name}: {promise}"
        for fault in faults[:MOST_FAULTS]:
            yield f"            {fault.reason}"
        if len(faults) > MOST_FAULTS:
            yield f"            and {len(faults) - MOST_FAULTS} more (--json has all)"


MOST_FAULTS = 10
"""How many faults of one check are printed."""
_WHY_NOT = {
    "commitment": "there is no commitment.json",
    "deals": f"there is no {SECRET_FILE} yet",
    "schedule": "there is no commitment.json",
    "bots": "there is no commitment.json",
    "secret": "only --complete demands it",
    "database": "--db names one",
}


def _logs_in(path: Path) -> list[Path]:
    """Returns the logs in a file or folder, those of one folder together."""
    if not path.is_dir():
        return [path]
    found = sorted(find_logs(path), key=lambda file: (file.parent, file.name))
    if not found:
        raise ConfigError(f"expected a folder with game logs (*.jsonl, *.jsonl.zst), got: {path}")
    return found
