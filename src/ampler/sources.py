"""Results wherever they are: a file, a data frame, a study file → an analysis, or advice on the next experiment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ampler.advice import Advice, Target, advise_runs
from ampler.analysis import Analysis, Caution, analyse_runs
from ampler.comparisons import Formula
from ampler.errors import InvalidData, StoreUnusable
from ampler.guard import Guard
from ampler.model import (
    Alternative,
    Better,
    Difference,
    Drop,
    FailurePolicy,
    Finished,
    Par,
    Penalty,
    PlanRecord,
    Question,
    StopStudy,
    Test,
)
from ampler.protocols import Statistic, Store
from ampler.runs import Runs
from ampler.status import unused_runs
from ampler.store import read_store
from ampler.tables import Columns, Table, read_table

if TYPE_CHECKING:
    import pandas as pd

Names = str | Collection[str] | None

SQLITE = b"SQLite format 3\0"  # how a study file begins
RUNS_PER_ALGORITHM = 50  # the budget of a rule that names none


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Runs with what their source says about them: groups of instances, settings of the study, what was noticed."""

    runs: Runs
    features: Mapping[str, Mapping[str, object]]
    settings: Mapping[str, Any]  # as analyse_runs takes them; what the user says comes before
    notes: tuple[Caution, ...]


def analyse(
    source: str | PathLike[str] | pd.DataFrame | Store | Runs,
    *,
    difference: Difference | None = None,
    reference: str | None = None,
    better: Better | None = None,
    test: Test | None = None,
    alternative: Alternative | None = None,
    alpha: float | None = None,
    statistic: str | Statistic | None = None,
    formula: Formula | None = None,
    guard: Guard | None = None,
    se: float | None = None,
    budget: int | None = None,
    margin: float | None = None,
    effect: float | None = None,
    power: float | None = None,
    on_failure: FailurePolicy | str | None = None,
    algorithm: Names = None,
    instance: Names = None,
    value: str | None = None,
    metric: str | None = None,
    where: Mapping[str, object] | None = None,
    encoding: str | None = None,
) -> Analysis:
    """Say what results you already have allow to conclude: a path, a data frame, a study file.

    `difference` must be chosen: "simple", "percent" or "log-ratio". What a study file's plan says (difference,
    reference, se, …) need not be said again. Columns of a table are found by their names, or said with `algorithm`,
    `instance` (one name or several), `value` and `metric`; `where={"dimension": 30}` keeps some rows. `on_failure` says
    what a failed run counts as: "drop", "penalty=1000", "par=10".

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"dataset": ["a", "b", "c", "d"], "old": [9, 8, 7, 9], "new": [5, 4, 4, 6]})
    >>> analyse(frame, difference="simple").comparisons[0].verdict
    'new is better: lower by 3.5 on average, joint 95 % interval 2.58 to 4.42'
    """
    columns = Columns(_names(algorithm), _names(instance), value, metric)
    evidence = evidence_of(source, columns=columns, where=where, encoding=encoding)
    said = {
        "difference": difference,
        "reference": reference,
        "better": better,
        "test": test,
        "alternative": alternative,
        "alpha": alpha,
        "statistic": statistic,
        "formula": formula,
        "guard": guard,
        "se": se,
        "budget": budget,
        "margin": margin,
        "effect": effect,
        "power": power,
        "failures": _policy(on_failure),
    }
    settings = _settings(evidence, said)
    analysis = analyse_runs(evidence.runs, features=evidence.features, **settings)
    notes = [note for note in evidence.notes if note.kind != "direction" or better is None]
    return replace(analysis, warnings=(*notes, *analysis.warnings))


