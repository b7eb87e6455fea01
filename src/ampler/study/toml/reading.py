"""Reads a study file: text, tables, algorithms, instances, rule, and at last the plan."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from ampler.core.checks import integer, positive, workers
from ampler.core.choices import Better
from ampler.core.errors import InvalidInput, InvalidPlan
from ampler.core.failures import FailurePolicy, Par, Penalty, StopStudy
from ampler.core.settings import declared
from ampler.core.values import Algorithm, Around, Command, Decision, Function, Limits, Plan, Question, Reading
from ampler.sampling.allocation import Allocation
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.command_line import places
from ampler.study.plan import make_plan, run_costs
from ampler.study.toml import keys
from ampler.study.toml.imports import imported
from ampler.study.toml.instances import read_instances
from ampler.study.toml.keys import Table
from ampler.study.toml.lines import key_lines, line_of
from ampler.study.toml.sizes import instances_used, read_detect, read_looks

PROTOCOLS: dict[str, Literal["arguments", "irace", "worker"]] = {
    "command": "arguments",
    "runner": "irace",
    "worker": "worker",
}
KINDS = (*PROTOCOLS, "python")
SHELL_WORDS = {"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1"}


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A study file that was read: the plan, and what does not change its results."""

    path: Path
    plan: Plan
    workers: int | None = None
    notes: tuple[str, ...] = ()  # what the file leaves open and a reader should know


def read_study_file(path: str | PathLike[str], *, better: Better | None = None) -> StudyFile:
    """Read study.toml. Python modules it names are imported; InvalidPlan points at the line of what does not fit.

    `better` is what the results file has recorded, for study definitions of versions in which it had a default.
    """
    file = _plain_file(path)
    written = _text(file)
    document = _parsed(file.name, written)
    top = Table(file.name, "", (), document, key_lines(written))
    top.check_keys()
    run, available, defaults = _subtable(top, "run"), _subtable(top, "instances"), _subtable(top, "defaults")
    with _pointing(top):
        question = _question(top)
        question = replace(question, better=question.better or better)
        algorithms = _algorithms(top, defaults, file.parent)
        policy = run.read("on-failure", keys.on_failure, StopStudy())
        rule = _subtable(top, "rule")
        detect = read_detect(top, rule, available)
        plan = make_plan(
            question=question,
            algorithms=algorithms,
            instances=read_instances(available, file.parent),
            rule=_rule(top, rule, question, algorithms, usual=_usual_allocation(document, policy))
            if detect is None
            else Fixed(runs=detect.start),
            study_rule=read_looks(top) if detect is None else detect,
            seed=top.read("seed", integer, 0),
            count=instances_used(top, available, detect),
            name=top.read("name", keys.text, file.stem),
            limits=_common_limits(run, defaults),
            policy=policy,
            retries=run.read("retries", keys.at_least(0), 0),
        )
    return StudyFile(file, plan, run.read("workers", workers, None), notes=_left_open(document, plan))


def _left_open(document: dict[str, Any], plan: Plan) -> tuple[str, ...]:
    """What the file does not say, and what is taken instead."""
    notes = []
    if isinstance(plan.rule, Fixed) and plan.study_rule is None and "allocation" not in document.get("rule", {}):
        notes.append(
            f"neither se nor an allocation is said, and failed runs count as a penalty: every algorithm is run"
            f" {plan.rule.runs} times on each instance, so that no value decides when runs end"
        )
    return tuple(notes)


def _usual_allocation(document: dict[str, Any], policy: FailurePolicy) -> str:
    """The allocation of those who say none: where rare values are large, values must not decide when runs end."""
    rule = document.get("rule", {})
    free = "se" not in document and isinstance(rule, dict) and set(rule) <= {"runs"}
    return "fixed" if free and isinstance(policy, Penalty | Par) else "optimal"


def _plain_file(path: str | PathLike[str]) -> Path:
    """The absolute path behind all links; nothing is opened that would have us wait, or has no end."""
    if not isinstance(path, str | PathLike) or "\0" in str(path):
        raise InvalidPlan(f"a study must be named by the path of its study.toml, got {path!r}")
    file = Path(os.path.realpath(path))
    if file.is_dir():
        inside = Path(path, "study.toml")
        way_out = f"say {inside}" if inside.is_file() else "`ampler init` makes a study.toml in one"
        raise InvalidPlan(f"a study must be named by the path of its study.toml, {path} is a folder; {way_out}")
    if file.exists() and not file.is_file():
        raise InvalidPlan(f"a study must be a plain file, {file} is a pipe, socket or device; name another")
    return file


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise InvalidPlan(f"there is no study file {file}; `ampler init` makes one") from None
    except UnicodeDecodeError as problem:
        raise InvalidPlan(
            f"{file.name} must be text in UTF-8, got the byte {problem.object[problem.start]:#x}"
        ) from None
    except OSError as problem:
        raise InvalidPlan(f"{file} cannot be read: {problem.strerror}") from None


def _parsed(name: str, written: str) -> dict[str, Any]:
    try:
        return tomllib.loads(written)
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
    """Errors of lower layers know the word that is wrong; find its line."""
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
    known = [paths[word] for word in map(_key, re.findall(r"[\w-]+", sentence)) if word in paths]
    if known and _key(sentence.split(maxsplit=1)[0]) == known[0][-1]:
        return top.lines[known[0]]
    for place, entry in reversed([*enumerate(top.values.get("algorithm", []))]):
        if "algorithm" in sentence and repr(entry.get("name")) in sentence:
            return line_of(top.lines, ("algorithm", place))
    return top.lines[known[0]] if known else None


def _key(word: str) -> str:
    """The key that a word of an error stands for."""
    return "on-failure" if word in ("par", "penalty", "cutoff", "failed") else word


