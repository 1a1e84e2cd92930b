"""What the commands share: which league is meant, a folder on this machine or, with `--at`, one elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena.cli.group import LazyGroup
from arena.core.face import errors, plain

if TYPE_CHECKING:
    from arena.core.face import Payload
    from arena.league.door.client import Client
    from arena.league.folder import Folder
    from arena.league.store import LeagueReader

F = TypeVar("F", bound=Callable[..., Any])

TOKEN = "ARENA_LEAGUE_TOKEN"
"""The variable of the environment with an author's token, where there is no file of it."""
WHICH = "expected a league, got none; give its FOLDER, or --at ADDRESS with --token FILE for one elsewhere"

folder_argument = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
folder_or_elsewhere = click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
"""`[FOLDER]`, for commands with `at_options`."""
to_option = click.option(
    "--league", "--to", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="The league's folder on this machine.",
)  # fmt: skip
"""`--league FOLDER`, or as it was called first, `--to FOLDER`."""
reason_option = click.option("--reason", default="", metavar="TEXT", help="What the author is told.")


def out_option(what: str) -> Callable[[F], F]:
    """Returns the decorator that adds `--out FOLDER`."""
    folder, told = click.Path(file_okay=False, path_type=Path), f"{what}  [default: this one]"
    return click.option("--out", type=folder, default=".", metavar="FOLDER", help=told)


class LeagueGroup(LazyGroup):
    """Commands about a league. Each takes it as `--league FOLDER`, also where FOLDER is its first argument."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that `args` begin with, and puts the league in its place."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, rest if command is None else _folder_first(command, rest)


def _folder_first(command: click.Command, args: list[str]) -> list[str]:
    arguments = [parameter.name for parameter in command.params if isinstance(parameter, click.Argument)]
    if arguments[:1] != ["folder"]:
        if "folder" in [one.name for one in command.params] and args and (Path(args[0]) / "league.toml").is_file():
            what, to = f"{arguments[0]}".upper(), f"--league {args[0]}"
            raise errors.ConfigError(f"expected {what} first, got the folder of a league; give it as {what} {to}")
        return args
    for place, word in enumerate(args):
        option, equals, value = word.partition("=")
        if word == "--":
            break
        if option == "--league" and equals:
            return [value, *args[:place], *args[place + 1 :]]
        if option == "--league" and place + 1 < len(args):
            return [args[place + 1], *args[:place], *args[place + 2 :]]
    return args


def folder_of(path: Path | None) -> Folder:
    """Returns the league in a folder.

    Raises:
        ConfigError: There is none.
    """
    from arena.league.folder import Folder

    if path is None:
        raise errors.ConfigError(WHICH)
    folder = Folder(path.absolute())
    folder.check()
    return folder


@contextmanager
def reading(folder: Folder) -> Iterator[LeagueReader]:
    """Yields a league to read: all that is read in the block is of one moment."""
    from arena.league.store import read_league

    with read_league(folder.database) as reader, reader.snapshot():
        yield reader


def order(path: Path | None, verb: str, arguments: Payload, archive: bytes | None = None) -> Payload | None:
    """Gives an order to the league in a folder.

    Returns:
        The answer; None if the service has not answered yet, which is said then.

    Raises:
        ConfigError: A text of it cannot be a part of an order. None was written.
        ArenaError: It is refused, or cannot be given.
    """
    from arena.cli.output import say
    from arena.league.service.inbox import WAIT_S, give, new_order
    from arena.league.settings import load

    folder = folder_of(path)
    _check_texts(arguments)
    answer = give(folder, load(folder), new_order(verb, arguments), archive)
    if answer is None:
        say(f"The league has not answered within {WAIT_S:g} s. The order is kept, and obeyed when its turn comes.")
    return answer


def _check_texts(arguments: Payload) -> None:
    """Checks what holds for every text of an order.

    Raises:
        ConfigError: A text is too long, or is not in UTF-8.
    """
    from arena.league.bounds import MOST_TEXT

    for name, value in arguments.items():
        if not isinstance(value, str):
            continue
        if len(value) > MOST_TEXT:
            raise errors.ConfigError(
                f"expected at most {MOST_TEXT} characters as {name}, got: {len(value)}; give fewer"
            )
        if any("\ud800" <= char <= "\udfff" for char in value):  # bytes of the command line that are no text
            raise errors.ConfigError(f"expected a text in UTF-8 as {name}, got: {value!r:.80}; type it again")


class Elsewhere:
    """A league elsewhere, and the token by which it knows the author."""

    def __init__(self, at: str, file: Path | None) -> None:
        """Takes the league's address, and the file of the token; None means the token in the environment.

        Raises:
            ConfigError: One of them cannot be used, or there is no token.
        """
        from arena.league.door.addresses import address
        from arena.league.door.heads import heads_of
        from arena.league.door.tokens import read_token

        self.options: Sequence[str] = ("--at", at, *(["--token", str(file)] if file else []))
        """The words with which a command names it."""
        self.league = address(at)
        self.token = read_token(file) if file else _token_of_environment()
        self.heads = heads_of(file, self.league) if file else None
        """The file with what was seen of the league's seasons; None without one of the token to keep it beside."""

    def look(self, client: Client) -> None:
        """Checks that the league's seasons go on from what was seen of them last."""
        from arena.league.door.heads import look_again

        if self.heads is not None:
            look_again(client, self.heads, tell)

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Yields a connection to the league, whose seasons go on from what was seen of them last."""
        from arena.league.door.client import Client

        with Client(self.league, self.token, tell=tell) as client:
            self.look(client)
            yield client


def _token_of_environment() -> str:
    from arena.league.door.tokens import is_token

    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise errors.ConfigError(
            f"expected --token FILE, or a token in {TOKEN}, with --at, got: neither; "
            "make a token: arena league token new NAME"
        )
    if not is_token(token):
        raise errors.ConfigError(
            f"expected a token, arena_ and 43 characters, in {TOKEN}, got: another text; correct it"
        )
    return token


def tell(sentence: str) -> None:
    """Says a sentence that may hold words of a league elsewhere."""
    from arena.cli.output import say

    say(plain(sentence))


def at_options(function: F) -> Any:
    """Adds `--at` and `--token`. The function gets `elsewhere: Elsewhere | None`, None if neither is given."""

    @click.option("--at", metavar="ADDRESS", help="A league elsewhere: https://HOST, as its operator gave it.")
    @click.option(
        "--token",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=f"The file of your token, with --at.  [default: the token in {TOKEN}]",
    )
    @wraps(function)
    def command(*args: Any, at: str | None, token: Path | None, **kwargs: Any) -> Any:
        if at is None and token is not None:
            raise errors.ConfigError("expected --at with --token, got: --token alone; give the address of the league")
        return function(*args, elsewhere=None if at is None else Elsewhere(at, token), **kwargs)

    return command
