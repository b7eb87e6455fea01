"""`ampler compare` and `ampler gate`: comparison of two versions, also in continuous integration."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import expm1
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ampler.app.cli import options as shared
from ampler.app.cli.options import IntegerOption, JsonOption, NumberOption, Options, ResultsFiles
from ampler.app.cli.output import DONE, WrongUsage, note, say, say_lines, say_next, write_json
from ampler.core.settings import READING

if TYPE_CHECKING:
    from ampler.analysis import Analysis
    from ampler.core.plan import Instance, Plan
    from ampler.study.store.store import SqliteStore

Option = typer.Option
Outcome = Literal["pass", "regression", "inconclusive"]
EXIT_CODES: Mapping[Outcome, int] = {"pass": DONE, "inconclusive": 4, "regression": 3}  # most severe last
GATE_MARKS: Mapping[Outcome, str] = {"pass": "✓", "regression": "✗", "inconclusive": "·"}
SAME = "same command again"  # name of the A/A arm
PRECISION = 1  # percent: target standard error of a ratio
BUDGET = 100  # runs of each command on an instance
SHELL_OPERATORS = frozenset({"|", "||", "&&", "&", ";", ">", ">>", "<"})


def compare(
    commands: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND COMMAND [INSTANCE …]", help="Two commands, then instances (files or names)."),
    ],
    also: Annotated[list[str] | None, Option(metavar="COMMAND", help="Another command to compare; repeatable.")] = None,
    names: Annotated[str | None, Option(metavar="NAMES", help="Names of the commands, e.g. old,new.")] = None,
    value: Annotated[
        str,
        Option(metavar="VALUE", help="Value of a run: seconds, cpu-seconds, json:FIELD, or a regular expression."),
    ] = "seconds",
    better: Annotated[
        Literal["lower", "higher"] | None, Option(help="Better direction; required unless the value is a time.")
    ] = None,
    precision: Annotated[float, NumberOption(help="Target standard error in percent.")] = PRECISION,
    budget: Annotated[int, IntegerOption(help="Maximum number of runs of each command per instance.")] = BUDGET,
    runs: Annotated[int | None, IntegerOption(help="Fixed number of runs instead of precision and budget.")] = None,
    same: Annotated[bool, Option("--same", help="Add the first command a second time, to check the clock.")] = False,
    timeout: Annotated[float | None, NumberOption(help="Time limit of a run, in seconds.")] = None,
    on_failure: Annotated[
        str, Option(metavar=READING["on_failure"][1].metavar, help="stop, or what failed runs count as: drop, par=2.")
    ] = "stop",
    workers: Annotated[int, IntegerOption(help="Number of parallel runs.")] = 1,
    store: Annotated[Path, Option(metavar="FILE", help="Results file; rerun the same command to resume.")] = Path(
        "compare.db"
    ),
    json: JsonOption = False,
) -> None:
    """Compare commands by interleaved runs.

    Example: ampler compare './old {instance}' './new {instance}' data/*
    """
    from ampler import api
    from ampler.app.cli.analyse import tell
    from ampler.app.cli.run import carry_out
    from ampler.core.failures import as_policy
    from ampler.core.plan import Command, Instance, Limits, Question
    from ampler.sampling.rules import Accuracy, Fixed
    from ampler.study.plan import make_plan
    from ampler.study.store import open_store
    from ampler.study.toml.keys import reading as reading_of

    if len(commands) < 2:
        raise WrongUsage("compare needs two commands: ampler compare './old {instance}' './new {instance}' data/*")
    shared.check_workers(workers)
    compared, instances = [*commands[:2], *(also or [])], commands[2:]
    if not 0 < precision < 100:
        raise WrongUsage(f"--precision must be between 0 and 100 percent, got {precision:g}")
    if budget < 2 or (runs is not None and runs < 2):
        raise WrongUsage("--budget and --runs must be at least 2: one run has no standard error")
    if any("{instance}" in command for command in compared) and not instances:
        raise WrongUsage("the commands contain {instance}; name the instances after them, as in data/*")
    with shared.usage_errors():
        labels, reading = _labels(compared, names), reading_of("--value", value)
        is_time = reading.is_time
        if better is None and not is_time:
            raise WrongUsage("specify --better lower or --better higher: it is implied for times only")
        statistic = "geometric-mean" if is_time else "mean"  # the mean of logarithms: slow outliers count for less
        base: dict[str, Any] = {"reference": labels[0], "statistic": statistic}
        named = [*zip(labels, compared, strict=True), *([(SAME, compared[0])] if same else [])]
        start, most = min(10, budget), budget * len(named)
        accuracy = Accuracy(se=precision / 100, difference="ratio", start=start, budget=most, **base)
        plan = make_plan(
            question=Question("ratio", better=better or "lower", **base),
            algorithms=[
                Command(name, tuple(_words(command)), reading=reading, folder=str(Path.cwd()))
                for name, command in named
            ],
            instances=[_instance(text) for text in instances] or [Instance("one input")],
            rule=accuracy if runs is None else Fixed(runs=runs),
            count="all",
            name=" against ".join(labels),
            limits=Limits(timeout),
            policy=as_policy(on_failure),
        )
    with open_store(store) as opened:
        _check_same_comparison(plan, opened)
        summary = carry_out(plan, opened, workers=workers)
    analysis = api.analyse(store)
    if json:
        write_json(analysis.as_dict() | ({"clock": _clock(analysis)._asdict()} if same else {}))
        return
    note(summary)
    tell(analysis)
    if same:
        clock = _clock(analysis)
        low, high = (f"{100 * end:+.3g} %".replace("-", "−") for end in (clock.low, clock.high))
        interval = f"from itself (95 % CI {low} to {high})."
        if clock.trusted:
            say(f"Clock check: the first command does not differ {interval}", style="bold")
        else:
            say(f"Do not trust these times: the first command differs {interval} Use an idle machine.", style="bold")
    say_next("report", store, "-o", "compare.html")


def _labels(commands: Sequence[str], names: str | None) -> list[str]:
    """Return the names of the commands: those given, or short ones."""
    labels = [name.strip() for name in names.split(",")] if names else command_names(commands)
    if names is None and len(set(labels)) < len(labels):
        raise WrongUsage("the commands are the same; name them with --names a,b, or check the clock with --same")
    if len(labels) != len(commands) or len(set(labels)) < len(labels) or not all(labels):
        raise WrongUsage(f"--names must give {len(commands)} different names, one per command, got {names!r}")
    return labels


def _check_same_comparison(plan: Plan, store: SqliteStore) -> None:
    """Refuse runs of other commands or programs: they were not interleaved with those to come."""
    from ampler.core.errors import PlanMismatch
    from ampler.running.driver import code_status
    from ampler.study.record import fingerprint

    recorded = store.plans()
    is_same = not recorded or recorded[-1].fingerprint.algorithms == fingerprint(plan).algorithms
    if not is_same or code_status(plan, store).changes:
        what = "programs that have changed since" if is_same else "other commands"
        rest = "which were not interleaved with new ones; remove the file, or name another with --store"
        raise PlanMismatch(f"{store.path.name} holds runs of {what}, {rest}")


def command_names(commands: Sequence[str]) -> list[str]:
    """Return a short name for each command: the words that differ, or the whole command.

    >>> command_names(["./old {instance}", "./new {instance}"])
    ['./old', './new']
    >>> command_names(["solve -a {instance}", "solve -b {instance}"])
    ['-a', '-b']
    """
    split = [_words(command) for command in commands]
    common = set(split[0]).intersection(*split[1:])
    short = [" ".join(word for word in words if word not in common) for words in split]
    return short if len(set(short)) == len(short) and all(short) else [" ".join(words) for words in split]


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise WrongUsage(f"the command {command!r} cannot be split into words: {problem}") from None
    if not words:
        raise WrongUsage("a command is empty; write it like './old {instance}'")
    if operators := SHELL_OPERATORS.intersection(words):
        raise WrongUsage(f"no shell reads the command, so {min(operators)!r} means nothing; write sh -c '…' around it")
    return words


def _instance(text: str) -> Instance:
    from ampler.core.plan import Instance
    from ampler.study.toml.instances import file_instance

    path = Path(text)
    if path.is_file():
        return file_instance(path.resolve(), path.as_posix())
    if set("/*?[") & set(text):
        raise WrongUsage(f"no file {text!r}; name files that exist, or plain names of instances")
    return Instance(text)


class Clock(NamedTuple):
    """The change of the first command relative to itself, which should be zero."""

    trusted: bool
    low: float
    high: float


def _clock(analysis: Analysis) -> Clock:
    """Return the comparison of the first command with itself."""
    [comparison] = [each for each in analysis.comparisons if each.second == SAME]
    return Clock(not comparison.claimed, *sorted(_change(phi, analysis) for phi in comparison.joint_interval))


# the gate ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GateResult:
    """The result of the gate for one candidate, relative to the base."""

    candidate: str
    outcome: Outcome
    sentence: str
    estimate: float
    interval: tuple[float, float]


@shared.takes(options=shared.results_options())
def gate(
    files: ResultsFiles,
    options: Options,
    tolerance: Annotated[
        str | None,
        Option("--tolerate", metavar="PERCENT", help="Non-inferiority margin, e.g. 1%; needs ratio or percent."),
    ] = None,
    allow_inconclusive: Annotated[bool, Option("--allow-inconclusive", help="Pass unless a result is worse.")] = False,
    markdown: Annotated[Path | None, Option(metavar="FILE", help="Write a comment for a pull request.")] = None,
    junit: Annotated[Path | None, Option(metavar="FILE", help="Write the checks as JUnit XML.")] = None,
    json: JsonOption = False,
) -> None:
    """Pass or fail a change by its results.

    Of several files, each is an algorithm and the first is the base.

    Exit codes: 0 pass, 3 regression, 4 inconclusive; 1 and 2 are errors.

    Example: ampler gate compare.db --tolerate 1%
    """
    from ampler import api
    from ampler.analysis.units import measure_text
    from ampler.core.settings import Settings
    from ampler.report.markdown import as_markdown
    from ampler.report.resources import environment, template_text

    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*%?\s*", "1" if tolerance is None else tolerance)
    if match is None or not 0 < float(match[1]) < 100:
        raise WrongUsage(f"--tolerate must be a percentage between 0 and 100, as 1%, got {tolerance!r}")
    results, keywords = shared.read_options(files, options)
    if len(files) > 1 and keywords["settings"].reference is None:
        keywords["reference"] = results.runs.algorithms[0]
    if tolerance is not None:
        keywords["settings"] = Settings(**keywords["settings"].specified | {"non_inferior": float(match[1]) / 100})
    analysis = api.analyse(results, **keywords)
    if analysis.settings.reference is None:
        raise WrongUsage("the gate needs the base: --reference NAME")
    checks = _checks(analysis)
    outcome = max((check.outcome for check in checks), key=list(EXIT_CODES).index)
    grave = [warning for warning in analysis.warnings if warning.severity == "could reverse a verdict"]
    warnings = [warning.wording(shell=True, details=False) for warning in grave]
    content = {"outcome": outcome, "base": analysis.settings.reference, "measure": measure_text(analysis)}
    shown = {"checks": checks, "warnings": warnings, "marks": GATE_MARKS, "md": as_markdown}
    templates = environment(partial(template_text, package="ampler.app.cli"))
    for path, template in ((markdown, "gate.md"), (junit, "gate.xml")):
        if path is not None:
            path.write_text(templates.get_template(template).render(content | shown), encoding="utf-8")
    if json:
        write_json(content | {"checks": [vars(each) for each in checks], "warnings": warnings})
    else:
        say(f"Gate: {outcome}.", style="bold")
        say_lines([f"{measure_text(analysis)}.", *(check.sentence for check in checks)])
        say_lines(f"⚠ {sentence}" for sentence in warnings)
    allowed = outcome == "inconclusive" and allow_inconclusive
    raise typer.Exit(DONE if allowed else EXIT_CODES[outcome])


def _checks(analysis: Analysis) -> list[GateResult]:
    """Return the check of each candidate."""
    from ampler.analysis.text import findings, is_biased, with_interval
    from ampler.core.verdicts import Finding, opposite

    margin = analysis.settings.non_inferior
    if margin is not None and analysis.settings.difference == "simple":
        raise WrongUsage("--tolerate is a percentage; it needs --difference ratio or percent")
    shown = {each.pair: each.non_inferiority for each in analysis.diagnoses}
    checks = []
    for comparison in (each for each in analysis.comparisons if each.second != SAME):
        finding: Finding = "inconclusive" if is_biased(analysis) else opposite(findings(analysis)[comparison.pair])
        change = [_change(phi, analysis) for phi in (comparison.estimate, *comparison.joint_interval)]
        low, high = sorted(change[1:])
        tested = shown[comparison.pair]
        held = tested is not None and tested.established and not is_biased(analysis)
        outcome: Outcome = "inconclusive"
        if held or finding in ("better", "equivalent"):
            outcome = "pass"
        elif finding == "worse":
            outcome = "regression"
        what: str = "inconclusive" if outcome == "inconclusive" else finding
        if held and margin is not None:
            what = f"not worse by more than {100 * margin:g} %"
        reasons = [tested.doubt] if tested is not None and tested.doubt else [item.reason for item in comparison.doubts]
        why = f"; {'; '.join(reasons)}" if outcome == "inconclusive" and reasons else ""
        size = with_interval(comparison, analysis.settings)
        sentence = f"{comparison.second} against {comparison.first}: {what}, {size}{why}."
        checks.append(GateResult(comparison.second, outcome, sentence, change[0], (low, high)))
    return checks


def _change(phi: float, analysis: Analysis) -> float:
    """Return candidate relative to base, minus 1; φ is base minus candidate."""
    return expm1(min(-phi, 700.0)) if analysis.settings.difference == "ratio" else -phi
