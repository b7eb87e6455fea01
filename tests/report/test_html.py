"""The HTML page: safe whatever the names, self-contained, and of one appearance."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ampler.report import Subject, render, subject_of
from ampler.report.drawings import drawings
from ampler.report.html import SECTIONS
from ampler.report.resources import template_text
from ampler.report.svg import svg_element
from ampler.report.theme import tokens_css

GOLD = Path(__file__).parents[1] / "gold"
VOID = {"meta", "link", "br"}


class Page(HTMLParser):
    """The elements of a page, its ids and its text, read strictly: every element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.handlers: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def nasty_page(nasty_text):
    return Page(nasty_text)


def test_names_are_text_and_never_elements(nasty_page, nasty_names):
    assert nasty_page.elements.count("script") == 1
    assert not {"i", "input", "img", "iframe"} & set(nasty_page.elements)
    assert nasty_page.handlers == []
    everything = "".join(nasty_page.words)
    for name in nasty_names:
        assert name in everything


def test_every_algorithm_stands_in_the_figures_and_in_the_tables(nasty_text):
    figures = "".join(re.findall(r"<svg.*?</svg>", nasty_text, re.DOTALL))

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in figures
    assert "a &amp; b" in figures
    assert r"$\frac{$" in figures
    assert "naïve-α_1%" in figures


def test_ids_are_unique_and_links_stay_within_the_page(nasty_page):
    assert len(set(nasty_page.ids)) == len(nasty_page.ids)
    for link in nasty_page.links:
        assert link == "data:," or link[1:] in nasty_page.ids


def test_references_inside_figures_lead_to_their_own_definitions(nasty_text, nasty_page):
    targets = re.findall(r"url\(#([^)]*)\)", nasty_text)

    assert targets
    assert set(targets) <= set(nasty_page.ids)


def test_the_page_names_no_address_that_a_browser_would_open(nasty_text):
    addresses = set(re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(https?:[^"')\s]*)""", nasty_text))

    assert addresses == set()


@pytest.mark.parametrize(
    "sections", [("evidence", "exploration", "trust"), pytest.param(SECTIONS, marks=pytest.mark.slow)]
)
def test_the_same_analysis_gives_the_same_page(study_of, figures_only_of, sections):
    figures_only_of(*sections)
    subject = Subject("twice", study_of(["one", "two"], features={"half": ["one", "other"]}, instances=6))

    assert render(subject, "html") == render(subject, "html")


@pytest.mark.parametrize("sheet", ["components.css", "report.css"])
def test_the_page_takes_its_colours_from_the_one_appearance(sheet):
    style = template_text(sheet)
    known = set(re.findall(r"--([a-z0-9-]+):", tokens_css() + style))

    assert set(re.findall(r"var\(--([a-z0-9-]+)", style)) <= known
    assert re.findall(r"(?:color|background|fill|stroke|border[a-z-]*): [^;]*#[0-9a-f]{3,8}", style) == []


def test_colours_follow_the_page(nasty_text):
    figures = "".join(re.findall(r"<svg.*?</svg>", nasty_text, re.DOTALL))

    assert "var(--accent)" in figures
    assert "#0072b2" not in figures.lower()
    assert "#000000" not in figures


def test_what_matplotlib_writes_becomes_an_element_of_the_page_letter_for_letter():
    written = (GOLD / "figure.svg").read_text(encoding="utf-8")
    element = svg_element(written, name="small", label='a "line" & a band')

    assert element == (GOLD / "figure_in_page.svg").read_text(encoding="utf-8").removesuffix("\n")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("font: italic 7px 'DejaVu Sans', sans-serif", "font: italic 7px var(--letters)"),  # matplotlib 3.9
        ("font-size: 7px; font-family: 'DejaVu Sans', serif", "font-size: 7px; font-family: var(--letters)"),  # 3.11
    ],
)
def test_letters_follow_the_page_however_matplotlib_writes_them(written, shown):
    text = '<svg viewBox="0 0 1 1"><text style="{}; text-anchor: end">a</text></svg>'

    element = svg_element(text.format(written), name="x", label="x")

    assert f'<text style="{shown}; text-anchor: end">a</text>' in element


def test_no_figure_of_a_page_brings_letters_of_its_own(nasty_text):
    assert "DejaVu" not in nasty_text


FIGURES_OF_THE_PAPER = ("accuracy", "instance", "runs", "power", "ranks", "profile", "assumptions-1")


@pytest.mark.parametrize("sections", [("evidence", "trust"), pytest.param(SECTIONS, marks=pytest.mark.slow)], ids=len)
def test_the_report_of_the_paper_has_all_figures_and_tables_and_is_small(paper, figures_only_of, sections):
    figures_only_of(*sections)
    text = render(Subject("The paper's first experiment", paper), "html")
    page = Page(text)

    known = {drawing.name: drawing.section for drawing in drawings(paper)}
    for name in FIGURES_OF_THE_PAPER:
        assert (f"figure-{name}" in page.ids) == (known[name] in sections)
    for name in ("comparisons", "algorithms", "accuracy", "assumptions", "omnibus", "statistics", "stability"):
        assert f"table-{name}" in page.ids
    assert len(text.encode()) < 2_000_000


KINDS = [
    {"runs": 1},
    {"instances": 2},
    {"test": "sign"},
    {"test": "wilcoxon", "instances": 3},
    {"alternative": "less", "reference": "one"},
    {"margin": 0.5},
    {"difference": "ratio"},
]
TOGETHER = [
    {"runs": 1, "instances": 2, "margin": 0.5, "test": "wilcoxon"},
    {"test": "sign", "alternative": "less", "reference": "one", "difference": "ratio", "instances": 3},
]


@pytest.mark.parametrize(
    "options", [*TOGETHER, *(pytest.param(each, marks=pytest.mark.slow) for each in KINDS)], ids=str
)
def test_every_kind_of_analysis_has_a_page(study_of, options):
    analysis = study_of(["one", "two"], **options)

    page = Page(render(Subject("a page", analysis), "html"))

    assert "table-comparisons" in page.ids


def test_missing_cells_have_a_page_that_says_so(gappy):
    page = render(Subject("gappy", gappy), "html")

    assert "each pair was compared on the instances with values of both (1 to 12 instances)" in page
    assert "both have values on 1 instance, and 2 are needed" in str(gappy.as_dict())
    assert "not compared" in page.lower()
    assert "need two instances with values of every algorithm" in page


def test_constant_and_equal_results_have_a_page():
    from ampler import analyse
    from ampler.core.arrays import Runs

    runs = Runs.from_columns(["p", "q", "r"] * 3, ["a"] * 3 + ["b"] * 3 + ["c"] * 3, [5.0] * 6 + [7.0] * 3)
    analysis = analyse(runs, difference="simple", better="lower")

    assert "table-comparisons" in Page(render(Subject("constant", analysis), "html")).ids


def test_names_in_scripts_that_our_letters_lack_are_text_in_the_page(study_of, figures_only_of):
    figures_only_of("evidence", "trust")
    text = render(Subject("演算法", study_of(["遺傳", "模擬退火", "ξ"])), "html")

    assert text.count("模擬退火") > 5


@pytest.mark.usefixtures("without_figures")
def test_the_study_file_is_described(study_file):
    text = render(subject_of(study_file()), "html")

    assert "Settings and study" in text
    assert "<dt>seed</dt><dd>2019</dd>" in text
    assert "<h1>small &amp; fine</h1>" in text
