from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path

import pytest
from flat_study import flat_subject

import ampler
from ampler.core.failures import Drop
from ampler.core.plan import Limits
from ampler.report import Subject, subject_of
from ampler.report.html import html_report
from ampler.report.latex import escaped, latex_paragraph, latex_report
from ampler.report.markdown import markdown_report
from ampler.report.methods import belief_sentences, cited, methods, plain_paragraph, reference
from ampler.sampling.rules import Accuracy, Fixed

ASKED = {"difference": "simple", "reference": "full"}


def paragraph(source, **options) -> str:
    return plain_paragraph(methods(flat_subject(source, **options)))


def test_the_paragraph_has_the_numbers_of_the_papers_experiment(paper):
    text = paragraph(paper)

    assert (
        "We compared 22 algorithms by Observation (lower is better) on 57 problem instances, Full with each other"
        in text
    )
    assert "Each algorithm had 10 to 201 runs on each instance, 23,271 in total." in text
    assert "On 3 instances the budget of 1,100 runs was spent." in text
    assert "d ≥ 0.50 with a mean power of 0.8 (Campelo & Wanner 2020)" in text
    assert "their differences as a share of the value of Full" in text
    assert "The 21 null hypotheses of zero mean difference were tested by paired t-tests (two-sided)" in text


def test_what_a_table_does_not_say_is_left_to_the_author(paper):
    assert "[Describe how the numbers of instances and runs were chosen]." in paragraph(paper)


def test_the_default_rule_is_named_with_its_guard(study_file):
    text = paragraph(study_file())

    assert "Every algorithm first had 4 runs on each instance" in text
    assert "more followed until every standard error of interest was at most 0.6 or 60 runs were made" in text
    assert "In rounds of at most 16, runs were shared out" in text
    assert "total number is smallest under all accuracy constraints together" in text
    assert "level 0.05 per algorithm, 0.025 for a reference" in text
    assert "and allow for their kurtosis" in text
    assert "(Smyth 2004)" in text


def test_what_was_done_about_values_that_decided_when_runs_ended(study_file):
    path = study_file()
    assert "The number of runs depended on their values; the estimates were corrected to first order" in paragraph(path)
    assert "from the initial runs of each algorithm, which did not" in paragraph(path, estimate="first-runs")
    assert "depended on their values" not in paragraph(study_file(Fixed(runs=3)))


def test_the_papers_rule_is_named_as_its_algorithm_1(study_file):
    text = paragraph(study_file(Accuracy.as_in_paper(se=0.6, start=4, budget=60, **ASKED)))

    assert "one at a time by the sequential rule of Algorithm 1 of the cited work" in text
    assert "Smyth" not in text
    assert "upper bounds" not in text


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Fixed(runs=3), "Every algorithm was run 3 times on each instance."),
        (Accuracy(se=0.6, start=4, budget=60, guard="all", **ASKED), "level 0.1 over all algorithms together"),
        (Accuracy(se=0.6, start=4, budget=60, guard_edition=1, **ASKED), "level 0.1 per algorithm, 0.05 for a"),
        (Accuracy(se=0.6, start=4, budget=60, guard="none", **ASKED), "based on the sample variances themselves."),
        (Accuracy(se=0.6, start=4, budget=60, allocation="greedy", **ASKED), "given to the pair with the largest"),
        (Accuracy(se=0.6, start=4, budget=60, allocation="balanced", **ASKED), "runs were shared out equally"),
        (Accuracy(se=0.6, start=4, **ASKED), "or 150 runs were made"),
        (Accuracy(se=0.6, start=4, budget=60, costs={"full": 2.0}, **ASKED), "total cost is smallest"),
    ],
)
def test_the_rule_really_used_is_named(study_file, rule, words):
    assert words in paragraph(study_file(rule))


