"""Code as users write it, which a strict type checker must accept: `make check` reads it, nothing runs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import assert_type

import pandas as pd

import ampler as am
from ampler import plots
from ampler.analysis.advice import Advice
from ampler.core.plan import Sample
from ampler.design import Design, effect_from, n_comparisons


def solve(instance: str, seed: int, *, rounds: int = 3) -> float:
    return float(len(instance) + seed % rounds)


def measures(instance: str, seed: int) -> Mapping[str, float]:
    return {"cost": 1.0, "iterations": 3.0}


def designs() -> None:
    design = am.required_instances(comparisons=21, effect=0.5, power=0.8)
    assert_type(design, Design)
    assert_type(design.instances, int)
    assert_type(n_comparisons(22), int)
    assert_type(effect_from(difference=2.0, sd=4.0), float)


def studies(folder: Path) -> am.Analysis:
    study = am.Study(
        algorithms={"a": solve, "b": measures, "c": am.Command("c", ("solver", "{instance}", "{seed}"))},
        instances=["one", "two"],
        difference="percent",
        reference="a",
        detect=0.02,
        on_failure=am.Par(10),
        better="lower",
    )
    return study.run(folder / "study.db", workers=2)


def results(frame: pd.DataFrame, path: str) -> None:
    analysis = am.analyse(frame, difference="simple", better="higher", test="wilcoxon", margin=0.01)
    assert_type(analysis, am.Analysis)
    for comparison in analysis.comparisons:
        assert_type(comparison.verdict, str)
        assert_type(comparison.p_holm, float)
    assert_type(am.write_report(analysis, path), Path)
    assert_type(am.advise(frame, detect=0.02, difference="percent", better="lower"), Advice)
    plots.save(plots.draw_intervals(plots.intervals_data(analysis)), "intervals.pdf")


def rules() -> None:
    rule = am.Accuracy(se=0.05, difference="percent", reference="a")
    answer = rule({"a": [1.0, 2.0], "b": [2.0, 3.0]})
    if isinstance(answer, Sample):
        assert_type(answer.counts, Mapping[str, int])


def choices(frame: pd.DataFrame, folder: Path) -> None:
    limits = am.Limits(time=60, memory="2GB")
    on_failure = am.Penalty(9.5) if folder.exists() else am.Drop() if folder.is_dir() else am.StopStudy()
    for design in (am.Detect(0.5, pilot=10), am.Precision(se=0.5, interim=3), am.FixedSize(instances=2, runs=5)):
        study = am.Study(
            {"a": solve, "b": am.Function("b", measures, "my_module:measures")},
            [am.Instance("one"), am.Instance("two")],
            difference="simple",
            better="lower",
            design=design,
            limits=limits,
            on_failure=on_failure,
            settings=am.Settings(alternative="two-sided"),
        )
        study.run(folder / "study.db", on_code_change="rerun", progress=False)
    results = am.read_results({"old": "old.csv", "new": folder / "new.json"}, value="time", where={"size": 3})
    assert_type(results, am.Results)
    assert_type(am.analyze(results, difference="ratio", settings=am.Settings(floor=1e-8)), am.Analysis)
    assert_type(am.describe(frame, statistic="median").estimate, float)
    for measured in am.estimate({"a": [1.0, 2.0], "b": [2.0, 3.5]}, difference="simple"):
        assert_type(measured.error, float)
    assert_type(am.run_seed(2019, "one", "a", 0), int)
    assert_type(am.achieved_power(instances=20, comparisons=3, effect=0.5).power, float)
    assert_type(am.detectable_effect(instances=20, comparisons=3).effect, float)
    assert_type(am.power_curve(instances=20, comparisons=3, effects=[0.2, 0.5])[0], Design)
    with am.open_study(folder / "study.db") as store:
        am.analyse(store)
    try:
        am.analyse_measures(frame, [{"name": "time", "difference": "ratio", "better": "lower"}], on_failure="drop")
    except am.AmplerError as problem:
        print(problem)