def advise(
    source: str | PathLike[str] | pd.DataFrame | Store | Runs,
    *,
    detect: float,
    difference: Difference | None = None,
    reference: str | None = None,
    power: float | None = None,
    alpha: float | None = None,
    target: Target | None = None,
    alternative: Alternative | None = None,
    test: Test | None = None,
    statistic: str | Statistic | None = None,
    formula: Formula | None = None,
    start: int | None = None,
    costs: Mapping[str, float] | None = None,
    instance_cost: float | None = None,
    available: int | None = None,
    on_failure: FailurePolicy | str | None = None,
    algorithm: Names = None,
    instance: Names = None,
    value: str | None = None,
    metric: str | None = None,
    where: Mapping[str, object] | None = None,
    encoding: str | None = None,
) -> Advice:
    """More instances or more runs? Learn it from a pilot or from old results: a path, a data frame, a study file.

    Returns the accuracy se and the number of instances that find a raw difference of `detect` at the least cost. The
    other words are those of `analyse` and `advise_runs`.
    """
    columns = Columns(_names(algorithm), _names(instance), value, metric)
    evidence = evidence_of(source, columns=columns, where=where, encoding=encoding)
    said = {
        "difference": difference,
        "reference": reference,
        "power": power,
        "alpha": alpha,
        "target": target,
        "alternative": alternative,
        "test": test,
        "statistic": statistic,
        "formula": formula,
        "start": start,
        "costs": costs,
        "instance_cost": instance_cost,
        "available": available,
        "failures": _policy(on_failure),
    }
    unused = {"better", "guard", "se", "budget", "margin", "effect"}
    settings = {name: given for name, given in _settings(evidence, said).items() if name not in unused}
    settings["deterministic"] = settings.get("deterministic") or ()
    return advise_runs(evidence.runs, detect=detect, **settings)


def evidence_of(
    source: Any,
    *,
    columns: Columns | None = None,
    where: Mapping[str, object] | None = None,
    encoding: str | None = None,
) -> Evidence:
    """Read runs from wherever they are."""
    columns = columns or Columns()
    if isinstance(source, Runs):
        return Evidence(source, {}, {}, ())
    if is_study_file(source) or hasattr(source, "plans"):
        if columns != Columns() or where:
            raise InvalidData("a study file has no columns to choose: leave out the options that name columns or rows")
        return _of_study(source)
    chosen = {name: str(level) for name, level in (where or {}).items()}
    return _of_table(read_table(source, columns=columns, where=chosen, encoding=encoding))


def is_study_file(source: Any) -> bool:
    """Whether this is the path of a study file."""
    if not isinstance(source, str | PathLike) or not Path(source).is_file():
        return False
    with Path(source).open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def failure_policy(text: str) -> FailurePolicy:
    """Return what a failed run counts as, from the words "drop", "penalty=1000", "par=10", "par=10,cutoff=3600".

    >>> failure_policy("par=10")
    Par(factor=10.0, cutoff=None)
    """
    words = [part.partition("=") for part in text.replace(" ", "").split(",")]
    kind = tuple(name for name, _, _ in words)
    try:
        if text == "drop":
            return Drop()
        if kind == ("penalty",):
            return Penalty(float(words[0][2]))
        if kind in {("par",), ("par", "cutoff")}:
            return Par(*(float(number) for _, _, number in words))
    except ValueError:
        pass
    raise InvalidData(
        f'what a failed run counts as must be "drop", "penalty=VALUE", "par=K" or "par=K,cutoff=SECONDS", got {text!r}'
    )


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def _policy(said: FailurePolicy | str | None) -> FailurePolicy | None:
    return failure_policy(said) if isinstance(said, str) else said


