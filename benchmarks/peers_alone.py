"""Tools that do something else than decide on a table: what each makes, and what ampler says of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import fmean, stdev
from time import process_time

import numpy as np

import ampler as am
from ampler.sampling.rules import sample
from ampler.study.store import read_store
from peers_rows import Row
from peers_tools import quiet

GOLD = Path(__file__).parents[1] / "tests" / "gold"
NAPS = {"nap": "sleep {instance}", "longer nap": "sleep 0.01 {instance}"}  # sleep adds its arguments up
NAP = "0.02"
REPEATS = 50
FUNCTIONS = 8
SEEDS = 3
TRIALS = 30
EVALUATIONS = 500
SIDES = {1: "less", 2: "two-sided"}


def alone() -> Iterator[tuple[Callable[[], list[Row]], tuple[str, str, str]]]:
    """Each part with its key, for the tools that are there."""
    yield as_caiser, ("alone", "answers of CAISEr 1.0.17", "CAISEr")
    if shutil.which("hyperfine"):
        yield naps_of_hyperfine, ("alone", "two commands that sleep", "hyperfine")
    yield naps_of_ampler, ("alone", "two commands that sleep", "ampler")
    if find_spec("optuna"):
        yield samplers_of_optuna, ("alone", "two samplers on 8 functions", "Optuna")
    if find_spec("cocoex") and find_spec("cocopp"):
        yield searches_of_coco, ("alone", "two searches on bbob", "COCO")
    if find_spec("ioh"):
        yield searches_of_ioh, ("alone", "two searches, logged by ioh", "IOHanalyzer")


def as_caiser() -> list[Row]:
    """Designs and sampling beside what CAISEr answered when the golden values were made."""
    data, tool = "answers of CAISEr 1.0.17", "CAISEr"
    rows = [row for row in json.loads((GOLD / "design.json").read_text())["n_rows"] if row["caiser_n"] is not None]
    same = [_instances(row) == row["caiser_n"] for row in rows]
    traces = json.loads((GOLD / "trace.json").read_text())
    return [
        Row.share("alone", data, tool, "designs alike", same),
        Row.share("alone", data, tool, "traces alike", [_counts(case) == case["caiser"]["Nk"] for case in traces]),
    ]


def _instances(row: dict) -> int:
    how = {"comparisons": row["K"], "effect": row["d"], "power": row["power"], "alpha": row["alpha"]}
    target = row["kprime"] if row["target"] == "atleast" else row["target"]
    return am.required_instances(target=target, alternative=SIDES[row["sides"]], **how).instances


def _counts(case: dict) -> list[int]:
    names = [str(place) for place in range(len(case["streams"]))]
    rule = am.Accuracy.as_in_paper(
        se=case["se_max"],
        start=case["nstart"],
        budget=case["nmax"],
        difference={"simple": "simple", "perc": "percent"}[case["dif"]],
        reference="0" if case["comparisons"] == "all.vs.first" else None,
    )
    return sample(rule, lambda name, index: case["streams"][int(name)][index], names).samples.counts.tolist()


def naps_of_hyperfine() -> list[Row]:
    """hyperfine times two commands."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "naps.json")
        commands = [command.format(instance=NAP) for command in NAPS.values()]
        spent = _children(["hyperfine", "-N", "-w", "2", "-r", str(REPEATS), "--export-json", str(output), *commands])
        results = json.loads(output.read_text())["results"]
    return _naps("hyperfine", [one["times"] for one in results], spent, "")


def naps_of_ampler() -> list[Row]:
    """ampler runs the same commands as a study and says what it concludes."""
    lines = ['difference = "simple"', "seed = 1", "[rule]", 'allocation = "fixed"', f"runs = {REPEATS}"]
    for name, command in NAPS.items():
        lines += [
            "[[algorithm]]",
            f'name = "{name}"',
            f'command = "{command}"',
            'value = "seconds"',
        ]
    lines += ["[instances]", f'names = ["{NAP}"]', 'use = "all"', "[run]", "workers = 1"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "study.toml").write_text("\n".join(lines))
        spent = _children([sys.executable, "-m", "ampler", "run", f"{folder}/study.toml"])
        analysis = am.analyse(f"{folder}/study.db")
        with read_store(f"{folder}/study.db") as store:
            times = _times(store)
    return _naps("ampler", times, spent, analysis.comparisons[0].verdict)


def _times(store) -> list[list[float]]:
    runs = list(store.observations())
    return [[run.value for run in runs if run.key.algorithm == name] for name in NAPS]


