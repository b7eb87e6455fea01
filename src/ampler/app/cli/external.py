"""`ampler next` and `ampler record`: runs made by another workflow, decisions made by ampler."""

from __future__ import annotations

import json as json_module
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ampler.app.cli.options import IntegerOption, JsonOption, StoreOption
from ampler.app.cli.output import WrongUsage, note, say, say_lines, say_next, write_json
from ampler.core.errors import InvalidData

if TYPE_CHECKING:
    from ampler.core.plan import Plan
    from ampler.running.work import Task

Option = typer.Option
MAX_LINE = 1_000_000  # characters of a result

Definition = Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="The study definition.")]


def next_runs(
    study: Definition,
    store: StoreOption = None,
    limit: Annotated[int | None, IntegerOption(help="Maximum number of runs to print. [default: all]")] = None,
    json: JsonOption = False,
) -> None:
    """List the runs to make now.

    Example: ampler next study.toml --json
    """
    from ampler.running.external import exchange
    from ampler.study.store import open_store

    plan, results = _study(study, store)
    if limit is not None and limit < 1:
        raise WrongUsage(f"--limit must be at least 1, got {limit}")
    with open_store(results) as opened:
        wanted = exchange(plan, opened).wanted
    runs = [_described(task, plan) for task in wanted[:limit]]
    if json:
        write_json({"study": plan.name, "complete": not wanted, "wanted": len(wanted), "runs": runs})
        return
    say_lines("\t".join(str(run[name]) for name in ("instance", "algorithm", "index", "seed", "call")) for run in runs)
    if not wanted:
        note(f"The study is complete. Next: ampler analyse {shlex.quote(str(results))}")


def record(
    study: Definition,
    results: Annotated[
        Path, typer.Argument(metavar="RUNS.JSONL", help="File with one JSON object per run; - for stdin.")
    ],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Record runs made elsewhere.

    Example: ampler record study.toml runs.jsonl
    """
    from ampler.core.text import count, count_are
    from ampler.running.external import exchange
    from ampler.study.store import open_store

    plan, path = _study(study, store)
    lines = list(_lines(results))
    with open_store(path) as opened:
        outcome = exchange(plan, opened, lines)
    if json:
        numbers = {name: getattr(outcome, name) for name in ("recorded", "known", "unused")}
        write_json(numbers | {"complete": not outcome.wanted, "wanted": len(outcome.wanted)})
        return
    rest = f"Wanted: {count(len(outcome.wanted), 'run')}." if outcome.wanted else "The study is complete."
    say(
        f"{count_are(outcome.recorded, 'run')} recorded in {path}; {outcome.known} known already, {outcome.unused} not"
        f" wanted now. {rest}"
    )
    say_next(*(("next", study) if outcome.wanted else ("analyse", path)))


def _study(study: Path, store: Path | None) -> tuple[Plan, Path]:
    """Return the plan and the results file; a results file stands for the definition of the same name."""
    from ampler.study.store import recorded_better
    from ampler.study.toml import read_study_file

    if study.suffix == ".db":
        study, store = study.with_suffix(".toml"), store or study
        if not study.exists():
            raise WrongUsage(f"{store} is a results file; name its study definition: ampler next study.toml")
    results = store or study.with_suffix(".db")
    return read_study_file(study, better=recorded_better(results)).plan, results


def _described(task: Task, plan: Plan) -> dict[str, Any]:
    """Return all that is needed to make a run."""
    from ampler.core.plan import Command
    from ampler.study.run_inputs import arguments, planned_seed

    key = task.key
    instance = next(item for item in plan.instances if item.name == key.instance)
    algorithm = next(item for item in plan.algorithms if item.name == key.algorithm)
    seed = planned_seed(plan, key)
    run: dict[str, Any] = {"instance": key.instance, "algorithm": key.algorithm, "index": key.index, "seed": seed}
    if isinstance(algorithm, Command):
        words = algorithm.argv if algorithm.protocol == "worker" else arguments(algorithm, instance, seed)
        return run | {"path": instance.path, "command": words, "folder": algorithm.folder, "call": shlex.join(words)}
    return run | {"path": instance.path, "python": algorithm.origin, "call": algorithm.origin}


def _lines(path: Path) -> Iterator[Any]:
    try:
        with sys.stdin if str(path) == "-" else path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if len(line) > MAX_LINE:
                    raise InvalidData(f"{path}, line {number}: longer than {MAX_LINE:,} characters")
                if line.strip():
                    yield _parsed(line, path, number)
    except OSError as problem:
        raise InvalidData(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidData(f"{path} must be text in UTF-8, one JSON object per line") from None


def _parsed(line: str, path: Path, number: int) -> Any:
    try:
        return json_module.loads(line)
    except (ValueError, RecursionError):
        raise InvalidData(f"{path}, line {number}: not a JSON object; write one run per line") from None
