"""The `ampler` command: each command is a function in the module of its name.

In reading order:

* `app`: the commands joined, and how everything that goes wrong reaches the shell: one sentence and an exit code;
* `options`: what several commands share; the options of an analysis are made from `core.settings`;
* `output`: paragraphs, points, tables, the next command and JSON as they are printed; no sentence about results;
  `colours`: those of verdicts in a terminal;
* `design`, `init`, `check`, `run`, `merge`, `rescue`, `status`, `analyse`, `report`, `advise`, `export`, `demo`,
  `serve`: the commands;
* `assured`: the part of `design` that averages over what is believed of the effect;
* `progress`: the line that changes while a study runs.

Modules import little when they are loaded: `ampler --help` must be quick, so the rooms below come when a command runs.
"""

from ampler.app.surroundings import forget_empty_entries

forget_empty_entries()  # before anything else is looked for

from ampler.app.shell.app import main  # noqa: E402

__all__ = ["main"]
