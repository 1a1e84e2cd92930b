"""Groups commands, imports each one when it is called, and turns its errors into messages."""

from __future__ import annotations

import errno
import importlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from arena.cli import signals
from arena.cli.streams import ReaderGone
from arena.core import remedies
from arena.core.errors import ArenaError, ConfigError, InternalError, did_you_mean
from arena.core.text import plain, plain_lines

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it

WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("help", "commands"), "arena --help"), "version": "arena --version",
    **dict.fromkeys(("create", "scaffold"), "arena bot new"), **dict.fromkeys(("validate", "test"), "arena bot check"),
    **dict.fromkeys(("upload", "push", "deploy"), "arena league submit"), "start": "arena league run",
    **dict.fromkeys(("server", "web"), "arena league serve' or 'arena watch --web"),
    **dict.fromkeys(("leaderboard", "ranking", "rank", "ratings", "elo", "stats"), "arena standings"),
    **dict.fromkeys(("register", "join", "signup", "login", "key"), "arena league token new"), "info": "arena --help",
    **dict.fromkeys(("league new", "league create"), "arena league init"), "resume": "arena tournament",
    "ban": "arena league suspend", "sprt": "arena compare --sprt", "stop": "arena league pause",
    **dict.fromkeys(("duel", "versus", "vs", "fight"), "arena match"), "logs": "arena games' or 'arena replay logs",
    **dict.fromkeys(("view", "view-game", "gui", "spectate"), "arena watch' or 'arena replay"), "train": "arena tune",
    **{word: f"arena tournament --format {word}" for word in ("gauntlet", "swiss", "knockout", "ladder", "adaptive")},
    **dict.fromkeys(("round-robin", "roundrobin", "tourney"), "arena tournament"),
}  # fmt: skip
"""Words that people of this trade type, and the commands that they mean."""
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "--game": ("--rules",), "--variant": ("--ruleset",), "--map": ("--board",), "--option": ("--rule",),
    **dict.fromkeys(("--games", "--rounds", "--matches", "--repeat", "--deals", "-n"), ("--deals", "--max-deals")),
    **dict.fromkeys(("--threads", "--jobs", "--workers", "--parallel", "-j"), ("--concurrency", "--workers")),
    **dict.fromkeys(("--timeout", "--tc", "--timecontrol"), ("--time",)), "--output": ("--out", "--logs"),
    **dict.fromkeys(("--port", "--host", "--listen"), ("--bind",)),
}  # fmt: skip
"""The same of options: the first that the command has is meant."""

_REMEDIES = remedies.OF_MACHINES | remedies.OF_NAMES


def _not_a_bug(error: Exception) -> ArenaError | None:
    """Returns what to tell of an error for which the machine, or a name that was given, is the reason."""
    match error:
        case OSError(errno=number) if number in remedies.DISK:
            return ArenaError(
                f"expected to write to the disk, got: {error}; make room on it, or give folders on another disk, and "
                "give the same command again"
            )
        case OSError(errno=number, strerror=reason, filename=name) if number in _REMEDIES and (
            name is None or number in remedies.OF_MACHINES
        ):
            return ArenaError(f"expected a machine with room for this command, got: {reason}; {_REMEDIES[number]}")
        case OSError(errno=number, strerror=reason, filename=name) if number in _REMEDIES:
            place = _cut(str(os.fsdecode(name)))
            return ArenaError(
                f"expected a file or folder that can be used, got: {reason} - at {place}; {_REMEDIES[number]}"
            )
        case MemoryError():
            return ArenaError(f"expected more memory, got none; {_REMEDIES[errno.ENOMEM]}")
        case UnicodeEncodeError(object=str(text)):
            return ConfigError(
                f"expected names and texts in UTF-8, got: {_cut(ascii(text))}; give another, or rename it"
            )
    return None


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}..."  # a name may be as long as a path


class Failure(click.ClickException):
    """An error of the library on its way to stderr and the exit code."""

    def __init__(self, error: ArenaError, remark: str = "") -> None:
        """Takes the error, whose message is one line, and a line to print below it."""
        super().__init__(plain(str(error)) + (remark and f"\n{remark}"))
        self.exit_code = error.exit_code  # type: ignore[misc]  # click has it per class; our errors differ by class


def _called(
    command: click.Command | None, name: str, ctx: click.Context, path: str = "arena", likeness: float = 1
) -> Iterator[str]:
    """Yields how the commands of this name, or of one so much like it, are called, in all groups."""
    from difflib import get_close_matches

    if isinstance(command, LazyGroup):
        for other in command.lazy:
            if get_close_matches(name, [other], cutoff=likeness):
                yield f"{path} {other}"
            with suppress(ImportError):
                yield from _called(command.get_command(ctx, other), name, ctx, f"{path} {other}", likeness)


