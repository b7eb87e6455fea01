"""Results pages: seven views of an analysis, and the analyses, figures and files behind them.

Analyses and figures are made once for all who ask. Files are byte for byte as the command line writes them; matplotlib
draws one figure at a time.
"""

from __future__ import annotations

import io
import re
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from ampler.app import load_matplotlib
from ampler.app.web import pages
from ampler.app.web.pages import COLUMNS, MAX_LENGTH, SETTINGS, AnalysisForm, NotThere
from ampler.app.web.studies import FileStatus, file_status
from ampler.core.errors import AmplerError
from ampler.core.settings import Settings, defaults
from ampler.core.text import listed, printable
from ampler.report import Subject, subject_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ampler.report.drawings import Drawing

T = TypeVar("T")
CACHE_SIZE = 8  # analyses
FIGURE_KINDS = ("svg", "pdf")
PAIR_FIGURE = re.compile(r"(?:differences|quantiles)-of-([1-9][0-9]{0,5})")
MEDIA_TYPES = {"html": "text/html", "tex": "text/plain", "md": "text/markdown", "csv": "text/csv", "txt": "text/plain"}
MEDIA_TYPES |= {"svg": "image/svg+xml", "pdf": "application/pdf", "zip": "application/zip"}
ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # fixed, so that the same figures give the same file
STATISTICS = ("mean", "median", "geometric-mean", "trimmed-mean", "rate")
MAX_PAIRS = 500  # in the list to choose from
VERDICT_TABLES = (("CSV", "comparisons.csv"), ("LaTeX", "comparisons.tex"))
_analysing, _drawing = threading.Lock(), threading.RLock()


@dataclass(frozen=True, slots=True)
class ResultsSource:
    """Results that can be analysed: a results file or an uploaded file.

    `home` is the address of its pages, `file` what it is called at the command line, and `back` the page it belongs to.
    """

    path: Path
    home: str
    file: str
    title: str
    back: tuple[str, str]
    is_study: bool


def study_source(request: Request) -> ResultsSource:
    """Return the study that an address names, as results."""
    study = request.app.state.studies.find(request.path_params["name"])
    home, back = f"/study/{study.name}/results", (study.name, f"/study/{study.name}")
    return ResultsSource(study.path, home, study.path.name, study.name, back, is_study=True)


class View(NamedTuple):
    """Data of a view."""

    results: AnalysisFiles
    form: AnalysisForm
    source: ResultsSource
    query: dict[str, str]

    def address(self, file: str) -> str:
        """Return the address of a download."""
        return self.form.address(f"{self.source.home}/{file}")

    def figure_files(self, figure: str) -> list[tuple[str, str]]:
        """Return the kinds in which a figure can be downloaded, each with its address."""
        return [(kind.upper(), self.address(f"{figure}.{kind}")) for kind in FIGURE_KINDS]

    def figure_archives(self) -> list[tuple[str, str]]:
        """Return the addresses of all figures in one file."""
        return [(kind, self.address(f"figures.{kind}.zip")) for kind in FIGURE_KINDS]


def results_view(request: Request, source_of: Callable[[Request], ResultsSource]) -> Response:
    """Show results in the requested view; on errors show the form with the error."""
    from ampler.analysis.units import measure_text

    source, query = source_of(request), dict(request.query_params)
    name = query.get("view", "findings")
    name = name if name in VIEWS else "findings"
    frame: dict[str, Any] = {
        "here": "studies" if source.is_study else "results",
        "source": source,
        "form": {name: query.get(name, "")[:MAX_LENGTH] for name in (*SETTINGS, *COLUMNS)},
        "columns": {name: query[name] for name in COLUMNS if query.get(name)},
        "options": {"statistic": STATISTICS},
    }
    try:
        form = AnalysisForm.of(query)
        results = results_of(source, form)
        values = VIEWS[name][1](View(results, form, source, query))
    except AmplerError as problem:
        frame |= {"view": "findings", "links": [], "analysis": None, "chosen": ""}
        return pages.page("results_none.html", status=422, problem=pages.as_sentence(problem), **frame)
    frame |= {
        "view": name,
        "links": [(key, title, form.address(source.home, view=key)) for key, (title, _) in VIEWS.items()],
        "analysis": results.analysis,
        "options": {"statistic": STATISTICS, "reference": [row.algorithm for row in results.analysis.algorithms]},
        "measure": measure_text(results.analysis),
        "chosen": _exploration_warning(results, form),
    }
    return pages.page(f"results_{name}.html", **frame, **values)


def _exploration_warning(results: AnalysisFiles, form: AnalysisForm) -> str:
    """Return the warning about settings that differ from the plan."""
    from ampler.core.settings import question_settings

    origin = results.subject.origin
    changed = [] if origin is None else form.changes(defaults() | question_settings(origin.plan.question))
    if not changed:
        return ""
    names = listed((name.replace("_", " ") for name in changed), 5)
    warning = "This is exploration: p-values and error rates do not hold. For claims, use the planned settings."
    return f"These settings differ from the plan of the study ({names}). {warning}"


