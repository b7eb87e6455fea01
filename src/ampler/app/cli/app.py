"""The typer application: its commands, and the reporting of errors."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from ampler import __version__
from ampler.app.cli import output
from ampler.app.cli.advise import advise
from ampler.app.cli.analyse import analyse, report, serve
from ampler.app.cli.compare import compare, gate
from ampler.app.cli.design import design
from ampler.app.cli.files import export, merge, rescue, status
from ampler.app.cli.options import GroupedCommand
from ampler.app.cli.output import DONE, INTERRUPTED, PROBLEM, WRONG_USAGE, WrongUsage, note
from ampler.app.cli.run import check, next_runs, record, run
from ampler.app.cli.start import demo, init
from ampler.core.errors import AmplerError
from ampler.core.text import shortened
from ampler.core.threads import pin_threads

MAX_SENTENCE = 1000  # maximum length of an error message, which may quote data

app = typer.Typer(
    name="ampler",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help pages, as importing rich is slow
    context_settings={"help_option_names": ["-h", "--help"]},
)

Refusal: type[typer.BadParameter] = typer.BadParameter.__mro__[1]  # base class of typer's usage errors


@app.callback(invoke_without_command=True)
def ampler(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Plan, run and analyse comparisons of algorithms."""
    if version:
        print(f"ampler {__version__}")
        raise typer.Exit(DONE)
    if context.invoked_subcommand is None:
        note(context.get_help())
        raise typer.Exit(WRONG_USAGE)


# In the order of the help page.
COMMANDS = (
    *(design, demo, init, compare, check, run, next_runs, record, merge, rescue, status),
    *(analyse, gate, report, advise, export, serve),
)
for command in COMMANDS:
    app.command("next" if command is next_runs else None, cls=GroupedCommand)(command)


def main() -> NoReturn:
    """Run the command line and leave with its exit code; no traceback reaches the shell."""
    _open_missing_streams()
    _never_fail_on_a_character()
    pin_threads(os.environ)
    if sys.argv[1:2] == ["analyze"]:  # American English
        sys.argv[1] = "analyse"
    if "--json" in sys.argv:
        _keep_stdout_for_json()
    try:
        left = app(prog_name="ampler", standalone_mode=False)
        code = left if isinstance(left, int) else DONE
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else PROBLEM
    except BaseException as problem:
        try:
            code = _exit_code_for(problem)
        except TypeError:  # an algorithm's module has replaced parts of Python
            os.write(2, f"ampler: {type(problem).__name__}: {problem}\n".encode(errors="replace"))
            code = PROBLEM
    raise SystemExit(_flushed(code))


def _exit_code_for(problem: BaseException) -> int:
    """Print an error in one sentence, and return its exit code."""
    if os.environ.get("AMPLER_TRACEBACK"):
        raise problem
    match problem:
        case WrongUsage():
            note(f"ampler: {problem}")
            return problem.code
        case Refusal():
            message = io.StringIO()
            problem.show(file=message)
            note(message.getvalue().rstrip("\n").replace("Value error, ", ""))
            return WRONG_USAGE
        case AmplerError():
            note(f"ampler: {shortened(problem.in_shell, MAX_SENTENCE)}")
        case KeyboardInterrupt() | typer.Abort():
            note("ampler: interrupted")
            return INTERRUPTED
        case BrokenPipeError():
            pass  # the reader, such as `head`, has closed the pipe
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            what = problem.filename or "the output"
            note(f"ampler: {what} cannot be written: the disk is full; free space and try again")
        case OSError():
            note(f"ampler: cannot use {problem.filename or 'the output'}: {problem.strerror or problem}")
        case MemoryError():
            note("ampler: not enough memory for this question; ask for something smaller")
        case _:
            what = f"a defect in ampler, not in your input ({type(problem).__name__}: {problem})"
            note(f"ampler: {what}; please report it with what AMPLER_TRACEBACK=1 shows")
    return PROBLEM


def _flushed(code: int) -> int:
    """Flush stdout; a full disk is reported, a closed reader is not."""
    try:
        sys.stdout.flush()
        return code
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more at its end
        return code or _exit_code_for(problem)


def _open_missing_streams() -> None:
    """Lead streams that the caller has closed nowhere: the next file that is opened would take their place."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _keep_stdout_for_json() -> None:
    """Redirect the output of a study's modules and functions to stderr: stdout has one JSON document."""
    with suppress(OSError, ValueError, AttributeError):  # a stream of another program's own
        if sys.stdout.fileno() == 1:
            output.json_descriptor = os.dup(1)
            os.dup2(2, 1)


def _never_fail_on_a_character() -> None:
    """A terminal without × or ≤ shows a question mark instead of ending in an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
