"""The Python API: Study, and analyse and advise for results wherever they are (a file, a data frame, a study file)."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Union, cast

from ampler.analysis import Analysis, AnalysisWarning, analyse_runs
from ampler.analysis.results import Results, estimates_only, unplanned_note
from ampler.core.arrays import Runs, with_composed_names
from ampler.core.contracts import Executor, Rule, Statistic, Store
from ampler.core.errors import InvalidData, InvalidInput, InvalidPlan
from ampler.core.failures import FailurePolicy, as_policy, policy_request, with_cutoff
from ampler.core.plan import Algorithm, Instance, Limits, Plan, Question, Seeds, StudyDecision
from ampler.core.settings import (
    Better,
    Difference,
    Settings,
    Target,
    Test,
    choice,
    documented,
    integer,
    share,
)
from ampler.core.text import capitalised, composed, listed, notebook_html, parameter, quoted
from ampler.data.tables import Columns, Files, ResultsTable, UnknownColumn, read_table

if TYPE_CHECKING:  # imported on demand: the analysis of a table needs none of them
    import pandas as pd

    from ampler.analysis.advice import Advice
    from ampler.analysis.measures import MeasuresAnalysis
    from ampler.analysis.one_algorithm import Description
    from ampler.core.measures import Measure
    from ampler.running import Progress
    from ampler.running.check import Check
    from ampler.study.changes import PlanChange
    from ampler.study.forecast import Forecast
    from ampler.study.plan import Count
    from ampler.study.store import SqliteStore

Names = str | Collection[str] | None

DECISIVE = (
    *("difference", "reference", "test", "alternative", "alpha", "statistic", "margin", "floor", "shift", "failures"),
    *("cluster", "mean_over", "cluster_effects"),
)
CHOICES = {  # settings without a default, and the messages if they are missing
    "difference": (
        'choose the kind of difference: "simple" (a - b), "percent" (of the reference, or of the grand mean) or'
        ' "ratio" (log a/b)'
    ),
    "better": (
        "specify whether lower or higher values are better, which their name does not imply:"
        f" {parameter('better', 'lower')} or {parameter('better', 'higher')}"
    ),
}
SHARED = ("reference", "test", "alpha", "statistic")  # settings that all measures have in common
SQLITE = b"SQLite format 3\0"  # how a study file begins


@documented
def analyse(
    source: str | PathLike[str] | pd.DataFrame | Store | Runs | Results | Files,
    *,
    difference: Difference | None = None,
    better: Better | None = None,
    reference: str | None = None,
    test: Test | None = None,
    alpha: float | None = None,
    margin: float | None = None,
    statistic: str | Statistic | None = None,
    settings: Settings | None = None,
) -> Analysis:
    """Compare algorithms by existing results: estimates, tests, confidence intervals and verdicts.

    A results file knows the settings of its plan: they need not be repeated, and those given here come first.

    Parameters
    ----------
    source : path, DataFrame, Results, Store or Runs
        Results of runs. `read_results` names the columns of a table and reports what failed runs count as.
    %difference%
    %better%
    %reference%
    %test%
    %alpha%
    %margin%
    %statistic%
    settings : Settings, optional
        All other settings, such as `floor` or `se`; a keyword of this call comes before it.

    Returns
    -------
    Analysis
        The comparisons with their tests, intervals and warnings.

    Raises
    ------
    InvalidInput
        If a setting is missing or does not fit, or the results cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"dataset": ["a", "b", "c", "d"], "old": [9, 8, 7, 9], "new": [5, 4, 4, 6]})
    >>> analyse(frame, difference="simple", better="lower").comparisons[0].verdict
    'old is worse than new: +3.50 (simultaneous 95 % CI 2.58 to 4.42)'
    """
    keywords = {name: value for name, value in locals().items() if name not in ("source", "settings")}
    results = read_results(source)
    asked = _settings(results, settings, keywords)
    if len(results.runs.instances) == 1 and any(note.kind == "unfinished" for note in results.notes):
        raise InvalidData("an analysis of this study needs two finished instances, got 1; resume the study")
    if results.looks is not None:
        from ampler.study.interim import check_looks

        check_looks(results.looks, Settings(**results.settings), asked)
    changed: list[str] = []  # of the plan that decided the size of the study
    if results.course is not None and not results.course.is_fixed:
        planned = Settings(**results.settings)
        changed = [name for name in DECISIVE if getattr(planned, name) != getattr(asked, name)]
    analysis = analyse_runs(
        results.runs,
        asked,
        features=results.features,
        deterministic=results.deterministic,
        rule=results.rule,
        course=None if changed else results.course,
        looks=results.looks,
        fixed_runs=results.fixed_runs,
        groups=results.groups,
        added=results.added,
    )
    is_chosen = better is not None or (settings is not None and "better" in settings.specified)
    notes = [note for note in results.notes if note.kind != "direction" or not is_chosen]
    if asked.test_over_train is None and (asked.is_fixed or len(results.runs.instances) == 1):
        # the folds themselves are the sample
        notes = [replace(note, kind="pseudoreplication") if note.kind == "folds" else note for note in notes]
    if changed:
        text = (
            f"The error rate is not controlled: the size of this study was decided for another question"
            f" ({listed(changed, 3)} changed here), and these are ordinary tests. For claims, use the planned settings."
        )
        notes.append(AnalysisWarning("course", text))
    analysis = replace(analysis, warnings=(*notes, *analysis.warnings), measure=results.measure)
    if results.unfinished:
        return estimates_only(analysis, results.unfinished)
    if results.families:
        own = {name: value for name, value in keywords.items() if value is not None}
        families = (
            replace(family, analysis=None if later is None else analyse(later, settings=settings, **own))
            for family, later in results.families
        )
        return replace(analysis, families=tuple(families))
    return _with_measures(analysis, results) if results.measures else analysis


def _with_measures(primary: Analysis, results: Results) -> Analysis:
    """The analysis of the primary measure with what all measures of a study allow to conclude."""
    from ampler.analysis.measures import measures_analysis

    asked = {name: value for name, value in primary.settings.specified.items() if name in SHARED}
    analyses = {
        item.name: primary
        if item.role == "primary"
        else analyse(own, difference=item.difference, better=item.better, settings=Settings(**asked))
        for item, own in results.measures
    }
    measures = tuple(item for item, _ in results.measures)
    return replace(primary, measures=measures_analysis(measures, analyses, primary.settings.alpha))


analyze = analyse


def describe(
    source: str | PathLike[str] | pd.DataFrame | Store | Runs | Results | Files,
    *,
    statistic: str | None = None,
    alpha: float | None = None,
    settings: Settings | None = None,
) -> Description:
    """Estimate the mean, rate, median or a quantile of one algorithm over instances, with a confidence interval.

    The value of an instance is the mean of its runs. Values of 0 and 1 alone are a rate, with Wilson's interval; a mean
    has Student's, a median or another quantile one between order statistics.

    Parameters
    ----------
    source : path, DataFrame, Results, Store or Runs
        Results of one algorithm.
    statistic : str, default "mean"
        "mean", "rate", "median" or "quantile:0.9".
    alpha : float, default 0.05
        One minus the level of the interval.
    settings : Settings, optional
        All other settings, such as `cluster`.

    Returns
    -------
    Description
        The estimate, its interval, and what it rests on.

    Raises
    ------
    InvalidData
        If the results hold several algorithms, or no value.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"model": ["a"] * 10, "question": range(10), "correct": [1, 1, 0, 1, 1, 1, 0, 1, 1, 1]})
    >>> print(describe(frame))
    a: rate of correct 0.800 (95 % CI 0.490 to 0.943; 10 instances, 10 runs).
    Interval: Wilson score interval, over 10 instances.
    """
    from ampler.analysis.one_algorithm import describe_one

    results = read_results(source)
    return describe_one(results, _settings(results, settings, {"statistic": statistic, "alpha": alpha}))


@documented
def analyse_measures(
    source: str | PathLike[str] | pd.DataFrame | dict[str, Results],
    measures: Sequence[Measure | Mapping[str, Any]] | None = None,
    *,
    reference: str | None = None,
    test: Test | None = None,
    alpha: float | None = None,
    on_failure: FailurePolicy | str | None = None,
) -> MeasuresAnalysis:
    """Compare algorithms by several measures: superiority, non-inferiority and the Pareto front.

    Parameters
    ----------
    source : path or DataFrame, or dict of measure name to Results
        A table with a column for each measure, or results that were read one by one, or a results file.
    measures : sequence of mappings, optional
        Each with `name`, `better`, `difference`, and optionally `role`, `margin` and `penalty`. One measure is
        "primary" (the default); the others are "non-inferior", with a margin, or "descriptive". A results file knows
        its measures.
    %reference%
    %test%
    %alpha%
    %on_failure%

    Returns
    -------
    MeasuresAnalysis
        `claims` of pairs, the Pareto `front`, and `analyses` of each measure by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "instance": list("abcdef") * 2, "algorithm": ["old"] * 6 + ["new"] * 6,
    ...     "cost": [9, 8, 7, 9, 8, 9, 5, 4, 4, 6, 4, 5], "seconds": [50, 60, 51, 54, 48, 50, 50, 61, 50, 54, 48, 51],
    ... })
    >>> cost = {"name": "cost", "better": "lower", "difference": "simple"}
    >>> time = {"name": "seconds", "better": "lower", "difference": "ratio", "role": "non-inferior", "margin": 0.05}
    >>> analysis = analyse_measures(frame, [cost, time])
    >>> analysis.claims[0].first, analysis.claims[0].claimed
    ('new', True)
    """
    from ampler.analysis.measures import measures_analysis
    from ampler.core.failures import Penalty
    from ampler.core.measures import checked_measures

    if not isinstance(source, dict) and is_study_file(source):
        analysis = analyse(source, reference=reference, test=test, alpha=alpha)
        if analysis.measures is None or measures is not None:
            raise InvalidData("a results file has the measures of its [[measure]] tables; omit measures, or export")
        return analysis.measures
    chosen = checked_measures(measures or ())
    asked: dict[str, Any] = {"reference": reference, "test": test, "alpha": alpha}
    analyses = {}
    for measure in chosen:
        others = [other.name for other in chosen if other is not measure]
        if isinstance(source, dict):
            results = source[measure.name]
        else:
            policy = on_failure if measure.penalty is None else Penalty(measure.penalty)
            with measures_named(chosen):
                results = read_results(source, value=measure.name, ignore=others or None, on_failure=policy)
        analyses[measure.name] = analyse(results, difference=measure.difference, better=measure.better, **asked)
    return measures_analysis(chosen, analyses, next(iter(analyses.values())).settings.alpha)


@contextmanager
def measures_named(measures: Iterable[Measure]) -> Iterator[None]:
    """Name the measure, not the option that reads it, if the table has no column of its name."""
    try:
        yield
    except UnknownColumn as problem:
        names = [measure.name for measure in measures]
        if problem.name not in names:
            raise
        others = [name for name in names if name != problem.name and problem.option == "value"]  # were left out
        columns = quoted(dict.fromkeys([*problem.header, *others]))
        raise InvalidData(f"measure {problem.name!r} must name a column: the columns are {columns}") from None


@documented
def advise(
    source: str | PathLike[str] | pd.DataFrame | Store | Runs | Results | Files,
    *,
    detect: float,
    difference: Difference | None = None,
    better: Better | None = None,
    reference: str | None = None,
    power: float | None = None,
    target: Target = "mean",
    start: int | None = None,
    costs: Mapping[str, float] | None = None,
    instance_cost: float = 0.0,
    available: int | None = None,
    settings: Settings | None = None,
) -> Advice:
    """Plan a study from a pilot or from old results: how many instances, and how many runs on each?

    Parameters
    ----------
    source : path, DataFrame, Results, Store or Runs
        Results of earlier runs, as for `analyse`. With one value in each cell the run-to-run variance is not known.
    %detect%
    %difference%
    %better%
    %reference%
    %power%
    %target%
    start : int, optional
        Fewest runs of each algorithm on an instance.
    costs : dict of algorithm to cost, optional
        Cost of one run of an algorithm, relative to the others.
    %instance_cost%
    %available%
    settings : Settings, optional
        All other settings, such as `alpha` or `test`; a keyword of this call comes before it.

    Returns
    -------
    Advice
        The recommended plan, its alternatives, and what they assume.

    Raises
    ------
    InvalidInput
        If a setting is missing or does not fit, or the results cannot be read.
    """
    from ampler.analysis.advice import advise_runs

    keywords = {"difference": difference, "better": better, "reference": reference, "power": power}
    results = read_results(source)
    chosen = _settings(results, settings, keywords)
    if chosen.cluster is not None:
        from ampler.analysis.clusters import plan_by_clusters

        plan_by_clusters(analyse(results, settings=chosen), detect)
    advice = advise_runs(
        results.runs,
        chosen,
        detect=detect,
        deterministic=() if isinstance(source, Runs) else results.deterministic,  # callers of Runs can make two
        target=target,
        start=start,
        costs={composed(name): cost for name, cost in costs.items()} if isinstance(costs, Mapping) else costs,
        instance_cost=instance_cost,
        available=available,
    )
    notes = (note.sentence for note in results.notes if note.kind in ("columns", "table"))
    return replace(advice, warnings=(*notes, *advice.warnings), measure=results.measure)


@documented
def read_results(
    source: str | PathLike[str] | pd.DataFrame | Store | Runs | Results | Files,
    *,
    algorithm: Names = None,
    instance: Names = None,
    value: str | None = None,
    metric: str | None = None,
    algorithms: Names = None,
    ignore: Names = None,
    describing: Names = None,
    paired: Names = None,
    cluster: str | Mapping[str, object] | Callable[[str], object] | None = None,
    resampled: Names = None,
    test_share: float | None = None,
    nested: Names = None,
    crossed: Names = None,
    where: Mapping[str, object] | None = None,
    decimal: Literal[".", ","] | None = None,
    names: Names = None,
    spelling: Literal["same", "different"] | None = None,
    encoding: str | None = None,
    on_failure: FailurePolicy | str | None = None,
    ignore_looks: bool = False,
    unplanned: bool = False,
) -> Results:
    """Read results of runs from any source; columns are found by their names unless they are specified here.

    Parameters
    ----------
    source : path, DataFrame, Store, Runs or Results
        A table (CSV, Excel, Parquet, JSON, ARFF, long or wide), what another tool left, a results file, or runs in
        memory. Several files, in a list or by name in a dict, hold the runs of one algorithm each.
    %algorithm%
    %instance%
    %value%
    %metric%
    %algorithms%
    %ignore%
    %describing%
    %paired%
    %cluster%
    %resampled%
    %test_share%
    %nested%
    %crossed%
    %where%
    %decimal%
    %names%
    %spelling%
    %encoding%
    %on_failure%
    %ignore_looks%
    %unplanned%

    Returns
    -------
    Results
        The runs, and how each column was understood; for `analyse`, `advise` and `write_report`.

    Raises
    ------
    InvalidData
        If the table cannot be read, or a column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"dataset": ["a", "b"] * 2, "tool": ["x", "x", "y", "y"], "seconds": [1.0, 2.0, 1.5, 2.5]})
    >>> read_results(frame, algorithm="tool").runs.algorithms
    ('x', 'y')
    """
    lists = {"algorithm": algorithm, "instance": instance, "algorithms": algorithms, "ignore": ignore}
    lists |= {"describing": describing, "paired": paired, "resampled": resampled, "nested": nested, "crossed": crossed}
    if test_share is not None and not (share("test_share", test_share, error=InvalidData) and resampled):
        raise InvalidData(f"test_share goes with resampled, got {test_share!r} without it")
    if decimal is not None:
        choice("decimal", decimal, (".", ","), "the cells show it, mostly")
    if spelling is not None:
        choice("spelling", spelling, ("same", "different"), "names that differ by case or spaces alone")
    named: dict[str, Any] = {option: _names(option, columns) for option, columns in lists.items()}
    columns = Columns(**named, value=value, metric=metric, decimal=decimal, spelling=spelling, test_share=test_share)
    source = _with_names(source, _names("names", names))
    if where is not None and not isinstance(where, Mapping):
        raise InvalidData(f'where must map columns to values, such as {{"dimension": 30}}, got {where!r}')
    check_encoding(encoding)
    if isinstance(source, str | PathLike) and Path(source).suffix == ".toml":
        from ampler.study.store.access import is_a_definition

        raise InvalidData(is_a_definition(Path(source)))
    is_study = is_study_file(source) or hasattr(source, "plans")
    if (is_study or isinstance(source, Results | Runs)) and (where or columns != Columns()):
        what = "a results file has" if is_study else "runs in memory have"
        raise InvalidData(f"{what} no columns to choose: omit the options that name columns or rows")
    if isinstance(source, Results):
        results = source
    elif isinstance(source, Runs):
        results = Results(source, {}, {}, ())
    elif is_study:
        from ampler.study.evidence import evidence_of_study

        results = evidence_of_study(source)
    else:
        columns = replace(columns, cluster=cluster if isinstance(cluster, str) else None)
        levels = {name: str(level) for name, level in (where or {}).items()}
        results = _of_table(read_table(cast(Any, source), columns=columns, where=levels, encoding=encoding))
    if cluster is not None and columns.cluster is None:  # the reader has found the column of a table
        results = _with_clusters(results, cluster)
    groups = {name: labels for name, labels in results.groups.items() if name not in columns.describing}
    results = replace(results, groups=groups)
    if on_failure is not None:
        results = replace(results, settings={**results.settings, "failures": as_policy(on_failure)})
    if ignore_looks and results.looks is not None:
        from ampler.study.interim import without_looks

        results = replace(results, looks=None, notes=(without_looks(results.looks), *results.notes))
    if unplanned and results.unfinished:
        results = replace(results, unfinished="", notes=(unplanned_note(results.unfinished), *results.notes))
    return results if isinstance(source, Results) else _with_one_spelling(results)


def _with_names(source: Any, names: tuple[str, ...]) -> Any:
    """Several files by the names of their algorithms; one file alone is itself."""
    if isinstance(source, list | tuple) and len(source) == 1:
        return _with_names(source[0], names)
    if not names:
        return source
    if not isinstance(source, list | tuple) or not len(source) == len(set(names)) == len(names):
        number = len(source) if isinstance(source, list | tuple) else 1
        raise InvalidData(f"{parameter('names')} must name each of several files, got {len(names)} for {number}")
    return dict(zip(names, source, strict=True))


def _with_clusters(results: Results, cluster: str | Mapping[str, object] | Callable[[str], object]) -> Results:
    """The results with the cluster of each instance: a feature by its name, or one that a mapping or function gives."""
    if isinstance(cluster, str):
        return replace(results, settings={**results.settings, "cluster": composed(cluster)})
    features = {**results.features, "cluster": _labels(cluster, results.runs.instances)}
    return replace(results, features=features, settings={**results.settings, "cluster": "cluster"})


def _labels(cluster: Mapping[str, object] | Callable[[str], object], instances: Iterable[str]) -> dict[str, object]:
    """The cluster of each instance by a mapping or a function of its name, in any spelling."""
    try:
        if not isinstance(cluster, Mapping):
            return {name: composed(cluster(name)) for name in instances}
        by_name = {composed(str(name)): composed(label) for name, label in cluster.items()}
        return {name: by_name.get(composed(name)) for name in instances}
    except Exception as problem:
        raise InvalidData(
            "cluster must be the name of a feature, or a mapping or a function from the name of an instance to its"
            f" cluster, got {cluster!r} ({type(problem).__name__}: {problem})"
        ) from problem


def _with_one_spelling(results: Results) -> Results:
    """Each name in one spelling, as Unicode has several of some."""
    features = {
        composed(feature): {composed(instance): composed(value) for instance, value in values.items()}
        for feature, values in results.features.items()
    }
    fixed = None if results.deterministic is None else tuple(map(composed, results.deterministic))
    return replace(results, runs=with_composed_names(results.runs), features=features, deterministic=fixed)


def open_study(path: str | PathLike[str]) -> SqliteStore:
    """Open a results file for reading; the study may be running.

    Parameters
    ----------
    path : path
        Results file, such as study.db.

    Returns
    -------
    SqliteStore
        The store, with `observations()`, `plans()` and `finished()`; close it, or use it in a `with` statement.

    Raises
    ------
    StoreError
        If there is no such file, or it holds no study.
    """
    from ampler.study.store import read_store

    return read_store(path)


def is_study_file(source: Any) -> bool:
    """Whether this is the path of a results file, by its content, or by its name if it is no table."""
    if not isinstance(source, str | PathLike) or not Path(source).is_file():
        return isinstance(source, str | PathLike) and is_called_study_file(source)
    with Path(source).open("rb") as file:
        begins = file.read(len(SQLITE)) == SQLITE
    if not begins and not is_called_study_file(source):
        return False
    from ampler.data.imports import ResultFile, reader_of

    return reader_of(ResultFile(Path(source))) is None


def is_called_study_file(path: str | PathLike[str]) -> bool:
    """Whether a file has the name of a results file.

    >>> is_called_study_file("study.db"), is_called_study_file("runs.csv")
    (True, False)
    """
    return os.path.splitext(os.fspath(path))[1].lower() == ".db"


def _names(parameter: str, names: Names) -> tuple[str, ...]:
    names = () if names is None else (names,) if isinstance(names, str) else names
    if not isinstance(names, Collection) or not all(isinstance(name, str) for name in names):
        raise InvalidData(f"{parameter} must be the name of a column, or a list of such names, got {names!r}")
    return tuple(map(composed, names))


def check_encoding(encoding: object) -> None:
    """Raise InvalidData unless Python knows an encoding of this name; None is none."""
    try:
        if encoding is not None:
            codecs.lookup(encoding)  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        raise InvalidData(f'encoding must name one that Python knows, such as "latin-1", got {encoding!r}') from None


def _settings(results: Results, settings: Settings | None, keywords: Mapping[str, Any]) -> Settings:
    """The settings of the results, overridden by those of the user; MissingChoices unless they are complete."""
    values = dict(results.settings) | dict(_specified(settings))
    values |= {name: value for name, value in keywords.items() if value is not None}
    missing = missing_choices(results, values)
    if missing:
        raise MissingChoices(missing)
    values["failures"] = with_cutoff(values.get("failures"), results.runs, results.time_limit)
    return Settings(**values)


def _specified(settings: Settings | None) -> Mapping[str, Any]:
    """The specified settings, if there are any."""
    if settings is not None and not isinstance(settings, Settings):
        raise InvalidInput(f"settings must be Settings or None, got {settings!r}")
    return {} if settings is None else settings.specified


class MissingChoices(InvalidData):
    """Choices that have no default and were not made; `names` are those of the parameters."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self.names = tuple(sentences)
        super().__init__("; ".join(sentences.values()))


