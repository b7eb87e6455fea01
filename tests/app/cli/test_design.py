from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import typing
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler import achieved_power, required_instances
from ampler.app.cli import design as command
from ampler.app.cli import main
from ampler.stats.holm import Correction

PAPER = ("design", "--algorithms", 22, "--vs-one", "--effect", 0.5, "--power", 0.8)


def test_the_paper_s_first_experiment_needs_57_instances(shell):
    answer = shell(*PAPER, "--json")

    assert answer.code == 0
    assert answer.err == ""
    assert answer.json["instances"] == 57


def test_the_document_holds_the_design_with_its_levels_and_powers(shell):
    document = shell(*PAPER, "--json").json

    design = required_instances(comparisons=21, effect=0.5, power=0.8)
    assert {name: document[name] for name in design.as_dict()} == design.as_dict()
    assert document["levels"] == pytest.approx(design.levels.tolist(), rel=1e-15)
    assert document["powers"] == pytest.approx(design.powers.tolist(), rel=1e-15)
    assert document["solved_for"] == "instances"


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (("--comparisons", 7, "--instances", 200, "--effect", 0.25), "power", 0.853284),
        (("--comparisons", 7, "--instances", 200, "--power", 0.85), "effect", 0.248966),
        (("--algorithms", 22, "--vs-all", "--effect", 0.5, "--power", 0.8), "comparisons", 231),
        (("--algorithms", 22, "--vs-all", "--effect", 0.5, "--power", 0.8), "instances", 81),
        ((*PAPER[1:], "--target", "worst"), "instances", 65),
        ((*PAPER[1:], "--target", 21), "instances", 65),
        ((*PAPER[1:], "--target", "best"), "instances", 34),
        ((*PAPER[1:], "--alternative", "less"), "instances", 50),
        ((*PAPER[1:], "--test", "wilcoxon"), "instances", 67),
        ((*PAPER[1:], "--test", "sign"), "instances", 90),
        ((*PAPER[1:], "--test", "bootstrap-t"), "instances", 60),
        ((*PAPER[1:], "--test", "sign-flip"), "instances", 57),
        ((*PAPER[1:], "--correction", "bonferroni"), "instances", 65),
        ((*PAPER[1:], "--alpha", 0.01), "alpha", 0.01),
        (("--comparisons", 21, "--difference", 3, "--sd", 4.8, "--se", 3.6, "--power", 0.8), "effect", 0.5),
        (("--comparisons", 21, "--difference", -3, "--sd", 6, "--power", 0.8), "instances", 57),
    ],
)
def test_options_reach_the_design(shell, options, field, value):
    answer = shell("design", *options, "--json")

    assert answer.code == 0, answer.err
    assert answer.json[field] == pytest.approx(value, abs=1e-5)


def test_a_simulated_target_needs_fewer_instances_than_the_convention(shell):
    document = shell(*PAPER, "--target", "simulated", "--json").json

    assert document["instances"] in {53, 54}
    assert document["simulated"]["dependence"] == "reference"


def test_the_answer_comes_first_then_the_table_then_the_advice(shell):
    words = shell(*PAPER, "--available", 40, "--runs", 30, "--seconds", 60, "--workers", 16).words

    order = [
        "57 instances: mean power 0.804 for d = 0.5. Tests: 21 two-sided paired t-tests",
        "rank of the p-value level power",
        "1 0.00238 0.719",
        "21 0.05 0.960",
        "one-sided tests would need 50 instances instead of 57 (--alternative greater).",
        "65 instances would give it 0.8 (--target worst).",
        "Simulated mean power of Holm's procedure:",
        "With the 40 instances you have, d = 0.61 is detectable with mean power 0.8",
        "57 instances × 22 algorithms × 30 runs = 627 hours of CPU, 39 hours on 16 workers.",
    ]
    places = [words.find(part) for part in order]
    assert -1 not in places, words
    assert places == sorted(places)
    assert words.startswith(order[0])


def test_advice_for_all_vs_all_names_the_option_that_follows_it(shell):
    words = shell("design", "--algorithms", 22, "--vs-all", "--effect", 0.5, "--power", 0.8).words

    assert "All algorithms against one reference would need 57 instances instead of 81 (--vs-one)." in words


