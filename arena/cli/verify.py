"""`arena verify`: plays logged games again and says where one departs from the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from arena.cli.options import json_option
from arena.cli.output import counted, say, show_json
from arena.errors import ConfigError, LogError, ReplayMismatch
from arena.record.published import SECRET_FILE
from arena.referee.verify import verify as verify_log
from arena.text import plain


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

    def __str__(self) -> str:
        if not self.ok:
            return f"FAILED  {self.reason}"
        draws = "draws checked" if self.draws_checked else f"draws not checked: its {SECRET_FILE} is not beside it"
        return f"ok  {self.log}  {counted(self.turns or 0, 'turn')}, {draws}"


@click.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@json_option
@click.pass_context
def verify(ctx: click.Context, logs: tuple[Path, ...], as_json: bool) -> None:
    """Re-run logged games and say where one departs from the rules.

    LOGS are game logs, or folders that hold logs. Every event, the outcome and the digests are compared, and every
    draw too once the secret is out. The exit code is 4 if a log fails.

    \b
    Example:
      arena verify logs
    """
    rows = []
    for file in _find(logs):
        row = _check(file)
        rows.append(row)
        if not as_json:
            click.echo(plain(str(row)))
    failed = sum(not row.ok for row in rows)
    if as_json:
        show_json({"logs": rows, "failed": failed})
    elif len(rows) > 1:
        say(f"{len(rows)} logs, {failed or 'none'} failed")
    if failed:
        ctx.exit(ReplayMismatch.exit_code)


def _find(paths: Iterable[Path]) -> Iterator[Path]:
    """Yields the logs in the given files and folders."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob("*.jsonl"))
        if not found:
            raise ConfigError(f"expected a folder with game logs (*.jsonl), got: {path}")
        yield from found


def _check(file: Path) -> Row:
    try:
        verdict = verify_log(file)
    except (LogError, ReplayMismatch) as error:
        return Row(log=str(file), ok=False, reason=str(error))
    return Row(log=str(file), ok=True, turns=verdict.turns, draws_checked=verdict.draws_checked)
