"""What the browser gives is what the command line writes, byte for byte."""

from __future__ import annotations

import io
import zipfile
from itertools import islice

import pytest

from ampler.app.web.downloads import TEXTS, as_file, download
from ampler.report.drawings import drawings
from ampler.report.html import SECTIONS


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


@pytest.mark.parametrize(
    "sections", [("comparisons", "course"), pytest.param(SECTIONS, marks=pytest.mark.slow)], ids=len
)
@pytest.mark.parametrize("words", ASKED, ids=len)
def test_a_page_is_the_one_of_the_command_line(browse, study, shell, tmp_path, figures_only_of, words, sections):
    figures_only_of(*sections)
    as_asked(browse, study, shell, tmp_path, "html", words)


@pytest.mark.parametrize(("name", "option"), [("comparisons.csv", "--csv"), ("comparisons.tex", "--latex")])
def test_a_table_is_the_one_of_the_command_line(browse, study, shell, name, option):
    printed = shell("analyse", study, option, "--test", "sign").out

    assert browse(study).get(f"/study/small/results/{name}?test=sign").text == printed


FEW = {"svg": 1, "pdf": 0}  # figures that are compared in the fast suite, and the verdict: each is drawn twice


@pytest.mark.parametrize(
    ("kind", "most"), [*FEW.items(), *(pytest.param(kind, None, marks=pytest.mark.slow) for kind in FEW)]
)
def test_figures_are_those_of_the_command_line(browse, study, shell, tmp_path, monkeypatch, kind, most):
    monkeypatch.setattr("ampler.report.drawings.drawings", lambda analysis: islice(drawings(analysis), most))
    browser, folder = browse(study), tmp_path / kind
    shell("report", study, "-o", tmp_path / "x.md", "--figures", folder, "--figure-format", kind)

    packed = zipfile.ZipFile(io.BytesIO(browser.get(f"/study/small/results/figures.{kind}.zip").body))

    assert {name: packed.read(name) for name in packed.namelist()} == {
        path.name: path.read_bytes() for path in folder.iterdir()
    }
    assert len(packed.namelist()) > FEW[kind]
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


def test_every_text_is_a_download():
    assert all(as_file(name, b"").headers["content-disposition"] for name in TEXTS)
    assert callable(download)