@pytest.mark.parametrize(
    ("options", "followed"),
    [
        (("--vs-one",), ("--vs-one", "--alternative", "greater")),
        (("--vs-one",), ("--vs-one", "--target", "worst")),
        (("--vs-all",), ("--vs-one",)),
        (("--vs-one", "--correction", "bonferroni"), ("--vs-one", "--correction", "holm")),
    ],
)
def test_following_the_advice_gives_what_it_promises(shell, options, followed):
    common = ("design", "--algorithms", 6, "--effect", 0.5, "--power", 0.9)
    promised = shell(*common, *followed, "--json").json["instances"]

    words = shell(*common, *options).words

    assert f"{promised} instances" in words


def test_a_hundred_thousand_comparisons_fit_on_a_screen(shell):
    answer = shell("design", "--comparisons", 100_000, "--effect", 0.5, "--power", 0.8)

    assert answer.code == 0
    assert len(answer.out.splitlines()) < 35
    assert "of the 100,000 ranks are shown." in answer.out


def test_the_document_of_very_many_comparisons_leaves_the_profile_out(shell):
    document = shell("design", "--comparisons", 100_000, "--effect", 0.5, "--power", 0.8, "--json").json

    assert (document["levels"], document["powers"]) == (None, None)
    assert document["instances"] > 100


def test_the_document_says_what_the_available_instances_allow_and_what_it_costs(shell):
    document = shell(*PAPER, "--available", 40, "--runs", 30, "--seconds", 60, "--json").json

    assert document["available"]["instances"] == 40
    assert document["available"]["effect"] == pytest.approx(0.60402, abs=1e-5)
    assert document["cost"]["total_runs"] == 37_620
    assert document["cost"]["cpu_seconds"] == 627 * 3600
    assert document["cost"]["wall_seconds"] is None


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_power_curve_is_drawn_into_a_file(shell, tmp_path, kind):
    file = tmp_path / f"power.{kind}"

    answer = shell(*PAPER, "--plot", file, "--json")

    assert answer.code == 0
    assert file.stat().st_size > 1000
    assert answer.json["instances"] == 57  # the note about the file is not on stdout
    assert str(file) in answer.err


def test_every_target_can_be_drawn(shell, tmp_path):
    for target in ("median", "worst", "best", 3, "simulated"):
        answer = shell(*PAPER, "--target", target, "--plot", tmp_path / f"{target}.svg")
        assert answer.code == 0, answer.err
        assert (tmp_path / f"{target}.svg").stat().st_size > 1000


BAD_VALUES = [
    (("--effect", 0, "--power", 0.8), "effect", "0"),
    (("--effect", -0.5, "--power", 0.8), "effect", "-0.5"),
    (("--effect", "nan", "--power", 0.8), "effect", "nan"),
    (("--effect", "inf", "--power", 0.8), "effect", "inf"),
    (("--effect", 1e-6, "--power", 0.8), "effect", "1e-06"),
    (("--effect", 0.5, "--power", 1), "power", "1"),
    (("--effect", 0.5, "--power", 0), "power", "0"),
    (("--effect", 0.5, "--power", "nan"), "power", "nan"),
    (("--effect", 0.5, "--power", 0.8, "--alpha", 1), "alpha", "1"),
    (("--effect", 0.5, "--power", 0.8, "--alpha", 0), "alpha", "0"),
    (("--effect", 0.5, "--power", 0.8, "--target", "nice"), "target", "nice"),
    (("--effect", 0.5, "--power", 0.8, "--target", 22), "target", "22"),
    (("--effect", 0.5, "--power", 0.8, "--target", 0), "target", "0"),
    (("--instances", 1, "--power", 0.8), "instances", "1"),
    (("--instances", 2, "--effect", 0.5, "--test", "sign"), "sign", "2"),
    (("--effect", 0.5, "--power", 0.8, "--available", 1), "instances", "1"),
    (("--effect", 0.5, "--power", 0.8, "--seed", -1, "--target", "simulated"), "seed", "-1"),
    (("--effect", 0.5, "--power", 0.8, "--runs", 0, "--algorithms", 22), "runs", "0"),
    (("--effect", 0.5, "--power", 0.8, "--plot", "power.jpg"), ".svg, .pdf", "power.jpg"),
    (("--effect", 0.5, "--power", 0.8, "--plot", "no/such/folder/power.svg"), "no/such/folder", "No such file"),
    (("--difference", 0, "--sd", 1, "--power", 0.8), "difference", "0"),
    (("--difference", 1, "--sd", 0, "--power", 0.8), "sd", "0"),
    (("--difference", 1, "--sd", 1, "--se", -1, "--power", 0.8), "se", "-1"),
]


