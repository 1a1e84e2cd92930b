"""`arena league open` and `arena league serve`: the door of a league, and its pages and live view."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from arena.cli.help import Command
from arena.cli.output import say, show_line
from arena.league.commands.here import folder_argument

_PROXY = """\
Authors elsewhere need a web server with TLS in front of it. Caddy, in its Caddyfile:
  NAME {
    request_body {
      max_size 17MB
    }
    reverse_proxy PLACE
  }
nginx, beside the two lines with the certificate of the server:
  client_max_body_size 17m; client_header_timeout 10s; client_body_timeout 20s;
  location / {
    proxy_pass http://PLACE; proxy_http_version 1.1; proxy_read_timeout 75s; proxy_set_header Host $host;
    proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
  }
A league with archive_mib above 16 needs as much more than these 17 MB.
In `http` of nginx: map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
Then give authors the address with --url https://NAME. Without a web server: --tls CERT KEY, or --tls self."""


class _Open(Command):
    """The command, whose `--tls` has two values, or the one word `self`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes the arguments."""
        for place in range(1, len(args)):
            if args[place - 1 : place + 1] == ["--tls", "self"]:
                args = [*args[:place], "self", *args[place:]]
                break
        return super().parse_args(ctx, args)


@click.command("open", cls=_Open)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--bind", default="127.0.0.1:8780", show_default=True, metavar="ADDRESS",
    help="Where to listen: an address of this machine and a port.",
)  # fmt: skip
@click.option("--url", default="", metavar="URL", help="The address that authors use: https://cup.example.")
@click.option(
    "--tls", nargs=2, metavar="CERT KEY",
    help="Serve TLS without a web server in front, with these files; `--tls self` makes them.",
)  # fmt: skip
@click.option("--once", is_flag=True, hidden=True, help="Be the door itself: do not open it again when it falls over.")
@click.option("--falls", type=int, default=0, hidden=True, help="With --once: how often it fell over before.")
@click.pass_context
def open_(
    ctx: click.Context, folder: Path, bind: str, url: str, tls: tuple[str, str] | None, once: bool, falls: int
) -> None:
    """Open a league to authors elsewhere.

    This process is the door: it holds the network socket and nothing else of the league. It takes what authors send,
    checks it, and leaves it for `arena league run`; it answers from what the league publishes, and shows its pages. If
    it falls over, it is opened again, and the league plays on. `arena league status FOLDER` says how it is.

    `arena league run` can do this too: `--open ADDRESS`, or `[door]` in league.toml.

    Authors are known by their tokens: `arena league author add NAME --token FILE`. Standard output has one line, the
    address to give to them. It listens on this machine alone, for a web server with TLS in front; the lines for one are
    printed. Without one, --tls CERT KEY serves TLS itself. In a classroom, `--tls self` makes a certificate that nobody
    vouches for: the address then ends with its SHA-256, so that who has it from you cannot be led to another league.

    \b
    Example:
      arena league open cup --url https://cup.example
      arena league open cup --bind 0.0.0.0:8780 --tls self
    """
    from functools import partial

    from arena.core.face import errors, need, plain
    from arena.league.door.addresses import address
    from arena.league.door.supervisor import DoorSupervisor, door_command, keep_open
    from arena.league.settings import check_bind

    need("pages", "`arena league open`")
    if not (folder / "league.toml").is_file():
        raise errors.ConfigError(
            f"expected the folder of a league, with a league.toml, got: {folder}; make one: arena league init {folder}"
        )
    check_bind(bind)
    if url:
        address(url)
    files = tuple(dict.fromkeys(tls or ()))
    if once:
        _serve(folder, bind, url, files, falls)
        return
    say("Ctrl-C closes the door; the league plays on.")
    if not (files or url):
        say(_PROXY.replace("PLACE", bind))
    command = partial(door_command, folder, bind, url, files)
    ctx.exit(keep_open(DoorSupervisor(command, lambda sentence: say(plain(sentence)), _announce)))


def _announce(at: str) -> None:
    show_line(at)
    sys.stdout.flush()


def _serve(folder: Path, bind: str, url: str, tls: tuple[str, ...], falls: int) -> None:
    """Is the door until it is closed, or whoever keeps it open has gone."""
    import os

    from arena.core.face import errors, files, plain
    from arena.league.door import certificates, relay
    from arena.league.door.app import Door, confine, room
    from arena.league.door.health import ADDRESS
    from arena.league.door.messages import MAX_AUTHOR_FRAME
    from arena.pages.web import Server, league_pages, listen

    (folder / "door").mkdir(exist_ok=True)
    if relay.is_open(folder):  # a second one would take the seats away from it
        raise errors.ConfigError(f"expected a league whose door is closed, got: an open one - at {folder}; close that")
    pair = certificates.own(folder / "door") if tls == ("self",) else tls
    context = certificates.context(*map(Path, pair)) if pair else None
    listening = listen(bind)
    confine()
    parent = os.getppid()
    at = url or certificates.url(listening.host, listening.port, secure=bool(pair))
    if tls == ("self",):
        at = f"{at}#sha256={certificates.pin(Path(pair[0]))}"
    files.write(folder / ADDRESS, at.encode())
    door = Door(folder, site=league_pages(folder / "site"), tell=lambda sentence: say(plain(sentence)), falls=falls)
    if context is None and listening.warning:
        say(listening.warning)

    def ready() -> None:
        _announce(at)
        say("The door is open.")

    server = Server(
        door.app, listening, ready=ready, on_error=lambda error: say(plain(f"a request failed: {error!r}")), room=room,
        message_bytes=MAX_AUTHOR_FRAME, tls=context, until=lambda: os.getppid() != parent,
    )  # fmt: skip
    door.traffic = server.traffic
    server.run()


@click.command()
@folder_argument
@click.option(
    "--bind", default="127.0.0.1:8080", show_default=True, metavar="ADDRESS",
    help="Where to listen: an address of this machine and a port.",
)  # fmt: skip
@click.option(
    "--name", "names", multiple=True, metavar="HOST",
    help="A name under which browsers reach it; repeat for more. Addresses in numbers and localhost always work.",
)  # fmt: skip
def serve(folder: Path, bind: str, names: tuple[str, ...]) -> None:
    """Serve the pages of the league in FOLDER, and what is played now, under /live/.

    Everybody who reaches the address can look, and nobody can do anything. The pages are the files of FOLDER/site,
    which any web server can serve as well. Of a game that goes on only what every seat knows is shown; hidden hands are
    in the published replays, once a match is over.

    It listens on this machine alone. For others, put a web server with TLS in front of it and give its name with
    --name, or give another address with --bind.

    \b
    Example:
      arena league serve cup
      arena league serve cup --bind 0.0.0.0:8080 --name cup.example
    """
    from arena.league.public.showing import ShownLeague
    from arena.pages.commands.watch import of_folder, serve_live

    shown = ShownLeague(folder)
    serve_live(of_folder(shown, hands=False), bind, site=shown.site, names=names)