def missing_choices(results: Results, specified: Collection[str]) -> dict[str, str]:
    """Return what must be specified and is not, all at once: a sentence for each parameter."""
    choices = CHOICES if len(results.runs.algorithms) > 1 else {}  # a single algorithm is described, not compared
    missing = {name: sentence for name, sentence in choices.items() if name not in specified}
    if "failures" not in specified and not results.runs.ok.all():
        missing["on_failure"] = policy_request(results.runs)
    return missing


# tables -----------------------------------------------------------------------------------------------------------


def _of_table(table: ResultsTable) -> Results:
    notes = tuple(AnalysisWarning("table", _sentence(note)) for note in table.notes)
    notes = (AnalysisWarning("columns", _sentence(table.summary)), *notes) if table.summary else notes
    notes += (AnalysisWarning("folds", _sentence(table.folds)),) if table.folds else ()
    settings: dict[str, Any] = {} if table.paired is None else {"paired": table.paired}
    if table.direction is not None:
        better = table.direction.better
        direction = AnalysisWarning("direction", f"{better.capitalize()} is better, going by {table.direction.source}.")
        notes, settings = (direction, *notes), settings | {"better": better}
    own_settings = {name: getattr(table, name) for name in ("cluster", "nested", "crossed", "test_over_train")}
    settings |= {name: value for name, value in own_settings.items() if value is not None}
    own = {name: getattr(table, name) for name in ("time_limit", "measure", "groups", "roles")}
    return Results(table.runs, table.features, settings, notes, **own)


