"""`arena league audit`: checks that a league has changed and left out nothing of what it has ever shown."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.options import json_option
from arena.core.face import errors
from arena.league.commands.here import Elsewhere, at_options, out_option


@click.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--noted", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="What was seen before: another author's .heads.jsonl, or a copy of a season's commitment.json."
    "  [default with --at: your own]",
)  # fmt: skip
@out_option("With --at, the folder for what is fetched.")
@at_options
@json_option
@click.pass_context
def audit(
    ctx: click.Context, folder: Path | None, noted: Path | None, out: Path, elsewhere: Elsewhere | None, as_json: bool
) -> None:
    """Check that a league has changed and left out nothing of the seasons that it has ever shown.

    The league is one in FOLDER, or what was fetched into it, or one elsewhere: then what it publishes of its seasons is
    fetched first, without logs. Each line must name the one before it, from the first season on, and each line that was
    seen before must be there. With --noted of another author you find a league that shows the two of you different
    histories. It is what `arena verify` does, which checks the logs too. The exit code is 4 if anything is wrong.

    \b
    Example:
      arena league audit cup
      arena league audit --at https://cup.example --token anna.token --out cup --noted bert.heads.jsonl
    """
    if (folder is None) == (elsewhere is None):
        got = "none; say which league" if folder is None else f"both {folder} and --at; leave one out"
        raise errors.ConfigError(f"expected FOLDER, or --at ADDRESS, got: {got}")
    if elsewhere is not None:
        from arena.league.door.fetching import fetch_seasons

        with elsewhere.client() as client:
            fetch_seasons(client, out)
        own, folder = elsewhere.heads, out
        noted = noted or (own if own is not None and own.exists() else None)
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    verify = root.get_command(ctx, "verify")
    assert verify is not None
    words = [str(folder), *(["--noted", str(noted)] if noted is not None else []), *(["--json"] if as_json else [])]
    ctx.exit(verify.main(words, prog_name="arena verify", standalone_mode=False) or 0)
