"""`arena league audit`: checks that a league has changed and left out nothing of what it has ever shown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import json_option
from arena.cli.output import check_lines, counted, echo, show_json
from arena.core.face import errors
from arena.league.commands.away import Elsewhere, at_options, out_option
from arena.league.record.season import PUBLISHED

if TYPE_CHECKING:
    from arena.league.checking.ledger_audit import LedgerAudit
    from arena.league.record.ledger import Head


@click.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Heads that were seen before: another author's .heads.json, or a head.json. May be given more than once.",
)
@out_option("With --at, the folder for what is fetched.")
@at_options
@json_option
@click.pass_context
def audit(
    ctx: click.Context,
    folder: Path | None,
    roots: tuple[Path, ...],
    out: Path,
    elsewhere: Elsewhere | None,
    as_json: bool,
) -> None:
    """Check that a league has changed and left out nothing of the games that it has ever shown.

    The league is one in FOLDER, or what was fetched into it, or one elsewhere: then its ledger and what it publishes of
    its seasons are fetched first, without logs. Every entry is hashed again, and each head that was seen before must be
    that of the first entries. With --root of another author you find a league that shows the two of you different
    histories. The exit code is 4 if anything is wrong.

    \b
    Example:
      arena league audit cup
      arena league audit --at tcp://cup.example:5599/5f… --key anna.key --out cup --root bert.heads.json
    """
    from arena.league.checking.ledger_audit import audit_ledger

    if (folder is None) == (elsewhere is None):
        raise errors.ConfigError(
            "expected FOLDER, or --at ADDRESS with --key FILE, got: both or neither; say which league"
        )
    if elsewhere is not None:
        from arena.league.door.fetching import fetch_ledger, fetch_seasons
        from arena.league.door.heads import heads_of

        with elsewhere.client() as client:
            fetch_seasons(client, out)  # first: whatever they have must be in the ledger
            fetch_ledger(client, out)
        own, folder = heads_of(elsewhere.key), out
        roots = tuple(dict.fromkeys([*([own] if own.exists() else []), *roots]))
    assert folder is not None
    folder = folder / PUBLISHED if (folder / PUBLISHED).is_dir() else folder
    found = audit_ledger(folder, {str(path): _head(path, elsewhere) for path in roots})
    if as_json:
        show_json(found)
    else:
        for line in describe(found):
            echo(line)
    if found.faults or found.unchecked:
        ctx.exit((errors.ReplayMismatch if found.faults else errors.LaterVersion).exit_code)


def _head(path: Path, elsewhere: Elsewhere | None) -> Head:
    """Returns the head of this league in a file.

    Raises:
        ConfigError: There is none, or there are several and nothing says which.
    """
    from arena.league.door.heads import read_heads

    heads = read_heads(path)
    league = elsewhere.at.rpartition("/")[2].lower() if elsewhere is not None else ""
    if league in heads:
        return heads[league]
    if len(heads) == 1 and elsewhere is None:
        return next(iter(heads.values()))
    raise errors.ConfigError(
        f"expected the head of one league, got: {len(heads)}, none of them known to be of this one - at {path}; "
        "give --at with the league's address"
    )


def describe(audit: LedgerAudit) -> Iterable[str]:
    """Yields the lines that tell of a ledger: each check with its promise, and under it what it found."""
    from arena.league.checking.ledger_audit import PROMISES

    yield f"{audit.folder}: {counted(audit.entries, 'game')}, root {audit.head.root}"
    yield from check_lines(PROMISES, audit.faults, ({} if audit.seen else {"seen": "no head given"}) | audit.unchecked)
