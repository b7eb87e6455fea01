"""What the browser gives is what the command line writes, byte for byte; analyses and figures are made once."""

from __future__ import annotations

import io
import threading
import zipfile
from itertools import islice

import pytest

from ampler import plots
from ampler.analysis.rows import rows_of
from ampler.app.web.pages import AnalysisForm
from ampler.app.web.results import (
    CACHE_SIZE,
    TEXTS,
    AnalysisFiles,
    ResultsSource,
    figure_file,
    one_at_a_time,
    results_of,
)
from ampler.report import subject_of
from ampler.report.drawings import Drawing, drawings, figures_of, pair_drawings
from ampler.report.html import SECTIONS, picture_of


@pytest.fixture
def source(study):
    return ResultsSource(study, "/study/small/results", study.name, "small", ("small", "/study/small"), is_study=True)


def test_an_analysis_is_made_once(source):
    first = results_of(source, AnalysisForm())

    assert results_of(source, AnalysisForm()) is first
    assert results_of(source, AnalysisForm.of({"test": "sign"})) is not first


def test_few_analyses_are_kept(source):
    first = results_of(source, AnalysisForm())
    for number in range(CACHE_SIZE):
        results_of(source, AnalysisForm.of({"alpha": str(0.01 * (number + 1))}))

    assert results_of(source, AnalysisForm()) is not first


def test_choosing_what_was_planned_is_no_choice(browse, study):
    browser = browse(study)

    assert "This is exploration" not in browser.get("/study/small/results?test=t&difference=simple").words
    assert "(test, margin)" in browser.get("/study/small/results?test=sign&margin=0.1").words


