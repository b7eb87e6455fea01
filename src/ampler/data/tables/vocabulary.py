"""Usual names of columns by role, and the better direction implied by a name.

Pure: names alone, no cells. Names are compared as letters and digits only (`fold`), or word by word where a longer name
means the same: "CPU time", "number of jobs".
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files

from ampler.core.settings import Better

# A word begins at a capital after a small letter (TestAccuracy), and after other characters (test_accuracy).
BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])|[^0-9A-Za-z]+")


def fold(name: object) -> str:
    """Return a column's name as it is compared: lower case, letters and digits only, without a tool's prefix.

    >>> fold("Data set_Name"), fold("params.model")
    ('datasetname', 'model')
    """
    return re.sub(r"[\W_]", "", PREFIX.sub("", str(name)).lower())


def words_of(name: object) -> list[str]:
    """Return the words of a name in lower case.

    >>> words_of("TestAccuracy (%)"), words_of("n_jobs")
    (['test', 'accuracy'], ['n', 'jobs'])
    """
    return [word.lower() for word in BREAK.split(str(name)) if word]


# Usual column names by role; the file explains each list.
WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(text.split())
    for name, text in tomllib.loads(files("ampler.data.tables").joinpath("vocabulary.toml").read_text("utf-8")).items()
}
ALGORITHM, ALGORITHM_ELSE = WORDS["algorithm"], WORDS["algorithm_else"]
INSTANCE, INSTANCE_ELSE, DIMENSION = WORDS["instance"], WORDS["instance_else"], WORDS["dimension"]
INDEX, STEP, STEPS, SEED, ATTEMPT = (WORDS[name] for name in ("index", "step", "steps", "seed", "attempt"))
METRIC, STATUS, DIRECTION = WORDS["metric"], WORDS["status"], WORDS["direction"]
VALUE, SUCCESS, UNSURE, AROUND, UNITS = (WORDS[name] for name in ("value", "success", "unsure", "around", "units"))
HIGHER, LOWER, EITHER = WORDS["higher"], WORDS["lower"], WORDS["either"]
MEASURE = HIGHER | LOWER | EITHER
ROW_NUMBER, SUMMARY, STATISTIC = WORDS["row_number"], WORDS["summary"], WORDS["statistic"]
IDENTIFYING = WORDS["identifying"]
NEVER_LAST = IDENTIFYING | {"date", "seed", "version"}
# One of the runs of a table that has them side by side: run.1, run_2, rep3, trial 5.
RUN_WORD = re.compile(r"(?:run|rep|repetition|replicate|trial|fold|seed|split|attempt)[\s._-]*\d+", re.IGNORECASE)
# What MLflow, Weights & Biases, Optuna and scikit-learn put before a name, and before that of a setting.
PREFIX = re.compile(r"^(?:metrics?|config|tags)[./]|^(?:params?|user_attrs|system_attrs)[._/]", re.IGNORECASE)
SETTING = re.compile(r"^(?:config|tags)[./]|^(?:params?|system_attrs)[._/]", re.IGNORECASE)
# -loss, 1 - accuracy, time^-1, !solved, ΔTime, accuracy ↓, and names in which only a part is English
TURNED = re.compile(r"^\W*(?:[-−–]\s*\w|\d[\d.%\s]*[-−–/])|.*[\^*×⁻!¬]|.*[^\x00-\x7f–—‑µμ]")


def describes(name: object) -> bool:
    """Return whether a name is that of something an instance has: its size, the number of its jobs.

    >>> describes("n_jobs"), describes("#clauses"), describes("Instance size"), describes("SVM")
    (True, True, True, False)
    """
    folded, words = fold(name), words_of(name)
    if not words:
        return False
    is_counted = (words[0] in WORDS["counting"] and len(words) > 1) or words[:2] == ["no", "of"]
    if is_counted or str(name).lstrip().startswith(("#", "|")) or folded in WORDS["whole_things"] | DIMENSION:
        return True
    return _is_thing(folded) or (_is_thing(words[-1]) and all(word in WORDS["qualifying"] for word in words[:-1]))


def _is_thing(word: str) -> bool:
    return word in WORDS["describing"] or (word.endswith("s") and word[:-1] in WORDS["describing"])


def counts(name: object) -> bool:
    """Return whether a name is that of a number of things, if the column holds whole numbers: n, id, n_anything.

    >>> counts("n"), counts("nLots"), counts("naive")
    (True, True, False)
    """
    words = words_of(name)
    return fold(name) in WORDS["count"] | ROW_NUMBER or (len(words) > 1 and words[0] == "n")


def summarises(name: object) -> bool:
    """Return whether a name is that of a mean, a rank or their like over other columns or rows.

    >>> summarises("Avg. rank"), summarises("Total"), summarises("Best-first search")
    (True, True, False)
    """
    words = words_of(name)
    return bool(words) and (fold(name) in SUMMARY or all(word in SUMMARY for word in words))


def is_measure(name: object) -> bool:
    """Return whether a name is that of a measure.

    >>> is_measure("Test accuracy (%)"), is_measure("accuracy drop"), is_measure("cost-sensitive SVM")
    (True, True, False)
    """
    if fold(name) in UNSURE or is_never_value(name):
        return False
    if measure_in(name) is not None or str(name).lower().startswith("metrics."):
        return True
    words = words_of(name)
    qualifying = MEASURE | VALUE | AROUND | UNITS | WORDS["changing"]
    return any(word in MEASURE for word in words) and all(word in qualifying or word.isdigit() for word in words)


def measure_in(name: object) -> str | None:
    """Return the measure that a name stands for, without qualifiers; None for other names.

    >>> measure_in("val_loss"), measure_in("CPU time (s)"), measure_in("ndcg@10"), measure_in("accuracy_drop")
    ('valloss', 'cputime', 'ndcg', None)
    """
    words = words_of(str(name))
    if TURNED.match(str(name)) or (words[:1] == ["no"] and words[1:2] != ["of"]):  # "no errors" may mean none
        return None
    ends = [len(words)]
    while ends[-1] > 1 and (words[ends[-1] - 1] in AROUND | UNITS or words[ends[-1] - 1].isdigit()):
        ends.append(ends[-1] - 1)
    starts = [0]
    while starts[-1] < len(words) - 1 and (words[starts[-1]] in AROUND - {"in"} or words[: starts[-1]][-1:] == ["top"]):
        starts.append(starts[-1] + 1)
    cores = ("".join(words[start:end]) for start in starts for end in ends if start < end)
    return next((core for core in cores if core in MEASURE), None)


def better_by_name(name: object) -> Better | None:
    """Return which values are better where their whole name leaves no doubt; None for any other name.

    >>> better_by_name("Test accuracy (%)"), better_by_name("CPU time"), better_by_name("fitness")
    ('higher', 'lower', None)
    >>> better_by_name("accuracy_drop"), better_by_name("gap_closed")
    (None, None)
    """
    measure = measure_in(name)
    return "higher" if measure in HIGHER else "lower" if measure in LOWER else None


def is_time(name: object) -> bool:
    """Return whether a whole name is that of a time that something took.

    >>> is_time("CPU time (s)"), is_time("log time"), is_time("cost")
    (True, False, False)
    """
    measure = measure_in(name) or ""
    return measure in LOWER and (measure.endswith("time") or measure in {"seconds", "milliseconds", "duration"})


def is_never_value(name: object) -> bool:
    """Return whether no study compares values of this name: an id, a version, a moment, a seed, a size, a setting.

    >>> is_never_value("experiment_id"), is_never_value("_timestamp"), is_never_value("params.lr"), is_never_value("lr")
    (True, True, True, True)
    """
    never = WORDS["never"] | SEED | ROW_NUMBER | (STEPS - MEASURE)
    if SETTING.match(str(name)) or is_identifying(name) or is_derived(name) or fold(name) in never:
        return True
    return not NEVER_LAST.isdisjoint(words_of(name)[-1:]) or (describes(name) and measure_in(name) is None)


def is_derived(name: object) -> bool:
    """Return whether a name is that of a rank or a standard deviation of results."""
    return not WORDS["derived"].isdisjoint(words_of(name))


def is_identifying(name: object) -> bool:
    """Return whether a name is that of an id or a moment, whatever kind of table it is in.

    >>> is_identifying("experiment_id"), is_identifying("_timestamp"), is_identifying("TS")
    (True, True, False)
    """
    words, folded = words_of(name), fold(name)
    return folded.startswith("unnamed") or folded == "timestamp" or (len(words) > 1 and words[-1] in IDENTIFYING)
