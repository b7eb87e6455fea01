"""The typer application: its commands, and how everything that goes wrong reaches the shell."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Annotated, NoReturn

import typer

from ampler import __version__
from ampler.app.shell.advise import advise
from ampler.app.shell.analyse import analyse
from ampler.app.shell.check import check
from ampler.app.shell.demo import demo
from ampler.app.shell.design import design
from ampler.app.shell.export import export
from ampler.app.shell.init import init
from ampler.app.shell.merge import merge
from ampler.app.shell.output import DONE, INTERRUPTED, PROBLEM, WRONG_USAGE, WrongUsage, note
from ampler.app.shell.report import report
from ampler.app.shell.rescue import rescue
from ampler.app.shell.run import run
from ampler.app.shell.serve import serve
from ampler.app.shell.status import status
from ampler.core.errors import AmplerError
from ampler.core.wording import shortened

LONGEST = 1000  # characters of a sentence about what went wrong; data that it quotes may be endless

app = typer.Typer(
    name="ampler",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # a plain help page: rich alone takes a quarter of the time `ampler --help` may take
    context_settings={"help_option_names": ["-h", "--help"]},
)

Refusal: type[typer.BadParameter] = typer.BadParameter.__mro__[1]  # all usage that typer refuses; it does not name it


@app.callback(invoke_without_command=True)
def ampler(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """How many instances, how many runs, and what may I conclude?"""
    if version:
        print(f"ampler {__version__}")
        raise typer.Exit(DONE)
    if context.invoked_subcommand is None:
        note(context.get_help())
        raise typer.Exit(WRONG_USAGE)


# In the order of the help page. A command is a function in the module of its name.
for command in (design, demo, init, check, run, merge, rescue, status, analyse, report, advise, export, serve):
    app.command()(command)


def main() -> NoReturn:
    """Run the command line and leave with its exit code; no traceback reaches the shell."""
    _never_fail_on_a_character()
    try:
        left = app(prog_name="ampler", standalone_mode=False)
        code = left if isinstance(left, int) else DONE
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else PROBLEM
    except BaseException as problem:
        code = _told(problem)
    sys.exit(_flushed(code))


def _told(problem: BaseException) -> int:
    """Say in one sentence what went wrong, and return the exit code for it."""
    if os.environ.get("AMPLER_TRACEBACK"):
        raise problem
    match problem:
        case WrongUsage():
            note(f"ampler: {problem}")
            return WRONG_USAGE
        case Refusal():
            said = io.StringIO()
            problem.show(file=said)
            note(said.getvalue().rstrip("\n"))
            return WRONG_USAGE
        case AmplerError():
            note(f"ampler: {shortened(problem.in_shell, LONGEST)}")
        case KeyboardInterrupt() | typer.Abort():
            note("ampler: interrupted")
            return INTERRUPTED
        case BrokenPipeError():
            pass  # the reader, such as `head`, has seen enough
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            what = problem.filename or "the output"
            note(f"ampler: {what} cannot be written: the disk is full; free space and try again")
        case OSError():
            note(f"ampler: cannot use {problem.filename or 'the output'}: {problem.strerror or problem}")
        case MemoryError():
            note("ampler: not enough memory for this question; ask for something smaller")
        case _:
            note(
                f"ampler: a defect in ampler, not in your input ({type(problem).__name__}: {problem}); please report "
                "it with what AMPLER_TRACEBACK=1 shows"
            )
    return PROBLEM


def _flushed(code: int) -> int:
    """Write out what is left for stdout: a full disk is told, a reader that has gone away is not."""
    try:
        sys.stdout.flush()
        return code
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more at its end
        return code or _told(problem)


def _never_fail_on_a_character() -> None:
    """A terminal without × or ≤ shows a question mark instead of ending in an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
