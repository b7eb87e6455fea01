"""The typer application: its commands, and how errors reach the shell."""

from __future__ import annotations

import sys

import typer

from ampler.errors import AmplerError

app = typer.Typer(
    name="ampler",
    help="How many instances, how many runs, and what may I conclude?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root() -> None:
    """How many instances, how many runs, and what may I conclude?"""


def main() -> None:
    """Run the command line; a problem becomes one sentence on stderr and exit code 1."""
    try:
        app()
    except AmplerError as problem:
        print(f"ampler: {problem}", file=sys.stderr)
        sys.exit(1)