def _sentence(note: str) -> str:
    return f"{capitalised(note)}."


# studies ----------------------------------------------------------------------------------------------------------


@documented
@dataclass(frozen=True, slots=True)
class Detect:
    """Let the study find its own size: a pilot decides how many instances and runs detect a difference.

    Parameters
    ----------
    difference : float
        Smallest difference of interest, in the unit of the differences: 0.02 is two percent.
    %pilot%
    runs : int, default 5
        Runs of each algorithm on each instance of the pilot.
    %available%
    %instance_cost%

    Examples
    --------
    >>> Detect(0.02, pilot=10)
    Detect(difference=0.02, pilot=10, runs=5, available=None, instance_cost=0.0)
    """

    difference: float
    _: KW_ONLY
    pilot: int = 20
    runs: int = 5
    available: int | None = None
    instance_cost: float = 0.0


@documented
@dataclass(frozen=True, slots=True)
class Precision:
    """Run each instance until its standard errors reach a target, on as many instances as the power needs.

    Parameters
    ----------
    se : float
        Target standard error of the differences on each instance.
    effect : float, optional
        Effect size (Cohen's d) of interest, from which the number of instances follows.
    interim : int or sequence of float, optional
        Interim analyses: their number, or the shares of the instances after which they come.
    start : int, default 10
        Initial runs of each algorithm.
    %budget%
    instances : {'needed', 'all'} or int, optional
        Instances to use; by default as many as needed for `effect`, or all without it.
    %target%

    Examples
    --------
    >>> Precision(se=0.02, effect=0.5).start
    10
    """

    se: float
    _: KW_ONLY
    effect: float | None = None
    interim: int | Sequence[float] | None = None
    start: int = 10
    budget: int | None = None
    instances: Count | None = None
    target: Target = "mean"


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class FixedSize:
    """Run each algorithm the same number of times on a fixed number of instances, or by a rule of your own.

    Parameters
    ----------
    instances : int or {'all', 'needed'}, default 'all'
        Instances to use; "needed" are those that `effect` needs.
    runs : int or Rule, default 30
        Runs of each algorithm on each instance, or a callable that decides from the samples of an instance.
    effect : float, optional
        Effect size (Cohen's d) of interest.
    interim : int or sequence of float, optional
        Interim analyses: their number, or the shares of the instances after which they come.
    %target%

    Examples
    --------
    >>> FixedSize(instances=40, runs=10).runs
    10
    """

    instances: Count = "all"
    runs: int | Rule = 30
    effect: float | None = None
    interim: int | Sequence[float] | None = None
    target: Target = "mean"


