"""A report as one HTML page that needs nothing else: no network, no fonts, no other files."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ampler import __version__
from ampler.analysis import Analysis
from ampler.analysis.words import headline, together, verdict_sentences
from ampler.report.drawings import Drawing, drawings
from ampler.report.figures.style import COLUMN
from ampler.report.methods import as_latex, as_text, cited, methods
from ampler.report.subject import Record, Subject
from ampler.report.svg import inline_svg
from ampler.report.tables import (
    accuracy_table,
    algorithms_table,
    assumptions_table,
    comparisons_table,
    excluded_table,
    exploratory_tables,
    omnibus_table,
    statistics_table,
)
from ampler.report.tex import algorithms_tabular, holm_tabular, statistics_tabular

TEMPLATES = files("ampler.report").joinpath("templates")


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure ready for the page."""

    name: str
    kind: str  # "narrow" fits half the page, "wide" takes it all
    caption: str
    svg: Any  # markup, safe


def html_report(subject: Subject) -> str:
    """Return the page."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(**_values(subject))


def _template(name: str) -> str:
    return TEMPLATES.joinpath(name).read_text(encoding="utf-8")


def _values(subject: Subject) -> dict[str, Any]:
    """Everything the template shows."""
    from markupsafe import Markup

    analysis, paragraph = subject.analysis, methods(subject)
    script = _template("report.js")
    return {
        "title": subject.title,
        "version": __version__,
        "style": Markup(_template("report.css")),
        "script": Markup(script),
        "script_hash": _hash(script),
        "analysis": analysis,
        "facts": _facts(analysis),
        "headline": headline(analysis),
        "sentences": list(verdict_sentences(analysis)),
        "together": together(analysis),
        "pictures": _pictures(analysis),
        "tables": _tables(analysis),
        "exploratory": list(exploratory_tables(analysis)),
        "paragraph": as_text(paragraph),
        "snippets": _snippets(analysis, as_latex(paragraph), [work.bibtex for work in cited(paragraph)]),
        "asked": _asked(analysis),
        "recorded": _recorded(subject.record),
    }


def _hash(script: str) -> str:
    """The digest by which the page's policy allows this script and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _facts(analysis: Analysis) -> list[tuple[str, str]]:
    rejected = sum(each.rejected for each in analysis.comparisons)
    return [
        (f"{analysis.instances:,}", "instances"),
        (str(len(analysis.algorithms)), "algorithms"),
        (f"{analysis.runs:,}", "runs"),
        (f"{rejected} of {len(analysis.comparisons)}", "null hypotheses rejected"),
    ]


def _pictures(analysis: Analysis) -> dict[str, list[Picture]]:
    """The figures by section."""
    found: dict[str, list[Picture]] = {}
    for drawing in drawings(analysis):
        found.setdefault(drawing.section, []).append(_picture(drawing))
    return found


def _picture(drawing: Drawing) -> Picture:
    from markupsafe import Markup

    svg = inline_svg(drawing.ax, name=drawing.name, words=drawing.words)
    figure = drawing.ax.get_figure(root=True)
    kind = "narrow" if figure is not None and figure.get_size_inches()[0] <= COLUMN else "wide"
    return Picture(drawing.name, kind, drawing.caption, Markup(svg))


def _tables(analysis: Analysis) -> dict[str, Any]:
    made = [
        comparisons_table(analysis),
        algorithms_table(analysis),
        accuracy_table(analysis),
        assumptions_table(analysis),
        omnibus_table(analysis),
        statistics_table(analysis),
        excluded_table(analysis),
    ]
    return {table.name: table for table in made if table is not None}


def _snippets(analysis: Analysis, paragraph: str, entries: list[str]) -> list[tuple[str, str]]:
    """What an author pastes into a paper."""
    statistics = statistics_tabular(analysis)
    return [
        ("Methods paragraph (LaTeX)", paragraph),
        ("BibTeX", "\n".join(entries)),
        ("Table of the comparisons (LaTeX, booktabs)", holm_tabular(analysis)),
        ("Table of the algorithms (LaTeX, booktabs)", algorithms_tabular(analysis)),
        *([("Table of all values (LaTeX, booktabs)", statistics)] if statistics is not None else []),
    ]


def _asked(analysis: Analysis) -> list[tuple[str, str]]:
    """The settings of the analysis, in words."""
    document = analysis.as_dict()["settings"]
    return [(name.replace("_", " "), str(value)) for name, value in document.items() if value is not None]


def _recorded(record: Record | None) -> list[tuple[str, str]]:
    """What the study file says of how the runs were made."""
    if record is None:
        return []
    plan = record.plan
    rule = ", ".join(f"{name} {value}" for name, value in plan.rule.items() if value is not None and name != "rule")
    return [
        ("study", plan.name),
        ("first planned", record.begun),
        ("seed", str(plan.fingerprint.seed)),
        ("rule", f"{plan.rule.get('rule')}: {rule}"),
        *([("instances needed", str(plan.needed))] if plan.needed is not None else []),
        ("instances not used", str(len(plan.untouched))),
        *record.environment.items(),
    ]
