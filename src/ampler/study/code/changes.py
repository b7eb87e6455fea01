"""The code of recorded runs against the present one: what has changed, and which runs count from now on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from ampler.core.spoken import parameter
from ampler.core.values import Code
from ampler.core.wording import listed

Verdict = Literal["same", "again"]
FILES_SHOWN = 3
OBJECT = "instance:"  # before the name of an instance that is a Python object
HIDDEN = "?"  # before the digest of one whose content cannot be seen as a whole


@dataclass(frozen=True, slots=True)
class CodeChange:
    """An algorithm whose code is not that of its recorded runs: which files differ, and how many runs there are."""

    algorithm: str
    files: tuple[str, ...]
    runs: int

    def __str__(self) -> str:
        made = "its recorded run was" if self.runs == 1 else f"its {self.runs} recorded runs were"
        what = "the instances" if all(map(_is_object, self.files)) else "the code"
        has = "have" if what.endswith("s") else "has"
        return f"{what} of algorithm {self.algorithm!r} {has} changed since {made} made ({shown(self.files)})"


def shown(files: Sequence[str]) -> str:
    """Return the first few of some files and instances, for people."""
    return listed([f"instance {each[len(OBJECT) :]!r}" if _is_object(each) else each for each in files], FILES_SHOWN)


def code_changes(
    known: Iterable[Code], now: Mapping[str, Mapping[str, str]], runs: Mapping[str, int]
) -> tuple[CodeChange, ...]:
    """Return the algorithms with recorded `runs` whose code is none of those that count; what is unknown is no change.

    >>> known = [Code("mine", {"solvers.py": "e3b0"}), Code("other", {"./solve": "a5f1"})]
    >>> changes = code_changes(known, {"mine": {"solvers.py": "9c1d"}, "other": {"./solve": "a5f1"}}, {"mine": 120})
    >>> print(*changes)
    the code of algorithm 'mine' has changed since its 120 recorded runs were made (solvers.py)
    """
    counting = [code for code in known if code.counts]
    changes = []
    for name, files in now.items():
        before = [code.files or {} for code in counting if code.algorithm == name]
        if not (runs.get(name) and before and files):
            continue
        changed = _changed_objects(before, files)
        if not any(same_code(_code_alone(each), _code_alone(files)) for each in before):
            changed = (*min((differing(_code_alone(each), _code_alone(files)) for each in before), key=len), *changed)
        if changed:
            changes.append(CodeChange(name, changed, runs[name]))
    return tuple(changes)


def unseen(files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the instances whose content cannot be seen."""
    return tuple(name[len(OBJECT) :] for name, digest in files.items() if _is_object(name) and digest[:1] == HIDDEN)


def _is_object(name: str) -> bool:
    return name.startswith(OBJECT)


def _code_alone(files: Mapping[str, str]) -> dict[str, str]:
    return {name: digest for name, digest in files.items() if not _is_object(name)}


def _changed_objects(before: Sequence[Mapping[str, str]], now: Mapping[str, str]) -> tuple[str, ...]:
    """Instances that are in no session what they are now; an instance that came later says nothing of those before."""
    changed = []
    for name, digest in now.items():
        known = {each[name] for each in before if _is_object(name) and each.get(name)}
        if known and digest not in known:
            changed.append(name)
    return tuple(changed)


def same_code(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Say whether two codes agree: in the files that both have, and in the first of them; one not known may be any."""
    return not before or not now or not differing(before, now)


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that are not what they were. One that is read only now, or no longer, hangs on another one.

    >>> differing({"a.py": "1", "b.py": "2"}, {"a.py": "1", "b.py": "3", "c.py": "4"})
    ('b.py',)
    """
    changed = [name for name, digest in now.items() if before.get(name, digest) != digest]
    gone = [name for name in list(before)[:1] if name not in now]
    return (*changed, *gone)


def question(changes: Sequence[CodeChange]) -> str:
    """Ask what shall become of the runs that were made with other code."""
    these = "these runs" if sum(each.runs for each in changes) > 1 else "this run"
    return (
        f"{'; '.join(map(str, changes))}; say {parameter('same', True)} if the change does not matter,"
        f" {parameter('again', True)} to make {these} anew, the old ones kept as superseded, or start over with another"
        " study file"
    )


def declared_same(codes: Iterable[Code], algorithm: str) -> tuple[str, ...]:
    """Return the files of an algorithm that differ between codes that all count."""
    known = [code.files for code in codes if code.algorithm == algorithm and code.counts and code.files]
    return tuple(dict.fromkeys(name for one, two in combinations(known, 2) for name in differing(one, two)))


def codes_in_force(
    known: Sequence[Code],
    now: Mapping[str, Mapping[str, str]],
    changes: Iterable[CodeChange] = (),
    verdict: Verdict = "same",
) -> tuple[Code, ...]:
    """Return the code of all runs as it counts from now on: the present one always does.

    What has changed counts no longer when its runs are made `again`.
    """
    void = dict.fromkeys(change.algorithm for change in changes) if verdict == "again" else {}
    kept = [replace(code, counts=code.counts and code.algorithm not in void) for code in known]
    unknown = [Code(name, None, counts=False) for name in void]
    present = [Code(name, dict(files)) for name, files in now.items()]
    return tuple({(code.algorithm, code.digest): code for code in [*kept, *unknown, *present]}.values())
