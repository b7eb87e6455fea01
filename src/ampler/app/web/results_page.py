"""Results, alive: the answer and its rows, one pair, groups, probabilities, figures, and all of it to take along."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from starlette.requests import Request
from starlette.responses import Response

from ampler.app.web.analysed import ResultsSource, choices_made
from ampler.app.web.asked_analysis import COLUMNS, AskedAnalysis, asked_analysis, typed_analysis
from ampler.app.web.calculator import TESTS
from ampler.app.web.downloads import FIGURE_KINDS, TEXTS, download
from ampler.app.web.drawn import FIGURES, pictures
from ampler.app.web.pages import as_sentence, page
from ampler.app.web.pair_figures import pair_drawings
from ampler.app.web.query import number, whole
from ampler.core.choices import Alternative, Better, Difference, Test
from ampler.core.errors import AmplerError
from ampler.core.wording import count, listed
from ampler.report.subject import Subject

if TYPE_CHECKING:
    from ampler.analysis import Analysis
    from ampler.report.drawings import Drawing

VIEWS = {
    "findings": "Findings",
    "pair": "One pair",
    "groups": "Groups",
    "probable": "How probable",
    "more": "How many more",
    "figures": "Figures",
    "take": "Take it along",
}
STATISTICS = ("mean", "median", "geometric-mean", "trimmed-mean", "rate")
MOST_PAIRS = 500  # in the list to choose from
SHOWN_SENTENCES = 12
VERDICT_TABLES = (("CSV", "comparisons.csv"), ("LaTeX", "comparisons.tex"))
MOST_FEATURES = 4  # by which groups are drawn


def study_results(request: Request) -> Response:
    """Show the results of a study as far as it is."""
    return results_view(request, study_source(request))


def study_download(request: Request) -> Response:
    """Return a file made from the results of a study."""
    return download(request, study_source(request))


def study_source(request: Request) -> ResultsSource:
    """Return the study that an address speaks of, as results."""
    study = request.app.state.shelf.find(request.path_params["name"])
    request.app.state.live.of(study)  # it must still be there
    home, back = f"/study/{study.name}/results", (study.name, f"/study/{study.name}")
    return ResultsSource(study.path, home, study.path.name, study.name, back, is_study=True)


def results_view(request: Request, source: ResultsSource) -> Response:
    """Show results in the view that was asked for; what cannot be analysed keeps its form and says why."""
    words = dict(request.query_params)
    view = words.get("view", "findings")
    view = view if view in VIEWS else "findings"
    try:
        asked = asked_analysis(words)
        subject = request.app.state.analyses.of(source, asked)
        shown = SHOWN[view](subject, asked, source, words)
    except AmplerError as problem:
        return _without_answer(source, words, problem)
    frame = _frame(source, words, view, asked, subject.analysis)
    return page(f"results_{view}.html", **frame, **shown, chosen=_exploring(subject, asked))


def _without_answer(source: ResultsSource, words: dict[str, str], problem: Exception) -> Response:
    frame = _frame(source, words, "findings", None, None)
    return page("results_none.html", status=422, problem=as_sentence(problem), chosen="", **frame)


def _frame(
    source: ResultsSource, words: dict[str, str], view: str, asked: AskedAnalysis | None, analysis: Analysis | None
) -> dict[str, Any]:
    """What stands around every view: the way here, the views, and the form."""
    facts = [] if analysis is None else _facts(analysis)
    links = [(key, name, asked.at(source.home, view=key) if asked else "") for key, name in VIEWS.items()]
    settings = None if analysis is None else analysis.settings
    return {
        "here": "studies" if source.is_study else "results",
        "source": source,
        "view": view,
        "links": links if asked is not None else [],
        "facts": facts,
        "form": typed_analysis(words),
        "columns": {name: words[name] for name in COLUMNS if words.get(name)},
        "settings": settings,
        "choices": {
            "difference": get_args(Difference),
            "better": get_args(Better),
            "test": [(name, TESTS[name]) for name in get_args(Test)],
            "alternative": get_args(Alternative),
            "statistic": STATISTICS,
            "reference": () if analysis is None else [each.algorithm for each in analysis.algorithms],
        },
    }


def _facts(analysis: Analysis) -> list[str]:
    from ampler.analysis.units import measure_in_words

    numbers = ((analysis.instances, "instance"), (len(analysis.algorithms), "algorithm"), (analysis.runs, "run"))
    return [*(count(number, noun) for number, noun in numbers), measure_in_words(analysis)]


def _exploring(subject: Subject, asked: AskedAnalysis) -> str:
    """The warning for who chooses otherwise than planned."""
    changed = choices_made(subject, asked)
    if subject.origin is None or not changed:
        return ""
    named = listed((name.replace("_", " ") for name in changed), 5)
    return (
        f"You chose otherwise than the study planned ({named}). Choosing after looking is exploring: good for ideas,"
        " but p-values and levels no longer mean what they say. For claims, use what was planned."
    )


# the views --------------------------------------------------------------------------------------------------------

View = Callable[[Subject, AskedAnalysis, ResultsSource, dict[str, str]], dict[str, Any]]


def _findings(subject: Subject, asked: AskedAnalysis, source: ResultsSource, words: dict[str, str]) -> dict[str, Any]:
    from markupsafe import Markup

    from ampler.analysis.answer import finding_sentence, power_sentence
    from ampler.analysis.cautions import gravity, ranked
    from ampler.analysis.words import course_sentences, headline, together, verdict_sentences
    from ampler.report import tables
    from ampler.report.forest import forest_of
    from ampler.report.forest_html import forest_html
    from ampler.report.html import LEVELS, MINDED, Mind, unbroken

    analysis = subject.analysis
    minded = [Mind(LEVELS[gravity(each.kind)], gravity(each.kind), each.sentence) for each in ranked(analysis.warnings)]
    pairs = [(each.first, each.second) for each in analysis.comparisons]
    return {
        "answer": unbroken(finding_sentence(analysis)),
        "power": unbroken(power_sentence(analysis)),
        "forest": Markup(forest_html(forest_of(analysis))),
        "verdict_files": [
            *_files_of("verdict", asked, source),
            *((kind, asked.at(f"{source.home}/{name}")) for kind, name in VERDICT_TABLES),
        ],
        "gravest": minded[:MINDED],
        "lighter": minded[MINDED:],
        "headline": headline(analysis),
        "verdicts": list(verdict_sentences(analysis, most=SHOWN_SENTENCES)),
        "course": list(course_sentences(analysis)),
        "together": together(analysis),
        "comparisons": tables.comparisons_table(analysis),
        "algorithms": tables.algorithms_table(analysis),
        "accuracy": tables.accuracy_table(analysis),
        "pairs": [
            (f"{first} and {second}", asked.at(source.home, view="pair", pair=place))
            for place, (first, second) in enumerate(pairs[:MOST_PAIRS], start=1)
        ],
    }


def _files_of(figure: str, asked: AskedAnalysis, source: ResultsSource) -> list[tuple[str, str]]:
    """The kinds in which a figure can be taken along, each with its address."""
    return [(kind.upper(), asked.at(f"{source.home}/{figure}.{kind}")) for kind in FIGURE_KINDS]


def _pair(subject: Subject, asked: AskedAnalysis, source: ResultsSource, words: dict[str, str]) -> dict[str, Any]:
    from ampler.report.html import unbroken

    analysis = subject.analysis
    places = range(1, len(analysis.comparisons) + 1)
    place = whole(words, "pair", 1, least=1, most=len(places)) or 1
    each = analysis.comparisons[place - 1]
    drawn = [] if analysis.single is not None else pictures(lambda: pair_drawings(analysis, place))
    return {
        "place": place,
        "pair": each,
        "pairs": [(n, f"{analysis.comparisons[n - 1].first} and {analysis.comparisons[n - 1].second}") for n in places],
        "verdict": unbroken(f"{each.verdict}.".replace(" %", "\N{NO-BREAK SPACE}%")),
        "pictures": [(each, _files_of(each.name, asked, source)) for each in drawn],
        "rows": _instance_rows(analysis, each.first, each.second),
    }


def _instance_rows(analysis: Analysis, first: str, second: str) -> list[tuple[str, float, str]]:
    """The differences of a pair, instance by instance, in their unit."""
    from ampler.analysis.units import as_shown, difference_texts

    if analysis.single is not None:
        return []
    values = analysis.differences[:, analysis.pairs.index((first, second))].tolist()
    unit = " %" if analysis.settings.difference == "percent" else ""
    shown = [as_shown(value, analysis.settings) for value in values]
    named = zip((row.instance for row in analysis.accuracy), shown, strict=True)
    return [
        (name, value, f"{difference_texts(analysis.settings, value)[0]}{unit}".replace("-", "−"))
        for name, value in named
        if not math.isnan(value)
    ]


def _groups(subject: Subject, asked: AskedAnalysis, source: ResultsSource, words: dict[str, str]) -> dict[str, Any]:
    from ampler.report import tables

    analysis = subject.analysis
    from ampler.report.html import arranged

    drawn = arranged(pictures(lambda: _group_drawings(analysis), kind="wide")) if analysis.subgroups else []
    return {"tables": list(tables.exploratory_tables(analysis)), "pictures": drawn, "grouped": bool(analysis.subgroups)}


def _group_drawings(analysis: Analysis) -> Iterator[Drawing]:
    from ampler.report import figures as plots
    from ampler.report.drawings import Drawing

    features = dict.fromkeys(group.feature for group in analysis.subgroups)
    for place, feature in enumerate(list(features)[:MOST_FEATURES]):
        draw = partial(plots.draw_subgroups, plots.subgroups_data(analysis, feature=feature))
        yield Drawing(f"group-{place}", "groups", f"The differences by {feature}.", f"Differences by {feature}", draw)


def _probable(subject: Subject, asked: AskedAnalysis, source: ResultsSource, words: dict[str, str]) -> dict[str, Any]:
    from ampler.report.bayes import probable_tables, probable_words

    analysis = subject.analysis
    found = {table.name: table for table in probable_tables(analysis)}
    return {"probable": probable_words(analysis), "tables": found}


def _more(subject: Subject, asked: AskedAnalysis, source: ResultsSource, words: dict[str, str]) -> dict[str, Any]:
    """What a study would take that finds a difference, with these results as its pilot."""
    from ampler.analysis.advice import words as advice_words
    from ampler.front import advise

    empty: dict[str, Any] = {"answer": "", "take": "", "points": [], "tables": [], "problem": ""}
    empty["detect"] = words.get("detect", "")[:60]
    try:
        detect = number(words, "detect")
        if detect is None:
            return empty
        advice = advise(source.path, detect=detect, **asked.options)
    except AmplerError as problem:
        return empty | {"problem": as_sentence(problem)}
    exact = advice.is_exact
    points = [*([advice_words.which_power(advice), *advice_words.how_sure(advice)] if exact else [])]
    tables = [
        ("What each accuracy would cost", advice_words.CURVE, advice_words.curve_rows(advice)),
        ("Where the variation comes from", advice_words.PARTS, advice_words.part_rows(advice)),
    ]
    return empty | {
        "answer": advice.answer,
        "take": advice_words.what_to_take(advice) if exact else advice_words.planned_study(advice) or "",
        "points": [*points, *advice_words.sentences(advice.warnings)],
        "tables": tables if exact else [],
    }


def _figures(subject: Subject, asked: AskedAnalysis, source: ResultsSource, words: dict[str, str]) -> dict[str, Any]:
    """Every figure of the report, one by one; each is drawn when the browser asks for it."""
    names = FIGURES.names(subject)
    shown = [(name, asked.at(f"{source.home}/{name}.svg"), _files_of(name, asked, source)) for name in names]
    return {"shown": shown, "packed": _packed(asked, source)}


def _packed(asked: AskedAnalysis, source: ResultsSource) -> list[tuple[str, str]]:
    return [(kind, asked.at(f"{source.home}/figures.{kind}.zip")) for kind in FIGURE_KINDS]


def _take(subject: Subject, asked: AskedAnalysis, source: ResultsSource, words: dict[str, str]) -> dict[str, Any]:
    from ampler.report.methods import methods, plain_paragraph

    return {
        "texts": [(name, what, asked.at(f"{source.home}/{name}")) for name, (what, _) in TEXTS.items()],
        "figure_files": _packed(asked, source),
        "single_figures": asked.at(source.home, view="figures"),
        "command": asked.command("report", source.file),
        "analyse": asked.command("analyse", source.file),
        "paragraph": plain_paragraph(methods(subject)),
    }


SHOWN: dict[str, View] = {
    "findings": _findings,
    "pair": _pair,
    "groups": _groups,
    "probable": _probable,
    "more": _more,
    "figures": _figures,
    "take": _take,
}
