"""What lies in the working folder is data: whoever opens it runs nothing of it.

This module is loaded before any other of ours, while the working folder may still be searched for modules. So it needs
nothing but what every Python has loaded already.
"""

import os
import sys


def forget_working_folder() -> None:
    """Take the working folder off the search path, where `python -m` puts it: a numpy.py in it is a stranger's.

    The folder of study.toml is searched all the same when a study is run or checked.
    """
    here = _here()
    if not sys.flags.safe_path and sys.path[:1] in ([""], [here]):
        del sys.path[0]
    forget_empty_entries()


def forget_empty_entries() -> None:
    """Take the working folder off the search path if only an empty entry of PYTHONPATH has put it there."""
    entries = os.environ.get("PYTHONPATH", "x").split(os.pathsep)
    if "" in entries:
        here = _here()
        sys.path[:] = [folder for folder in sys.path if folder and (folder != here or here in entries)]


def load_matplotlib() -> None:
    """Load matplotlib as if we were elsewhere: it would read its settings, which can name code, from where we are."""
    before = _here()
    try:
        os.chdir(os.path.dirname(os.path.abspath(__file__)))
        import matplotlib

        matplotlib.rcParams["backend"]
    finally:
        if before:
            os.chdir(before)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone
        return ""
