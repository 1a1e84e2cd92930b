"""`arena doctor`: which levels of protection this machine can give, and what to do for those that it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli import complete
from arena.cli.options import LEVELS, json_option
from arena.cli.output import show_json, show_line
from arena.core.face import Level, errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.sandbox.doctor import Given, ProbeResult


@click.command()
@click.argument("bots", nargs=-1, metavar="[BOT]...", shell_complete=complete.bots)
@click.option("--level", type=click.Choice(LEVELS), metavar="LEVEL", help="Ask for one level only.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, bots: tuple[str, ...], level: str | None, as_json: bool) -> None:
    """Say which levels of protection this machine can give.

    At each level bots can do less: trusted bots are programs of yours, fenced ones are one process that opens no file
    but its own, isolated ones run in a sandbox, and strict ones have hard limits beside. docs/safety.md says what each
    level promises. The probes run in a real seat, now, and each has a line; what fails has its remedy below. With BOTs
    it is also tried whether their programs and libraries start there, at the level that is asked for, or at all that
    the machine gives.

    The exit code is 3 if the machine does not give the level that is asked for, or a bot does not start.

    \b
    Example:
      arena doctor
      arena doctor --level isolated ./ronin
    """
    from arena.core.face import bot_manifests, confining, processor_cores
    from arena.sandbox.doctor import examine, examine_bot
    from arena.sandbox.levels import instead

    specs = [bot_manifests.load_bot(bot) for bot in bots]
    asked = None if level is None else Level(level)
    examined = examine(confining.LEVELS if asked is None or as_json else (asked,))
    at = [each for each, given in examined.levels.items() if given.ok and asked in (None, each)]
    probes = [*examined.probes, *(examine_bot(spec, each) for spec in specs for each in at)]
    cores = processor_cores.cores()
    if as_json:
        show_json({"levels": examined.levels, "probes": probes, "cores": cores})
    else:
        for line in [*lines(probes), *verdicts(examined.levels)]:
            show_line(line)
        granted = "no quota" if cores["quota"] is None else f"a quota of {cores['quota']:g}"
        show_line(f"games at a time, unless --concurrency says another number: {cores['games_at_a_time']}")
        show_line(f"cores: this process may run on {cores['affinity']}, and its control groups have {granted}")
        best = Level.ISOLATED if asked is None else asked
        if not examined.levels[best].ok and (sentence := instead(best)):
            show_line(sentence)
    lacking = asked is not None and not examined.levels[asked].ok
    if lacking or not all(probe.ok for probe in probes[len(examined.probes) :]):
        ctx.exit(errors.LevelError.exit_code)


def lines(probes: list[ProbeResult]) -> Iterator[str]:
    """Yields a line for each probe, and below it what to do if it failed."""
    width = max(len(probe.name) for probe in probes)
    for probe in probes:
        yield f"{'ok' if probe.ok else 'FAILED':<7}{probe.name:<{width}}  {probe.detail}"
        if probe.remedy:
            yield f"{'':<7}{'':<{width}}  {'note' if probe.ok else 'remedy'}: {probe.remedy}"


def verdicts(levels: dict[Level, Given]) -> Iterator[str]:
    """Yields what each level lacks."""
    yield ""
    for level, given in levels.items():
        yield f"{level}: {'yes' if given.ok else 'no, for the lack of ' + ', '.join(given.missing)}"
