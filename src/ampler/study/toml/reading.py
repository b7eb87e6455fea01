"""Reads a study definition: text, tables, algorithms, instances, rule, and at last the plan; writes costs into it."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from ampler.core.errors import InvalidDesign, InvalidInput, InvalidPlan
from ampler.core.failures import FailurePolicy, Par, Penalty, StopStudy
from ampler.core.measures import checked_measures
from ampler.core.plan import (
    Algorithm,
    Around,
    Command,
    Decision,
    Function,
    Limits,
    Outputs,
    Plan,
    Question,
    Reading,
    Seeds,
)
from ampler.core.serialization import is_path
from ampler.core.settings import Better, choice, declared, finite, integer, positive, workers
from ampler.core.text import composed
from ampler.sampling.allocation import Allocation
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.detect import Detect
from ampler.study.interim import looking
from ampler.study.plan import make_plan, run_costs
from ampler.study.run_inputs import places
from ampler.study.toml import keys
from ampler.study.toml.instances import imported, read_instances
from ampler.study.toml.keys import Table, key_lines, line_of

Protocol = Literal["arguments", "irace", "worker"]
PROTOCOLS: dict[str, Protocol] = {"command": "arguments", "runner": "irace", "worker": "worker"}
KINDS = (*PROTOCOLS, "python")
POLICY_WORDS = dict.fromkeys(("par", "penalty", "cutoff", "failed"), "on-failure")  # the key that errors mean by them
SHELL_WORDS = {"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1"}


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A study definition that was read: the plan, and what does not change its results."""

    path: Path
    plan: Plan
    workers: int | None = None
    notes: tuple[str, ...] = ()  # notes on choices that the file leaves open


def read_study_file(path: str | PathLike[str], *, better: Better | None = None) -> StudyFile:
    """Read study.toml. Python modules it names are imported; InvalidPlan points at the line of what does not fit.

    `better` is what the results file has recorded, for study definitions of versions in which it had a default.
    """
    file, written = _definition(path)
    top = Table(file.name, "", (), _parsed(file.name, written), key_lines(written))
    top.check_keys()
    run, available, defaults = _subtable(top, "run"), _subtable(top, "instances"), _subtable(top, "defaults")
    with _pointing(top):
        question = _question(top)
        question = replace(question, better=question.better or better)
        if "algorithm" not in top:
            raise top.error("", "algorithms must be given: write an [[algorithm]] table for each of two or more")
        algorithms = [_algorithm(table, defaults, file.parent) for table in _entries(top, "algorithm")]
        policy = run.read("on-failure", keys.on_failure, StopStudy())
        for key in keys.LIMITS:
            if key in run and key in defaults:
                raise defaults.error(key, f"{key} must be specified once, under [run] or under [defaults], got both")
        rule = _subtable(top, "rule")
        detect = read_detect(top, rule, available)
        plan = make_plan(
            question=question,
            algorithms=algorithms,
            instances=read_instances(available, file.parent),
            rule=_rule(top, rule, question, algorithms, policy) if detect is None else Fixed(runs=detect.start),
            study_rule=detect or top.read("looks", lambda _, value: looking(value), None),
            seed=top.read("seed", integer, 0),
            seeds=top.read("seeds", partial(choice, choices=get_args(Seeds)), "own"),
            count=available.read("use", keys.use, "needed")
            if detect is None
            else top.read("available", keys.at_least(3), "all"),
            name=top.read("name", keys.text, file.stem),
            limits=_limits(run).over(_limits(defaults)),
            policy=policy,
            retries=run.read("retries", keys.at_least(0), 0),
        )
    notes = []
    if isinstance(plan.rule, Fixed) and plan.study_rule is None and "allocation" not in rule:
        notes.append(
            f"failed runs count as a penalty, and neither se nor an allocation is specified: every algorithm is run"
            f" {plan.rule.runs} times on each instance, so that results do not decide when runs stop"
        )
    everything = (*plan.instances, *plan.untouched)
    if any("expected" in item.features for item in everything) and not any(item.outputs.answer for item in algorithms):
        notes.append("the features have expected answers, but no algorithm has `answer`, so none is judged")
    return StudyFile(file, plan, run.read("workers", workers, None), tuple(notes))


