"""The user interfaces: the command line and the browser.

* `cli`: the `ampler` command;
* `web`: the pages of `ampler serve`.

An interface reads options and lays out text. The text about a design, a study, an analysis or advice is made by the
packages below, so that all interfaces agree. May import every package but `testing`;
nothing imports it.

Here: what lies in the working folder is data, and whoever opens it runs nothing of it. This module is loaded before any
other of ours, while the working folder may still be searched for modules. So it needs nothing but what every Python has
loaded already.
"""

import os
import sys


def forget_working_folder() -> None:
    """Remove the working folder from the search path, where `python -m` puts it: its modules are untrusted.

    The folder of study.toml is searched all the same when a study is run or checked.
    """
    if not sys.flags.safe_path and sys.path[:1] in ([""], [_working_folder()]):
        del sys.path[0]
    forget_empty_entries()


def forget_empty_entries() -> None:
    """Take the working folder off the search path if only an empty entry of PYTHONPATH has put it there."""
    entries = os.environ.get("PYTHONPATH", "x").split(os.pathsep)
    if "" in entries:
        here = _working_folder()
        sys.path[:] = [folder for folder in sys.path if folder and (folder != here or here in entries)]


def load_matplotlib() -> None:
    """Load matplotlib with settings of its own.

    It would read others, which can name code or a program such as LaTeX, from where we are, and the name of a window
    system, which may not be there, from a variable that notebooks set.
    """
    before = _working_folder()
    os.environ["MPLBACKEND"] = "agg"
    try:
        os.chdir(os.path.dirname(os.path.abspath(__file__)))
        import matplotlib

        matplotlib.rcdefaults()
    finally:
        if before:
            os.chdir(before)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone
        return ""