def test_a_planned_study_says_what_was_planned(study_file):
    text = paragraph(study_file())

    assert "5 instances were planned, with a power of 0.62 at d = 1.5" in text
    assert re.search(r"; \d+ would have given a mean power of 0.8 \(Campelo & Wanner 2020\)\.", text)
    assert f"Software: ampler {ampler.__version__}, seed 2019." in text


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("worst", "given a smallest power of 0.8"),
        ("median", "given a median power of 0.8"),
        (1, "given a power of 0.8 in at least 1 test"),
    ],
)
def test_the_target_of_the_plan_is_named(study_file, target, words):
    assert words in paragraph(study_file(target=target))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test": "wilcoxon"}, "Wilcoxon signed-rank tests (two-sided) over the instances"),
        ({"test": "sign"}, "sign tests (two-sided)"),
        ({"test": "bootstrap-t"}, "of zero mean difference were tested by bootstrap-t tests (two-sided)"),
        ({"test": "bootstrap-t"}, "Romano and Wolf's step-down procedure, with 9999 resamples of the instances"),
        ({"test": "bootstrap-t"}, "Simultaneous 95 % confidence intervals come from the same resamples"),
        ({"test": "sign-flip"}, "step-level intervals have the level of their rank"),
        ({"test": "bootstrap-t"}, "(Hall 1988; Romano & Wolf 2005)"),
        ({"test": "sign-flip"}, "that the differences are symmetric about zero were tested by sign-flip tests"),
        ({"test": "sign-flip", "margin": 0.5}, "two one-sided tests, a family of its own"),
        ({"alternative": "less"}, "paired t-tests (one-sided, less)"),
        ({"difference": "ratio"}, "the logarithms of their ratios"),
        ({"statistic": "median"}, "summarised by their median"),
        ({"margin": 0.5}, "Equivalence within ±0.5 was tested by two one-sided tests"),
        ({"margin": 0.5}, "family-wise error rate 0.05"),
        ({"alpha": 0.01}, "Simultaneous 99 % confidence intervals"),
    ],
)
def test_what_was_asked_is_what_is_said(study_of, options, words):
    assert words in paragraph(study_of(["full", "one", "two"], **({"reference": "full"} | options)))


def test_all_with_all_in_percent_names_the_formula(study_of):
    delta = paragraph(study_of(["one", "two"], difference="percent"))
    published = paragraph(study_of(["one", "two"], difference="percent", formula="paper"))

    assert "computed by the delta method." in delta
    assert "computed by the published formula (Campelo & Wanner 2020)." in published


def test_failed_runs_are_counted_and_what_they_count_as_is_said():
    import pandas as pd

    from ampler import analyse, read_results

    rows = [(i, a, 10.0 + k, "ok") for i in "pqrs" for a in "ab" for k in range(3)] + [("p", "a", 9.0, "timeout")]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "value", "status"])
    frame.loc[frame.algorithm == "b", "value"] += frame.index[frame.algorithm == "b"] % 5

    assert "1 run failed; failed runs were left out." in paragraph(
        analyse(read_results(frame, on_failure=Drop()), difference="simple", better="lower")
    )
    assert "25 in total, 24 of them with a value that is used." in paragraph(
        analyse(read_results(frame, on_failure=Drop()), difference="simple", better="lower")
    )
    assert "about the runs that succeeded (runs that gave a value: a 12 of 13, b 12 of 12)." in paragraph(
        analyse(read_results(frame, on_failure=Drop()), difference="simple", better="lower")
    )
    assert "failed runs were counted as 99." in paragraph(
        analyse(read_results(frame, on_failure="penalty=99"), difference="simple", better="lower")
    )


def test_works_are_cited_once_and_only_those_that_were_used(paper, study_of):
    assert [work.key for work in cited(methods(Subject("", paper)))] == ["holm1979", "campelo2020"]
    signed = study_of(["one", "two"], test="wilcoxon", margin=1.0)
    keys = {work.key for work in cited(methods(Subject("", signed)))}
    assert {"wilcoxon1945", "schuirmann1987"} <= keys
    resampled = study_of(["one", "two"], test="bootstrap-t")
    keys = {work.key for work in cited(methods(Subject("", resampled)))}
    assert "romano2005" in keys
    assert "holm1979" not in keys


def test_every_citation_in_latex_has_an_entry(nasty):
    sentences = methods(Subject("", nasty))

    keys = {key for cite in re.findall(r"\\cite\{([^}]*)\}", latex_paragraph(sentences)) for key in cite.split(",")}

    assert keys == {work.key for work in cited(sentences)}
    for key in keys:
        assert reference(key).bibtex.startswith(f"@article{{{key},")
        assert reference(key).bibtex.count("{") == reference(key).bibtex.count("}")


