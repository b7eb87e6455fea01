"""A study that is not finished has estimates only, in every output; complete ones have verdicts."""

import json
import math
import random
import re
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from flat_study import flat_study
from hypothesis import given
from hypothesis import strategies as st

import ampler as am
from ampler.core.errors import AmplerError, InvalidData
from ampler.report import subject_of, write_report
from ampler.sampling.rules import Fixed

INSTANCES = {f"i{n}": 10.0 + n for n in range(12)}


def study(limit=math.inf, **asked):
    """A study of two algorithms, `b` clearly worse, that breaks off after so many runs."""
    _, made = tempfile.mkstemp()  # every run has the memory of a function that has not run yet

    def slower(by):
        def call(instance, seed):
            with open(made, "a") as file:
                file.write(".")
            if Path(made).stat().st_size > limit:
                raise RuntimeError("broken")
            return instance + by + random.Random(seed).random()

        return call

    usual = {"difference": "simple", "seed": 1, "better": "lower", "use": "all", "rule": Fixed(runs=3)}
    algorithms = {"a": slower(0.0), "b": slower(2.0)}
    return flat_study(algorithms=algorithms, instances=INSTANCES, **usual | asked)


@pytest.fixture(scope="module")
def broken_off(tmp_path_factory):
    path = tmp_path_factory.mktemp("unfinished") / "study.db"
    with suppress(AmplerError):
        study(limit=45, margin=0.5).run(path, workers=1)
    return path


VERDICT = re.compile(
    r"\b[ab] is better|\b[ab] beats|better than|\*\*\d|told apart|equivalent|inconclusive|null hypotheses rejected"
    r"|p = |p < |▲|▼",
    re.I,
)


def test_nothing_is_tested_before_the_study_is_complete(broken_off):
    analysis = am.analyse(broken_off)
    assert "7 of 12 planned instances" in analysis.unfinished
    [comparison] = analysis.comparisons
    assert comparison.estimate == pytest.approx(-2, abs=0.5)
    assert not comparison.claimed
    assert not comparison.rejected
    hidden = (comparison.p_value, comparison.p_holm, comparison.effect_size, *comparison.interval)
    assert all(map(math.isnan, (*hidden, *comparison.joint_interval)))
    assert comparison.verdict.startswith("estimate so far: -")
    assert (analysis.omnibus, analysis.stability, analysis.subgroups) == (None, (), ())
    with pytest.raises(InvalidData, match="not finished"):
        _ = analysis.bayes


def test_no_output_of_an_unfinished_study_has_a_verdict(broken_off, tmp_path):
    analysis = am.analyse(broken_off)
    document = json.dumps(analysis.as_dict(), allow_nan=False)
    for name in ("report.html", "report.md", "report.tex", "report.csv"):
        write_report(subject_of(broken_off), tmp_path / name)
    html = (tmp_path / "report.html").read_text()
    shown = re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", html, flags=re.S)
    texts = [
        str(analysis),
        document,
        shown,
        *((tmp_path / f"report.{kind}").read_text() for kind in ("md", "tex", "csv")),
    ]
    for text in texts:
        assert not VERDICT.search(text.replace('"equivalence"', ""))
    assert analysis._repr_html_()
    for text in (str(analysis), document, shown):
        assert "7 of 12 planned instances" in text or "Intervals, p-values and verdicts come" in text


def test_unplanned_tests_have_their_warning_first(broken_off):
    analysis = am.analyse(am.read_results(broken_off, unplanned=True))
    assert analysis.unfinished == ""
    assert analysis.comparisons[0].claimed
    assert analysis.warnings[0].kind == "unplanned"
    headline = am.analysis.text.headline(analysis)
    assert headline.startswith("Do not report these results: the study is unfinished")


def test_a_study_that_goes_on_to_its_end_is_finished(broken_off, tmp_path):
    path = tmp_path / "study.db"
    path.write_bytes(broken_off.read_bytes())
    found = study(margin=0.5).run(path, workers=1, retry_failed=True)
    assert (found.unfinished, found.comparisons[0].claimed) == ("", True)
    assert am.analyse(path).unfinished == ""


def test_dropped_failures_are_no_missing_runs(tmp_path):
    def fails(instance, seed):
        if seed % 3 == 0:
            raise RuntimeError("no")
        return instance + seed % 7

    algorithms = {"a": fails, "b": lambda instance, seed: instance + 20 + seed % 7}
    asked = {"difference": "simple", "seed": 3, "better": "lower", "use": "all", "rule": Fixed(runs=8)}
    found = flat_study(algorithms=algorithms, instances=INSTANCES, on_failure="drop", **asked).run(tmp_path / "s.db")
    assert (found.unfinished, found.comparisons[0].claimed) == ("", True)


def test_a_study_that_a_rule_ends_is_finished(tmp_path):
    rules = {"detect": 1.0, "pilot": 8, "use": "needed"}, {"se": 0.2}, {"effect": 1.0, "looks": 2, "se": 0.3}
    for number, asked in enumerate(rules):
        found = study(rule=None, **asked).run(tmp_path / f"{number}.db", workers=1)
        assert (found.unfinished, found.comparisons[0].claimed) == ("", True)


def test_a_pilot_alone_is_not_the_end(tmp_path):
    path = tmp_path / "study.db"
    with suppress(AmplerError):
        study(limit=70, rule=None, use="needed", detect=0.01, pilot=6).run(path, workers=1)
    assert am.analyse(path).unfinished
    assert not am.analyse(path).comparisons[0].claimed


def test_looks_that_are_over_are_planned(tmp_path):
    path = tmp_path / "study.db"
    with suppress(AmplerError):
        study(limit=33, effect=0.3, looks=3).run(path, workers=1)
    analysis = am.analyse(path)
    assert analysis.unfinished == ""
    assert analysis.looks is not None
    assert analysis.instances == analysis.looks.course.looks[0]


def test_a_part_is_not_the_whole(tmp_path):
    from ampler.running import run_plan
    from ampler.study.plan import part_of
    from ampler.study.store import open_store

    for part in (1, 2):
        with open_store(tmp_path / f"{part}.db") as store:
            run_plan(part_of(study().plan, part, 2), store, workers=1)
    assert "part 1/2" in am.analyse(tmp_path / "1.db").unfinished
    assert not am.analyse(tmp_path / "1.db").comparisons[0].claimed


@given(st.integers(12, 72))
def test_how_much_is_missing_does_not_matter(tmp_path_factory, limit):
    path = tmp_path_factory.mktemp("study") / "study.db"
    with suppress(AmplerError):
        study(limit=limit).run(path, workers=1)
    analysis = am.analyse(path)
    assert bool(analysis.unfinished) == (limit < 72)
    assert analysis.comparisons[0].claimed == (limit >= 72)
