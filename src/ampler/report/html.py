"""A report as one HTML page that needs nothing else: no network, no fonts, no other files.

Figures stand in it as SVG: their texts stay texts, and their colours and letters follow the page, light or dark.
"""

from __future__ import annotations

import base64
import hashlib
import re
import warnings
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler import __version__
from ampler.analysis import Analysis
from ampler.analysis.answer import finding_sentence, power_sentence
from ampler.analysis.cautions import INFORMS, REVERSES, WIDENS, gravity, ranked
from ampler.analysis.standings import disagreements
from ampler.analysis.units import measure_in_words
from ampler.analysis.words import course_sentences, course_title, headline, together, verdict_sentences
from ampler.core.values import Caution
from ampler.core.wording import count
from ampler.report import tables
from ampler.report.bayes import probable_tables, probable_words
from ampler.report.drawings import Drawing, drawings
from ampler.report.figures.colours import PROPERTIES
from ampler.report.figures.style import COLUMN
from ampler.report.forest import forest_of
from ampler.report.forest_html import components_css, forest_html, page_templates, template_text
from ampler.report.hover import hover_svg
from ampler.report.instances import how_many_detailed, pairs_instances
from ampler.report.latex import algorithms_tabular, bayes_tabular, holm_tabular, latex_paragraph, statistics_tabular
from ampler.report.look import tokens_css
from ampler.report.looks import looks_table
from ampler.report.methods import cited, methods, plain_paragraph
from ampler.report.subject import Subject
from ampler.study.evidence import StudyOrigin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SECTIONS = ("course", "comparisons", "together", "probable", "instances", "accuracy", "assumptions", "exploration")
LONGEST_WHOLE = 30  # characters of a word that is not broken at its hyphens
TOLD = 24  # verdicts in sentences; the table has all
UNEVEN = 1.5  # times as high as another: such figures in a row would leave a hole
MINDED = 3  # cautions that are not folded away
LEVELS = {REVERSES: "reverses", WIDENS: "widens", INFORMS: "informs"}
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # texts can be read aloud, searched and copied
    "svg.hashsalt": "ampler",  # the same figure gives the same page
}
_VARIABLES = {colour: f"var(--{name})" for colour, name in PROPERTIES.items()}


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure ready for the page; its kind says how many of the twelve columns it takes."""

    name: str
    kind: str  # "third", "half", "alone" or "wide"
    caption: str
    svg: Any  # markup, safe
    height: float = 0.0  # inches


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Figures of equal rank: in rows, or, where their heights differ much, below each other in columns."""

    kind: str  # "rows", "two columns" or "three columns"
    pictures: list[Picture]


@dataclass(frozen=True, slots=True)
class Mind:
    """A caution with what it could change."""

    level: str
    gravity: str
    sentence: str


def html_report(subject: Subject) -> str:
    """Return the page."""
    return page_templates().get_template("report.html").render(**_values(subject))


def _values(subject: Subject) -> dict[str, Any]:
    """Everything the template shows."""
    from markupsafe import Markup

    analysis, paragraph = subject.analysis, methods(subject)
    script = template_text("report.js")
    forest = forest_of(analysis, detailed=how_many_detailed(analysis))
    minded = [_mind(caution) for caution in ranked(analysis.warnings)]
    return {
        "title": subject.title,
        "version": __version__,
        "style": Markup(tokens_css() + components_css() + template_text("report.css")),
        "script": Markup(script),
        "script_hash": _hash(script),
        "analysis": analysis,
        "facts": _facts(analysis),
        "answer": unbroken(finding_sentence(analysis)),
        "power": unbroken(power_sentence(analysis)),
        "known": bool(np.isfinite(analysis.errors).any()),
        "forest": Markup(forest_html(forest)),
        "opened": list(pairs_instances(analysis, forest)),
        "gravest": minded[:MINDED],
        "lighter": minded[MINDED:],
        "headline": headline(analysis),
        "verdicts": [true_minus(each) for each in verdict_sentences(analysis, most=TOLD)],
        "together": together(analysis),
        "reconciled": [true_minus(each) for each in disagreements(analysis)],
        "course": [true_minus(each) for each in course_sentences(analysis)],
        "course_title": course_title(analysis),
        "probable": probable_words(analysis),
        "pictures": _pictures(analysis),
        "tables": _tables(analysis),
        "exploratory": list(tables.exploratory_tables(analysis)),
        "paragraph": plain_paragraph(paragraph),
        "snippets": _snippets(analysis, latex_paragraph(paragraph), [work.bibtex for work in cited(paragraph)]),
        "asked": _asked(analysis),
        "recorded": _recorded(subject.origin),
    }


