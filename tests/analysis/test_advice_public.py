"""Advice on ten public tables: headline, table and JSON name one plan, and no printed plan is better."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

import ampler as am
from ampler.analysis import advice_text
from ampler.core.failures import values_under
from ampler.stats.holm import step_down

LOWER, HIGHER = {"better": "lower"}, {"better": "higher"}
REPLICATIONS = 600
RUNS, CEC, FLOOR = "paper_experiment1_runs.csv", "cec17_extended_final.csv.gz", am.Settings(floor=1e-8)
TABLES = {
    "paper": (RUNS, {}, {"difference": "percent", "reference": "Full", "detect": 0.05} | LOWER),
    "pair": (RUNS, {"algorithms": ["Full", "no-SHF"]}, {"difference": "ratio", "detect": 0.02} | LOWER),
    "Demšar": ("demsar2006_table6.csv", {}, {"difference": "simple", "detect": 0.02} | HIGHER),
    "Benavoli": ("benavoli2017_accuracies_mean.csv", {}, {"difference": "simple", "detect": 2} | HIGHER),
    "diagram": ("cd_diagram_example.csv", {}, {"difference": "simple", "detect": 0.05} | HIGHER),
    "SAES": ("saes_ml_data.csv", {"metric": "accuracy"}, {"difference": "percent", "detect": 0.05} | HIGHER),
    "IOH": ("ioh_dsl_large_final.csv", {"on_failure": "drop"}, {"difference": "simple", "detect": 10} | HIGHER),
    "CEC": (CEC, {"where": {"Dimension": 30}}, {"difference": "ratio", "detect": 0.5, "settings": FLOOR} | LOWER),
    "few instances": (
        CEC,
        {"where": {"Dimension": 50}, "algorithms": ["DES", "EBO", "jSO"]},
        {"difference": "ratio", "detect": 0.7, "available": 60, "settings": FLOOR} | LOWER,
    ),
    "ASlib": (
        "aslib_CPMP-2015.csv",
        {"on_failure": "par=10,cutoff=3600"},
        {"difference": "simple", "detect": 3000} | LOWER,
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_headline_table_and_json_name_one_plan_and_no_printed_plan_is_better(name, public_data):
    file, reading, asked = TABLES[name]
    advice = am.advise(am.read_results(public_data / file, **reading), **asked)
    chosen, document, text = advice.recommended, advice.as_dict(), str(advice)

    (instances, total) = re.search(r"([\d,]+) instances.*?([\d,]+) runs in total", text).groups()
    row = advice_text.option_rows(advice)[0]
    plans = {
        (instances.replace(",", ""), total.replace(",", "")),
        (row[1].replace(",", ""), row[3].replace(",", "")),
        (str(document["recommended"]["instances"]), f"{document['recommended']['total']:.0f}"),
    }
    assert plans == {(str(chosen.instances), f"{chosen.total:.0f}")}
    assert f"Power {chosen.power:.2f}" in text
    assert f"Power {chosen.power:.3f}" in text
    assert all(chosen.cost <= option.cost for option in advice.options if option.reaches or not chosen.reaches)
    assert chosen.reaches or not any(option.reaches for option in advice.options)
    assert document["study_toml"][-1] == f"use = {chosen.instances}" or document["study_toml"][0].startswith("detect =")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Demšar", "Benavoli", "diagram", "ASlib", "IOH", "CEC"])
def test_the_promised_power_is_reached_on_resampled_tables(name, public_data):
    """Instances with, runs without replacement; all algorithms differ from the first by what is to be detected."""
    file, reading, asked = TABLES[name]
    results = am.read_results(public_data / file, **reading)
    runs = results.runs
    advice = am.advise(results, reference=runs.algorithms[0], **asked)
    values, counted = values_under(runs, results.settings.get("failures"))
    cells = {}
    for instance, algorithm, value in zip(
        runs.instance[counted], runs.algorithm[counted], values[counted], strict=True
    ):
        cells.setdefault((instance, algorithm), []).append(max(value, 1e-8) if "settings" in asked else value)
    columns, scale = range(len(runs.algorithms)), np.log if asked["difference"] == "ratio" else np.asarray
    complete = [i for i in range(len(runs.instances)) if all((i, k) in cells for k in columns)]
    least, wanted = min(map(len, cells.values())), list(advice.plan.runs.values())
    table = np.array([[cells[i, k][:least] for k in columns] for i in complete])
    truth = scale(table.mean(axis=2))
    shift = asked["detect"] - (truth[:, :1] - truth[:, 1:]).mean(axis=0)
    rng, found = np.random.default_rng(7), []
    for _ in range(REPLICATIONS):
        drawn = rng.permuted(table[rng.choice(len(table), advice.recommended.instances)], axis=2)
        means = scale(np.stack([drawn[:, k, :number].mean(axis=1) for k, number in enumerate(wanted)], axis=1))
        p = stats.ttest_1samp(means[:, :1] - means[:, 1:] + shift, 0.0).pvalue
        found.append(step_down(p, 0.05).rejected.mean())
    assert np.mean(found) >= advice.recommended.power - 3 * np.std(found) / REPLICATIONS**0.5