def _definition(path: str | PathLike[str]) -> tuple[Path, str]:
    """The absolute path behind all links, and its text; nothing is opened that would have us wait, or has no end."""
    if not is_path(path):
        raise InvalidPlan(f"a study must be named by the path of its study.toml, got {path!r}")
    file = Path(os.path.realpath(path))
    if file.is_dir():
        inside = Path(path, "study.toml")
        way_out = f"say {inside}" if inside.is_file() else "`ampler init` makes a study.toml in one"
        raise InvalidPlan(f"a study must be named by the path of its study.toml, {path} is a folder; {way_out}")
    if file.exists() and not file.is_file():
        raise InvalidPlan(f"a study must be a plain file, {file} is a pipe, socket or device; name another")
    try:
        return file, file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise InvalidPlan(f"there is no study definition {file}; `ampler init` creates one") from None
    except UnicodeDecodeError as problem:
        if problem.object.startswith(b"SQLite format 3\0"):
            raise InvalidPlan(
                f"{file.name} is a results file, and this command takes the study definition, e.g."
                f" {file.with_suffix('.toml').name}"
            ) from None
        byte = problem.object[problem.start]
        raise InvalidPlan(f"{file.name} must be text in UTF-8, got the byte {byte:#x}") from None
    except OSError as problem:
        raise InvalidPlan(f"{file} cannot be read: {problem.strerror}") from None


def _parsed(name: str, written: str) -> dict[str, Any]:
    try:
        return tomllib.loads(written)
    except RecursionError:
        raise InvalidPlan(f"{name} has brackets within brackets too deep to be read; remove some") from None
    except tomllib.TOMLDecodeError as problem:
        where = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(problem))
        sentence = str(problem)[: where.start()] if where else str(problem)
        line = f", line {where[1]}" if where and where[1] else ""
        hint = ""
        if re.search(r"^\s*instances\s*=", written, re.MULTILINE) and "[instances]" in written:
            hint = "; the number of instances is written as `use = …` under [instances]"
        raise InvalidPlan(f"{name}{line}: {sentence[:1].lower()}{sentence[1:]}{hint}") from None


def _subtable(top: Table, key: str) -> Table:
    values = top.values.get(key, {})
    if not isinstance(values, dict):
        way_out = f"; write `use = {values!r}` under [instances]" if key == "instances" else ""
        raise top.error(key, f"{key} must be a table, [{key}], got {values!r}{way_out}")
    table = Table(top.file, f"[{key}]", (key,), values, top.lines)
    table.check_keys()
    return table


@contextmanager
def _pointing(top: Table) -> Iterator[None]:
    """Add the line to errors of lower layers, which name the invalid key."""
    try:
        yield
    except InvalidInput as problem:
        if str(problem).startswith(f"{top.file}"):
            raise
        line = _line_named(top, str(problem))
        raise InvalidPlan(f"{top.file}{f', line {line}' if line else ''}: {problem}") from None


def _line_named(top: Table, sentence: str) -> int | None:
    """The line of the key a sentence begins with, of the algorithm it speaks of, or of any key that it names."""
    paths = {str(path[-1]): path for path in top.lines if len(path) <= 2}
    words = [POLICY_WORDS.get(word, word) for word in re.findall(r"[\w-]+", sentence)]
    named_keys = [paths[word] for word in words if word in paths]
    if named_keys and words[0] == named_keys[0][-1]:
        return top.lines[named_keys[0]]
    for index, entry in reversed([*enumerate(top.values.get("algorithm", []))]):
        if "algorithm" in sentence and repr(entry.get("name")) in sentence:
            return line_of(top.lines, ("algorithm", index))
    return top.lines[named_keys[0]] if named_keys else None


def _question(top: Table) -> Question:
    """Every field of a Question is a key; the primary measure tells the difference and which values are better."""
    names = [field.name for field in fields(Question) if field.name != "measures"]
    values = top.options({name.replace("_", "-"): _reader(name) for name in names})
    if "measure" not in top:
        top.require("difference", _reader("difference"), "'simple', 'percent' or 'ratio', no default")
        return Question(**values)
    try:
        measures = checked_measures([table.values for table in _entries(top, "measure")])
    except InvalidInput as problem:
        raise top.error("measure", str(problem)) from None
    primary = next(item for item in measures if item.role == "primary")
    for name in ("difference", "better"):
        chosen = getattr(primary, name)
        if values.setdefault(name, chosen) != chosen:
            raise top.error(name, f"{name} is {values[name]!r} here and {chosen!r} in the primary measure; choose one")
    return Question(**values, measures=measures)


def _reader(key: str) -> keys.Reader[Any]:
    """A setting of an analysis is checked as such; what it does not check is a free text."""
    return keys.target if key == "target" else declared()[key].check or keys.text