def _settings(evidence: Evidence, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the source says, overruled by what the user says; the kind of difference must be chosen by one of them."""
    settings = {**evidence.settings, **{name: value for name, value in said.items() if value is not None}}
    if "difference" not in settings:
        raise InvalidData(
            'the kind of difference must be chosen: "simple" (a - b), "percent" (of the reference, or of the grand'
            ' mean) or "log-ratio" (log a/b, the same whichever comes first)'
        )
    return settings


# tables -----------------------------------------------------------------------------------------------------------


def _of_table(table: Table) -> Evidence:
    settings = {"better": table.better} if table.better else {}
    notes = [Caution("table", f"{note[:1].upper()}{note[1:]}.") for note in table.notes]
    if table.sounds_higher and table.better is None:
        notes.append(
            Caution(
                "direction",
                'The values sound as if higher were better, but "lower" was assumed: say better = "higher" if so'
                " (--better higher).",
            )
        )
    return Evidence(table.runs, table.features, settings, tuple(notes))


# study files ------------------------------------------------------------------------------------------------------


def _of_study(source: Any) -> Evidence:
    if hasattr(source, "plans"):
        return _of_store(source)
    with read_store(source) as store:
        return _of_store(store)


def _of_store(store: Store) -> Evidence:
    plans = store.plans()
    if not plans:
        raise StoreUnusable("the study file holds no plan yet; run the study first")
    plan = plans[-1]
    done = store.finished(plan.decisions)
    finished = len(done.keys() & set(plan.instances))
    if not finished:
        raise InvalidData("no instance of the study is finished yet; run it further, then analyse it")
    notes = (*_part(plan), *_unfinished(finished, len(plan.instances)), *_unused(plan, store, done), *_changed(plans))
    return Evidence(store.runs(plan.decisions), _features(plan), _study_settings(plan), notes)


def _study_settings(plan: PlanRecord) -> dict[str, Any]:
    question = {field.name: getattr(plan.question, field.name) for field in fields(Question)}
    question.pop("target")
    rule = {name: plan.rule[name] for name in ("se", "guard", "formula") if name in plan.rule}
    if "se" in plan.rule:
        rule["budget"] = plan.rule.get("budget") or RUNS_PER_ALGORITHM * len(plan.algorithms)
    settings = {**question, **rule, "deterministic": plan.deterministic}
    if not isinstance(plan.policy, StopStudy):
        settings["failures"] = plan.policy
    return {name: value for name, value in settings.items() if value is not None}


def _features(plan: PlanRecord) -> dict[str, dict[str, object]]:
    """The plan keeps features by instance; an analysis wants them by feature."""
    features: dict[str, dict[str, object]] = {}
    for instance, values in plan.features.items():
        for name, value in values.items():
            features.setdefault(name, {})[instance] = value
    return features


def _unfinished(finished: int, planned: int) -> tuple[Caution, ...]:
    if finished >= planned:
        return ()
    sentence = (
        f"{planned - finished} of {planned} planned instances are not finished and left out: run the study further."
    )
    return (Caution("unfinished", sentence),)


def _part(plan: PlanRecord) -> tuple[Caution, ...]:
    if not plan.part:
        return ()
    sentence = f"These are the instances of part {plan.part} only: put the parts together with `ampler merge`."
    return (Caution("part", sentence),)


def _unused(plan: PlanRecord, store: Store, done: Mapping[str, Finished]) -> tuple[Caution, ...]:
    """Runs of an earlier plan that this one does not ask for."""
    number = unused_runs(plan, store.tally(), done)
    if not number:
        return ()
    runs = "1 recorded run is" if number == 1 else f"{number} recorded runs are"
    return (Caution("unused", f"{runs} not asked for by the plan in force and left out."),)


def _changed(plans: tuple[PlanRecord, ...]) -> tuple[Caution, ...]:
    """Comparisons that were chosen after looking deserve a word."""
    first, last = plans[0], plans[-1]
    added = [name for name in last.algorithms if name not in first.algorithms]
    asked = [
        field.name
        for field in fields(Question)
        if getattr(first.question, field.name) != getattr(last.question, field.name)
    ]
    changes = [*(f"algorithm {name} was added" for name in added), *(f"{name} was changed" for name in asked)]
    if not changes:
        return ()
    return (Caution("plan", f"The plan was changed after the first one of {first.created}: {'; '.join(changes)}."),)
