"""The Python door: Study, and analyse and advise for results wherever they are (a file, a data frame, a study file)."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ampler.analysis import Analysis, Caution, analyse_runs
from ampler.analysis.evidence import Evidence
from ampler.analysis.unfinished import estimates_only, unplanned_note
from ampler.core.checks import choice, integer
from ampler.core.choices import Alternative, Better, Difference, Estimate, Formula, Guard, Target, Test, Weights
from ampler.core.contracts import Executor, Rule, Statistic, Store
from ampler.core.errors import InvalidData, InvalidPlan
from ampler.core.failures import FailurePolicy, StopStudy, as_policy, with_cutoff
from ampler.core.names import composed
from ampler.core.notebooks import shown_in_notebook
from ampler.core.runs import Runs, with_composed_names
from ampler.core.settings import AnalysisSettings
from ampler.core.spoken import parameter
from ampler.core.values import Algorithm, Instance, Limits, Plan, Question, StudyDecision
from ampler.core.wording import listed
from ampler.data.tables import Columns, ResultsTable, read_table

if TYPE_CHECKING:  # who analyses a table waits for none of these; each is imported where it is needed
    import pandas as pd

    from ampler.analysis.advice import Advice
    from ampler.running import Progress
    from ampler.sampling.rules import Accuracy
    from ampler.study.changes import PlanChange
    from ampler.study.detect_rule import Detect
    from ampler.study.forecast import Forecast
    from ampler.study.looks_rule import Looking
    from ampler.study.plan import Count

Names = str | Collection[str] | None

DECISIVE = ("difference", "reference", "test", "alternative", "alpha", "statistic", "margin", "floor", "failures")
SQLITE = b"SQLite format 3\0"  # how a study file begins


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
    start: int | None = None,
    estimate: Estimate | None = None,
    margin: float | None = None,
    weights: Weights | None = None,
    floor: float | None = None,
    effect: float | None = None,
    power: float | None = None,
    on_failure: FailurePolicy | str | None = None,
    algorithm: Names = None,
    algorithms: Names = None,
    instance: Names = None,
    ignore: Names = None,
    describing: Names = None,
    paired: Names = None,
    value: str | None = None,
    metric: str | None = None,
    where: Mapping[str, object] | None = None,
    encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    ignore_looks: bool = False,
    unplanned: bool = False,
) -> Analysis:
    """Say what results you already have allow to conclude: a path, a data frame, a study file.

    `difference` must be chosen: "simple", "percent" or "ratio"; so must `better`, "lower" or "higher", unless the
    values have a name that says it, such as accuracy or time. What a study file's plan says (difference, reference,
    se, …) need not be said again. Columns of a table are found by their names, or said with `algorithm`, `instance`
    (one name or several), `value` and `metric`; `where={"dimension": 30}` keeps some rows, `algorithms` some of the
    algorithms, columns to `ignore` are as if they were not there, and those `describing` instances are taken for
    nothing else, whatever their names say. `paired="fold"` compares runs that share a fold (or a seed, or the same
    in several columns) run by run. `decimal` is the decimal mark, where cells such as 1,234 do not show it.
    `on_failure` says what a failed run counts as: "drop", "penalty=1000", "par=10". Values below `floor` count as
    it. With a `margin`, what is too small to matter, equivalence is tested as well, and `bayes` of the answer says
    how probable worse and better are. A study that was looked at on the way is analysed by its looks;
    `ignore_looks` asks for ordinary tests, whose level is not kept then. Of a study that is not complete there are
    estimates only, unless `unplanned` asks for tests all the same.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"dataset": ["a", "b", "c", "d"], "old": [9, 8, 7, 9], "new": [5, 4, 4, 6]})
    >>> analyse(frame, difference="simple", better="lower").comparisons[0].verdict
    'new is better: lower by 3.50 on average, joint 95 % interval 2.58 to 4.42'
    """
    columns = Columns(
        _names("algorithm", algorithm),
        _names("instance", instance),
        value,
        metric,
        algorithms=_names("algorithms", algorithms),
        ignore=_names("ignore", ignore),
        describing=_names("describing", describing),
        paired=_names("paired", paired),
        decimal=None if decimal is None else choice("decimal", decimal, (".", ","), "the cells show it, mostly"),
    )
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
        "start": start,
        "estimate": estimate,
        "margin": margin,
        "weights": weights,
        "floor": floor,
        "effect": effect,
        "power": power,
        "failures": _policy(on_failure),
    }
    settings = _settings(evidence, said)
    _check_several(evidence)
    looks = None if ignore_looks else evidence.looks
    if looks is not None:
        from ampler.study.looks_analysed import check_looks

        check_looks(looks, evidence.settings, settings)
    changed = _changed(evidence, settings)
    analysis = analyse_runs(
        evidence.runs,
        settings,
        features=evidence.features,
        deterministic=evidence.deterministic,
        rule=evidence.rule,
        course=None if changed else evidence.course,
        looks=looks,
        fixed_runs=evidence.fixed_runs,
    )
    notes = [note for note in evidence.notes if note.kind != "direction" or better is None]
    notes += [_other_question(changed)] if changed else []
    if evidence.looks is not None and ignore_looks:
        from ampler.study.looks_analysed import without_looks

        notes = [without_looks(evidence.looks), *notes]
    if evidence.unfinished and unplanned:
        notes = [unplanned_note(evidence.unfinished), *notes]
    analysis = replace(analysis, warnings=(*notes, *analysis.warnings), measure=evidence.measure)
    return estimates_only(analysis, evidence.unfinished) if evidence.unfinished and not unplanned else analysis


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
    better: Better | None = None,
    guard: Guard | None = None,
    se: float | None = None,
    budget: int | None = None,
    estimate: Estimate | None = None,
    margin: float | None = None,
    weights: Weights | None = None,
    floor: float | None = None,
    start: int | None = None,
    costs: Mapping[str, float] | None = None,
    instance_cost: float | None = None,
    available: int | None = None,
    on_failure: FailurePolicy | str | None = None,
    algorithm: Names = None,
    algorithms: Names = None,
    instance: Names = None,
    ignore: Names = None,
    describing: Names = None,
    paired: Names = None,
    value: str | None = None,
    metric: str | None = None,
    where: Mapping[str, object] | None = None,
    encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    ignore_looks: bool = False,
) -> Advice:
    """More instances or more runs? Learn it from a pilot or from old results: a path, a data frame, a study file.

    Returns the accuracy se and the number of instances that find a raw difference of `detect` at the least cost, and in
    `plan` the instances and runs of a study of fixed size that does. A table may have one value in each cell; then it
    is not known how much of the variation is noise of the runs; nor is it of runs that are `paired`, as folds. The
    other words are those of `analyse`, which may all be said, and of `advise_runs`; of a study with looks the plan is
    one without, whether `ignore_looks` is said or not.
    """
    from ampler.analysis.advice import advise_runs

    columns = Columns(
        _names("algorithm", algorithm),
        _names("instance", instance),
        value,
        metric,
        algorithms=_names("algorithms", algorithms),
        ignore=_names("ignore", ignore),
        describing=_names("describing", describing),
        paired=_names("paired", paired),
        decimal=None if decimal is None else choice("decimal", decimal, (".", ","), "the cells show it, mostly"),
    )
    evidence = evidence_of(source, columns=columns, where=where, encoding=encoding)
    said = {
        "difference": difference,
        "reference": reference,
        "power": power,
        "alpha": alpha,
        "alternative": alternative,
        "test": test,
        "statistic": statistic,
        "formula": formula,
        "better": better,
        "guard": guard,
        "se": se,
        "budget": budget,
        "estimate": estimate,
        "margin": margin,
        "weights": weights,
        "floor": floor,
        "failures": _policy(on_failure),
    }
    own = {
        "target": target,
        "start": start,
        "costs": {composed(name): cost for name, cost in costs.items()} if isinstance(costs, Mapping) else costs,
        "instance_cost": instance_cost,
        "available": available,
    }
    advice = advise_runs(
        evidence.runs,
        _settings(evidence, said),
        detect=detect,
        deterministic=() if isinstance(source, Runs) else evidence.deterministic,  # who makes Runs can make two
        **_given(own),
    )
    notes = (note.sentence for note in evidence.notes if note.kind in ("columns", "table"))
    return replace(advice, warnings=(*notes, *advice.warnings))


def evidence_of(
    source: Any,
    *,
    columns: Columns | None = None,
    where: Mapping[str, object] | None = None,
    encoding: str | None = None,
) -> Evidence:
    """Read runs from wherever they are; each name in one spelling."""
    evidence = _evidence_of(source, columns, where, encoding)
    features = {
        feature: {composed(instance): value for instance, value in values.items()}
        for feature, values in evidence.features.items()
    }
    fixed = None if evidence.deterministic is None else tuple(map(composed, evidence.deterministic))
    return replace(evidence, runs=with_composed_names(evidence.runs), features=features, deterministic=fixed)


def _evidence_of(
    source: Any, columns: Columns | None, where: Mapping[str, object] | None, encoding: str | None
) -> Evidence:
    _check_choices(where, encoding)
    columns = columns or Columns()
    if isinstance(source, Runs):
        return Evidence(source, {}, {}, ())
    if is_study_file(source) or hasattr(source, "plans"):
        if columns != Columns() or where:
            raise InvalidData("a study file has no columns to choose: leave out the options that name columns or rows")
        from ampler.study.evidence import evidence_of_study

        return evidence_of_study(source)
    chosen = {name: str(level) for name, level in (where or {}).items()}
    return _of_table(read_table(source, columns=columns, where=chosen, encoding=encoding))


def is_study_file(source: Any) -> bool:
    """Whether this is the path of a study file: it begins as one, or is called one and cannot be a table."""
    if not isinstance(source, str | PathLike) or not Path(source).is_file():
        return isinstance(source, str | PathLike) and is_called_study_file(source)
    with Path(source).open("rb") as file:
        begins = file.read(len(SQLITE)) == SQLITE
    if not begins and not is_called_study_file(source):
        return False
    from ampler.data.imports.optuna import is_optuna

    return not is_optuna(Path(source))


def is_called_study_file(path: str | PathLike[str]) -> bool:
    """Whether a file's name is one of study files, whatever it holds.

    >>> is_called_study_file("study.db"), is_called_study_file("runs.csv")
    (True, False)
    """
    return os.path.splitext(os.fspath(path))[1].lower() == ".db"


def _names(parameter: str, names: Names) -> tuple[str, ...]:
    if names is None or isinstance(names, str):
        return () if names is None else (names,)
    if not isinstance(names, Collection) or not all(isinstance(name, str) for name in names):
        raise InvalidData(f"{parameter} must be the name of a column, or a list of such names, got {names!r}")
    return tuple(names)


def _policy(said: FailurePolicy | str | None) -> FailurePolicy | None:
    return None if said is None else as_policy(said)


def _check_choices(where: object, encoding: object) -> None:
    if where is not None and not isinstance(where, Mapping):
        raise InvalidData(f'where must map columns to values, such as {{"dimension": 30}}, got {where!r}')
    check_encoding(encoding)


def check_encoding(encoding: object) -> None:
    """Raise InvalidData unless Python knows an encoding of this name; None is none."""
    try:
        if encoding is not None:
            codecs.lookup(encoding)  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        raise InvalidData(f'encoding must name one that Python knows, such as "latin-1", got {encoding!r}') from None


def _settings(evidence: Evidence, said: Mapping[str, Any]) -> AnalysisSettings:
    """What the source says, overruled by what the user says; the kind of difference must be chosen by one of them."""
    settings = {**evidence.settings, **_given(said)}
    if "difference" not in settings:
        raise InvalidData(
            'the kind of difference must be chosen: "simple" (a - b), "percent" (of the reference, or of the grand'
            ' mean) or "ratio" (log a/b, the same whichever comes first)'
        )
    settings["failures"] = with_cutoff(settings.get("failures"), evidence.runs, evidence.time_limit)
    if "better" not in settings:
        raise InvalidData(
            "which values are better must be said, as their name does not tell:"
            f" {parameter('better', 'lower')} or {parameter('better', 'higher')}"
        )
    return AnalysisSettings(**settings)


def _changed(evidence: Evidence, settings: AnalysisSettings) -> list[str]:
    """What is asked otherwise than in the plan by which the values of a study decided on its size."""
    if evidence.course is None or evidence.course.is_fixed:
        return []
    planned = AnalysisSettings(**evidence.settings)
    return [name for name in DECISIVE if getattr(planned, name) != getattr(settings, name)]


def _other_question(changed: Sequence[str]) -> Caution:
    """An analysis that asks something else than the study planned for has none of its guarantees."""
    return Caution(
        "course",
        f"The size of this study was decided from its values for another question ({listed(changed, 3)} changed here):"
        " these are ordinary tests, which do not allow for that, so their level is not assured; for claims leave out"
        " what was changed.",
    )


def _check_several(evidence: Evidence) -> None:
    """A study of several instances is not about the one that happens to be finished."""
    if len(evidence.runs.instances) == 1 and any(note.kind == "unfinished" for note in evidence.notes):
        raise InvalidData(
            "there must be at least two instances, as the study plans several and is not about one alone, got 1 that is"
            " finished; run it further, then analyse it"
        )


def _given(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}


# tables -----------------------------------------------------------------------------------------------------------


def _of_table(table: ResultsTable) -> Evidence:
    notes = tuple(Caution("table", _sentence(note)) for note in table.notes)
    notes = (Caution("columns", _sentence(table.taken)), *notes) if table.taken else notes
    notes += (Caution("folds", _sentence(table.folds)),) if table.folds else ()
    settings: dict[str, Any] = {} if table.paired is None else {"paired": table.paired}
    if table.direction is not None:
        better = table.direction.better
        direction = Caution("direction", f"{better.capitalize()} is better, going by {table.direction.said_by}.")
        notes, settings = (direction, *notes), settings | {"better": better}
    return Evidence(table.runs, table.features, settings, notes, time_limit=table.time_limit, measure=table.measure)


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."


@dataclass(frozen=True, kw_only=True)
class Study:
    """A comparison of algorithms on instances: what study.toml says, said in Python.

    `algorithms` are functions by name, `call(instance, seed)` giving a number or a mapping of measures, or Commands;
    `instances` any objects by name, or names. `detect` is the smallest difference that matters, in its own units
    (0.02 is two percent): after a `pilot` of 20 instances with `start` = 5 runs the study decides how many instances
    and runs find it. `instance_cost` is what having an instance costs, in runs, and `available` the most instances.
    `better`, "lower" or "higher", must be given unless the algorithms' value is a time or has a name that implies it.
    Or say the accuracy `se` wanted on each instance, or give a `rule`, and `use` as many instances as the power needs
    ("needed"), "all", or a number. With `looks`, their number or their shares of the instances, results are looked at
    on the way, and what is decided stops. `on_failure` says what a failed run means; `timeout` (seconds by the clock),
    `cpu_timeout` (seconds of processor time) and `memory` (bytes) limit each run.

    >>> import random
    >>> study = Study(
    ...     algorithms={
    ...         "plain": lambda instance, seed: instance + random.Random(seed).random(),
    ...         "worse": lambda instance, seed: instance + 1 + random.Random(seed).random(),
    ...     },
    ...     instances={"small": 10, "large": 20, "huge": 30},
    ...     difference="simple", better="lower", se=0.1, use="all", seed=1,
    ... )
    >>> [instance.name for instance in study.plan.instances]
    ['huge', 'large', 'small']
    """

    algorithms: Mapping[str, Callable[..., Any] | Algorithm]
    instances: Mapping[str, Any] | Iterable[str | Instance]
    difference: Difference
    reference: str | None = None
    effect: float | None = None
    power: float = 0.8
    detect: float | None = None
    se: float | None = None
    seed: int = 0
    use: Count = "needed"
    looks: int | Sequence[float] | None = None
    rule: Rule | None = None
    start: int | None = None  # 5 with detect, else 10
    pilot: int | None = None
    instance_cost: float | None = None
    available: int | None = None
    budget: int | None = None
    better: Better | None = None
    statistic: str = "mean"
    alpha: float = 0.05
    target: Target = "mean"
    test: Test = "t"
    alternative: Alternative = "two-sided"
    margin: float | None = None
    floor: float | None = None
    formula: Formula | None = None
    timeout: float | None = None
    memory: int | None = None
    cpu_timeout: float | None = None
    on_failure: FailurePolicy = field(default_factory=StopStudy)
    retries: int = 0
    name: str = "study"

    @property
    def plan(self) -> Plan:
        """The plan of the study, checked."""
        return self._plan(self.better)

    def _plan(self, better: Better | None) -> Plan:
        from ampler.study.plan import make_plan

        return make_plan(
            question=replace(self._question(), better=better),
            algorithms=self.algorithms,
            instances=self.instances,
            rule=self._rule(),
            study_rule=self._over_instances(),
            seed=self.seed,
            count=self._count(),
            name=self.name,
            limits=Limits(self.timeout, self.memory, self.cpu_timeout),
            policy=self.on_failure,
            retries=self.retries,
        )

    def run(
        self,
        path: str | os.PathLike[str],
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        retry_failed: bool = False,
        despite_failures: bool = False,
        same: bool = False,
        again: bool = False,
        report: Callable[[Progress], object] | Literal["bar"] | None = "bar",
        announce: Callable[[PlanChange], object] | None = None,
        expect: Callable[[Forecast], object] | None = None,
        decided: Callable[[StudyDecision], object] | None = None,
    ) -> Analysis:
        """Make the runs that the study file lacks, and say what they allow to conclude.

        Interrupt it and call it again: it goes on where it was. Runs are made by `workers` processes, or by any
        executor of the kind of concurrent.futures, such as Dask's; `report` is told of the progress: unless said
        otherwise a bar in a terminal or a notebook, and nobody where it is None. `announce` is told, before anything
        starts, how the plan differs from the one of the recorded runs, `expect` what is still to be made; `decided` is
        told of each new decision over instances, whose `reason` is for people. When every run of an algorithm fails
        from the start, the study stops with the reason, unless it shall go on `despite_failures`. When the code of an
        algorithm has changed since its runs were made, say whether it gives the `same` values all the same, or those
        runs are made `again`.
        """
        from ampler.running import run_plan
        from ampler.running.bar import ProgressBar
        from ampler.study.store import open_store, recorded_better

        plan = self._plan(self.better or recorded_better(path))  # what is wrong with it is told before a file is made
        with open_store(path) as store, ProgressBar() as bar:
            run_plan(
                plan,
                store,
                workers=workers,
                executor=executor,
                retry_failed=retry_failed,
                despite_failures=despite_failures,
                same=same,
                again=again,
                report=bar if report == "bar" else report,
                announce=announce,
                expect=expect,
                decided=decided,
            )
            store.make_sure()
            return analyse(store)

    _repr_html_ = shown_in_notebook

    def _question(self) -> Question:
        return Question(**{field.name: getattr(self, field.name) for field in fields(Question)})

    def _detect(self) -> Detect | None:
        from ampler.study.detect_rule import Detect

        own = {name: getattr(self, name) for name in ("pilot", "instance_cost")}
        if self.detect is not None:
            return Detect(detect=self.detect, **_given(own | {"start": self.start}))
        for name in (*own, "available"):
            if getattr(self, name) is not None:
                raise InvalidPlan(f"{name} has a meaning with detect only; leave it out")
        return None

    def _over_instances(self) -> Detect | Looking | None:
        from ampler.study.looks_rule import looking

        if self.detect is None:
            return looking(self.looks)
        if self.looks is not None:
            raise InvalidPlan(
                "looks must be left out with detect: a study that finds its own size takes one decision, after its"
                f" pilot, got both {self.looks!r} and {self.detect!r}"
            )
        return self._detect()

    def _count(self) -> Count:
        if self.detect is None:
            return self.use
        if self.use != "needed":
            raise InvalidPlan(
                "use must be left out with detect, which decides how many instances are used; say available=N if there"
                f" are no more than N, got {self.use!r}"
            )
        return "all" if self.available is None else integer("available", self.available, 2, error=InvalidPlan)

    def _rule(self) -> Rule:
        from ampler.sampling.rules import Fixed

        said = [name for name in ("detect", "se", "rule") if getattr(self, name) is not None]
        if len(said) != 1:
            came = f"both {' and '.join(said)}" if said else "neither"
            raise InvalidPlan(
                "a study needs either se, the accuracy wanted on each instance, or detect, the smallest difference that"
                f" matters, or a rule such as Fixed(runs=30), got {came}"
            )
        detect = self._detect()
        if detect is not None and self.budget is not None:
            raise InvalidPlan("budget has no meaning with detect, which fixes the runs after the pilot; leave it out")
        return Fixed(runs=detect.start) if detect is not None else self.rule or self._accuracy()

    def _accuracy(self) -> Accuracy:
        from ampler.sampling.rules import Accuracy
        from ampler.study.plan import as_algorithms, run_costs

        assert self.se is not None
        return Accuracy(
            se=self.se,
            difference=self.difference,
            reference=self.reference,
            statistic=self.statistic,
            start=10 if self.start is None else self.start,
            budget=self.budget,
            costs=run_costs(as_algorithms(self.algorithms)),
        )
