"""`arena verify`: plays logged games again, and checks that they are the whole tournament that was committed to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from arena.cli import complete as completers
from arena.cli.options import json_option
from arena.cli.output import counted, echo, say, show_json
from arena.core import plugs
from arena.core.commands.logs import find_log, moved_option
from arena.core.commands.progress import progress_bar
from arena.core.errors import ConfigError, ReplayMismatch, Unchecked
from arena.core.plugs import FolderAuditor, ToCheck
from arena.core.record.log import find_logs, read_log
from arena.core.record.published import SECRET_FILE

if TYPE_CHECKING:
    from arena.core.record.kept import Difference
    from arena.core.standings.examined import Examined
    from arena.core.standings.verdicts import Audit
    from arena.core.store.reader import Reader


class VerifyRow(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one log."""

    log: str
    ok: bool
    turns: int | None = None
    draws_checked: bool | None = None
    """Whether the secret was known, so that the draws could be computed again."""
    stranger: str | None = None
    """Its tournament, where the commitment.json beside it is of another one: by that it was not checked."""
    reason: str | None = None
    """Departure from the rules, where and how, if there is one."""
    later: bool = False
    """Whether it was not checked, as a later version of arena wrote it, say: `reason` says why."""

    @classmethod
    def of(cls, log: Examined) -> VerifyRow:
        """Returns the row of a log that was examined."""
        from arena.core.standings.verdicts import UNCHECKED_LOG

        if log.fault is not None:
            return cls(log=log.path, ok=False, reason=log.fault.reason, later=log.fault.check == UNCHECKED_LOG)
        own = log.head.tournament
        stranger = own if own and log.beside not in (own, None) else None
        return cls(log=log.path, ok=True, turns=log.turns, draws_checked=log.draws_checked, stranger=stranger)

    def __str__(self) -> str:
        if not self.ok:
            return f"-  {self.reason}" if self.later else f"FAILED  {self.reason}"
        draws = "draws checked" if self.draws_checked else f"draws not checked: its {SECRET_FILE} is not beside it"
        if self.stranger is not None:
            draws = f"of tournament {self.stranger}, not of the commitment.json beside it, by which it was not checked"
        return f"ok  {self.log}  {counted(self.turns or 0, 'turn')}, {draws}"


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="LOG|ID...", shell_complete=completers.games)
@click.option(
    "--complete", is_flag=True, help="Demand every game of the schedule, the secret, and the log of each receipt."
)
@click.option(
    "--noted",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A commitment.json that you kept from before the first game, or heads of a league's seasons, to compare with.",
)
@click.option(
    "--db",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A database to compare with: all that it says must follow from the logs. Ids are looked up in it too.  "
    "[default for ids: arena.db]",
)
@click.option(
    "--receipts",
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE|FOLDER",
    help="Receipts that a bot has kept of its games, to compare with.",
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
    receipts: Path | None,
    logs: Path | None,
    as_json: bool,
) -> None:
    """Check logs, and that no game was chosen, changed or left out.

    LOG is a game's log, or a folder that holds logs. ID is that of a game in the database, as `arena games` lists it,
    or that of a tournament, or `latest`. Every log is played again: each event, the outcome, the digests and the
    times are compared, and each draw too once the secret is out. A folder is checked as a whole as well: its
    commitment.json says which games of which bots there must be, on which deals. Each check supports a promise of the
    organiser, and is named with it. With --receipts the logs are compared with what a bot was told of its games when
    they ended: that finds what was changed afterwards, however well. LOG may be a league, or what
    `arena league season get` fetched from one: then each season is checked, and a closed one to its final standings.
    The exit code is 4 if anything is wrong; it is 5 if something cannot be checked here, as a later version wrote it.

    \b
    Example:
      arena verify logs
      arena verify logs/20260101-1a2b --complete --db arena.db
      arena verify latest --complete
      arena verify cup --db cup/league.db
      arena verify first --receipts fox.receipts
    """
    from arena.core.standings.examined import examine_all
    from arena.core.standings.verdicts import MOST_FAULTS
    from arena.core.tournament.workers import available_cores

    paths = [find_log(name, db or Path("arena.db"), logs) for name in names]
    rows: list[VerifyRow] = []  # only for --json: of thousands of logs, little is kept
    audits: list[Audit] = []
    checked = failed = later = 0
    kept = None
    if receipts is not None:
        from arena.core.record.kept import Receipts

        kept = Receipts(receipts)
    differences: list[Difference] = []
    with ExitStack() as stack:
        reader = None
        if db is not None:
            from arena.core.store.store import open_reader

            reader = stack.enter_context(open_reader(db))
        found = [each for path in paths for each in _to_check(path, reader, noted)]
        advance = stack.enter_context(progress_bar(sum(len(each.logs) for each in found), 0, "logs"))
        for each in found:
            auditor = each.begin and each.begin()
            for log in examine_all([str(file) for file in each.logs], available_cores(), each.beside):
                row = VerifyRow.of(log)
                checked, failed, later = checked + 1, failed + (not row.ok and not row.later), later + row.later
                if as_json:
                    rows.append(row)
                if kept is not None and row.ok:
                    differences += kept.differences(read_log(Path(log.path)))
                if auditor is not None:
                    auditor.add(log)
                elif not as_json:
                    echo(str(row))
                advance(lambda: "")
            if auditor is not None:
                audits.append(audit := auditor.result(complete=complete))
                for text in () if as_json else describe(audit, auditor):
                    echo(text)
    faults = (sum(len(audit.faults) for audit in audits) or failed) + len(differences)
    later = max(later, sum(len(audit.later) for audit in audits))
    compared = {}
    if kept is not None:
        lists = {"unknown": kept.unknown, "differences": differences, "begun": kept.begun, "later": kept.later}
        compared = {"receipts": {"compared": len(kept.compared), **lists}}
        faults += len(kept.unknown) if complete or not (kept.compared or kept.later) else 0
        later += len(kept.later)
    if as_json:
        show_json({"logs": rows, "folders": audits, **compared, "failed": failed, "faults": faults, "later": later})
    elif kept is not None:
        for difference in differences:
            echo(f"FAILED  {difference}")
        for reason in kept.later[:MOST_FAULTS]:
            echo(f"-  {reason}")
        without = f"; of {counted(len(kept.unknown), 'receipt')} there is no log here" if kept.unknown else ""
        say(f"{counted(len(kept.compared), 'receipt')} compared, {counted(len(differences), 'difference')}{without}")
        if kept.begun:
            say(f"begun and not counted, as receipts say: {kept.begun}")
    if checked > 1 and not as_json:
        more = f"; {counted(faults, 'fault')} in all" if faults > failed else ""
        unread = f"; {counted(later, 'file')} not checked" if later else ""
        say(f"{checked} logs, {failed or 'none'} failed{more}{unread}")
    if faults or later:
        ctx.exit(ReplayMismatch.exit_code if faults else Unchecked.exit_code)