NO_LIMITS = Limits()
Event = Union["Progress", "PlanChange", "Forecast", StudyDecision]


@documented
@dataclass(frozen=True)
class Study:
    """A comparison of algorithms on instances, as study.toml defines it; checked when the object is made.

    Parameters
    ----------
    algorithms : mapping of name to callable or Command
        Functions `call(instance, seed)` that return a number or a mapping of measures, or commands.
    instances : mapping of name to object, or iterable of names
        What the algorithms are run on.
    %difference%
    %better%
    %reference%
    design : Detect, Precision or FixedSize
        How the size of the study is chosen.
    detect : float, optional
        Short for `design=Detect(detect)`.
    %statistic%
    %test%
    %alpha%
    %power%
    %margin%
    limits : Limits, optional
        What one run may use: time and memory.
    on_failure : str or StopStudy, Drop, Penalty, Par, default 'stop'
        What a failed run means: "stop", "drop", "penalty=VALUE" or "par=K".
    retries : int, default 0
        How often a failed run is tried again.
    seed : int, default 0
        Seed from which the seeds of all runs and the order of the instances follow.
    name : str, default 'study'
        Name of the study in reports.
    seeds : {'own', 'shared'}, default 'own'
        Whether each algorithm has seeds of its own, or all share the seed of run k on an instance.
    cluster : str, dict or callable, optional
        Feature, or group of each instance, of instances that belong together: the groups are the sample.
    measures : sequence of mappings, optional
        Several measures of each run, as in `analyse_measures`; the primary one is the value.
    settings : Settings, optional
        Other settings of the question: `alternative`, `floor`, `shift`, `formula`, `mean_over` and `inference`.

    Raises
    ------
    InvalidInput
        If the study cannot be run as it is defined.

    Examples
    --------
    >>> import random
    >>> study = Study(
    ...     algorithms={
    ...         "plain": lambda instance, seed: instance + random.Random(seed).random(),
    ...         "worse": lambda instance, seed: instance + 1 + random.Random(seed).random(),
    ...     },
    ...     instances={"small": 10, "large": 20, "huge": 30},
    ...     difference="simple", better="lower", design=Precision(se=0.1), seed=1,
    ... )
    >>> [instance.name for instance in study.plan.instances]
    ['huge', 'large', 'small']
    """

    algorithms: Mapping[str, Callable[..., Any] | Algorithm]
    instances: Mapping[str, Any] | Iterable[str | Instance]
    _: KW_ONLY
    difference: Difference
    better: Better | None = None
    reference: str | None = None
    design: Detect | Precision | FixedSize | None = None
    detect: float | None = None
    statistic: str = "mean"
    test: Test = "t"
    alpha: float = 0.05
    power: float = 0.8
    margin: float | None = None
    limits: Limits = NO_LIMITS
    on_failure: FailurePolicy | str = "stop"
    retries: int = 0
    seed: int = 0
    name: str = "study"
    seeds: Seeds = "own"
    cluster: str | Mapping[str, object] | Callable[[str], object] | None = None
    measures: Sequence[Measure | Mapping[str, Any]] | None = None
    settings: Settings | None = None

    def __post_init__(self) -> None:
        if (self.design is None) == (self.detect is None):
            raise InvalidPlan(
                "a study needs a size: detect (the smallest difference of interest), or a design such as"
                f" Precision(se=0.02, effect=0.5) or FixedSize(instances=40, runs=30), got"
                f" {'neither' if self.design is None else 'both'}"
            )
        if isinstance(self.instances, Iterable) and not isinstance(self.instances, Mapping | Sequence):
            object.__setattr__(self, "instances", list(self.instances))
        _ = self.plan

    def __repr__(self) -> str:
        from ampler.study.text import planned

        return f"Study {self.plan.name!r}: {planned(self.plan)}"

    @cached_property
    def plan(self) -> Plan:
        """The plan of the study, checked."""
        from ampler.study.plan import make_plan

        design = Detect(self.detect) if self.design is None and self.detect is not None else self.design
        own = ("difference", "reference", "better", "statistic", "test", "alpha", "power", "margin", "measures")
        question = {name: getattr(self, name) for name in own}
        others = ("alternative", "floor", "shift", "formula", "mean_over", "inference")
        specified = _specified(self.settings)
        if strangers := sorted(specified.keys() - set(others)):
            raise InvalidPlan(
                f"settings of a Study are {listed(others, 5)}; further ones are keywords of the Study or its design,"
                f" got {strangers[0]!r}"
            )
        named = self.cluster is None or isinstance(self.cluster, str)
        question |= {**specified, "cluster": self.cluster if named else "cluster"}
        if not isinstance(design, Detect):
            question |= {"effect": getattr(design, "effect", None), "target": getattr(design, "target", "mean")}
        rule, study_rule, count = self._size(design)
        if isinstance(count, int) and not isinstance(design, Detect) and count > (number := len(list(self.instances))):
            raise InvalidPlan(f"the design needs {count} instances, and the study has {number} instances")
        return make_plan(
            question=Question(**question),
            algorithms=self.algorithms,
            instances=self._with_clusters(),
            rule=rule,
            study_rule=study_rule,
            seed=self.seed,
            count=count,
            name=self.name,
            limits=self.limits,
            policy=as_policy(self.on_failure, error=InvalidPlan),
            retries=self.retries,
            seeds=self.seeds,
        )

    def _with_clusters(self) -> Mapping[str, Any] | Iterable[str | Instance]:
        """The instances, with their clusters as a feature where a mapping or a function gives them."""
        from ampler.study.plan import as_instances

        if self.cluster is None or isinstance(self.cluster, str):
            return self.instances
        instances = as_instances(self.instances)
        labels = _labels(self.cluster, (instance.name for instance in instances)).values()
        return [
            replace(instance, features={**instance.features, "cluster": "" if label is None else str(label)})
            for instance, label in zip(instances, labels, strict=True)
        ]

    def _size(self, design: Detect | Precision | FixedSize | None) -> tuple[Rule, Any, Count]:
        """The rule for each instance, the one over instances, and how many instances are used."""
        from ampler.sampling.rules import Accuracy, Fixed
        from ampler.study.detect import Detect as DetectRule
        from ampler.study.interim import looking
        from ampler.study.plan import as_algorithms, run_costs

        match design:
            case Detect(difference=detect, pilot=pilot, runs=start, available=available, instance_cost=cost):
                rule = DetectRule(detect=detect, pilot=pilot, start=start, instance_cost=cost)
                most: Count = "all" if available is None else integer("available", available, 2, error=InvalidPlan)
                return Fixed(runs=rule.start), rule, most
            case FixedSize():
                runs = design.runs if callable(design.runs) else Fixed(runs=design.runs)
                return runs, looking(design.interim), design.instances
            case Precision():
                accuracy = Accuracy(
                    se=design.se,
                    difference=self.difference,
                    reference=self.reference,
                    statistic=self.statistic,
                    start=design.start,
                    budget=design.budget,
                    costs=run_costs(as_algorithms(self.algorithms)),
                )
                usual: Count = "all" if design.effect is None else "needed"
                return accuracy, looking(design.interim), usual if design.instances is None else design.instances
        raise InvalidPlan(f"design must be Detect, Precision or FixedSize, got {design!r}")

    def check(self, path: str | PathLike[str] | None = None, *, workers: int | None = None) -> Check:
        """Run each algorithm on one instance, and estimate the cost of the study.

        Parameters
        ----------
        path : path, optional
            Results file in which these first runs are kept; without it they are forgotten.
        workers : int, optional
            Worker processes of the study to come; one for each core by default.

        Returns
        -------
        Check
            The plan, the first runs, the expected time, and warnings.
        """
        from ampler.running.check import Check, inspect_plan
        from ampler.running.driver import still_to_make
        from ampler.study.families import with_later_family
        from ampler.study.store import open_store

        with TemporaryDirectory(prefix="ampler-") as folder, open_store(path or Path(folder, "check.db")) as store:
            inspection = inspect_plan(self.plan, store)
            plan = with_later_family(self.plan, store)
            forecast = still_to_make(plan, store, inspection.seconds, workers=workers or os.cpu_count() or 1)
        return Check(plan, inspection, forecast)

    def run(
        self,
        path: str | PathLike[str],
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        on_code_change: Literal["ask", "keep", "rerun"] | Mapping[str, Literal["keep", "rerun"]] = "ask",
        retry_failed: bool = False,
        despite_failures: bool = False,
        progress: bool | Callable[[Event], object] = True,
    ) -> Analysis:
        """Make the runs that the results file lacks, and analyse them. Call it again to resume an interrupted study.

        Parameters
        ----------
        path : path
            Results file, such as study.db; it is made if there is none.
        workers : int, optional
            Worker processes; one for each core by default.
        executor : Executor, optional
            Executor of the kind of `concurrent.futures`, such as Dask's, instead of worker processes.
        on_code_change : {'ask', 'keep', 'rerun'} or dict of algorithm to 'keep' or 'rerun', default 'ask'
            What to do if the code of an algorithm has changed since its runs: raise PlanMismatch, keep the recorded
            runs, or make them again.
        retry_failed : bool, default False
            Whether to try failed runs of earlier sessions again.
        despite_failures : bool, default False
            Whether to continue even if every run of an algorithm fails.
        progress : bool or callable, default True
            Whether to show a progress bar; or a function that receives each event: `Progress`, `PlanChange`,
            `Forecast`, and the decisions `Continue` and `EndStudy`.

        Returns
        -------
        Analysis
            What the runs allow to conclude.

        Raises
        ------
        AmplerError
            If the file cannot be used, a run fails and the study stops, or code has changed.
        """
        from ampler.running import run_plan
        from ampler.running.progress import ProgressBar
        from ampler.study.store import open_store

        by_name = on_code_change if isinstance(on_code_change, Mapping) else {}
        for verdict in by_name.values():
            choice("on_code_change", verdict, ("keep", "rerun"), error=InvalidPlan)
        if not isinstance(on_code_change, Mapping):
            choice("on_code_change", on_code_change, ("ask", "keep", "rerun"), error=InvalidPlan)
        observer = progress if callable(progress) else None
        with open_store(path) as store, ProgressBar() as bar:
            run_plan(
                self.plan,
                store,
                workers=workers,
                executor=executor,
                retry_failed=retry_failed,
                despite_failures=despite_failures,
                same=on_code_change == "keep" or [name for name in by_name if by_name[name] == "keep"],
                again=on_code_change == "rerun" or [name for name in by_name if by_name[name] == "rerun"],
                report=observer or (bar if progress else None),
                announce=observer,
                expect=observer,
                decided=observer,
            )
            store.make_sure()
            return analyse(store)

    _repr_html_ = notebook_html
