"""A report as one self-contained HTML page: no network, no fonts, no other files."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ampler import __version__
from ampler.analysis import Analysis, text
from ampler.analysis.families import families_sentence
from ampler.analysis.standings import disagreements
from ampler.analysis.units import measure_text, noise_text, quantity_text
from ampler.core.errors import SEVERITIES, by_severity
from ampler.core.text import digits, short_name_of
from ampler.report import Subject, tables
from ampler.report.drawings import Drawing, drawings
from ampler.report.figures.canvas import COLUMN, figure_of, unit_of
from ampler.report.latex import algorithms_tabular, bayes_tabular, holm_table, latex_paragraph, statistics_tabular
from ampler.report.methods import cited, methods, plain_paragraph
from ampler.report.resources import template_text, templates
from ampler.report.rows import Forest, forest_of
from ampler.report.svg import forest_html, inline_svg, opened_pairs
from ampler.report.theme import tokens_css
from ampler.study.evidence import StudyOrigin

SECTIONS = ("course", "evidence", "probable", "trust", "exploration", "more")
MAX_UNBROKEN = 30  # characters of a word that is not broken at its hyphens
MAX_SENTENCES = 8  # verdicts in the results paragraph; the table has all
# these rotate the following text
BIDI = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
MINDED = 3  # number of visible warnings
LEVELS = dict(zip(SEVERITIES, ("reverses", "widens", "informs"), strict=True))


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure ready for the page."""

    name: str
    is_wide: bool
    caption: str
    svg: Any  # markup, safe


def html_report(subject: Subject) -> str:
    """Return the page."""
    from markupsafe import Markup

    analysis, paragraph, script = subject.analysis, methods(subject), template_text("report.js")
    opened, key_of = opened_pairs(analysis)
    forest = forest_of(analysis, key_of=key_of)
    pictures = defaultdict[str, list[Picture]](list)
    for drawing in drawings(analysis):
        pictures[drawing.section].append(picture_of(drawing))
    statistics, has_margin = statistics_tabular(analysis), analysis.weighs_a_margin
    snippets = [  # what an author pastes into a paper
        ("Methods paragraph (LaTeX)", latex_paragraph(paragraph)),
        ("BibTeX", "\n".join(work.bibtex for work in cited(paragraph))),
        ("Table of the comparisons (LaTeX, booktabs)", holm_table(analysis, paged=True)),
        ("Table of the algorithms (LaTeX, booktabs)", algorithms_tabular(analysis)),
        *([("Table of the probabilities (LaTeX, booktabs)", bayes_tabular(analysis.bayes))] if has_margin else []),
        *([("Table of all values (LaTeX, booktabs)", statistics)] if statistics is not None else []),
    ]
    sentences = (true_minus(sentence) for sentence in text.verdict_sentences(analysis, most=MAX_SENTENCES))
    results = f"{text.finding_sentence(analysis)} {' '.join(sentences)}"
    limits = " ".join(true_minus(one.sentence) for one in analysis.warnings if LEVELS[one.severity] == "reverses")
    limits = limits or "No check found a warning that could reverse a verdict."
    settings = analysis.as_dict()["settings"].items()
    values = finding_values(analysis, forest) | {
        "title": subject.title,
        "version": __version__,
        "style": Markup(tokens_css() + template_text("components.css") + template_text("report.css")),
        "script": Markup(script),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),  # allows this script alone
        "analysis": analysis,
        "facts": [measure_text(analysis)],
        "known": bool(np.isfinite(analysis.errors).any()),
        "opened": opened,
        "first_key": forest.rows[0].key.removeprefix("#"),
        "checks": checks(analysis),
        "probable": tables.probable_words(analysis),
        "pictures": {section: pictures[section] for section in SECTIONS},
        "tables": tables.report_tables(analysis),
        "exploratory": list(tables.exploratory_tables(analysis)),
        "texts": [("Methods", plain_paragraph(paragraph)), ("Results", results), ("Limitations", limits)],
        "snippets": snippets,
        "asked": [(name.replace("_", " "), str(value)) for name, value in settings if value is not None],
        "recorded": _recorded(subject.origin),
    }
    return templates().get_template("report.html").render(values).translate(BIDI)


