"""Which column is what: found by name without regard to case, or said by the user."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ampler.core.errors import InvalidData
from ampler.core.wording import quoted


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


# Names people give their columns, as letters and digits only (`fold`), by what the column holds.
ALGORITHM = word_set(
    "algorithm algorithmname algorithmid alg algname algid algo solver solvername solverid method methodname"
    " classifier classifiername optimizer optimiser optimizername heuristic metaheuristic variant config"
    " configuration configurationid configid approach learner estimator"
)
ALGORITHM_ELSE = word_set(  # where none of the above is there
    "model modelname modelid agent agentname policy policyname strategy system systemname tool toolname implementation"
)
INSTANCE = word_set(
    "instance instanceid instancename inst problem problemname problemid dataset datasetname datasetid database"
    " benchmark benchmarkname benchmarkid func funcid funcname function functionid functionname fid"
)
INSTANCE_ELSE = word_set("task taskid taskname testcase case file filename input inputfile graph matrix")
DIMENSION = word_set("dim dims dimension dimensions ndim")
# What tables say of an instance in numbers, beside the results: never an algorithm unless the user says so.
DESCRIPTOR = word_set(
    "size sizes instancesize problemsize datasetsize radius nodes nnodes numnodes edges vertices arcs jobs machines"
    " customers vehicles items variables vars nvars constraints clauses features nfeatures attributes samples nsamples"
    " examples observations classes nclasses capacity density width height depth year timelimit cutoff"
    " optimum bestknown bestknownvalue bks lowerbound upperbound"
)
# Names too short to be sure of: descriptors where they hold whole numbers alone.
COUNT = word_set("n m k d p id no nr number group class cluster level category")
INDEX = word_set(
    "index run runid runno runnumber runindex rep repetition repetitionid replicate replication repeat execution"
    " executionid iteration trial trialid fold foldid"
)
STEP = word_set("iteration")  # numbers the runs, unless another column does: then it counts steps within a run
METRIC = word_set("metric metricname measure measurename indicator indicatorname criterion")
STATUS = word_set("status runstatus state exitstatus exitcode")
ATTEMPT = frozenset({"attempt"})
DIRECTION = word_set("maximize maximise maximization maximisation")
SEED = frozenset({"seed"})
VALUE = word_set("value observation obs metricvalue result results y finalfv fx finalvalue bestvalue")
MEASURE = word_set(
    # what the value may be called when no column is called value
    "accuracy acc auc error errorrate loss score fitness objective objectivevalue cost makespan quality gap time"
    " times runtime runningtime seconds duration cputime walltime usertime rt evaluations fe ert performance"
    " hypervolume hv igd f1 rmse mse mae profit"
)
# One of the runs of a table that has them side by side: run.1, run_2, rep3, trial 5, or just 6.
RUN_COLUMN = re.compile(r"(?:run|rep|repetition|replicate|trial|fold)?[\s._-]*\d+", re.IGNORECASE)
IOH_LEVEL = frozenset({"target", "runtime"})  # IOHanalyzer's samples hold one value per target, or per budget


@dataclass(frozen=True, slots=True)
class Columns:
    """What the user says about the columns; what is left out is found by its name.

    Several columns can name an algorithm or an instance together: `instance=("function", "dimension")`.
    """

    algorithm: tuple[str, ...] = ()
    instance: tuple[str, ...] = ()
    value: str | None = None
    metric: str | None = None  # which of several metrics
    algorithms: tuple[str, ...] = ()  # compare these only: columns of a wide table, names in a long one
    ignore: tuple[str, ...] = ()  # columns that are as if they were not there


@dataclass(frozen=True, slots=True)
class Long:
    """One row per run, or one per cell with its runs side by side."""

    algorithm: tuple[str, ...]
    instance: tuple[str, ...]  # said, or all that may name it: those determined by the others are left out later
    values: tuple[str, ...]
    index: tuple[str, ...]
    metric: str | None
    status: str | None
    attempt: str | None
    direction: str | None
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wide:
    """One row per instance (or per run on it), one column per algorithm; turned around when `transposed`."""

    names: tuple[str, ...]  # none: only the row's number names it
    values: tuple[str, ...]
    transposed: bool
    index: tuple[str, ...]
    metric: str | None
    others: tuple[str, ...]


Shape = Long | Wide


def fold(name: object) -> str:
    """Return a column's name as it is compared: lower case, letters and digits only.

    >>> fold("Data set_Name")
    'datasetname'
    """
    return re.sub(r"[^0-9a-z]", "", str(name).lower())


def shape_of(
    header: Sequence[str], numeric: Collection[str], said: Columns, *, numbered: Collection[str] = ()
) -> Shape:
    """Decide what each column holds, from the names and from which columns hold numbers.

    `numbered` are those that hold whole numbers alone.
    """
    numeric = {name for name in numeric if not (fold(name) in COUNT and name in numbered)} | set(said.algorithms)
    if _are_algorithms(header, numeric, said):
        return _wide(header, numeric, _instance(header, said, ()), said)
    algorithm = _algorithm(header, said)
    instance = _instance(header, said, algorithm)
    algorithm = algorithm or (_named(header, frozenset({"id"})) if instance else ())  # IOHanalyzer's ID
    if algorithm and instance:
        return _long(header, numeric, algorithm, instance, said)
    if not algorithm:
        return _wide(header, numeric, instance, said)
    values = _side_by_side(header, numeric, algorithm)
    if not values:
        raise InvalidData(f"no column names the instance; say which with --instance: the columns are {quoted(header)}")
    return _as_wide(header, algorithm, values, transposed=True)


def _are_algorithms(header: Sequence[str], numeric: Collection[str], said: Columns) -> bool:
    """Whether the columns that the user names are algorithms side by side."""
    if said.value is not None:
        return False
    if len(said.algorithm) > 1:
        return all(find(header, name, "algorithm") in numeric for name in said.algorithm)
    folded = {fold(name) for name in header}
    return bool(said.algorithms) and all(fold(name) in folded for name in said.algorithms)


def find(header: Sequence[str], wanted: str, option: str) -> str:
    """Return the column called `wanted`, exactly or without regard to case."""
    alike = [wanted] if wanted in header else [name for name in header if fold(name) == fold(wanted)]
    if len(alike) != 1:
        raise InvalidData(f"--{option} must name a column, got {wanted!r}: the columns are {quoted(header)}")
    return alike[0]


def _algorithm(header: Sequence[str], said: Columns) -> tuple[str, ...]:
    if said.algorithm:
        return tuple(find(header, name, "algorithm") for name in said.algorithm)
    found = _named(header, ALGORITHM) or _named(header, ALGORITHM_ELSE)
    if len(found) > 1:
        raise InvalidData(
            f"{quoted(found)} could each name the algorithm; say which with --algorithm {found[0]},"
            f" or that they name it together with --algorithm {','.join(found)}"
        )
    return found


def _instance(header: Sequence[str], said: Columns, algorithm: Collection[str]) -> tuple[str, ...]:
    if said.instance:
        return tuple(find(header, name, "instance") for name in said.instance)
    found = _named(header, INSTANCE, but=algorithm) or _named(header, INSTANCE_ELSE, but=algorithm)[:1]
    return found + _named(header, DIMENSION) if found else ()


def _named(header: Sequence[str], names: frozenset[str], *, but: Collection[str] = ()) -> tuple[str, ...]:
    return tuple(name for name in header if fold(name) in names and name not in but)


def _first(header: Sequence[str], names: frozenset[str], taken: Collection[str]) -> str | None:
    return next(iter(_named(header, names, but=taken)), None)


def _index(header: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """The columns that number the runs of a cell."""
    found = _named(header, INDEX, but=taken)
    return tuple(name for name in found if fold(name) not in STEP) or found


def _long(
    header: Sequence[str],
    numeric: Collection[str],
    algorithm: tuple[str, ...],
    instance: tuple[str, ...],
    said: Columns,
) -> Long:
    keys = (*algorithm, *instance)
    metric = _first(header, METRIC, keys)
    values = _values(header, numeric, keys, said, metric)
    taken = (*keys, *values)
    if metric is None and (len(values) > 1 or fold(values[0]) in {"fx", "rt"}):
        metric = _first(header, IOH_LEVEL, taken)
    status, attempt = _first(header, STATUS, taken), _first(header, ATTEMPT, taken)
    direction, index = _first(header, DIRECTION, taken), _index(header, taken)
    used = {*taken, *index, metric, status, attempt, direction}
    others = tuple(name for name in header if name not in used)
    return Long(algorithm, instance, values, index, metric, status, attempt, direction, others)


def _values(
    header: Sequence[str], numeric: Collection[str], keys: Collection[str], said: Columns, metric: str | None
) -> tuple[str, ...]:
    """The column of values: said, called value, side by side, called like a measure, or the only one with numbers."""
    if said.value is not None:
        return (find(header, said.value, "value"),)
    if said.metric is not None and metric is None and fold(said.metric) in map(fold, header):
        return (find(header, said.metric, "metric"),)
    aside = ALGORITHM | INSTANCE | DIMENSION | INDEX | METRIC | STATUS | ATTEMPT | DIRECTION | SEED
    free = [name for name in header if name in numeric and name not in keys and fold(name) not in aside]
    runs = [name for name in header if RUN_COLUMN.fullmatch(name) and name not in keys]
    for found in (_named(header, VALUE, but=keys), runs, _named(header, MEASURE, but=keys), free):
        if len(found) == 1 or (found is runs and found):
            return tuple(found)
        if found:
            raise InvalidData(f"{quoted(found)} could each be the value; say which to compare: --value {found[0]!r}")
    raise InvalidData(
        f"no column holds numbers to compare; say which is the value with --value: the columns are {quoted(header)}"
    )


def _wide(header: Sequence[str], numeric: Collection[str], instance: tuple[str, ...], said: Columns) -> Wide:
    if not numeric:
        raise InvalidData(f"a column must hold the numbers to compare, none does: the columns are {quoted(header)}")
    names = instance or tuple(name for name in header if name not in numeric)[:1]
    chosen = said.algorithm or said.algorithms
    values = tuple(find(header, name, "algorithms") for name in chosen) or _side_by_side(header, numeric, names)
    if said.value is not None or not values:
        raise InvalidData(
            "no column names the algorithm; say which with --algorithm, or which columns are algorithms with"
            f" --algorithms: the columns are {quoted(header)}"
        )
    return _as_wide(header, names, values, transposed=False)


def _side_by_side(header: Sequence[str], numeric: Collection[str], names: Collection[str]) -> tuple[str, ...]:
    """The columns of numbers of a table that has algorithms (or instances) side by side; () when it has none."""
    aside = INDEX | SEED | DIMENSION | DESCRIPTOR
    free = tuple(name for name in header if name in numeric and name not in names and fold(name) not in aside)
    return free if len(free) > 1 else ()


def _as_wide(header: Sequence[str], names: tuple[str, ...], values: tuple[str, ...], *, transposed: bool) -> Wide:
    taken = (*names, *values)
    index, metric = _index(header, taken), _first(header, METRIC, taken)
    others = tuple(name for name in header if name not in {*taken, *index, metric})
    return Wide(names, values, transposed, index, metric, others)