def _rule(
    top: Table, table: Table, question: Question, algorithms: list[Algorithm], policy: FailurePolicy
) -> Callable[[Any], Decision]:
    # rare large values must not decide when runs end
    penalises = isinstance(policy, Penalty | Par) and "se" not in top and set(table.values) <= {"runs"}
    usual = "fixed" if penalises else "optimal"
    allocation: Any = table.read("allocation", partial(choice, choices=(*get_args(Allocation), "fixed")), usual)
    useless = [key for key in table.values if (key == "runs") != (allocation == "fixed") and key != "allocation"]
    if useless:
        raise table.error(useless[0], f"{useless[0]} has no meaning with allocation = {allocation!r}; remove it")
    if allocation == "fixed":
        return Fixed(runs=table.read("runs", keys.at_least(1), 30))
    readers = {"start": keys.at_least(2), "budget": keys.at_least(1), "batch": keys.at_least(1)}
    readers |= {name: _reader(name.replace("-", "_")) for name in ("guard", "guard-edition", "formula")}
    return Accuracy(
        se=top.require("se", positive, "the accuracy wanted for each difference (or detect, or allocation = 'fixed')"),
        difference=question.difference,
        reference=question.reference,
        statistic=question.statistic,
        allocation=allocation,
        costs=run_costs(algorithms),
        **{"formula": question.formula} | table.options(readers),
    )


def _limits(table: Table) -> Limits:
    return Limits(**table.options({"timeout": keys.seconds, "memory": keys.memory, "cpu-timeout": keys.seconds}))


def _entries(top: Table, key: str) -> list[Table]:
    """The tables of an array of tables."""
    entries = top.values.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise top.error(key, f"{key} must be written as [[{key}]], with two brackets, once for each")
    tables = [Table(top.file, f"[[{key}]]", (key, index), entry, top.lines) for index, entry in enumerate(entries)]
    for table in tables:
        table.check_keys()
    return tables


def _algorithm(table: Table, defaults: Table, folder: Path) -> Algorithm:
    name = table.require("name", keys.text, "it stands in every table and figure")
    kinds = [key for key in KINDS if key in table]
    if len(kinds) != 1:
        came = " and ".join(kinds) or "none of them"
        raise table.error("", f"algorithm {name!r} must have one of command, python, runner and worker, got {came}")
    [kind], has_codes = kinds, kinds[0] in ("command", "runner")

    def read(key: str, reader: keys.Reader[Any], default: Any) -> Any:
        return table.read(key, reader, defaults.read(key, reader, default))

    outputs, codes = _outputs(table, defaults, kind, answer=read("answer", keys.pattern, ""))
    if codes is None:
        codes = read("success", keys.exit_codes, (0,))
    if "success" in table and not has_codes:
        raise table.error("success", f"success is about exit codes, and a {kind} algorithm has none; remove it")
    around = defaults.options(READERS_AROUND) | table.options(READERS_AROUND)
    values: dict[str, Any] = {
        "cost": table.read("cost", positive, 1.0),
        "deterministic": table.read("deterministic", keys.flag, False),
        "outputs": outputs,
        "reading": read("value", keys.reading, Reading()),
        "around": Around(**around, folder=str(folder)) if around else Around(),
        "limits": _limits(table),
    }
    common, own = defaults.read("parameters", keys.table, {}), table.read("parameters", keys.table, {})
    if kind == "python":
        where, call = imported(table, "python", folder)
        if not callable(call):
            raise table.error("python", f"python must name a function, {where} is {call!r}")
        return Function(name, call, where, common | own, **values)
    argv = table.require(kind, command_words, "")
    if kind == "command":
        common = {key: value for key, value in common.items() if key in places(argv)}
    values |= {"folder": str(folder), "success": codes if has_codes else (0,)}
    return Command(name, argv, common | own, protocol=PROTOCOLS[kind], **values)


def _outputs(table: Table, defaults: Table, kind: str, answer: str) -> tuple[Outputs, tuple[int, ...] | None]:
    """Further outputs of a run, and the exit codes of solved runs; None: `success` has them."""
    source, has_codes = table if "solved" in table else defaults, kind in ("command", "runner")
    if "solved" in source and "success" in source:
        raise source.error("success", "success and solved both define a solved instance; remove success")
    pattern, codes = source.read("solved", keys.solved, ("", None))
    if "success" in table:
        pattern, codes = "", None
    if codes and not has_codes:
        raise source.error("solved", f"a {kind} algorithm has no exit codes; solved must name the field that is true")
    measures = defaults.read("measures", keys.patterns, {}) | table.read("measures", keys.patterns, {})
    if "measures" in table and not has_codes:
        raise table.error("measures", f"the numbers of a {kind} algorithm are its measures by name; remove it")
    return Outputs(pattern, answer, measures if has_codes else {}), codes