def finding_values(analysis: Analysis, forest: Forest) -> dict[str, Any]:
    """Return the values for the section on the findings."""
    from markupsafe import Markup

    ordered = by_severity(analysis.warnings)
    warnings = [(LEVELS[one.severity], one.severity, true_minus(one.sentence)) for one in ordered]
    gravest = [warning for warning in warnings if warning[0] == "reverses"][:MINDED]
    return {
        "answer": unbroken(text.finding_sentence(analysis)),
        "power": unbroken(text.inconclusive_sentence(analysis)),
        "forest": Markup(forest_html(forest)),
        "families": families_sentence(analysis.families) if analysis.families else "",
        "gravest": gravest,
        "lighter": warnings[len(gravest) :],  # the gravest come first
        "course_title": text.course_title(analysis),
        "course": [true_minus(sentence) for sentence in text.course_sentences(analysis)],
    }


def checks(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the checks with their results."""
    diagnoses, short = analysis.diagnoses, short_name_of(tuple(row.instance for row in analysis.accuracy))
    rows = []

    def largest(what: str, sizes: list[float], write: Callable[[float], str]) -> None:
        known = [k for k, size in enumerate(sizes) if math.isfinite(size)]
        if known:
            most = max(known, key=lambda k: abs(sizes[k]))
            pair = " and ".join(diagnoses[most].pair) if len(diagnoses) > 1 else ""
            rows.append((what, true_minus(f" {write(sizes[most])}").strip() + (f" ({pair})" if pair else "")))

    largest("Largest skewness of differences", [row.skewness for row in diagnoses], digits)
    largest("Largest share of run noise", [row.noise_share for row in diagnoses], noise_text)
    errors = [row for row in analysis.accuracy if math.isfinite(row.error)]
    if errors:
        worst = max(errors, key=lambda row: row.error)
        size = quantity_text(worst.error, "simple" if analysis.settings.difference == "ratio" else unit_of(analysis))
        rows.append(("Largest standard error", f"{size} (on {short[worst.instance]})"))
    counted = [row.same for row in analysis.stability if not row.note]
    if counted:
        same = sum(number == len(analysis.pairs) for number in counted)
        rows.append(("Other tests, differences and statistics", f"{same} of {len(counted)} decide the same"))
    if policies := analysis.other_policies:
        changed = sum(bool(row.changed) for row in policies)
        rows.append(("Failed runs counted otherwise", f"{changed} of {len(policies)} ways decide otherwise"))
    if omnibus := text.together(analysis):
        rows.append(("Test of all algorithms", omnibus.rpartition("information: ")[2].removesuffix(".")))
    return [*rows, *(("Estimates, wins and ranks", true_minus(sentence)) for sentence in disagreements(analysis))]


def unbroken(text: str) -> Any:
    """Return a text as markup in which names with hyphens stay on one line.

    >>> str(unbroken("no-SWP < full"))
    '<span class="whole">no-SWP</span> &lt; full'
    """
    from markupsafe import Markup

    text = re.sub(r"(?<=\d) (?=others|%)", "\N{NO-BREAK SPACE}", true_minus(text))
    names = rf"(?<!\S)(?=\S*-)\S{{2,{MAX_UNBROKEN}}}(?!\S)"
    return Markup(re.sub(names, r'<span class="whole">\g<0></span>', escape(text)))


def true_minus(text: str) -> str:
    """Return a sentence whose negative numbers have a minus and not a hyphen.

    >>> true_minus("from -0.05 % to 1-9 (-2)")
    'from −0.05 % to 1-9 (−2)'
    """
    return re.sub(r"(?<=[\s(\[])-(?=\d)", "−", text)


def picture_of(drawing: Drawing) -> Picture:
    """Draw a figure as an element of a page."""
    from markupsafe import Markup

    ax = drawing.draw()
    svg = Markup(inline_svg(ax, name=drawing.name, label=drawing.summary))
    return Picture(drawing.name, figure_of(ax).get_size_inches()[0] > COLUMN, drawing.caption, svg)


def _recorded(origin: StudyOrigin | None) -> list[tuple[str, str]]:
    """The origin of the runs, from the results file."""
    if origin is None:
        return []
    plan = origin.plan
    options = {name: value for name, value in plan.rule.items() if value is not None and name != "rule"}
    rule = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in options.items())
    return [
        ("study", plan.name),
        ("first planned", origin.begun.replace("T", " ").removesuffix("+00:00") + " UTC"),
        ("seed", str(plan.fingerprint.seed)),
        ("rule", f"{plan.rule.get('rule')}: {rule}"),
        *([("instances needed", str(plan.needed))] if plan.needed is not None else []),
        ("instances not used", str(len(plan.untouched))),
        *origin.environment.items(),
    ]