def _children(command: list[str]) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _naps(tool: str, times: list[list[float]], spent: float, note: str) -> list[Row]:
    data = "two commands that sleep"
    rows = [
        Row("alone", data, tool, f"{name}, ms", 1000 * fmean(one), 1000 * stdev(one) / len(one) ** 0.5, len(one))
        for name, one in zip(NAPS, times, strict=True)
    ]
    return [*rows, Row("alone", data, tool, "seconds", spent, note=note)]


def samplers_of_optuna() -> list[Row]:
    """Optuna searches with two of its samplers; ampler reads the journal and compares the samplers."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, quiet():
        path = str(Path(folder, "studies.log"))
        storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))
        began = process_time()
        for function in range(FUNCTIONS):
            for seed in range(SEEDS):
                for sampler in (optuna.samplers.TPESampler(seed=seed), optuna.samplers.RandomSampler(seed=seed)):
                    _search(optuna, storage, function, seed, sampler)
        searched = process_time() - began
        analysis, read = _timed(lambda: am.analyse(path, difference="simple"))
    return _alone("two samplers on 8 functions", "Optuna", searched, read, analysis)


def _search(optuna, storage, function: int, seed: int, sampler) -> None:
    name = type(sampler).__name__.removesuffix("Sampler")
    study = optuna.create_study(storage=storage, sampler=sampler, study_name=f"{name}-{function}-{seed}")
    study.set_user_attr("sampler", name)
    study.set_user_attr("problem", f"f{function}")
    centre = np.random.default_rng([3, function]).uniform(-3, 3, 4)

    def objective(trial) -> float:
        x = [trial.suggest_float(f"x{k}", -5, 5) for k in range(4)]
        return float(((np.array(x) - centre) ** 2 * (1 + function)).sum())

    study.optimize(objective, n_trials=TRIALS)


def searches_of_coco() -> list[Row]:
    """Two searches on bbob in five dimensions; cocopp makes its pages, ampler compares the searches."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder), quiet():
        _observe_coco()
        spent = _children([sys.executable, "-c", "import cocopp; cocopp.main('exdata/random exdata/simplex')"])
        analysis, read = _timed(lambda: am.analyse("exdata", difference="ratio", settings=am.Settings(floor=1e-8)))
    return _alone("two searches on bbob", "COCO", spent, read, analysis)


def _observe_coco() -> None:
    import cocoex

    for name, search in SEARCHES.items():
        observer = cocoex.Observer("bbob", f"result_folder: {name} algorithm_name: {name}")
        for problem in cocoex.Suite("bbob", "", "dimensions:5 function_indices:1-12 instance_indices:1-3"):
            problem.observe_with(observer)
            search(problem, np.random.default_rng([5, problem.id_function, problem.id_instance]))


def searches_of_ioh() -> list[Row]:
    """The same searches logged by ioh, whose files IOHanalyzer shows and ampler reads."""
    import ioh

    with tempfile.TemporaryDirectory() as folder, quiet():
        for name, search in SEARCHES.items():
            logger = ioh.logger.Analyzer(root=folder, folder_name=name, algorithm_name=name)
            for function in range(1, 25):
                for instance in range(1, 4):
                    problem = ioh.get_problem(function, instance, 5)
                    problem.attach_logger(logger)
                    search(problem, np.random.default_rng([5, function, instance]))
                    problem.reset()
                    problem.detach_logger()
            logger.close()
        analysis, read = _timed(lambda: am.analyse(folder, difference="simple"))
    return _alone("two searches, logged by ioh", "IOHanalyzer", float("nan"), read, analysis)


def _random_search(problem, rng: np.random.Generator) -> None:
    for _ in range(EVALUATIONS):
        problem(rng.uniform(-4, 4, 5))


def _simplex(problem, rng: np.random.Generator) -> None:
    from scipy.optimize import minimize

    minimize(problem, rng.uniform(-4, 4, 5), method="Nelder-Mead", options={"maxfev": EVALUATIONS})


SEARCHES = {"random": _random_search, "simplex": _simplex}


def _timed(task: Callable[[], am.Analysis]) -> tuple[am.Analysis, float]:
    began = process_time()
    analysis = task()
    return analysis, process_time() - began


def _alone(data: str, tool: str, spent: float, read: float, analysis: am.Analysis) -> list[Row]:
    return [
        Row("alone", data, tool, "seconds", spent),
        Row("alone", data, tool, "seconds of ampler", read, note=analysis.comparisons[0].verdict),
    ]
