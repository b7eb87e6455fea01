"""The `ampler` command: each command is a function of its name.

In reading order:

* `app`: the commands joined, and how everything that goes wrong reaches the shell: one sentence and an exit code;
* `options`: what several commands share; the options of an analysis are made from `core.settings`;
* `output`: paragraphs, points, tables, the next command and JSON as they are printed, and the colours of verdicts;
* `design`, `run` (also `check`, `next` and `record`), `analyse` (also `report` and `serve`), `advise`: the commands;
* `compare`: `compare` and `gate`, two commands at a desk and in continuous integration;
* `start`: `init` and `demo`, the commands to begin with;
* `files`: `merge`, `rescue`, `status` and `export`, the commands for results files.

Modules import little when they are loaded: `ampler --help` must be quick, so the packages below come when a command
runs.
"""

from ampler.app import forget_empty_entries

forget_empty_entries()  # before any other import

from ampler.app.cli.app import main  # noqa: E402

__all__ = ["main"]