@pytest.mark.parametrize(("options", "name", "value"), BAD_VALUES, ids=lambda part: " ".join(map(str, part)))
def test_a_bad_value_is_one_sentence_that_names_it(shell, tmp_path, monkeypatch, options, name, value):
    monkeypatch.chdir(tmp_path)

    answer = shell("design", "--comparisons", 21, *options)

    assert answer.code == (1 if "No such file" in answer.err else 2)  # the machine refuses, or nobody could
    assert name in answer.err
    assert value in answer.err
    assert answer.err.startswith("ampler: ")
    assert answer.err.count("\n") == 1
    assert "defect" not in answer.err


@pytest.mark.parametrize("comparisons", [0, -3])
def test_no_comparison_is_no_design(shell, comparisons):
    answer = shell("design", "--comparisons", comparisons, "--effect", 0.5, "--power", 0.8)

    assert answer.code == 2
    assert "comparisons" in answer.err
    assert str(comparisons) in answer.err


WRONG_USAGE = [
    (("--comparisons", 7), "give two of --instances, --effect and --power, the third is the answer; got none of them"),
    (("--comparisons", 7, "--effect", 0.5), "got only --effect"),
    (("--comparisons", 7, "--effect", 0.5, "--power", 0.8, "--instances", 9), "got all three"),
    (("--effect", 0.5, "--power", 0.8), "specify the comparisons"),
    (("--algorithms", 22, "--effect", 0.5, "--power", 0.8), "--vs-one (all with one) or --vs-all"),
    (("--comparisons", 7, "--vs-one", "--effect", 0.5, "--power", 0.8), "omit --vs-one and --vs-all"),
    (("--algorithms", 5, "--vs-all", "--effect", 1, "--power", 0.8, "--alternative", "less"), "use --vs-one"),
    (("--comparisons", 7, "--effect", 0.5, "--difference", 1, "--sd", 1, "--power", 0.8), "give the effect once"),
    (("--comparisons", 7, "--difference", 1, "--power", 0.8), "needs both --difference and --sd"),
    (("--comparisons", 7, "--se", 1, "--power", 0.8), "needs both --difference and --sd"),
    (("--comparisons", 7, "--instances", 9, "--power", 0.8, "--available", 9), "omit --instances"),
    (("--comparisons", 7, "--effect", 0.5, "--power", 0.8, "--runs", 30), "--runs needs --algorithms"),
    (("--comparisons", 7, "--effect", 0.5, "--power", 0.8, "--seconds", 30), "--seconds needs --runs"),
    (("--comparisons", 7, "--effect", 0.5, "--power", 0.8, "--workers", 30), "--workers needs --seconds"),
    (("--comparisons", 7, "--effect", "half", "--power", 0.8), "'half' is not a number; write it like 0.5"),
    (("--comparisons", 7.5, "--effect", 0.5, "--power", 0.8), "'7.5' is not a whole number; write it like 57"),
    (("--comparisons", 7, "--effect", 0.5, "--power", 0.8, "--test", "z"), "'z' is not one of"),
    (("--comparisons", 7, "--effect", 0.5, "--power", 0.8, "--alternative", "both"), "'both' is not one of"),
    (("--comparisons", 7, "--effect", 0.5, "--power", 0.8, "--correction", "none"), "'none' is not one of"),
    (("--comparisons", 7, "--efect", 0.5, "--power", 0.8), "--efect"),
]


