"""`ampler advise`: the answer first, the numbers that carry it, and no pilot at all."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def pilot(tmp_path):
    rng = np.random.default_rng(4)
    rows = ["solver,problem,cost"]
    for i in range(15):
        for solver, shift in (("old", 0.0), ("new", rng.normal(scale=1.0)), ("odd", rng.normal(scale=2.0))):
            rows += [f"{solver},p{i},{100 + shift + rng.normal(scale=2.0)}" for _ in range(5)]
    path = tmp_path / "pilot.csv"
    path.write_text("\n".join(rows))
    return path


def test_the_answer_comes_first_then_se_and_instances(shell, pilot):
    answer = shell("advise", pilot, "--difference", "simple", "--reference", "old", "--detect", 1, "--start", 3)
    assert answer.code == 0
    assert answer.out.startswith("Recommended: ")
    assert "until se = " in answer.words
    assert "You need more instances" in answer.words


def test_the_json_document_has_the_best_choice_the_curve_and_the_parts(shell, pilot):
    document = shell("advise", pilot, "--difference", "simple", "--detect", 1, "--start", 3, "--json").json
    assert document["best"]["power"] >= 0.8
    assert len(document["parts"]) == 3
    assert min(choice["cost"] for choice in document["curve"]) >= 0.999 * document["best"]["cost"]
    assert {"answer", "allocation", "budget", "instances_interval", "warnings"} <= set(document)


def test_costs_available_instances_and_targets_reach_the_advice(shell, pilot):
    ask = ("advise", pilot, "--difference", "simple", "--detect", 1, "--start", 2, "--json")
    plain, dear, few = (
        shell(*ask, *more).json["best"]
        for more in ((), ("--cost", "odd=5", "--cost", "new=2"), ("--available", 60, "--target", "best"))
    )
    assert dear["cost"] > plain["cost"]
    assert few["instances"] <= 60
    assert shell(*ask, "--instance-cost", 500).json["best"]["instances"] < plain["instances"]


def test_without_a_pilot_there_is_a_rule_of_thumb(shell):
    answer = shell("advise", "--detect", 0.05, "--effect", 0.5)
    assert answer.code == 0
    assert "start with se = 0.0316" in answer.words
    assert shell("advise", "--detect", 0.05, "--json").json["se"] == pytest.approx(0.05 / 0.5 / 10**0.5)


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ((), 2, "--difference simple"),
        (("--difference", "simple", "--effect", "0.5"), 2, "--effect is for the rule of thumb"),
        (("--difference", "simple", "--cost", "odd"), 2, "--cost must look like"),
        (("--difference", "simple", "--cost", "nobody=3"), 1, "costs must be of the algorithms"),
        (("--difference", "simple", "--target", "most"), 2, "target must be one of"),
        (("--difference", "simple", "--available", "3"), 1, "even with exact runs"),
        (("--difference", "simple", "--start", "1"), 2, "start must be a whole number of 2 or more"),
    ],
)
def test_what_does_not_fit_is_told_in_one_sentence(shell, pilot, more, code, words):
    answer = shell("advise", pilot, "--detect", 0.5, *more)
    assert answer.code == code
    assert words in " ".join(answer.err.split())
    assert answer.out == ""


def test_the_difference_to_detect_is_required(shell, pilot):
    answer = shell("advise", pilot, "--difference", "simple")
    assert answer.code == 2
    assert "--detect" in answer.err


def test_the_papers_runs_say_that_runs_suffice_and_instances_lack(shell, public_data):
    document = shell(
        "advise", public_data / "paper_experiment1_runs.csv", "--reference", "Full", "--difference", "percent",
        "--better", "lower",
        "--detect", 0.05, "--json",
    ).json  # fmt: skip
    assert document["answer"].startswith("You need more instances")
    assert document["pilot_instances"] == 57
    shares = {part["second"]: part["noise_share"] for part in document["parts"]}
    assert shares["no-TSK"] < 0.05 < shares["no-SWT"]


def test_a_floor_is_an_option_and_the_error_without_it_names_it(shell, tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        "solver,problem,error",
        *(f"{s},p{i},{0.0 if i == 0 else rng.random()}" for i in range(6) for s in "ab" * 4),
    ]
    path = tmp_path / "errors.csv"
    path.write_text("\n".join(rows))
    asked = ("advise", path, "--difference", "ratio", "--detect", 0.5, "--start", 3)
    refused = shell(*asked)
    assert refused.code == 1
    assert "a floor, e.g. 1e-8" in " ".join(refused.err.split())
    assert shell(*asked, "--floor", "1e-3").code == 0


def test_the_options_of_an_analysis_are_accepted(shell, pilot):
    said = ("--difference", "simple", "--detect", 1, "--start", 2)
    more = ("--better", "lower", "--floor", 0.001, "--margin", 0.5, "--se", 0.1, "--estimate", "all-runs")
    answer = shell("advise", pilot, *said, *more, "--json").json
    assert answer["plan"]["instances"] > 1
    assert answer["plan"]["least_power"] <= answer["plan"]["mean_power"]


@pytest.fixture
def folds(tmp_path):
    rng = np.random.default_rng(8)
    rows = ["solver,problem,fold,accuracy"]
    for i in range(15):
        shift = rng.normal(scale=0.02)
        for fold in range(5):
            together = 0.8 + rng.normal(scale=0.05)
            rows += [
                f"{s},p{i},f{fold},{together + d + rng.normal(scale=0.004)}" for s, d in (("old", 0), ("new", shift))
            ]
    path = tmp_path / "folds.csv"
    path.write_text("\n".join(rows))
    return path


def test_paired_runs_keep_their_number_and_their_noise_is_not_counted_twice(shell, folds):
    asked = ("advise", folds, "--difference", "simple", "--detect", 0.02)
    paired = shell(*asked, "--paired", "fold", "--json").json
    assert paired["paired"]
    assert paired["plan"]["runs"] == {"new": 5, "old": 5}
    assert (
        paired["plan"]["instances"]
        < shell(*asked, "--ignore", "fold", "--start", 5, "--json").json["best"]["instances"]
    )
    said = shell(*asked, "--paired", "fold").words
    assert "with 5 runs per algorithm" in said
    assert "runs are compared pair by pair" in said.lower()


def test_every_option_of_an_analysis_that_says_something_of_results_is_one_of_advice(shell):
    import inspect

    from ampler import advise, analyse
    from ampler.app.cli.options import results_options

    known = shell("advise", "--help").words
    unknown = [option.name for option in results_options() if f"--{option.name.replace('_', '-')}" not in known]
    assert set(unknown) == {
        "mean_over",
        "cluster_effects",
        "unplanned",
        "inference",
        "non_inferior",
    }  # a plan claims nothing
    own = set(inspect.signature(analyse).parameters) - set(inspect.signature(advise).parameters)
    assert own == {"test", "alpha", "margin", "statistic"}  # which are of its settings


@pytest.mark.parametrize(("difference", "said"), [("percent", "1 %"), ("ratio", "1 %"), ("simple", "0.01")])
def test_differences_have_the_unit_of_the_sentences(shell, pilot, difference, said):
    asked = ("advise", pilot, "--difference", difference, "--reference", "old", "--detect", 0.01, "--start", 5)
    unit = " in cost" if difference == "simple" else ""
    assert f"for a difference of {said}{unit}." in shell(*asked).words
    lacking = " ".join(shell(*asked, "--available", 3).err.split())
    assert f"a difference of {said} needs" in lacking
    assert "or more (--detect " in lacking


def test_headline_table_and_document_give_one_plan_which_no_other_undercuts(shell, pilot):
    asked = ("advise", pilot, "--difference", "simple", "--reference", "old", "--detect", 1)
    document, answer = shell(*asked, "--json").json, shell(*asked)
    best, others = document["recommended"], document["alternatives"]

    assert best["reaches"]
    assert all(not other["reaches"] or other["cost"] >= best["cost"] for other in others)
    headline = answer.words.partition("You need more instances")[0]
    assert f"{best['instances']:,} instances" in headline
    assert f"{best['total']:,.0f} runs in total" in headline
    row = next(line for line in answer.out.splitlines() if line.startswith(("fixed runs", "until se =")))
    assert f" {best['instances']} " in row
    assert all(line in answer.out for line in document["study_toml"])
    assert document["criterion"] == "least cost among the plans that reach the power"
