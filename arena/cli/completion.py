"""The `arena completion` command."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell script that completes commands and options.

    For bash, add the last line below to ~/.bashrc; for zsh, add it with "zsh" instead of "bash" to ~/.zshrc. For fish,
    write the printed script to ~/.config/fish/completions/arena.fish.

    \b
    Example:
      arena completion bash
      eval "$(arena completion bash)"
    """
    made_by = get_completion_class(shell)
    assert made_by is not None, "click knows these shells"
    command = context.find_root().command
    click.echo(made_by(command, {}, "arena", "_ARENA_COMPLETE").source())