@pytest.mark.parametrize(("options", "words"), WRONG_USAGE, ids=lambda part: part if isinstance(part, str) else None)
def test_wrong_usage_says_what_would_be_right(shell, options, words):
    answer = shell("design", *options)

    assert answer.code == 2
    assert words in answer.err
    assert answer.out == ""
    assert "Traceback" not in answer.err


def test_comparisons_chosen_by_hand_can_still_be_costed(shell):
    words = shell("design", "--comparisons", 7, "--algorithms", 8, "--effect", 0.5, "--power", 0.8, "--runs", 10).words

    assert "instances × 8 algorithms × 10 runs =" in words


def test_the_corrections_of_the_shell_are_those_of_the_library():
    annotation = typing.get_type_hints(command.design)["correction"]

    assert typing.get_args(annotation) == typing.get_args(Correction)


def test_a_power_near_one_asks_no_more_than_it_must(shell):
    document = shell("design", "--comparisons", 1, "--instances", 30, "--effect", 5, "--json").json

    assert document["power"] == pytest.approx(achieved_power(instances=30, comparisons=1, effect=5).power)


def test_a_design_loads_neither_pandas_nor_matplotlib(loaded):
    after = loaded("design", "--comparisons", "21", "--effect", "0.5", "--power", "0.8")

    assert after.out.startswith("57 instances")
    assert not after.modules & {"pandas", "matplotlib", "jinja2", "pebble", "sqlite3", "asyncio", "ampler.analysis"}


def test_a_document_needs_no_rich(loaded):
    after = loaded("design", "--comparisons", "21", "--effect", "0.5", "--power", "0.8", "--json")

    assert json.loads(after.out)["instances"] == 57
    assert "rich" not in after.modules


NUMBERS = st.sampled_from(["0.5", "0.8", "0.05", "2", "0", "1", "-1", "nan", "inf", "1e-300", "1e300", "1e-4", "x", ""])
COUNTS = st.sampled_from(
    ["1", "2", "3", "22", "57", "0", "-1", "1000", "10000000", "99999999999", "1" + "0" * 400, "x"]
)
USUAL = {"--algorithms": "6", "--effect": "0.5", "--power": "0.8"}
OPTIONS = {
    **dict.fromkeys(("--effect", "--power", "--difference", "--sd", "--se", "--alpha", "--seconds"), NUMBERS),
    **dict.fromkeys(("--algorithms", "--instances", "--available", "--runs", "--workers", "--seed"), COUNTS),
    "--target": st.sampled_from(["mean", "median", "worst", "best", "1", "3", "0", "x", "", "2.5"]),
    "--alternative": st.sampled_from(["two-sided", "less", "greater", "x"]),
    "--test": st.sampled_from(["t", "sign", "x"]),
    "--correction": st.sampled_from(["holm", "bonferroni", "x"]),
}


@given(
    st.fixed_dictionaries({}, optional=OPTIONS).filter(lambda chosen: len(chosen) <= 4),
    st.sets(st.sampled_from(sorted(USUAL)), max_size=1),
    st.sampled_from(["--vs-one", "--vs-all"]),
    st.booleans(),
)
def test_no_options_whatever_end_in_a_traceback_or_a_defect(chosen, dropped, kind, as_json):
    asked = {name: value for name, value in USUAL.items() if name not in dropped} | chosen
    out, err = io.StringIO(), io.StringIO()
    arguments = ["ampler", "design", kind, *(f"{name}={value}" for name, value in asked.items())]

    with (
        mock.patch.object(sys, "argv", [*arguments, *(["--json"] if as_json else [])]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as leaving,
    ):
        main()

    assert leaving.value.code in {0, 1, 2}
    assert "defect" not in err.getvalue()
    assert "Traceback" not in err.getvalue()
    assert bool(out.getvalue()) == (leaving.value.code == 0)  # an answer or an error, never half of each


def test_a_design_in_a_terminal_without_unicode_still_answers(process):
    answer = process(*PAPER, env=os.environ | {"PYTHONIOENCODING": "ascii"})

    assert answer.returncode == 0
    assert answer.stdout.startswith("57 instances")
    assert answer.stderr == ""