def test_names_in_the_paragraph_are_escaped_for_latex(nasty, nasty_names):
    text = latex_paragraph(methods(Subject("", nasty)))

    assert r"\$\textbackslash{}frac\{\$ with each other algorithm" in text
    assert nasty_names[3] not in text


def test_pairs_of_runs_and_folds_are_said():
    import pandas as pd

    rows = [
        (a, f"d{i}", fold, 5.0 + i + k + (fold * i) % 3)
        for i in range(6)
        for fold in range(4)
        for k, a in enumerate("ab")
    ]
    frame = pd.DataFrame(rows, columns=["classifier", "dataset", "fold", "accuracy"])
    text = paragraph(frame, difference="simple", paired="fold")
    assert "Runs with the same fold were compared pair by pair" in text
    assert "The runs are folds of a cross-validation and not independent" in text
    assert "Nadeau & Bengio 2003" in text
    assert "Nadeau" not in paragraph(frame.rename(columns={"fold": "run"}), difference="simple")


def test_one_value_of_each_algorithm_is_one_run():
    import pandas as pd

    frame = pd.DataFrame({"dataset": list("abcdef"), "old": [1.0, 2, 3, 4, 5, 7], "new": [2.0, 2.5, 4, 5, 5.5, 9]})
    assert "Each algorithm had 1 run on each instance, 12 in total." in paragraph(
        frame, difference="simple", better="lower"
    )


def test_what_ended_runs_is_told_of_any_values_and_of_each_algorithm_where_it_differs(study_file):
    subject = subject_of(study_file())
    assert "A run was ended after" not in plain_paragraph(methods(subject))
    limited = replace(subject.origin.plan, limits=Limits(timeout=60.0, memory=2 * 10**9))
    text = plain_paragraph(methods(replace(subject, origin=replace(subject.origin, plan=limited))))
    assert "A run was ended after 60 s by the clock or 2 GB of memory." in text
    several = replace(limited, own_limits={"less": Limits(cpu_timeout=5.0)})
    text = plain_paragraph(methods(replace(subject, origin=replace(subject.origin, plan=several))))
    assert "5 s of processor time or 60 s by the clock or 2 GB of memory (less)" in text
    assert "60 s by the clock or 2 GB of memory (full)" in text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"test": "sign"}, "After the first results was chosen, otherwise than planned: test sign (planned: t)"),
        (
            {"alternative": "less", "alpha": 0.01},
            "alternative less (planned: two-sided); alpha 0.01 (planned: 0.05)",
        ),
        ({"difference": "ratio", "statistic": "median"}, "difference ratio (planned: simple); statistic median"),
        ({"on_failure": "drop"}, "failures left out (planned: not said)"),
        ({"margin": 0.5}, "margin 0.5 (planned: none)"),
    ],
)
def test_the_plan_that_was_made_is_reported_and_what_was_chosen_after_the_results_apart(study_file, options, told):
    planned = re.search(r"\d+ instances were planned, with a power of 0.62 at d = 1.5", paragraph(study_file()))

    text = paragraph(study_file(), **options)

    assert "The plan assumed paired t-tests (two-sided) under Holm's correction and a family-wise α of 0.05" in text
    assert planned[0] in text
    assert told in text
    assert "otherwise than planned" not in paragraph(study_file())


@pytest.mark.parametrize("name", ["sized", "looks"])
def test_studies_whose_values_decide_report_their_plan_whatever_is_tested(name):
    old = Path(__file__).parents[1] / "study" / "old" / name / "study.db"
    options = {"test": "wilcoxon"} | ({"ignore_looks": True} if name == "looks" else {})
    text = paragraph(old, **options)

    assert {"sized": "Each algorithm was first run 3 times on each of 16 instances in random order (internal pilot)",
            "looks": "Interim analyses were planned after 9, 13, 17, 21 instances"}[name] in text  # fmt: skip
    assert "ordinary ones and do not account for" in text
    assert "test wilcoxon (planned: t)" in text
    assert "not at its end" not in text


