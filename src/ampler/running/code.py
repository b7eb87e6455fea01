"""The code of a study before it is run: where it is not that of the recorded runs, the user is asked first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ampler.core.contracts import Store
from ampler.core.errors import InvalidInput, PlanMismatch
from ampler.core.failures import StopStudy
from ampler.core.plan import Algorithm, Function, Plan
from ampler.core.runs import Code
from ampler.core.text import composed, listed
from ampler.study.code import (
    OBJECT,
    CodeChange,
    Files,
    code_changes,
    codes_in_force,
    codes_of,
    differing,
    objects_of,
    paths_of,
    question,
    with_objects,
)

Status = tuple[int, int, int, int]  # of a file: it is not read again while this stays as it was


@dataclass(frozen=True, slots=True)
class CodeStatus:
    """The present code of a plan's algorithms, that of the recorded runs, and where they differ."""

    recorded: tuple[Code, ...]
    now: dict[str, Files]
    changes: tuple[CodeChange, ...] = ()
    rerun: tuple[str, ...] = ()  # algorithms whose earlier runs count no longer
    code: Mapping[str, Files] = field(default_factory=dict)  # without instances

    def without_changes(self) -> CodeStatus:
        """Return the status without changed algorithms."""
        changed = {change.algorithm for change in self.changes}
        return replace(self, now={name: files for name, files in self.now.items() if name not in changed}, changes=())

    def keep(self, store: Store) -> None:
        """Have the store note which code counts, and what this session's runs are made with; a plan was begun."""
        present = {name: Code(name, files) for name, files in self.now.items()}
        store.keep_code(codes_in_force(self.recorded, self.now, self.rerun), present)


class CodeWatch:
    """Notices when the code of algorithms is changed while their runs are made.

    Files that look as before are not read again, so that it may be asked often.
    """

    def __init__(self, algorithms: Iterable[Algorithm], code: CodeStatus) -> None:
        self._algorithms, self._code = tuple(algorithms), code.code
        self._paths = {path for algorithm in self._algorithms for path in paths_of(algorithm).values()}
        self._stats: dict[Path, Status | None] = {}
        self._changed: dict[str, tuple[str, ...]] = {}

    def changes(self) -> dict[str, tuple[str, ...]]:
        """Return the changed files by the algorithms that depend on them."""
        stats = {path: _status(path) for path in self._paths}
        if stats != self._stats and not self._changed:
            self._stats, now = stats, codes_of(self._algorithms)
            for algorithm, before in self._code.items():
                present = now[algorithm]
                # a file that changed may no longer import one of the others
                if files := differing(before, present) or tuple(name for name in before if name not in present):
                    self._changed[algorithm] = files
        return self._changed


def _status(path: Path) -> Status | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def code_status(plan: Plan, store: Store) -> CodeStatus:
    """Return the code of a plan's algorithms next to that of the runs in the store."""
    code = codes_of(plan.algorithms)
    objects = objects_of(plan.all_instances or plan.instances)
    functions = {algorithm.name for algorithm in plan.algorithms if isinstance(algorithm, Function)}
    recorded = store.codes()
    now = {name: with_objects(files, objects) if name in functions else files for name, files in code.items()}
    if not code_changes(recorded, now, dict.fromkeys(now, 1)):  # whatever runs there are: counting them takes time
        return CodeStatus(recorded, now, code=code)
    fresh = {f"{OBJECT}{instance.name}" for instance in plan.instances} - {f"{OBJECT}{name}" for name in store.begun()}
    binding = {name: {file: sha for file, sha in files.items() if file not in fresh} for name, files in now.items()}
    runs: Counter[str] = Counter()  # that count; failed ones that will be tried again bind nothing
    for tally in store.tally():
        runs[tally.algorithm] += tally.ok if isinstance(plan.policy, StopStudy) else tally.runs
    return CodeStatus(recorded, now, code_changes(recorded, binding, runs), code=code)


Names = bool | Collection[str]  # of all algorithms or none, or of these


def resolve_code_changes(plan: Plan, store: Store, *, same: Names, again: Names) -> CodeStatus:
    """Return the code a plan is run with; PlanMismatch asks what a change means, unless that is specified.

    `same`: it does not matter. `again`: the runs that were made before are made again. What is said of an algorithm by
    its name comes before what is said of all.
    """
    names = {algorithm.name for algorithm in plan.algorithms}
    named = [set() if isinstance(which, bool) else set(map(composed, which)) for which in (same, again)]
    if strangers := sorted((named[0] | named[1]) - names):
        raise InvalidInput(f"code is kept or rerun by the algorithms {listed(sorted(names), 10)}, got {strangers[0]!r}")
    if named[0] & named[1] or same is again is True:
        raise InvalidInput("choose one treatment of changed code: keep the runs or repeat them, got both")
    kept = names - named[1] if same is True else named[0]
    rerun = names - named[0] if again is True else named[1]
    status = code_status(plan, store)
    unresolved = [change for change in status.changes if change.algorithm not in kept | rerun]
    if unresolved:
        raise PlanMismatch(question(unresolved))
    return replace(status, rerun=tuple(change.algorithm for change in status.changes if change.algorithm in rerun))