def _to_check(path: Path, reader: Reader | None, noted: Path | None) -> Iterable[ToCheck]:
    """Yields what there is to check in a file or folder."""
    from arena.core.standings.audit import Auditor

    if not path.is_dir():
        yield ToCheck([path])
    elif (of_wing := plugs.audits(path, reader, noted)) is not None:
        yield from of_wing
    else:
        for folder, group in groupby(_logs_in(path), key=lambda file: file.parent):
            yield ToCheck(list(group), partial(Auditor, folder, reader, noted))


def describe(audit: Audit, auditor: FolderAuditor) -> Iterable[str]:
    """Yields the lines that tell of a folder: each check with its promise, and under it what it found."""
    from arena.core.standings.verdicts import MOST_FAULTS, check_lines

    if audit.games is None:
        yield f"{audit.folder}: {counted(audit.logs, 'log')} of no known tournament"
    else:
        yield f"{audit.folder}: {audit.of} {audit.tournament}, {audit.logs} of {counted(audit.games, 'game')}"
    usual = {**auditor.why_not, **audit.unchecked}
    unchecked = {name: usual[name] for name in auditor.promises if name not in audit.checked}
    yield from check_lines(auditor.promises, audit.faults, unchecked)
    if audit.begun:
        yield f"  note    begun and not counted: {audit.begun}"
    for reason in audit.later[:MOST_FAULTS]:
        yield f"  -       {reason}"
    for note in audit.notes:
        yield f"  note    {note}"


def _logs_in(path: Path) -> list[Path]:
    found = sorted(find_logs(path), key=lambda file: (file.parent, file.name))
    if not found:
        raise ConfigError(f"expected a folder with game logs (*.jsonl, *.jsonl.zst), got: {path}")
    return found