def unbroken(text: str) -> Any:
    """Return a text as markup in which names with hyphens stay on one line.

    >>> str(unbroken("no-SWP < full"))
    '<span class="whole">no-SWP</span> &lt; full'
    """
    from markupsafe import Markup

    kept = re.sub(r"(?<=\d) (?=others|%)", "\N{NO-BREAK SPACE}", true_minus(text))
    return Markup(re.sub(rf"(?<!\S)(?=\S*-)\S{{2,{LONGEST_WHOLE}}}(?!\S)", _whole, escape(kept)))


def true_minus(text: str) -> str:
    """Return a sentence whose negative numbers have a minus and not a hyphen.

    >>> true_minus("from -0.05 % to 1-9 (-2)")
    'from −0.05 % to 1-9 (−2)'
    """
    return re.sub(r"(?<=[\s(\[])-(?=\d)", "−", text)


def _whole(found: re.Match[str]) -> str:
    return f'<span class="whole">{found[0]}</span>'


def _mind(caution: Caution) -> Mind:
    what = gravity(caution.kind)
    return Mind(LEVELS[what], what, true_minus(caution.sentence))


def _hash(script: str) -> str:
    """The digest by which the page's policy allows this script and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _facts(analysis: Analysis) -> list[str]:
    numbers = ((analysis.instances, "instance"), (len(analysis.algorithms), "algorithm"), (analysis.runs, "run"))
    return [*(count(number, noun) for number, noun in numbers), measure_in_words(analysis)]


def _pictures(analysis: Analysis) -> dict[str, list[Arrangement]]:
    """The figures by section, in groups of equal rank."""
    found: dict[str, list[Picture]] = {section: [] for section in SECTIONS}
    for drawing in drawings(analysis):
        found[drawing.section].append(_picture(drawing))
    return {section: arranged(pictures) for section, pictures in found.items()}


def _picture(drawing: Drawing) -> Picture:
    from markupsafe import Markup

    ax = drawing.draw()
    svg = inline_svg(ax, name=drawing.name, words=drawing.words)
    figure = ax.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    return Picture(drawing.name, "third" if width <= COLUMN else "wide", drawing.caption, Markup(svg), float(height))


def arranged(pictures: list[Picture]) -> list[Arrangement]:
    """Return the figures so that nothing is half empty: in full rows, or in columns where their heights differ much."""
    groups = [(kind, list(some)) for kind, some in groupby(pictures, key=lambda picture: picture.kind)]
    return [Arrangement("rows", some) if kind == "wide" else _group(some) for kind, some in groups]


def _group(some: list[Picture]) -> Arrangement:
    heights = [picture.height for picture in some]
    if len(some) > 1 and max(heights) > UNEVEN * min(heights):
        three = len(some) % 3 == 0
        kind = "third" if three else "half"
        return Arrangement(f"{'three' if three else 'two'} columns", [replace(picture, kind=kind) for picture in some])
    kinds = shares(len(some))
    return Arrangement("rows", [replace(picture, kind=share) for picture, share in zip(some, kinds, strict=True)])


def shares(number: int) -> list[str]:
    """Return how wide so many figures of equal rank are, so that no row has a hole.

    >>> shares(1), shares(4), shares(5)
    (['alone'], ['half', 'half', 'half', 'half'], ['third', 'third', 'third', 'half', 'half'])
    """
    if number == 1:
        return ["alone"]
    halves = {0: 0, 1: 4, 2: 2}[number % 3]
    return ["third"] * (number - halves) + ["half"] * halves


def _tables(analysis: Analysis) -> dict[str, Any]:
    made = [
        tables.comparisons_table(analysis),
        *([tables.standings_table(analysis)] if analysis.single is None else []),
        tables.algorithms_table(analysis),
        tables.accuracy_table(analysis),
        tables.assumptions_table(analysis),
        tables.omnibus_table(analysis),
        tables.statistics_table(analysis),
        tables.excluded_table(analysis),
        tables.unsolved_table(analysis),
        looks_table(analysis),
        *probable_tables(analysis),
    ]
    return {table.name: table for table in made if table is not None}


def _snippets(analysis: Analysis, paragraph: str, entries: list[str]) -> list[tuple[str, str]]:
    """What an author pastes into a paper."""
    statistics, asked = statistics_tabular(analysis), analysis.weighs_a_margin
    return [
        ("Methods paragraph (LaTeX)", paragraph),
        ("BibTeX", "\n".join(entries)),
        ("Table of the comparisons (LaTeX, booktabs)", holm_tabular(analysis)),
        ("Table of the algorithms (LaTeX, booktabs)", algorithms_tabular(analysis)),
        *([("Table of the probabilities (LaTeX, booktabs)", bayes_tabular(analysis.bayes))] if asked else []),
        *([("Table of all values (LaTeX, booktabs)", statistics)] if statistics is not None else []),
    ]


def _asked(analysis: Analysis) -> list[tuple[str, str]]:
    """The settings of the analysis, in words."""
    document = analysis.as_dict()["settings"]
    return [(name.replace("_", " "), str(value)) for name, value in document.items() if value is not None]


def _recorded(origin: StudyOrigin | None) -> list[tuple[str, str]]:
    """What the study file says of how the runs were made."""
    if origin is None:
        return []
    plan = origin.plan
    said = {name.replace("_", " "): value for name, value in plan.rule.items() if value is not None and name != "rule"}
    rule = ", ".join(f"{name} {value}" for name, value in said.items())
    return [
        ("study", plan.name),
        ("first planned", origin.begun.replace("T", " ").removesuffix("+00:00") + " UTC"),
        ("seed", str(plan.fingerprint.seed)),
        ("rule", f"{plan.rule.get('rule')}: {rule}"),
        *([("instances needed", str(plan.needed))] if plan.needed is not None else []),
        ("instances not used", str(len(plan.untouched))),
        *origin.environment.items(),
    ]


# figures as SVG ---------------------------------------------------------------------------------------------------


def inline_svg(ax: Axes, *, name: str, words: str) -> str:
    """Return the figure that holds `ax` as an <svg> element whose ids begin with `name`; `words` say what it shows."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    element = svg_element(_written(figure), name=name, words=words)
    return element.replace("</svg>", f"{hover_svg(figure)}</svg>") if element.count("</svg>") == 1 else element


def svg_element(text: str, *, name: str, words: str) -> str:
    """Return what matplotlib writes into an SVG file as an element of a page, as wide as the page lets it be."""
    body = _without_prologue(text)
    body = re.sub(r"#[0-9a-f]{6}\b", lambda found: _VARIABLES.get(found[0], found[0]), body)
    body = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r"(font: [^;\"]*?px |font-family: )[^;\"]*", r"\1var(--letters)", body)
    view = re.search(r'viewBox="[^"]*"', body)
    assert view is not None
    opening = f'<svg role="img" aria-label="{escape(words)}" {view[0]}>'
    return re.sub(r"<svg[^>]*>", lambda _: opening, body, count=1)


def _written(figure: Any) -> str:
    import matplotlib

    buffer = StringIO()
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has fonts for every script
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()


def _without_prologue(text: str) -> str:
    """Leave out what only a file of its own needs, and the rule for all elements, which would leak into the page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    return re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>\s*", "", text, count=1, flags=re.DOTALL)
