"""`arena league open`: opens the door of a league to the network."""

from __future__ import annotations

from pathlib import Path

import click

from arena.cli.output import say, show_line


@click.command("open")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--bind",
    default="tcp://*:5599",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen: tcp://HOST:PORT, with * for all addresses of this machine.",
)
@click.option("--host", metavar="NAME", help="The name by which authors reach this machine.  [default: its own name]")
@click.option("--once", is_flag=True, hidden=True, help="Be the door itself: do not open it again when it falls over.")
@click.option("--falls", type=int, default=0, hidden=True, help="With --once: how often it fell over before.")
@click.pass_context
def open_(ctx: click.Context, folder: Path, bind: str, host: str | None, once: bool, falls: int) -> None:
    """Open a league to authors elsewhere.

    This process is the door: it holds the network socket and nothing else of the league. It takes what authors send,
    checks it, and leaves it for `arena league run`; it answers from what the league publishes. If it falls over, it is
    opened again, and the league plays on. `arena league status FOLDER` says how it is.

    `arena league run` can do this too: `--open ADDRESS`, or `[door]` in league.toml.

    Authors are known by their keys: `arena league author add NAME --key FILE`. Standard output has one line, the
    address to give to them. The part after the last slash is the key of this league: who has it from you cannot be led
    to another.

    \b
    Example:
      arena league open cup --bind tcp://*:5599
    """
    import os
    import socket
    import sys
    from functools import partial

    from arena.core.face import errors, files, plain
    from arena.league.door.checks import check
    from arena.league.door.health import ADDRESS
    from arena.league.door.keys import Address
    from arena.league.door.server import Door, confine
    from arena.league.door.supervisor import door_command, keep_open

    if not (folder / "league.toml").is_file():
        raise errors.ConfigError(
            f"expected the folder of a league, with a league.toml, got: {folder}; make one: arena league init {folder}"
        )
    if not once:
        say("Ctrl-C closes the door; the league plays on.")
        ctx.exit(keep_open(partial(door_command, folder, bind, host), lambda sentence: say(plain(sentence))))
    confine()
    parent = os.getppid()
    door = Door(folder, bind, check, tell=lambda sentence: say(plain(sentence)), falls=falls)
    try:
        endpoint = door.address.endpoint
        if "//0.0.0.0:" in endpoint or "//[::]:" in endpoint or host is not None:
            endpoint = f"tcp://{host or socket.getfqdn()}:{endpoint.rpartition(':')[2]}"
        address = str(Address(endpoint, door.address.key))
        files.write(folder / ADDRESS, address.encode())
        show_line(address)
        sys.stdout.flush()
        say("The door is open.")
        door.run(lambda: os.getppid() != parent)  # whoever keeps it open has gone
    finally:
        door.close()
