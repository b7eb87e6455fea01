"""LaTeX reports (templates/report.tex), with text, numbers and tables escaped for any name.

Each table and the methods paragraph are ready to be cut out and pasted into a paper; tables are booktabs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ampler.analysis import Analysis
from ampler.analysis.bayes import Bayes
from ampler.analysis.tables import counted
from ampler.analysis.text import headline
from ampler.analysis.units import estimate_header, measure_text
from ampler.core.text import digits
from ampler.report import Subject, tables
from ampler.report.methods import Sentence, cited, methods
from ampler.report.resources import templates
from ampler.report.tables import Cell, ReportTable
from ampler.stats.paired import ESTIMANDS, paired_test

MOST_COLUMNS = 8  # algorithms whose statistics fit side by side
MOST_ROWS = 40  # of a table that fits a page

_NAMED_MARKS = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater", "|": "bar"}
_SYMBOLS = {"×": r"\times", "±": r"\pm", "≤": r"\leq", "≥": r"\geq", "−": "-", "∞": r"\infty"}
_GREEK = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi . pi rho varsigma sigma tau upsilon"
    " varphi chi psi omega"
)
_GREEK_CAPITALS = "Gamma Delta . . . Theta . . Lambda . . Xi . Pi . . Sigma . . Phi . Psi Omega"


def latex_report(subject: Subject) -> str:
    """Return the document."""
    analysis, paragraph = subject.analysis, methods(subject)
    values = {
        "title": subject.title,
        "answer": headline(analysis),
        "measure": measure_text(analysis),
        "paragraph": latex_paragraph(paragraph),
        "procedure": paired_test(analysis.settings.test).procedure.words,
        "comparisons": holm_table(analysis, paged=True),
        "families": [
            (f"{family.head} {family.notes}", holm_table(family.analysis, paged=True))
            for family in analysis.families
            if family.analysis is not None and not family.analysis.unfinished
        ],
        "algorithms": algorithms_tabular(analysis),
        "probable": tables.probable_words(analysis),
        "probabilities": bayes_tabular(analysis.bayes) if analysis.weighs_a_margin else "",
        "statistic": analysis.settings.statistic,
        "statistics": statistics_tabular(analysis),
        "warnings": [warning.sentence for warning in analysis.warnings],
        "works": cited(paragraph),
    }
    return templates().get_template("report.tex").render(values, tex=escaped)


# to paste into a paper ---------------------------------------------------------------------------------------------


def latex_paragraph(sentences: Sequence[Sentence]) -> str:
    r"""Return the methods paragraph, works cited by \cite.

    >>> print(latex_paragraph([Sentence("Holm's correction was used at α = 0.05", ("holm1979",))]))
    Holm's correction was used at \ensuremath{\alpha} = 0.05~\cite{holm1979}.
    """
    cites = [rf"~\cite{{{','.join(sentence.cites)}}}" if sentence.cites else "" for sentence in sentences]
    return " ".join(f"{escaped(sentence.words)}{cite}." for sentence, cite in zip(sentences, cites, strict=True))


def holm_table(analysis: Analysis, *, paged: bool = False) -> str:
    r"""Return the comparisons in Holm's order as a table for a paper; a rule stands where rejecting stops.

    It needs \usepackage{booktabs} in the preamble, and longtable if it may be `paged`. Of a study with looks it has the
    verdicts and repeated intervals.
    """
    table = tables.comparisons_table(analysis)
    estimand = ESTIMANDS[analysis.comparisons[0].estimate_of].tex
    name, estimate, interval = table.header[1], *table.header[table.header.index("simultaneous CI") - 2 :][:2]
    estimates = {estimate: estimate_header(analysis, estimand).replace("%", r"\%"), interval: interval}
    if analysis.looks is None:
        counts = {head: head for head in counted(analysis)}
        levels = {"α′": r"$\alpha'$", "p": "$p$"}
        heads = {"rank": "rank", name: escaped(name), **counts, **levels, **estimates, "d": "$d$", "verdict": "verdict"}
    else:
        decided = {"verdict": "verdict", "look": "look", "instances": "$n$"}
        p_values = {"sequential p": "$p$", "adjusted p": "adjusted $p$"}
        heads = {name: escaped(name), **decided, **estimates, **p_values, "d": "$d$"}
    return tabular(table, heads, significant=2, paged=paged)


def bayes_tabular(bayes: Bayes) -> str:
    r"""Return posterior probabilities as a table for a paper: mean, interval, probabilities, those of a new instance,
    verdict.

    It needs \usepackage{booktabs} in the preamble.
    """
    table = tables.probable_table(bayes)
    first, verdict, *rest = (head for head in table.header if not head.startswith("shared"))
    heads = {head: head.replace("instance: ", "").replace(" %", r"\,\%").replace("credible ", "") for head in rest}
    return tabular(table, {first: first, **heads, verdict: verdict})


def algorithms_tabular(analysis: Analysis) -> str:
    """Return the algorithms with runs and mean rank, the best rank in bold."""
    heads = {head: head for head in ("algorithm", "runs", "gave a value", "mean rank")}
    return tabular(tables.algorithms_table(analysis), heads)


def statistics_tabular(analysis: Analysis) -> str | None:
    """Return the statistic of each algorithm on each instance, the best in bold; None if they do not fit a page."""
    table = tables.statistics_table(analysis)
    if table is None or len(analysis.algorithms) > MOST_COLUMNS:
        return None
    places = {row.instance: k for k, row in enumerate(analysis.accuracy)}
    table = replace(table, rows=tuple(sorted(table.rows, key=lambda row: places[row[0].full_name])))
    return tabular(table, {name: wrapped(name, 12) for name in table.header}, significant=4)


def tabular(table: ReportTable, heads: Mapping[str, str], *, significant: int | None = None, paged: bool = True) -> str:
    """Return those columns of a table that `heads` names, with heads in LaTeX.

    Numbers without a unit have this many significant digits if given, else those of the table."""
    columns = {table.header.index(name): head for name, head in heads.items() if name in table.header}
    with_intervals = {k for k in columns if any(row[k].interval is not None for row in table.rows)}
    align = "".join("l" if k in table.words else "c" if k in with_intervals else "r" for k in columns)
    rows = [[_cell(row[k], significant) for k in columns] for row in table.rows]
    groups = (rows[: table.stop or 0], rows[table.stop or 0 :])
    return booktabs(list(columns.values()), *groups, align=align, long=paged and len(rows) > MOST_ROWS)


def _cell(cell: Cell, significant: int | None) -> str:
    """A cell: words, or a number in mathematics, in bold where it is the best; dashes where it is not known."""
    if isinstance(cell.value, str):
        parts = re.split("( [−×] )", cell.full_name or cell.text)
        return "".join(_BETWEEN_NAMES.get(part) or wrapped(part) for part in parts)
    if cell.text == "–":
        return "--"
    if significant is None or isinstance(cell.value, int) or re.search("[%×<>]", cell.text):
        text = re.sub(r"e\+?(-?)0*([0-9]+)", r"\\times10^{\1\2}", cell.text.replace("−", "-"))
        text = re.sub("(?<=[0-9]),(?=[0-9])", "{,}", text.replace(" %", r"\,\%"))
        text = text.replace("×", r"\times ").replace("∞", r"\infty")
    else:
        numbers = [tex_number(value, significant).strip("$") for value in cell.interval or (cell.value,)]
        text = numbers[0] if cell.interval is None else f"[{', '.join(numbers)}]"
    return rf"$\mathbf{{{text}}}$" if cell.best else f"${text}$"


_BETWEEN_NAMES = {" − ": " $-$ ", " × ": r" $\times$ "}


# words, numbers and tables ------------------------------------------------------------------------------------------


def _letters(first: str, names: str) -> dict[str, str]:
    """LaTeX names of consecutive letters from `first` on; a dot marks a letter without a name."""
    return {chr(ord(first) + index): rf"\{name}" for index, name in enumerate(names.split()) if name != "."}


# Greek letters and symbols are known in mathematics only
_MATHEMATICS = _SYMBOLS | _letters("α", _GREEK) | _letters("Γ", _GREEK_CAPITALS)
_ESCAPES = str.maketrans(
    {mark: rf"\{mark}" for mark in "{}$&#_%"}
    | {mark: rf"\text{name}{{}}" for mark, name in (_NAMED_MARKS | {'"': "quotedbl"}).items()}
    | {symbol: rf"\ensuremath{{{name}}}" for symbol, name in _MATHEMATICS.items()}
)


def escaped(text: str) -> str:
    r"""Return a text that LaTeX sets unchanged; line breaks become blanks.

    >>> print(escaped("(1+(λ,λ)) GA_{r/2} & 50%"))
    (1+(\ensuremath{\lambda},\ensuremath{\lambda})) GA\_\{r/2\} \& 50\%
    """
    return " ".join(text.split()).translate(_ESCAPES)


def tex_number(value: float, significant: int = 2) -> str:
    r"""Return a number in mathematics, with this many significant digits.

    >>> tex_number(-0.5567), tex_number(3.7e-23), tex_number(1234.5, 3), tex_number(float("nan"))
    ('$-0.56$', '$3.7\\times10^{-23}$', '$1230$', '--')
    """
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    mantissa, _, power = digits(value, significant, zeros=True).partition("e")
    return rf"${mantissa}\times10^{{{int(power)}}}$" if power else f"${mantissa}$"


def wrapped(text: str, width: int = 40) -> str:
    r"""Return a text as LaTeX, on several lines of a table's cell where it is longer than `width`.

    >>> print(wrapped("a_b"), wrapped("one two_three", 8))
    a\_b \shortstack[l]{one two\_\\three}
    """
    text = " ".join(text.split())
    lines = r"\\".join(escaped(text[start : start + width]) for start in range(0, len(text), width))
    return escaped(text) if len(text) <= width else rf"\shortstack[l]{{{lines}}}"


def booktabs(header: Sequence[str], *groups: Sequence[Sequence[str]], align: str, long: bool = False) -> str:
    r"""Return a tabular in the manner of booktabs, a rule between groups of rows; the cells are LaTeX already.

    A `long` one may go over several pages; it needs \usepackage{longtable}.

    >>> print(booktabs(["pair", "$p$"], [["a", "$0.04$"]], align="lr"))
    \begin{tabular}{lr}
    \toprule
    pair & $p$ \\
    \midrule
    a & $0.04$ \\
    \bottomrule
    \end{tabular}
    """
    kind = "longtable" if long else "tabular"
    lines = [rf"\begin{{{kind}}}{{{align}}}", r"\toprule", _line(header)]
    lines += [r"\midrule", r"\endhead"] if long else []
    for index, group in enumerate(filter(None, groups)):
        lines += [*([] if long and index == 0 else [r"\midrule"]), *map(_line, group)]
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{kind}}}"])


def _line(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"