# References are read from the .bib file of the package and stand in a report as they always did.


GOLD = json.loads((Path(__file__).parents[1] / "gold" / "references.json").read_text(encoding="utf-8"))
BELIEFS = ["benavoli2017", "corani2017", "gelman2012", "lange1989", "plackett1975"]
CITED = {
    "t": ["holm1979", "campelo2020"],
    "wilcoxon": ["wilcoxon1945", "holm1979", "campelo2020", "schuirmann1987", *BELIEFS],
    "sign": ["dixon1946", "holm1979", "campelo2020"],
}


@pytest.mark.parametrize("work", GOLD, ids=lambda work: work["key"])
def test_a_work_is_cited_listed_and_entered_letter_for_letter(work):
    assert asdict(reference(work["key"])) == work


@pytest.fixture(params=CITED, scope="module")
def cited_works(request, study_of):
    """A report's subject, and the works it cites as they must stand in it."""
    margin = 0.5 if request.param == "wilcoxon" else None
    subject = Subject("x", study_of(["one", "two", "three"], test=request.param, margin=margin))
    works = {work["key"]: work for work in GOLD}
    return subject, [works[key] for key in CITED[request.param]]


def test_a_latex_document_lists_what_it_cites_and_ends_with_the_entries(cited_works):
    subject, works = cited_works
    items = [rf"\bibitem{{{work['key']}}} {escaped(work['listed'])}" for work in works]
    entries = [work["bibtex"] for work in works]
    head, listed, hidden = r"\begin{thebibliography}{9}", r"\end{thebibliography}", r"\iffalse  % the same for BibTeX"

    text = latex_report(subject)

    expected = [head, *items, listed, hidden, *entries, r"\fi", r"\end{document}", ""]
    assert text[text.index(head) :] == "\n".join(expected)


@pytest.mark.usefixtures("without_figures")
def test_a_page_and_a_markdown_report_hold_the_entries_and_cite_in_their_paragraph(cited_works):
    subject, works = cited_works
    page, markdown = html_report(subject), markdown_report(subject)

    assert "\n".join(["```bibtex", *(work["bibtex"] for work in works), "```"]) in markdown
    assert "\n".join(work["bibtex"] for work in works) in unescape(page)
    for work in works:
        assert work["short"].replace("&", "&amp;") in page
        assert work["short"].replace("&", r"\&") in markdown


# What the methods paragraph says of posteriors, verdicts and rankings.


def said(analysis):
    sentences = list(belief_sentences(analysis))
    return " ".join(each.words for each in sentences), [key for each in sentences for key in each.cites]


def test_without_a_margin_nothing_is_said(study_of):
    assert said(study_of(["one", "two"])) == ("", [])


def test_what_was_done_is_said_with_its_numbers_and_cited(study_of):
    words, cites = said(study_of(["one", "two", "three"], margin=0.5, alpha=0.1))

    assert "90 % credible intervals" in words
    assert "a region of practical equivalence of ±0.5" in words
    assert "with equal weights of the instances" in words
    assert "0.975 or more both under this posterior and under a posterior with a shared prior" in words
    assert "separated from the standard errors of the runs" in words
    assert "Bayesian signed-rank test (50,000 draws, seed 0)" in words
    assert "20,000 importance draws" in words
    assert cites == ["benavoli2017", "corani2017", "gelman2012", "lange1989", "benavoli2017", "plackett1975"]


def test_two_comparisons_share_no_prior_and_other_weights_are_said(study_of):
    words, cites = said(study_of(["one", "two", "three"], reference="one", margin=0.5, weights="precision"))

    assert "weighted by the precision of their differences" in words
    assert "share a prior" not in words
    assert "gelman2012" not in cites


def test_where_accuracy_is_not_known_nothing_was_separated(study_of):
    words, _ = said(study_of(["one", "two"], runs=1, margin=0.5))

    assert "separated" not in words


def test_two_instances_have_rankings_alone(study_of):
    words, cites = said(study_of(["one", "two"], instances=2, margin=0.5))

    assert "credible" not in words
    assert cites == ["plackett1975"]