def _meant(error: click.NoSuchOption, words: list[str]) -> str:
    """Returns what somebody means by an option that there is not; "" if that is unknown, or was said before."""
    options = [] if error.ctx is None or "Did you mean" in error.message else error.ctx.command.get_params(error.ctx)
    known = {name: one for one in options if isinstance(one, click.Option) for name in one.opts}
    letters = [word for word in words if re.match("-[^-]", word) and error.option_name in (f"-{own}" for own in word)]
    if here := next((word for word in letters if options and os.path.lexists(word)), None):
        return f" For the file or folder here, write './{here}'."
    meant = [name for name in (*OPTIONS.get(error.option_name, ()), *(f"-{word}" for word in letters)) if name in known]
    return f" Did you mean '{meant[0]}'? {known[meant[0]].help}" if meant else ""


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, tuple[str, str]],
        headings: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Takes a table of commands, and by the first command of each part of it what stands above that part."""
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self._headings = headings or {}

    def headings(self) -> Mapping[str, str]:
        """Returns what stands above parts of the list, by the first command of each at least."""
        return self._headings

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of all commands, in the order of the table."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns the command, or returns None if there is none of that name."""
        if cmd_name not in self.lazy:
            return None
        module, attribute = self.lazy[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def refusal(self, name: str) -> Exception | None:
        """Returns why a command that is known is not here; None if it is unknown."""
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that `args` begin with.

        Raises:
            click.UsageError: There is no such command; the message suggests close names.
        """
        name = args[0]
        if name not in self.lazy and not name.startswith("-") and not ctx.resilient_parsing:
            if (error := self.refusal(name)) is not None:
                raise error
            root = ctx.find_root()
            word = WORDS.get(f"{ctx.info_name} {name}", WORDS.get(name))
            if name == "help" and args[1:]:
                word = " ".join(["arena", *ctx.command_path.split()[1:], *args[1:], "--help"])
            if word and ctx.parent and (own := word.rpartition(" ")[2]) in self.lazy:
                word = f"arena {ctx.command_path.partition(' ')[2]} {own}"
            meant = [word] if word else list(_called(root.command, "list" if name == "ls" else name, root))
            if not meant and not did_you_mean(name, self.lazy):
                meant = list(_called(root.command, name, root, likeness=0.8))
            if meant:
                paths = "' or '".join(meant[:4])
                raise click.UsageError(f"No such command {name!r} here. Did you mean '{paths}'?", ctx)
            raise click.exceptions.NoSuchCommand(name, possibilities=self.lazy, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands from the table, without importing any."""
        parts: dict[str, list[tuple[str, str]]] = {}
        headings, heading = self.headings(), "Commands"
        width = max(map(len, self.lazy))
        for name, (_, help_text) in self.lazy.items():
            heading = headings.get(name, heading)
            parts.setdefault(heading, []).append((name.ljust(width), help_text))
        for heading, rows in parts.items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Returns the commands and options that begin with what was typed, without importing any command."""
        from click.shell_completion import CompletionItem

        own = [CompletionItem(name, help=text) for name, (_, text) in self.lazy.items() if name.startswith(incomplete)]
        return [*own, *click.Command.shell_complete(self, ctx, incomplete)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads options, of which `--help` and `--version` print."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if meant := OPTIONS.get(error.option_name):
                raise click.UsageError(f"{error.message} Did you mean '{meant[0]}', after a command?", ctx) from None
            raise
        except OSError as error:
            if (known := _not_a_bug(error)) is None:
                raise
            raise Failure(known) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. Whatever goes wrong in it becomes a message and an exit code."""
        words = list(ctx.args)
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a full disk shows only here
            return result
        except ArenaError as error:
            raise Failure(error) from error
        except (KeyboardInterrupt, click.Abort):
            ctx.exit(signals.exit_code() or INTERRUPTED)
        except click.ClickException as error:
            if isinstance(error, click.NoSuchOption) and (meant := _meant(error, words)):
                error.message += meant  # type: ignore[misc]
                error.possibilities = None  # type: ignore[misc]
            if chosen := re.match(r"'(.*)' is not one of (.*)\.$", error.message):
                error.message += did_you_mean(chosen[1], re.findall("'(.*?)'", chosen[2]))  # type: ignore[misc]
            if isinstance(error, click.UsageError) and error.ctx and re.search(r" extra argument.*\)$", error.message):
                takes = " ".join(error.ctx.command.collect_usage_pieces(error.ctx)[1:])
                options = [name for one in error.ctx.command.params for name in one.opts]
                extra = error.message.partition("(")[2][:-1]
                error.message += f". {remedies.of_extra(extra, options, takes)}"  # type: ignore[misc]
            if isinstance(error, click.exceptions.NoSuchCommand) and error.ctx and not error.possibilities:
                few = getattr(error.ctx.command, "commands", {})
                error.possibilities = sorted(few) if len(few) < 9 else None  # type: ignore[misc]
            # An argument may be the name of a stranger's file.
            error.message = plain_lines(error.message)  # type: ignore[misc]  # declared Final
            raise
        except click.exceptions.Exit:
            raise
        except ReaderGone:
            ctx.exit(0)
        except Exception as error:
            if (code := signals.exit_code()) is not None:
                ctx.exit(code)  # its terminal is gone, so nothing can be printed any more
            if (known := _not_a_bug(error)) is not None:
                raise Failure(known) from error
            if os.environ.get("ARENA_DEBUG"):
                import traceback

                traceback.print_exc()
            raise Failure(
                InternalError(f"internal error: {type(error).__name__}: {error}"),
                "This is a bug: please report it with the command, and what ARENA_DEBUG=1 adds to its output.",
            ) from error
