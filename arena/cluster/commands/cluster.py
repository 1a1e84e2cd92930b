"""`arena cluster`: looks at the machines of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from arena.cli.group import LazyGroup
from arena.cli.options import json_option
from arena.cli.output import show, show_json, show_line
from arena.core.face import errors

if TYPE_CHECKING:
    from rich.table import Table

    from arena.cluster.check import ClusterReport, Machine

COMMANDS: Mapping[str, tuple[str, str]] = {
    "check": ("arena.cluster.commands.cluster:check", "Say whether the machines of a cluster are fit to play together.")
}
"""Commands, as `arena.cli.COMMANDS`."""


@click.command(cls=LazyGroup, lazy=COMMANDS)
def cluster() -> None:
    """Look at the machines of a Dask cluster.

    Tournaments and leagues can be played on one: docs/cluster.md says how to make it.

    \b
    Example:
      arena cluster check tls://10.0.0.1:8786
    """


@click.command()
@click.argument("address")
@click.option("--insecure", is_flag=True, help="Allow a cluster without TLS beyond this machine.")
@json_option
@click.pass_context
def check(ctx: click.Context, address: str, insecure: bool, as_json: bool) -> None:
    """Say whether the machines of the cluster at ADDRESS are fit to play together.

    \b
    machine     the name of the worker's machine
    levels      levels of protection that it gives, by the probes of
                `arena doctor`
    cores/game  its cores for each worker there; each plays one game
    memory      of the machine
    load        processes that run or wait for a core, in the last minute
    clock       how far its time of day is ahead of the one here

    Below is what differs, with the remedy. What is marked FAILED must be the same on all machines: versions of arena
    and of what it works with, levels, and the programs that build and run bots. What is marked note makes times less
    fair.

    The exit code is 1 if something differs that must be the same.

    \b
    Example:
      arena cluster check tls://10.0.0.1:8786
      arena cluster check local:2 --json
    """
    from arena.cluster.check import compare
    from arena.cluster.engine import connected
    from arena.cluster.survey import versions

    with connected(address, insecure=insecure) as found:
        report = compare(versions(), found.survey())
    if as_json:
        show_json(report)
    else:
        show(table(report.workers))
        for line in lines(report):
            show_line(line)
    if not report.ok:
        ctx.exit(errors.ArenaError.exit_code)


def table(workers: tuple[Machine, ...]) -> Table:
    """Returns a row for each worker that said what it is."""
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False)
    for name, justify in (
        ("worker", "left"), ("machine", "left"), ("arena", "left"), ("python", "left"), ("levels", "left"),
        ("cores/game", "right"), ("memory", "right"), ("load", "right"), ("clock", "right"),
    ):  # fmt: skip
        drawn.add_column(name, justify="right" if justify == "right" else "left")
    for worker in workers:
        facts = worker.facts
        if facts is None:
            drawn.add_row(worker.worker, "unknown")
            continue
        levels = [str(level) for level, missing in facts.levels.items() if not missing]
        clock = "" if worker.offset_ms is None else f"{worker.offset_ms:+.0f} ±{worker.uncertain_ms or 0:.0f} ms"
        drawn.add_row(
            worker.worker, facts.machine, facts.versions["arena"], facts.versions["python"], ", ".join(levels),
            f"{worker.cores_per_game or 0:g}", f"{facts.memory_mib / 1024:.1f} GiB", f"{facts.load:g}", clock,
        )  # fmt: skip
    return drawn


def lines(report: ClusterReport) -> Iterator[str]:
    """Yields what differs, with the remedies."""
    yield ""
    for problem in report.problems:
        yield f"{'FAILED' if problem.must else 'note':<8}{', '.join(problem.workers)}: {problem.what}"
        yield f"{'':<8}remedy: {problem.remedy}"
    if report.ok:
        yield f"All {len(report.workers)} workers are fit to play together."
