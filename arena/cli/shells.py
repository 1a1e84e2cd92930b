"""Speaks with the shells: `arena completion`, the scripts that let them complete `arena`, and what these ask."""

from __future__ import annotations

import os

import click
from click import shell_completion as shells

from arena.cli import COMPLETE

RC = {
    "bash": ("~/.bashrc", 'eval "$(arena completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(arena completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "arena completion fish | source"),
}
"""Each shell's file for lines that it runs at its start, and the line."""
_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' word="${COMP_WORDS[COMP_CWORD]}" proposal
    COMPREPLY=()
    for proposal in $(COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
            %(complete_var)s=bash_complete "$1" 2>/dev/null); do
        case "$proposal" in
            plain,*=) COMPREPLY+=("${proposal#plain,}"); compopt -o nospace 2>/dev/null ;;
            plain,*) COMPREPLY+=("${proposal#plain,}") ;;
            dir,*) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$word")) ;;
            file,*) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$word")) ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s 2>/dev/null || complete -F %(complete_func)s %(prog_name)s
"""


class Silent(shells.ShellComplete):
    """Proposes nothing where something goes wrong: a traceback would be drawn into the line that is being typed."""

    def complete(self) -> str:
        """Returns the proposals, as the shell's script reads them."""
        try:
            return super().complete()
        except Exception:
            return ""


class Bash(Silent, shells.BashComplete):
    """Bash. It breaks words at `=` and `:`, which click does not expect: `--rule setup=ran` would not be completed."""

    source_template = _BASH

    def source(self) -> str:
        """Returns the script. Bash before 4.4 sorts the proposals, and that of macOS adds a space to each."""
        return self.source_template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        """Returns the words before the cursor, and the one that is being typed."""
        line = os.environ["COMP_LINE"]
        words = shells.split_arg_string(line)[1:]
        return (words, "") if line[-1:].isspace() else (words[:-1], "".join(words[-1:]))

    def get_completions(self, args: list[str], incomplete: str) -> list[shells.CompletionItem[str]]:
        """Returns the proposals for the word, without that part of it which bash keeps."""
        breaks = [char for char in "=:" if char in os.environ.get("COMP_WORDBREAKS", "")]
        kept = max((incomplete.rfind(char) + 1 for char in breaks), default=0)
        items = super().get_completions(args, incomplete)
        for item in items:
            if item.type == "plain" and item.value.startswith(incomplete):
                item.value = item.value[kept:]
        return items


class Zsh(Silent, shells.ZshComplete):
    """Zsh."""


class Fish(Silent, shells.FishComplete):
    """Fish."""


SHELLS: dict[str, type[shells.ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def register() -> None:
    """Makes click use these classes."""
    for name, shell in SHELLS.items():
        shells.add_completion_class(shell, name)


@click.command()
@click.argument("shell", type=click.Choice(list(RC)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what completes commands and names in a shell.

    Put the line that the script begins with into the file that it names; or, to try it in the shell at hand, type that
    line. In zsh, compinit must have run before.

    \b
    Example:
      arena completion bash
    """
    file, line = RC[shell]
    click.echo(f"# To have it in every shell, add to {file}:  {line}")
    click.echo(SHELLS[shell](ctx.find_root().command, {}, "arena", COMPLETE).source())
