from __future__ import annotations

import re

import pytest

import ampler as am
from ampler.app.web.results import VIEWS
from ampler.study.store import open_store
from ampler.testing import contract_plan


@pytest.fixture
def results(browse, study):
    browser = browse(study)
    return lambda query="": browser.get(f"/study/small/results?{query}")


def test_the_answer_comes_first(results):
    reply = results()

    assert reply.status == 200
    title = re.search("<h1>(.*?)</h1>", reply.text, re.DOTALL)[1]
    assert "plain" in title
    assert 'class="forest"' in reply.text


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_a_page_with_names_escaped(results, view):
    reply = results(f"view={view}&margin=0.2")

    assert reply.status == 200
    assert "<i>odd" not in reply.text
    assert "&lt;i&gt;odd" in reply.text


def test_choosing_after_looking_is_called_exploring(results):
    assert "This is exploration" not in results("test=t").words
    reply = results("test=wilcoxon&difference=ratio")
    assert "This is exploration" in reply.words
    assert "(difference, test)" in reply.words


def test_a_pair_shows_its_instances_and_has_its_quantiles_as_files(results):
    reply = results("view=pair&pair=2")

    assert 'class="bar strip"' in reply.text
    assert 'class="bar scatter"' in reply.text
    assert "quantiles-of-2.pdf" in reply.text
    assert reply.text.count("<tr>") >= 6
    assert results("view=pair&pair=99").status == 422


def test_probabilities_want_a_margin(results):
    assert "smallest difference that matters" in results("view=probable").words
    assert "The same by other models" in results("view=probable&margin=0.2").words


def test_what_cannot_be_analysed_keeps_the_form_and_says_why(results):
    reply = results("reference=<b>nobody")

    assert reply.status == 422
    assert "Nothing can be concluded yet." in reply.words
    assert "<b>nobody" not in reply.text
    assert 'id="ask"' in reply.text


def test_a_study_without_a_finished_instance_says_what_is_missing(browse, tmp_path):
    with open_store(tmp_path / "begun.db") as store:
        store.begin(contract_plan(), {})
    reply = browse(tmp_path / "begun.db").get("/study/begun/results")

    assert reply.status == 422
    assert "No instance of the study is finished yet" in reply.words


def test_a_view_that_does_not_exist_is_the_first(results):
    assert 'class="forest"' in results("view=nothing").text


def test_the_rows_and_the_figures_of_a_pair_can_be_taken_along(browse, study):
    browser = browse(study)
    for view in ("findings", "pair&pair=2"):
        files = re.findall(
            r'href="(/study/small/results/[^"]+)" download', browser.get(f"/study/small/results?view={view}").text
        )
        assert len(files) == 4
        for file in files:
            assert browser.get(file).status == 200, file


def test_every_figure_is_seen_and_has_its_files(browse, study):
    browser = browse(study)
    text = browser.get("/study/small/results?view=figures&test=wilcoxon").text
    seen = re.findall(r'<img src="([^"]+)"', text)

    assert len(seen) > 5
    assert all("test=wilcoxon" in where for where in seen)
    assert b"<svg" in browser.get(seen[0]).body
    assert text.count('.pdf?test=wilcoxon" download') == len(seen)


def test_several_measures_stand_before_the_comparisons(tmp_path, browse):
    def solve(shift):
        return lambda instance, seed: {"cost": instance + shift + seed % 9 / 9, "nodes": 5.0}

    measures = [
        {"name": "cost", "better": "lower", "difference": "simple"},
        {"name": "nodes", "better": "lower", "difference": "simple", "role": "non-inferior", "margin": 1},
    ]
    am.Study(
        algorithms={"old": solve(9), "new": solve(0)},
        instances={f"i{n}": n for n in range(8)},
        difference="simple",
        better="lower",
        design=am.FixedSize(runs=2),
        measures=measures,
        name="small",
    ).run(tmp_path / "small.db", workers=1, progress=False)
    words = browse(tmp_path / "small.db").get("/study/small/results").words

    assert "Better: superior in cost" in words
    assert words.index("dominated by new") < words.index("The comparisons")
