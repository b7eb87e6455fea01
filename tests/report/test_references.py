"""References are read from the .bib file of the package and stand in a report as they always did."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import unescape
from pathlib import Path

import pytest

from ampler.report.html import html_report
from ampler.report.latex import escaped, latex_report
from ampler.report.markdown import markdown_report
from ampler.report.references import reference
from ampler.report.subject import Subject

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "references.json").read_text(encoding="utf-8"))
BELIEFS = ["benavoli2017", "corani2017", "gelman2012", "lange1989", "plackett1975"]
CITED = {
    "t": ["campelo2020", "holm1979"],
    "wilcoxon": ["campelo2020", "wilcoxon1945", "holm1979", "schuirmann1987", *BELIEFS],
    "sign": ["campelo2020", "dixon1946", "holm1979"],
}


@pytest.mark.parametrize("work", GOLD, ids=lambda work: work["key"])
def test_a_work_is_cited_listed_and_entered_letter_for_letter(work):
    assert asdict(reference(work["key"])) == work


@pytest.fixture(params=CITED, scope="module")
def cited(request, study_of):
    """A report's subject, and the works it cites as they must stand in it."""
    margin = 0.5 if request.param == "wilcoxon" else None
    subject = Subject("x", study_of(["one", "two", "three"], test=request.param, margin=margin))
    works = {work["key"]: work for work in GOLD}
    return subject, [works[key] for key in CITED[request.param]]


def test_a_latex_document_lists_what_it_cites_and_ends_with_the_entries(cited):
    subject, works = cited
    items = [rf"\bibitem{{{work['key']}}} {escaped(work['listed'])}" for work in works]
    entries = [work["bibtex"] for work in works]
    head, listed, hidden = r"\begin{thebibliography}{9}", r"\end{thebibliography}", r"\iffalse  % the same for BibTeX"

    text = latex_report(subject)

    expected = [head, *items, listed, hidden, *entries, r"\fi", r"\end{document}", ""]
    assert text[text.index(head) :] == "\n".join(expected)


@pytest.mark.usefixtures("without_figures")
def test_a_page_and_a_markdown_report_hold_the_entries_and_cite_in_their_paragraph(cited):
    subject, works = cited
    page, markdown = html_report(subject), markdown_report(subject)

    assert "\n".join(["```bibtex", *(work["bibtex"] for work in works), "```"]) in markdown
    assert "\n".join(work["bibtex"] for work in works) in unescape(page)
    for work in works:
        assert work["short"].replace("&", "&amp;") in page
        assert work["short"].replace("&", r"\&") in markdown