def test_one_draws_at_a_time():
    busy, most = [], []

    def draw():
        busy.append(1)
        most.append(len(busy))
        busy.pop()

    threads = [threading.Thread(target=lambda: one_at_a_time(draw)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1


def test_figures_become_elements_of_a_page():
    import matplotlib.pyplot as plt

    found = picture_of(Drawing("x", "pair", "caption", "words", plt.figure().add_subplot))
    plt.close("all")

    assert found.svg.startswith("<svg")
    assert "<style" not in found.svg


FEW = 3  # figures that are drawn in the fast suite: the way of each is the same


@pytest.mark.parametrize("most", [FEW, pytest.param(None, marks=pytest.mark.slow)])
def test_every_figure_has_its_file(finished_study, monkeypatch, most):
    monkeypatch.setattr("ampler.report.drawings.figures_of", lambda analysis: islice(figures_of(analysis), most))
    files = AnalysisFiles(subject_of(finished_study)).figures("svg")

    assert {"verdict.svg", "intervals.svg"} <= set(files)
    assert len(files) >= FEW
    assert all(content.startswith(b"<?xml") for content in files.values())


class Counted:
    """Figures of which we see when they are drawn."""

    def __init__(self, monkeypatch, names):
        import matplotlib.pyplot as plt

        self.drawn = []

        def drawing(name):
            def draw():
                self.drawn.append(name)
                return plt.Figure().add_subplot()

            return Drawing(name, "pair", "caption", "words", draw)

        monkeypatch.setattr("ampler.report.drawings.figures_of", lambda analysis: map(drawing, names))


def test_figures_are_drawn_once_for_all_who_ask(finished_study, monkeypatch):
    counted, results = Counted(monkeypatch, "ab"), AnalysisFiles(subject_of(finished_study))
    for kind in ("svg", "pdf", "svg"):
        assert list(results.figures(kind)) == [f"a.{kind}", f"b.{kind}"]

    assert counted.drawn == ["a", "b", "a", "b"]


def test_who_wants_one_figure_waits_for_no_other(finished_study, monkeypatch):
    counted, results = Counted(monkeypatch, "abc"), AnalysisFiles(subject_of(finished_study))

    assert results.figure_names() == ["a", "b", "c"]
    assert results.figure("nothing.svg") is None
    assert counted.drawn == []
    assert results.figure("b.svg") == results.figure("b.svg")
    assert counted.drawn == ["b"]


def as_asked(browse, study, shell, tmp_path, kind, words):
    """A report of the browser is that of the command line."""
    query = "&".join(f"{name.strip('-')}={value}" for name, value in zip(words[::2], words[1::2], strict=True))
    shell("report", study, "-o", tmp_path / f"x.{kind}", *words)

    reply = browse(study).get(f"/study/small/results/report.{kind}?{query}")

    assert reply.status == 200
    assert reply.body == (tmp_path / f"x.{kind}").read_bytes()
    assert reply.headers["content-disposition"] == f'attachment; filename="report.{kind}"'


ASKED = ([], ["--test", "wilcoxon", "--margin", "0.2"])


@pytest.mark.parametrize("words", ASKED, ids=len)
@pytest.mark.parametrize("kind", ["tex", "md"])
def test_a_report_is_the_one_of_the_command_line(browse, study, shell, tmp_path, kind, words):
    as_asked(browse, study, shell, tmp_path, kind, words)


@pytest.mark.parametrize("sections", [("evidence", "course"), pytest.param(SECTIONS, marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("words", ASKED, ids=len)
def test_a_page_is_the_one_of_the_command_line(browse, study, shell, tmp_path, figures_only_of, words, sections):
    figures_only_of(*sections)
    as_asked(browse, study, shell, tmp_path, "html", words)


@pytest.mark.parametrize(("name", "option"), [("comparisons.csv", "--csv"), ("comparisons.tex", "--latex")])
def test_a_table_is_the_one_of_the_command_line(browse, study, shell, name, option):
    printed = shell("analyse", study, option, "--test", "sign").out

    assert browse(study).get(f"/study/small/results/{name}?test=sign").text == printed


FEW_FILES = {"svg": 1, "pdf": 0}  # figures that are compared in the fast suite, and the verdict: each is drawn twice


@pytest.mark.parametrize(
    ("kind", "most"), [*FEW_FILES.items(), *(pytest.param(kind, None, marks=pytest.mark.slow) for kind in FEW_FILES)]
)
def test_figures_are_those_of_the_command_line(browse, study, shell, tmp_path, monkeypatch, kind, most):
    monkeypatch.setattr("ampler.report.drawings.drawings", lambda analysis: islice(drawings(analysis), most))
    browser, folder = browse(study), tmp_path / kind
    shell("report", study, "-o", tmp_path / "x.md", "--figures", folder, "--figure-format", kind)

    packed = zipfile.ZipFile(io.BytesIO(browser.get(f"/study/small/results/figures.{kind}.zip").body))

    assert {name: packed.read(name) for name in packed.namelist()} == {
        path.name: path.read_bytes() for path in folder.iterdir()
    }
    assert len(packed.namelist()) > FEW_FILES[kind]
    if kind == "svg":
        assert browser.get("/study/small/results/intervals.svg").body == (folder / "intervals.svg").read_bytes()


def test_the_methods_paragraph_is_in_the_report(browse, study):
    browser = browse(study)
    paragraph = browser.get("/study/small/results/methods.txt").text.strip()

    assert len(paragraph) > 200
    assert paragraph.split(".")[0] in browser.get("/study/small/results?view=take").words.replace("&#39;", "'")


@pytest.mark.parametrize("name", ["nothing.csv", "figures.exe.zip", "nothing.svg", "report.html%00", "..%2fsmall.db"])
def test_what_is_not_there_is_told(browse, study, name):
    assert browse(study).get(f"/study/small/results/{name}").status == 404


def test_every_text_is_a_download(browse, study):
    browser = browse(study)

    for name in set(TEXTS) - {"report.html"}:
        assert browser.get(f"/study/small/results/{name}").headers["content-disposition"].startswith("attachment")


@pytest.fixture(scope="module")
def results(finished_study):
    return AnalysisFiles(subject_of(finished_study))


def test_a_file_is_the_figure_that_python_draws(results):
    row = rows_of(results.analysis)[1]
    data = plots.quantiles_data(results.analysis, row.subject, row.other)

    assert results.figure("quantiles-of-2.svg") == figure_file(lambda: plots.draw_quantiles(data), "x.svg")
    assert results.figure("differences-of-1.pdf").startswith(b"%PDF")


def test_a_page_shows_both_under_the_names_of_their_files(results):
    assert [each.name for each in pair_drawings(results.analysis, 2)] == ["differences-of-2", "quantiles-of-2"]


@pytest.mark.parametrize("name", ["quantiles-of-99.svg", "quantiles-of-0.svg", "quantiles-of-1.exe"])
def test_what_is_none_of_them_is_none(results, name):
    assert results.figure(name) is None
