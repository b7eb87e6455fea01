"""What can be taken along: report, tables, methods and figures, byte for byte as the command line writes them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response

from ampler.app.web.analysed import ResultsSource
from ampler.app.web.asked_analysis import asked_analysis
from ampler.app.web.drawn import FIGURES, one_at_a_time
from ampler.app.web.pages import NotThere
from ampler.app.web.pair_figures import of_pair
from ampler.core.wording import printable
from ampler.report.subject import Subject

FIGURE_KINDS = ("svg", "pdf")
WRITTEN = {"html": "text/html", "tex": "text/plain", "md": "text/markdown", "csv": "text/csv", "txt": "text/plain"}
KINDS = WRITTEN | {"svg": "image/svg+xml", "pdf": "application/pdf", "zip": "application/zip"}
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of time in a zip file: the same figures give the same file


def download(request: Request, source: ResultsSource) -> Response:
    """Return a file to keep."""
    name = request.path_params["file"]
    subject = request.app.state.analyses.of(source, asked_analysis(dict(request.query_params)))
    return as_file(name, _content(name, subject))


def as_file(name: str, content: bytes) -> Response:
    """Return a download: browsers keep it and do not show it."""
    kind = KINDS[name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def _content(name: str, subject: Subject) -> bytes:
    if name in TEXTS:
        return TEXTS[name][1](subject)
    stem, _, ending = name.partition(".")
    if stem == "figures" and ending.removesuffix(".zip") in FIGURE_KINDS and ending.endswith(".zip"):
        return _packed(FIGURES.every(subject, ending.removesuffix(".zip")))
    if ending in FIGURE_KINDS:
        found = of_pair(subject, name) or FIGURES.one(subject, name)
        if found is not None:
            return found
    raise NotThere("these results have no file of this name; those they have are listed under Take it along")


def _packed(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, BEGINNING), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _report(kind: str) -> Callable[[Subject], bytes]:
    """As `ampler report -o report.kind` writes it."""
    from ampler.report import render

    def rendered(subject: Subject) -> bytes:
        text = one_at_a_time(lambda: render(subject, kind)) if kind == "html" else render(subject, kind)
        return text.encode("utf-8", "replace")

    return rendered


def _latex(subject: Subject) -> bytes:
    """As `ampler analyse --latex` prints it."""
    from ampler.report.latex import holm_table

    return f"{printable(holm_table(subject.analysis))}\n".encode("utf-8", "replace")


def _csv(subject: Subject) -> bytes:
    """As `ampler analyse --csv` prints it."""
    from ampler.report.csv import comparisons_csv

    lines = comparisons_csv(subject.analysis).splitlines()
    return "".join(f"{printable(line)}\n" for line in lines).encode("utf-8", "replace")


def _methods(subject: Subject) -> bytes:
    from ampler.report.methods import methods, plain_paragraph

    return f"{plain_paragraph(methods(subject))}\n".encode("utf-8", "replace")


TEXTS: dict[str, tuple[str, Callable[[Subject], bytes]]] = {
    "report.html": ("The report, one page that needs nothing else", _report("html")),
    "report.tex": ("The report as a LaTeX document", _report("tex")),
    "report.md": ("The report as Markdown", _report("md")),
    "comparisons.csv": ("The comparisons as CSV", _csv),
    "comparisons.tex": ("The comparisons as a LaTeX table (booktabs)", _latex),
    "methods.txt": ("The methods paragraph", _methods),
}
