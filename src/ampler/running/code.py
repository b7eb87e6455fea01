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
from ampler.core.values import Algorithm, Code, Function, Plan
from ampler.study.code.changes import OBJECT, CodeChange, Verdict, code_changes, codes_in_force, question
from ampler.study.code.files import Files, codes_of, objects_of, paths_read

Status = tuple[int, int, int, int]  # of a file: it is not read again while this stays as it was


@dataclass(frozen=True, slots=True)
class CodeLook:
    """The present code of a plan's algorithms, that of the recorded runs, and where they differ."""

    known: tuple[Code, ...]
    now: dict[str, Files]
    changes: tuple[CodeChange, ...] = ()
    verdict: Verdict = "same"
    code: Mapping[str, Files] = field(default_factory=dict)  # without instances
    paths: Collection[Path] = ()  # of the files that were read

    def without_changes(self) -> CodeLook:
        """Return what is there of algorithms whose code is what it was."""
        changed = {change.algorithm for change in self.changes}
        return replace(self, now={name: files for name, files in self.now.items() if name not in changed}, changes=())

    def keep(self, store: Store) -> None:
        """Have the store note which code counts, and what this session's runs are made with; a plan was begun."""
        if _keeps_code(store):
            present = {name: Code(name, files) for name, files in self.now.items()}
            store.keep_code(codes_in_force(self.known, self.now, self.changes, self.verdict), present)


class CodeWatch:
    """Notices when the code of algorithms is changed while their runs are made.

    Files that look as before are not read again, so that it may be asked often.
    """

    def __init__(self, algorithms: Iterable[Algorithm], code: CodeLook) -> None:
        self._algorithms, self._code, self._paths = tuple(algorithms), code.code, code.paths
        self._stats: dict[Path, Status | None] = {}
        self._changed: dict[str, tuple[str, ...]] = {}

    def changes(self) -> dict[str, tuple[str, ...]]:
        """Return the files that are not what they were, by the algorithms that hang on them."""
        stats = {path: _status(path) for path in self._paths}
        if stats != self._stats and not self._changed:
            self._stats, now = stats, codes_of(self._algorithms)
            found = {name: _changed_or_gone(files, now[name]) for name, files in self._code.items()}
            self._changed = {name: files for name, files in found.items() if files}
        return self._changed


def _changed_or_gone(before: Files, now: Files) -> tuple[str, ...]:
    gone = tuple(name for name in before if name not in now)  # a file that changed may no longer import it
    return tuple(name for name, digest in before.items() if now.get(name, digest) != digest) or gone


def _status(path: Path) -> Status | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def look_at_code(plan: Plan, store: Store) -> CodeLook:
    """Return the code of a plan's algorithms beside that of the runs in the store."""
    if not _keeps_code(store):
        return CodeLook((), {})
    with paths_read() as paths:
        code = codes_of(plan.algorithms)
    objects = objects_of(plan.all_instances or plan.instances)
    functions = {algorithm.name for algorithm in plan.algorithms if isinstance(algorithm, Function)}
    known = store.codes()
    now = {name: files | objects if name in functions else files for name, files in code.items()}
    if not code_changes(known, now, dict.fromkeys(now, 1)):  # whatever runs there are: counting them takes time
        return CodeLook(known, now, code=code, paths=paths)
    fresh = {f"{OBJECT}{each.name}" for each in plan.instances} - {f"{OBJECT}{name}" for name in store.begun()}
    binding = {name: {file: sha for file, sha in files.items() if file not in fresh} for name, files in now.items()}
    changes = code_changes(known, binding, _binding_runs(plan, store))
    return CodeLook(known, now, changes, code=code, paths=paths)


def settled_code(plan: Plan, store: Store, *, same: bool, again: bool) -> CodeLook:
    """Return the code a plan is run with; PlanMismatch asks what a change means, unless that is said.

    `same`: it does not matter. `again`: the runs that were made before are made anew.
    """
    if same and again:
        raise InvalidInput("changed code must be said to be the same, or its runs made again, got both same and again")
    look = look_at_code(plan, store)
    if look.changes and not (same or again):
        raise PlanMismatch(question(look.changes))
    return replace(look, verdict="again" if again else "same")


def _binding_runs(plan: Plan, store: Store) -> Counter[str]:
    """The recorded runs of each algorithm that count; failed ones that will be tried again bind nothing."""
    stops = isinstance(plan.policy, StopStudy)
    runs: Counter[str] = Counter()
    for each in store.tally():
        runs[each.algorithm] += each.ok if stops else each.runs
    return runs


def _keeps_code(store: Store) -> bool:
    """Whether a store knows of code: one that was written before there was such a thing does not."""
    return hasattr(store, "keep_code")