def _question(top: Table) -> Question:
    """Every field of a Question is a key."""
    difference = top.require("difference", _reader("difference"), "'simple', 'percent' or 'ratio', no default")
    others = [field for field in fields(Question) if field.name != "difference"]
    said: dict[str, Any] = {field.name: top.read(field.name, _reader(field.name), field.default) for field in others}
    return Question(difference, **said)


def _reader(key: str) -> keys.Reader[Any]:
    """A setting of an analysis is checked as such; what it does not check is a free text."""
    return keys.target if key == "target" else declared()[key].check or keys.text


def _rule(
    top: Table, table: Table, question: Question, algorithms: list[Algorithm], *, usual: str
) -> Callable[[Any], Decision]:
    allocation = table.read("allocation", keys.one_of(*get_args(Allocation), "fixed"), usual)
    useless = [key for key in table.values if (key == "runs") != (allocation == "fixed") and key != "allocation"]
    if useless:
        raise table.error(useless[0], f"{useless[0]} has no meaning with allocation = {allocation!r}; leave it out")
    if allocation == "fixed":
        return Fixed(runs=table.read("runs", keys.at_least(1), 30))
    given: dict[str, Any] = {
        "allocation": allocation,
        "start": table.read("start", keys.at_least(2), None),
        "budget": table.read("budget", keys.at_least(1), None),
        "batch": table.read("batch", keys.at_least(1), None),
        "guard": table.read("guard", _reader("guard"), None),
        "guard_edition": table.read("guard-edition", _reader("guard_edition"), None),
        "formula": table.read("formula", _reader("formula"), question.formula),
        "costs": run_costs(algorithms),
    }
    return Accuracy(
        se=top.require("se", positive, "the accuracy wanted for each difference (or detect, or allocation = 'fixed')"),
        difference=question.difference,
        reference=question.reference,
        statistic=question.statistic,
        **{key: value for key, value in given.items() if value is not None},
    )


def _limits(table: Table) -> Limits:
    return Limits(
        timeout=table.read("timeout", keys.seconds, None),
        memory=table.read("memory", keys.memory, None),
        cpu_timeout=table.read("cpu-timeout", keys.seconds, None),
    )


def _common_limits(run: Table, defaults: Table) -> Limits:
    twice = [key for key in keys.LIMITS if key in run and key in defaults]
    if twice:
        raise defaults.error(twice[0], f"{twice[0]} must be said once, under [run] or under [defaults], got both")
    return _limits(run).over(_limits(defaults))


def _algorithms(top: Table, defaults: Table, folder: Path) -> list[Algorithm]:
    entries = top.values.get("algorithm")
    if entries is None:
        raise top.error("", "algorithms must be given: write an [[algorithm]] table for each of two or more")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise top.error("algorithm", "algorithm must be written as [[algorithm]], with two brackets, once for each")
    return [
        _algorithm(Table(top.file, "[[algorithm]]", ("algorithm", place), entry, top.lines), defaults, folder)
        for place, entry in enumerate(entries)
    ]


def _algorithm(table: Table, defaults: Table, folder: Path) -> Algorithm:
    table.check_keys()
    name = table.require("name", keys.text, "it stands in every table and figure")
    kinds = [key for key in KINDS if key in table]
    if len(kinds) != 1:
        came = " and ".join(kinds) or "none of them"
        raise table.error("", f"algorithm {name!r} must have one of command, python, runner and worker, got {came}")
    parameters = table.read("parameters", keys.table, {})
    common = defaults.read("parameters", keys.table, {})
    reading = table.read("value", keys.reading, defaults.read("value", keys.reading, Reading()))
    cost = table.read("cost", positive, 1.0)
    deterministic = table.read("deterministic", keys.flag, False)
    success = table.read("success", keys.exit_codes, defaults.read("success", keys.exit_codes, (0,)))
    if "success" in table and kinds[0] not in ("command", "runner"):
        raise table.error("success", f"success is about exit codes, and a {kinds[0]} algorithm has none; leave it out")
    around = _around(table, defaults, folder)
    if kinds == ["python"]:
        where, call = imported(table, "python", folder)
        if not callable(call):
            raise table.error("python", f"python must name a function, {where} is {call!r}")
        return Function(name, call, where, common | parameters, reading, cost, deterministic, _limits(table), around)
    argv = table.require(kinds[0], words, "")
    if kinds == ["command"]:
        common = {key: value for key, value in common.items() if key in places(argv)}
    return Command(
        name=name,
        argv=argv,
        parameters=common | parameters,
        reading=reading,
        protocol=PROTOCOLS[kinds[0]],
        folder=str(folder),
        cost=cost,
        deterministic=deterministic,
        success=success if kinds[0] in ("command", "runner") else (0,),
        limits=_limits(table),
        around=around,
    )


def _around(table: Table, defaults: Table, folder: Path) -> Around:
    """What is done around each run: as the algorithm says, else as the defaults do."""
    said: dict[str, Any] = {
        key: table.read(key, read, defaults.read(key, read, None))
        for key, read in zip(keys.AROUND, (words, _warmup, words), strict=True)
    }
    given = {key: value for key, value in said.items() if value is not None}
    return Around(**given, folder=str(folder)) if given else Around()


def _warmup(key: str, value: Any) -> tuple[str, ...] | int:
    """A command, or how many runs are made to warm up."""
    if isinstance(value, str | list):
        return words(key, value)
    try:
        return integer(key, value, 0)
    except InvalidInput:
        raise keys.unfit(key, "must be a command, or a number of runs of 0 or more", value) from None


def words(key: str, value: Any) -> tuple[str, ...]:
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
