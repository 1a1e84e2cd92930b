"""`arena completion`: prints the script that lets a shell complete `arena`."""

from __future__ import annotations

import click

RC = {
    "bash": ("~/.bashrc", 'eval "$(arena completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(arena completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "arena completion fish | source"),
}
"""Each shell's file for lines that it runs at its start, and the line."""


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
    from arena.cli.shells import script

    file, line = RC[shell]
    click.echo(f"# To have it in every shell, add to {file}:  {line}")
    click.echo(script(shell, ctx.find_root().command))
