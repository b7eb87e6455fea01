"""`ampler analyse`: the answer, the Holm table, the warnings; JSON, LaTeX and CSV; and every kind of bad input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest

from ampler.app.cli.options import conditions

COMPARISON_FIELDS = {
    "first", "second", "estimate", "estimate_of", "interval", "level", "joint_interval", "p_value", "p_holm", "alpha",
    "rank", "rejected", "effect_size", "instances", "effect_interval", "verdict",
    "doubts", "claimed", "direction", "t", "degrees_of_freedom",
}  # fmt: skip

PAPER = (
    "--reference",
    "Full",
    "--difference",
    "percent",
    "--better",
    "lower",
    "--se",
    "0.05",
    "--budget",
    "1100",
    "--formula",
    "paper",
)


@pytest.fixture
def table(tmp_path):
    """`table(text)`: a file with this text; `table()`: three solvers on eight problems, `bad` clearly worse."""

    def written(text=None, name="runs.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else (text or good()).encode())
        return path

    return written


def good() -> str:
    rows = ["solver,problem,run,time"]
    wiggle = [0.1, -0.2, 0.3, 0.0, -0.1, 0.2, -0.3, 0.15]
    for i in range(8):
        for solver, value in (("fast", 10 + i), ("same", 10 + i + wiggle[i]), ("bad", 14 + i - wiggle[i])):
            rows += [f"{solver},p{i},{run},{value + 0.01 * run}" for run in (0, 1)]
    return "\n".join(rows)


# What is printed


def test_the_answer_comes_first_then_the_table_then_the_warnings(shell, table):
    answer = shell("analyse", table(), "--reference", "fast", "--difference", "simple")
    assert answer.code == 0
    assert answer.words.startswith("fast is better than bad. ")
    assert "8 instances, 3 algorithms, 48 runs, 0 failed Inconclusive: same." in answer.words
    assert re.search(r"▼ bad \+3.98 \[3.77, 4.19\] .*0/8 <0.001 worse", answer.words)
    assert re.search(r"· same \+0.019 \[−0.189, 0.227\] .*3/8 0.81 inconclusive", answer.words)
    parts = ("fast is better", "adj. p", "not significant below", "more note", "Next:")
    places = [answer.out.index(words) for words in parts]
    assert places == sorted(places)


def test_all_pairs_are_compared_without_a_reference_and_equivalence_is_claimed_within_a_margin(shell, table):
    answer = shell("analyse", table(), "--difference", "simple", "--margin", "1")
    assert answer.words.startswith("fast and same share the lead: no algorithm is better; 2 of 3 pairs differ")
    assert "1 is equivalent within ±1." in answer.words
    assert "≈ fast − same −0.019 [−0.248, 0.210] 4/8 0.81 equivalent" in answer.words


def test_when_nothing_differs_that_is_the_answer(shell, table):
    text = "dataset,a,b\n" + "\n".join(f"d{i},{i},{i + (-1) ** i}" for i in range(6))
    answer = shell("analyse", table(text), "--difference", "simple", "--better", "lower")
    assert answer.words.startswith("a against b is inconclusive. ")
    assert "6 instances, 2 algorithms, 12 runs, 0 failed" in answer.words


def test_the_json_document_has_the_promised_fields_and_nothing_else_is_printed(shell, table):
    answer = shell("analyse", table(), "--reference", "fast", "--difference", "percent", "--json")
    document = answer.json
    assert set(document["comparisons"][0]) == COMPARISON_FIELDS
    assert (document["instances"], document["runs"]) == (8, 48)
    assert isinstance(document["warnings"], list)
    assert answer.err == ""


def test_csv_and_latex_hold_the_same_comparisons(shell, table):
    path = table(good().replace("bad", "b_d"))
    rows = list(csv.DictReader(io.StringIO(shell("analyse", path, "--difference", "simple", "--csv").out)))
    assert len(rows) == 3
    assert {"first", "second", "p_value", "interval_lower"} <= set(rows[0])
    latex = shell("analyse", path, "--difference", "simple", "--latex").out
    assert latex.startswith(r"\begin{tabular}{rlrrrcrl}")
    assert latex.count(r"$-$ b\_d") == 2


def test_exploration_shows_subgroups_and_stability(shell, table):
    lines = good().splitlines()
    sized = [f"{line},{'size' if k == 0 else 'sl'[int(line.split(',')[1][1:]) % 2]}" for k, line in enumerate(lines)]
    answer = shell("analyse", table("\n".join(sized)), "--difference", "simple", "--explore")
    assert "Exploratory, unadjusted" in answer.out
    assert "size = s" in answer.out
    assert "wilcoxon  ratio       median" in answer.out


def test_how_probable_it_is_comes_after_the_tests_with_its_table_and_what_to_know(shell, table):
    answer = shell("analyse", table(), "--reference", "fast", "--difference", "simple", "--margin", "1", "--bayes")

    assert answer.code == 0
    parts = (
        "adj. p",
        "Bayesian verdicts with margin ±1",
        "new instance  verdict",
        "A verdict",
        "first on an instance",
    )
    places = [answer.out.index(words) for words in parts]
    assert places == sorted(places)
    assert "bad is worse than fast by 3.98 (95 % credible interval 3.81 to 4.15)" in answer.words
    assert "Bayesian verdicts" not in shell("analyse", table(), "--difference", "simple", "--margin", "1").out


def test_without_a_margin_no_verdict_is_given_and_it_says_why(shell, table):
    answer = shell("analyse", table(), "--reference", "fast", "--difference", "simple", "--bayes")

    assert answer.code == 0
    assert "Not computed: set a margin (margin=0.02, --margin 0.02)" in answer.words
    assert "Bayesian verdicts with" not in answer.words
    document = shell("analyse", table(), "--reference", "fast", "--difference", "simple", "--bayes", "--json").json
    assert {each["verdict"] for each in document["bayes"]["comparisons"]} == {None}


def test_probabilities_go_into_json_csv_and_latex_when_they_are_asked_for(shell, table):
    asked = ("analyse", table(), "--reference", "fast", "--difference", "simple", "--margin", "1")

    document = shell(*asked, "--bayes", "--json").json
    assert {each["verdict"] for each in document["bayes"]["comparisons"]} == {"worse", "equivalent"}
    assert "bayes" not in shell(*asked, "--json").json
    rows = list(csv.DictReader(io.StringIO(shell(*asked, "--bayes", "--csv").out)))
    assert [row["bayes_verdict"] for row in rows] == ["worse", "equivalent"]
    latex = shell(*asked, "--bayes", "--latex").out
    assert latex.count(r"\begin{tabular}") == 2
    assert "equivalent" in latex


def test_weights_that_cannot_be_used_are_told_in_a_sentence(shell, table):
    flat = "solver,problem,run,time\n" + "\n".join(
        f"{solver},p{i},{run},{10 + i + shift + (0.1 * run if i else 0)}"
        for i in range(8) for solver, shift in (("fast", 0.0), ("bad", 1.0 + 0.1 * i)) for run in (0, 1)
    )  # fmt: skip
    answer = shell(
        "analyse", table(flat), "--difference", "simple", "--margin", "1", "--bayes", "--weights", "precision"
    )

    assert answer.code == 0
    assert (
        "precision weights cannot be used when exact differences (standard error 0) repeat or stand alone"
        in answer.words
    )
    assert "Instances are weighted by the precision of their differences" in answer.words


def test_options_reach_the_analysis(shell, table):
    document = shell(
        "analyse", table(), "--reference", "same", "--difference", "ratio", "--test", "sign", "--alpha", "0.1",
        "--better", "higher", "--statistic", "median", "--alternative", "less", "--se", "0.2", "--budget", "6",
        "--effect", "0.5", "--power", "0.9", "--formula", "paper", "--json",
    ).json  # fmt: skip
    asked = document["settings"]
    assert (asked["reference"], asked["difference"], asked["test"]) == ("same", "ratio", "sign")
    assert (asked["alpha"], asked["better"], asked["statistic"]) == (0.1, "higher", "median")
    assert (asked["alternative"], asked["se"], asked["budget"]) == ("less", 0.2, 6)
    assert (asked["effect"], asked["power"], asked["formula"]) == (0.5, 0.9, "paper")
    assert len(document["at_budget"]) == 8


def test_columns_rows_and_failures_are_chosen_by_options(shell, table):
    text = "who,where,size,score,status\n" + "\n".join(
        f"{who},w{i},{i % 2},{i + len(who)},{'timeout' if i == 2 else 'ok'}" for i in range(8) for who in ("a", "bb")
    )
    document = shell(
        "analyse", table(text), "--algorithm", "who", "--instance", "where", "--value", "score", "--where", "size=0",
        "--on-failure", "penalty=99", "--difference", "simple", "--better", "lower", "--json",
    ).json  # fmt: skip
    assert document["runs"] == 8
    assert document["settings"]["failures"] == {"penalty": 99.0}


# Wrong usage: exit code 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--difference simple|percent|ratio Kind of difference: simple (a − b), percent"),
        (("--difference", "simple", "--json", "--latex"), "choose one of --json, --latex and --csv"),
        (("--difference", "simple", "--where", "size"), "--where must look like dimension=30"),
        (("--difference", "silly"), "silly"),
        (("--difference", "simple", "--alpha", "five"), "'five' is not a number"),
    ],
)
def test_wrong_usage_is_told(shell, table, options, words):
    answer = shell("analyse", table(), *options)
    assert answer.code == 2
    assert words in " ".join(answer.err.split())


def test_conditions_are_taken_apart_at_the_first_equals_sign():
    assert conditions(["name=a=b", "d=3"]) == {"name": "a=b", "d": "3"}


# Bad input: exit code 1 and one sentence


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", (), "is empty"),
        ("solver,problem,note\na,i,x\n", (), "no column holds numbers"),
        ("solver,problem,time\na,i1,1\nb,i1,oops\n", (), "line 3 of runs.csv must hold a number"),
        ("solver,problem,time\na,i1,1\nb,i1,2\n", (), "instance"),
        ("solver,problem,run,time\na,i1,1,1\na,i1,1,2\n", (), "each run must occur once"),
        ("solver,problem,metric,value\na,i,x,1\na,i,y,1\n", (), "--metric"),
        ("solver,problem,time\na,i1,0\nb,i1,2\na,i2,1\nb,i2,3\n", ("--difference", "percent"), "positive"),
        ("solver,problem,time\na,x,-3\nb,x,2\na,y,1\nb,y,3\n", ("--difference", "percent"), "no time is negative"),
        ("solver,problem,cost\na,x,-3\nb,x,2\na,y,1\nb,y,3\n", ("--difference", "percent", "--reference", "a"), "'a'"),
        ("solver,problem,time,status\na,i1,1,ok\nb,i1,9,timeout\n", (), "--on-failure"),
        (good(), ("--reference", "nobody"), "nobody"),
        (good(), ("--on-failure", "panic"), "penalty=VALUE"),
        (good(), ("--statistic", "mode"), "mode"),
        (good(), ("--alpha", "2"), "alpha"),
        (good(), ("--alternative", "less"), "reference"),
        ("algorithm,instance,value\nGr\xfcn,i,1\n".encode("latin-1"), (), "not UTF-8"),
        (b"PK\x03\x04 not a table", (), "Excel or zip"),
        (gzip.compress(b"solver,problem,time\n", mtime=0)[:-3], (), "cannot be read"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_1_and_2_where_the_options_alone_are_wrong(
    shell, table, text, options, words
):
    chosen = () if "--difference" in options else ("--difference", "simple")
    path = table(text) if text else table(b"")
    answer = shell("analyse", path, *chosen, *options)
    alone = {"--on-failure", "--statistic", "--alpha", "--alternative"}.intersection(options)
    assert answer.code == (2 if alone else 1)
    assert answer.out == ""
    assert answer.err.count("\n") == 1 or "A complete command:" in answer.err
    assert words in answer.err
    assert "defect" not in answer.err


def test_an_algorithm_missing_on_some_instances_is_told_with_how_many_each_pair_uses(shell, table):
    lines = [line for line in good().splitlines() if not line.startswith("same,p3")]
    answer = shell("analyse", table("\n".join(lines)), "--difference", "simple")
    assert answer.code == 0
    assert "1 of 8 instances are incomplete: p3 (no run of same)." in answer.words
    used = shell("analyse", table("\n".join(lines)), "--difference", "simple", "--json").json["comparisons"]
    assert {(each["first"], each["second"]): each["instances"] for each in used} == {
        ("fast", "bad"): 8, ("same", "bad"): 7, ("fast", "same"): 7,
    }  # fmt: skip
    assert all(f" {wins} " in answer.words for wins in ("8/8", "7/7", "4/7"))


def test_one_algorithm_alone_is_described_and_not_compared(shell, table):
    path = table("solver,problem,time\na,i1,1\na,i2,2\n")
    answer = shell("analyse", path, "--difference", "simple")
    assert answer.code == 0
    assert answer.words.startswith("a: mean of time 1.50 (95 % CI -4.85 to 7.85; 2 instances, 2 runs).")
    assert shell("analyse", path, "--difference", "simple", "--latex").code == 2


def test_two_gigabytes_from_a_small_file_are_refused(shell, table):
    block = gzip.compress(b"a,i1,0.000000\n" * 2**22)
    path = table(gzip.compress(b"solver,problem,time\n") + block * 37, "bomb.csv.gz")
    answer = shell("analyse", path, "--difference", "simple")
    assert answer.code == 1
    assert "unpacks to more than 512 MB" in answer.err


def test_a_file_that_is_not_there_is_told(shell, tmp_path):
    answer = shell("analyse", tmp_path / "none.csv", "--difference", "simple")
    assert (answer.code, "does not exist" in answer.err) == (1, True)


# Published results


@pytest.fixture
def published(shell, public_data):
    def document(name, *options):
        return shell("analyse", public_data / name, *options, "--json").json

    return document


def test_the_papers_first_table_is_reproduced_to_its_printed_digits(published, gold_paper_table):
    document = published("paper_experiment1_runs.csv", *PAPER)
    rows = gold_paper_table["rows"]
    assert [c["second"] for c in document["comparisons"]] == [row["comparison"] for row in rows]
    for comparison, row in zip(document["comparisons"], rows, strict=True):
        low, high = comparison["interval"]
        assert comparison["alpha"] == pytest.approx(row["alpha_printed"], abs=0.51e-4 if row["rank"] < 17 else 0.51e-3)
        assert float(f"{comparison['p_value']:.1e}") == pytest.approx(row["p_printed"], rel=0.06)
        assert comparison["estimate"] == pytest.approx(row["estimate"], abs=digit(row["estimate"]))
        assert (high - low) / 2 == pytest.approx(row["halfwidth_printed"], abs=digit(row["halfwidth_printed"]))
        assert comparison["effect_size"] == pytest.approx(row["d_printed"], abs=digit(row["d_printed"]))
        assert comparison["rejected"] == row["reject"]
    assert sum(c["rejected"] for c in document["comparisons"]) == 12
    assert document["at_budget"] == ["I_50_15_S_1-9_2", "I_50_25_S_1-124_1", "I_50_25_S_1-9_2"]


def digit(printed: float) -> float:
    """Half a unit of the last printed digit, and a hair."""
    decimals = len(repr(printed).partition(".")[2])
    return 0.51 * 10.0**-decimals


@pytest.fixture
def gold_paper_table():
    from pathlib import Path

    path = Path(__file__).parents[2] / "gold" / "paper_tables.json"
    return json.loads(path.read_text())["table1_N57_K21"]


def test_the_three_instances_at_the_budget_are_named_to_the_reader(shell, public_data):
    answer = shell("analyse", public_data / "paper_experiment1_runs.csv", *PAPER)
    assert answer.words.startswith("Full is better than 12 of 21 algorithms. ")
    assert "57 instances, 22 algorithms," in answer.words
    answer = shell("analyse", public_data / "paper_experiment1_runs.csv", *PAPER, "--explain")
    assert "I_50_15_S_1-9_2, I_50_25_S_1-124_1, I_50_25_S_1-9_2" in answer.words


@pytest.mark.parametrize(
    ("name", "options", "statistic", "corrected"),
    [
        ("demsar2006_table6.csv", ("--better", "higher"), 9.857, False),
        ("demsar2006_table6.csv", ("--better", "higher"), 10.952, True),
        ("cd_diagram_example.csv", ("--better", "higher"), 33.466, True),
        ("cec17_extended_final.csv.gz", ("--where", "dimension=30", "--better", "lower"), 230.990, True),
        ("benavoli2017_accuracies_mean.csv", ("--better", "higher"), 20.8405, True),
    ],
)
def test_published_friedman_statistics_are_found(published, name, options, statistic, corrected):
    document = published(name, "--difference", "simple", *options)
    found = document["omnibus"]["friedman"]["corrected" if corrected else "uncorrected"]
    assert found["statistic"] == pytest.approx(statistic, abs=0.51e-3)


def test_the_mean_ranks_of_demsar_are_found_with_the_value_he_used(shell, public_data, tmp_path):
    text = (public_data / "demsar2006_table6.csv").read_text()
    path = tmp_path / "demsar.csv"
    path.write_text(text.replace("voting,0.972,0.981,0.975,0.975", "voting,0.972,0.981,0.9754,0.975"))
    document = shell("analyse", path, "--difference", "simple", "--better", "higher", "--json").json
    ranks = [algorithm["mean_rank"] for algorithm in document["algorithms"]]
    assert ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=0.51e-3)
    assert document["omnibus"]["friedman"]["uncorrected"]["statistic"] == pytest.approx(9.28, abs=0.51e-2)


def test_incomplete_and_duplicated_instances_and_failures_of_public_data_are_told(shell, public_data):
    ioh = shell("analyse", public_data / "ioh_dsl_large_final.csv", "--difference", "simple")
    assert "1 of 23 instances are incomplete: 18 (no run of (30,30) vGA)." in ioh.words
    accuracies = public_data / "benavoli2017_accuracies_mean.csv"
    asked = shell("analyse", accuracies, "--difference", "simple")
    assert (asked.code, "--better lower|higher" in asked.err) == (1, True)
    benavoli = shell("analyse", accuracies, "--difference", "simple", "--better", "higher")
    assert "credit = credit_2" in benavoli.words
    for name in ("aslib_CPMP-2015.csv", "aslib_CSP-2010.csv"):
        asked = shell("analyse", public_data / name, "--difference", "simple")
        assert (asked.code, "--on-failure" in asked.err) == (1, True)
        told = shell("analyse", public_data / name, "--difference", "simple", "--on-failure", "par=10")
        assert (told.code, " failed" in told.words) == (0, True)
    saes = shell("analyse", public_data / "saes_ml_data.csv", "--difference", "simple")
    assert (saes.code, "'accuracy', 'loss'" in saes.err) == (1, True)


def test_the_dimension_of_the_cec_results_is_a_subgroup(published):
    asked = ("--difference", "simple", "--better", "lower", "--reference", "jSO")
    document = published("cec17_extended_final.csv.gz", *asked)
    assert {group["value"] for group in document["subgroups"]} == {"10", "30", "50", "100"}
    assert document["instances"] == 116


LIMITED = Path(__file__).parents[2] / "data" / "imports" / "files" / "benchexec-limit"


def test_the_cutoff_stands_wherever_par_is_reported(shell, tmp_path):
    asked = (LIMITED, "--difference", "simple", "--on-failure", "par=10")
    assert "10 times the cutoff of 1" in shell("analyse", *asked).out
    policy = json.loads(shell("analyse", *asked, "--json").out)["settings"]["failures"]
    assert policy == {"par": 10.0, "cutoff": 1.0}
    for name in ("report.html", "report.tex"):
        assert shell("report", *asked, "--output", tmp_path / name).code == 0
        assert "10 times the cutoff of 1" in (tmp_path / name).read_text()


def test_the_decimal_mark_is_asked_for_where_cells_do_not_show_it_and_is_an_option(shell, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("dataset;old;new\ni1;1240;1,234\ni2;1250;1,300\ni3;1260;1,290\n")
    asked = shell("analyse", path, "--difference", "simple", "--better", "lower")
    assert asked.code == 1
    assert "column 'new' of runs.csv is ambiguous" in asked.err
    assert "--decimal . or --decimal ," in asked.err
    means = {
        mark: shell("analyse", path, "--difference", "simple", "--better", "lower", "--decimal", mark, "--json").json
        for mark in (".", ",")
    }
    estimates = [abs(document["comparisons"][0]["estimate"]) for document in means.values()]
    assert estimates == pytest.approx([3824 / 3 - 1250, 1250 - 3.824 / 3])
    assert shell("analyse", path, "--difference", "simple", "--decimal", "x").code != 0


@pytest.mark.parametrize("names", [("cost", "nope"), ("nope", "cost")])
def test_an_unknown_measure_is_named_with_the_columns_there_are(shell, table, names):
    path = table("algorithm,instance,cost,seconds\na,i1,1,2\nb,i1,2,3\na,i2,1,3\nb,i2,3,2\n")
    roles = ("primary", "descriptive")
    options = [
        part
        for name, role in zip(names, roles, strict=True)
        for part in ("--measure", f"name={name},better=lower,difference=simple,role={role}")
    ]

    answer = shell("analyse", path, *options)

    assert answer.code == 1
    assert "measure 'nope' must name a column" in answer.err
    assert "ignore" not in answer.err
    assert "'cost'" in answer.err
    assert "'seconds'" in answer.err


def test_the_choices_without_default_all_begin_with_their_option(shell, table):
    answer = shell("analyse", table("algorithm,instance,value\na,i1,1\nb,i1,2\na,i2,1\nb,i2,3\na,i3,\nb,i3,1\n"))

    bullets = [line for line in answer.err.splitlines() if line.startswith("•")]
    assert [line.split()[1] for line in bullets] == ["--difference", "--better", "--on-failure"]


def test_values_below_full_precision_have_a_report_and_no_posterior(shell, table, tmp_path):
    sizes = [5e-324, 1e-323, 1.5e-323, 5e-324, 2e-323, 1e-323]
    rows = [f"{name},i{k},{sizes[(k * step) % 6]}" for k in range(6) for name, step in (("a", 1), ("b", 5))]
    path, asked = table("\n".join(["algorithm,instance,value", *rows])), ("--difference", "simple", "--better", "lower")

    assert shell("report", path, *asked, "-o", tmp_path / "report.html").code == 0
    answer = shell("analyse", path, *asked, "--margin", "1", "--bayes")
    assert answer.code == 0
    assert "scale the values up" in " ".join(answer.out.split())