def command_words(key: str, value: Any) -> tuple[str, ...]:
    """The words of a command: a text is split as a shell would split it, a list is taken as it is."""
    if isinstance(value, list):
        if value and all(isinstance(word, str) for word in value):
            return tuple(value)
        raise keys.unfit(key, "must be a text or a list of texts", value)
    written = keys.text(key, value)
    try:
        split = shlex.split(written)
    except ValueError as problem:
        raise keys.unfit(key, f"must be a command with its quotes closed ({problem})", value) from None
    operators = SHELL_WORDS.intersection(split)
    if operators:
        must = (
            f"is not run by a shell, so {min(operators)!r} has no meaning: put it into a script"
            " (or write the command as a list of words)"
        )
        raise keys.unfit(key, must, value)
    return tuple(split)


@keys.required("must be a command, or a number of runs of 0 or more")
def _runs_to_warm_up(key: str, value: Any) -> int:
    return integer(key, value, 0)


def _warmup(key: str, value: Any) -> tuple[str, ...] | int:
    """A command, or how many runs are made to warm up."""
    return (command_words if isinstance(value, str | list) else _runs_to_warm_up)(key, value)


READERS_AROUND: dict[str, keys.Reader[Any]] = {"prepare": command_words, "warmup": _warmup, "cleanup": command_words}


ONLY_WITH_DETECT = ("instance-cost", "available")
INSTEAD = {
    "se": "the accuracy on each instance is decided after the pilot",
    "effect": "both are the smallest difference of interest, in different units",
    "looks": "a study that finds its own size takes one decision, after its pilot",
    "use": "how many instances are used is decided after the pilot; say available = N if there are no more than N",
}


def read_detect(top: Table, rule: Table, instances: Table) -> Detect | None:
    """Return the rule over instances that a study definition asks for with `detect`; None if it does not."""
    if "detect" not in top:
        _refuse(top, ONLY_WITH_DETECT, "has a meaning with detect only")
        _refuse(rule, ("pilot",), "has a meaning with detect only")
        return None
    for table in (top, instances):
        for key, why in INSTEAD.items():
            if key in table and (key == "use") == (table is instances):
                raise table.error(key, f"{key} must be left out with detect: {why}")
    _refuse(rule, (key for key in rule.values if key not in ("start", "pilot")), "has no meaning with detect")
    options = rule.options({"pilot": keys.at_least(3), "start": keys.at_least(2)})
    return Detect(detect=top.require("detect", positive, ""), **options, **top.options({"instance-cost": _cost}))


def _refuse(table: Table, names: Iterable[str], why: str) -> None:
    for key in names:
        if key in table:
            raise table.error(key, f"{key} {why}; remove it")


def _cost(key: str, value: Any) -> float:
    cost = finite(key, value)
    if cost < 0:
        raise InvalidDesign(f"{key} must not be negative, got {value!r}: it is counted in runs")
    return cost


def with_costs(text: str, costs: Mapping[str, float]) -> str:
    """Return the text of a study definition in which each algorithm has its cost; line ends and a mark stay.

    >>> print(with_costs('[[algorithm]]\\nname = "full"\\ncommand = "solve"', {"full": 3.2}))
    [[algorithm]]
    name = "full"
    cost = 3.2
    command = "solve"
    """
    if text.startswith("\ufeff"):
        return f"\ufeff{with_costs(text[1:], costs)}"
    if "\r\n" in text:
        return with_costs(text.replace("\r\n", "\n"), costs).replace("\n", "\r\n")
    lines, where = text.splitlines(keepends=True), key_lines(text)
    entries = tomllib.loads(text).get("algorithm", [])
    cost_by_index = {index: costs[composed(entry["name"].strip())] for index, entry in enumerate(entries)}
    for index, cost in reversed(cost_by_index.items()):
        written = f"cost = {cost:g}\n"
        old, name = where.get(("algorithm", index, "cost")), where.get(("algorithm", index, "name"))
        if old is not None:
            lines[old - 1] = written
        elif name is not None:
            lines[name - 1] = f"{lines[name - 1].rstrip()}\n{written}"
    changed = "".join(lines)
    expected = tomllib.loads(text)
    for index, cost in cost_by_index.items():
        expected["algorithm"][index]["cost"] = cost
    with suppress(tomllib.TOMLDecodeError):
        if tomllib.loads(changed) == expected:
            return changed
    listed = ", ".join(f"{name}: cost = {cost:g}" for name, cost in costs.items())
    raise InvalidPlan(f"costs can be written to algorithms that begin with [[algorithm]]; do it by hand ({listed})")
