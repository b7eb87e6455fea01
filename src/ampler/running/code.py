"""The code of a study before it is run: where it is not that of the recorded runs, the user is asked first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ampler.core.contracts import Store
from ampler.core.errors import InvalidInput, PlanMismatch
from ampler.core.failures import StopStudy
from ampler.core.values import Code, Plan
from ampler.study.code.changes import OBJECT, CodeChange, Verdict, code_changes, codes_in_force, question
from ampler.study.code.files import Files, codes_of


@dataclass(frozen=True, slots=True)
class CodeLook:
    """The present code of a plan's algorithms, that of the recorded runs, and where they differ."""

    known: tuple[Code, ...]
    now: dict[str, Files]
    changes: tuple[CodeChange, ...] = ()
    verdict: Verdict = "same"

    def without_changes(self) -> CodeLook:
        """Return what is there of algorithms whose code is what it was."""
        changed = {change.algorithm for change in self.changes}
        return replace(self, now={name: files for name, files in self.now.items() if name not in changed}, changes=())

    def keep(self, store: Store) -> None:
        """Have the store note which code counts, and what this session's runs are made with; a plan was begun."""
        if _keeps_code(store):
            present = {name: Code(name, files) for name, files in self.now.items()}
            store.keep_code(codes_in_force(self.known, self.now, self.changes, self.verdict), present)


def look_at_code(plan: Plan, store: Store) -> CodeLook:
    """Return the code of a plan's algorithms beside that of the runs in the store."""
    if not _keeps_code(store):
        return CodeLook((), {})
    known, now = store.codes(), codes_of(plan.algorithms, plan.all_instances or plan.instances)
    if not code_changes(known, now, dict.fromkeys(now, 1)):  # whatever runs there are: counting them takes time
        return CodeLook(known, now)
    fresh = {f"{OBJECT}{each.name}" for each in plan.instances} - {f"{OBJECT}{name}" for name in store.begun()}
    binding = {name: {file: sha for file, sha in files.items() if file not in fresh} for name, files in now.items()}
    return CodeLook(known, now, code_changes(known, binding, _binding_runs(plan, store)))


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