# the views --------------------------------------------------------------------------------------------------------


def _findings(view: View) -> dict[str, Any]:
    from ampler.report import html, tables
    from ampler.report.rows import forest_of

    analysis = view.results.analysis
    tables_to_download = [(kind, view.address(file)) for kind, file in VERDICT_TABLES]
    forest = forest_of(
        analysis, key_of=lambda row: view.form.address(view.source.home, view="pair", pair=row.comparison.rank)
    )
    return html.finding_values(analysis, forest) | {
        "verdict_files": [*view.figure_files("verdict"), *tables_to_download],
        "checks": html.checks(analysis),
        "comparisons": tables.comparisons_table(analysis),
        "solvers": tables.solvers_table(analysis),
        "measures": list(tables.measures_tables(analysis)),
        "later": list(tables.family_tables(analysis)),
        "algorithms": tables.algorithms_table(analysis),
        "accuracy": tables.accuracy_table(analysis),
    }


def _pair(view: View) -> dict[str, Any]:
    from ampler.analysis.rows import rows_of
    from ampler.report.html import unbroken
    from ampler.report.svg import pair_instances

    analysis, is_single = view.results.analysis, view.results.analysis.single is not None
    index = pages.integer_in(view.query, "pair", 1, least=1, most=len(analysis.comparisons)) or 1
    pair, pairs = analysis.comparisons[index - 1], enumerate(analysis.comparisons[:MAX_PAIRS], start=1)
    return {
        "index": index,
        "pair": pair,
        "pairs": [(number, f"{one.first} and {one.second}") for number, one in pairs],
        "verdict": unbroken(f"{pair.verdict}.".replace(" %", "\N{NO-BREAK SPACE}%")),
        "files": [(what, view.figure_files(f"{what}-of-{index}")) for what in ("differences", "quantiles")],
        "instances": None if is_single else pair_instances(analysis, rows_of(analysis)[index - 1]),
    }


def _groups(view: View) -> dict[str, Any]:
    from ampler.report.drawings import subgroup_drawings
    from ampler.report.html import picture_of
    from ampler.report.tables import exploratory_tables

    analysis = view.results.analysis
    figures = one_at_a_time(lambda: list(map(picture_of, subgroup_drawings(analysis)))) if analysis.subgroups else []
    return {"tables": list(exploratory_tables(analysis)), "pictures": figures, "grouped": bool(analysis.subgroups)}


def _probable(view: View) -> dict[str, Any]:
    from ampler.report.tables import probable_tables, probable_words

    analysis = view.results.analysis
    return {"probable": probable_words(analysis), "tables": {table.name: table for table in probable_tables(analysis)}}


def _more(view: View) -> dict[str, Any]:
    """Advice on a further study, with these results as its pilot."""
    from ampler.analysis import advice_text
    from ampler.api import advise, read_results

    values: dict[str, Any] = {"answer": "", "take": "", "points": [], "tables": [], "problem": ""}
    values["detect"] = view.query.get("detect", "")[:60]
    try:
        detect = pages.number_in(view.query, "detect")
        if detect is None:
            return values
        results = read_results(view.source.path, **view.form.reading)
        advice = advise(results, detect=detect, settings=Settings(**view.form.settings))
    except AmplerError as problem:
        return values | {"problem": pages.as_sentence(problem)}
    values |= {"answer": advice_text.recommendation(advice), "points": advice_text.sentences(advice.warnings)}
    if not advice.is_exact:
        return values | {"take": advice_text.planned_study(advice) or ""}
    points = [advice.answer, advice_text.which_power(advice), *advice_text.how_sure(advice), *values["points"]]
    tables = [
        ("Plans", advice_text.OPTIONS, advice_text.option_rows(advice)),
        ("Cost of each target standard error", advice_text.CURVE, advice_text.curve_rows(advice)),
        ("Variance components", advice_text.PARTS, advice_text.part_rows(advice)),
    ]
    take = advice_text.planned_study(advice) or advice_text.what_to_take(advice)
    return values | {"take": take, "points": points, "tables": tables}


def _figures(view: View) -> dict[str, Any]:
    """Every figure of the report, one by one; each is drawn when the browser asks for it."""
    rows = [(name, view.address(f"{name}.svg"), view.figure_files(name)) for name in view.results.figure_names()]
    return {"shown": rows, "packed": view.figure_archives()}


def _take(view: View) -> dict[str, Any]:
    return {
        "texts": [(name, what, view.address(name)) for name, what in TEXTS.items()],
        "figure_files": view.figure_archives(),
        "single_figures": view.form.address(view.source.home, view="figures"),
        "command": view.form.command("report", view.source.file),
        "analyse": view.form.command("analyse", view.source.file),
        "paragraph": _text("methods.txt", view.results.subject).rstrip(),
    }


VIEWS: dict[str, tuple[str, Callable[[View], dict[str, Any]]]] = {
    "findings": ("Findings", _findings),
    "pair": ("One pair", _pair),
    "groups": ("Groups", _groups),
    "probable": ("Bayesian analysis", _probable),
    "more": ("Sample size", _more),
    "figures": ("Figures", _figures),
    "take": ("Downloads", _take),
}


# cached analyses ----------------- ----------------------------------------------------------------------------------


class AnalysisFiles:
    """An analysis with the figures of its report; each is drawn once, when it is first requested."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.analysis = subject, subject.analysis
        self._files: dict[str, bytes] = {}

    @cached_property
    def _drawings(self) -> dict[str, Drawing]:
        from ampler.report.drawings import figures_of

        return {drawing.name: drawing for drawing in figures_of(self.analysis)}

    def figure_names(self) -> list[str]:
        """Return the names of the figures; nothing is drawn."""
        return list(one_at_a_time(lambda: self._drawings))

    def figure(self, file: str) -> bytes | None:
        """Return a figure by the name of its file; None when there is none of this name."""
        stem, _, kind = file.rpartition(".")
        if kind not in FIGURE_KINDS:
            return None
        pair = PAIR_FIGURE.fullmatch(stem)

        def draw() -> bytes | None:
            from ampler.report.drawings import pair_drawings

            if pair is not None and self.analysis.single is None and int(pair[1]) <= len(self.analysis.comparisons):
                drawings = {drawing.name: drawing for drawing in pair_drawings(self.analysis, int(pair[1]))}
            else:
                drawings = self._drawings
            if file not in self._files and stem in drawings:
                self._files[file] = figure_file(drawings[stem].draw, file)
            return self._files.get(file)

        return one_at_a_time(draw)

    def figures(self, kind: str) -> dict[str, bytes]:
        """Return every figure of the report by the name of its file."""
        files = ((file := f"{name}.{kind}", self.figure(file)) for name in self.figure_names())
        return {file: content for file, content in files if content is not None}


def results_of(source: ResultsSource, form: AnalysisForm) -> AnalysisFiles:
    """Return the analysis of results as they are now; our own errors when there is none."""
    with _analysing:
        return _results_of(source.path, file_status(source.path), form)


@lru_cache(CACHE_SIZE)
def _results_of(path: Path, _status: FileStatus, form: AnalysisForm) -> AnalysisFiles:
    return AnalysisFiles(subject_of(path, reading=form.reading, settings=Settings(**form.settings)))


# figures ----------------------------------------------------------------------------------------------------------


def one_at_a_time(draw: Callable[[], T]) -> T:
    """Return the drawing function, under the lock of matplotlib."""
    with _drawing:
        load_matplotlib()
        return draw()


def figure_file(draw: Callable[[], Axes], name: str) -> bytes:
    """Return one figure as a file; the ending of its name is the format."""
    from ampler.report.figures.canvas import save

    with TemporaryDirectory(prefix="ampler-") as folder:
        path = Path(folder, name)
        one_at_a_time(lambda: save(draw(), path))
        return path.read_bytes()


# downloads --------------------------------------------------------------------------------------------------------


def download(request: Request, source_of: Callable[[Request], ResultsSource]) -> Response:
    """Return a download."""
    name = request.path_params["file"]
    results = results_of(source_of(request), AnalysisForm.of(dict(request.query_params)))
    kind = name.removeprefix("figures.").removesuffix(".zip")
    content: bytes | None
    if name in TEXTS:
        content = _text(name, results.subject).encode("utf-8", "replace")
    elif kind in FIGURE_KINDS and name == f"figures.{kind}.zip":
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for file, figure in results.figures(kind).items():
                packed.writestr(zipfile.ZipInfo(file, ZIP_DATE), figure, zipfile.ZIP_DEFLATED)
        content = archive.getvalue()
    else:
        content = results.figure(name)
    if content is None:
        raise NotThere("these results have no file of this name; see the files under Downloads")
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=MEDIA_TYPES[name.rpartition(".")[2]], headers=headers)


def _text(name: str, subject: Subject) -> str:
    """Return a text file, as `ampler report` writes it or `ampler analyse` prints it."""
    from ampler.report import render
    from ampler.report.latex import holm_table
    from ampler.report.methods import methods, plain_paragraph
    from ampler.report.tables import comparisons_csv

    match name:
        case "comparisons.csv":
            return "".join(f"{printable(line)}\n" for line in comparisons_csv(subject.analysis).splitlines())
        case "comparisons.tex":
            return f"{printable(holm_table(subject.analysis))}\n"
        case "methods.txt":
            return f"{plain_paragraph(methods(subject))}\n"
        case "report.html":
            return one_at_a_time(lambda: render(subject, "html"))
    return render(subject, name.removeprefix("report."))


TEXTS = {
    "report.html": "The report, one page that needs nothing else",
    "report.tex": "The report as a LaTeX document",
    "report.md": "The report as Markdown",
    "comparisons.csv": "The comparisons as CSV",
    "comparisons.tex": "The comparisons as a LaTeX table (booktabs)",
    "methods.txt": "The methods paragraph",
}
