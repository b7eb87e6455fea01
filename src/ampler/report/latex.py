"""LaTeX: words, numbers and tables that compile whatever a name holds, and a report of them as a document. Pure.

Each table and the methods paragraph are ready to be cut out and pasted into a paper; tables are booktabs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ampler.analysis import Analysis, Comparison
from ampler.analysis.bayes import Bayes, Chances
from ampler.analysis.bayes.words import said_verdict, shown_interval, shown_mean, sides
from ampler.analysis.counts import counted, counts_of
from ampler.analysis.look_table import verdict_word
from ampler.analysis.units import (
    are_ratios,
    estimate_header,
    in_table,
    location_header,
    measure_in_words,
    supported,
    texts_of_ratios,
)
from ampler.analysis.words import headline
from ampler.core.arrays import Interval
from ampler.core.wording import digits
from ampler.report.bayes import chance_cells, probable_words
from ampler.report.methods import cited, methods
from ampler.report.references import Sentence
from ampler.report.subject import Subject
from ampler.stats.bayes import Posterior
from ampler.stats.paired import ESTIMANDS, paired_test
from ampler.stats.paired.contract import Procedure

MOST_COLUMNS = 8  # algorithms whose statistics fit side by side
MOST_ROWS = 40  # of a table that fits a page

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage[margin=2cm]{geometry}"""

_MARKS = "{}$&#_%"
_NAMED_MARKS = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater", "|": "bar"}
_SYMBOLS = {"×": r"\times", "±": r"\pm", "≤": r"\leq", "≥": r"\geq", "−": "-", "∞": r"\infty"}
_GREEK = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi . pi rho varsigma sigma tau upsilon"
    " varphi chi psi omega"
)
_GREEK_CAPITALS = "Gamma Delta . . . Theta . . Lambda . . Xi . Pi . . Sigma . . Phi . Psi Omega"


def latex_report(subject: Subject) -> str:
    """Return the document."""
    return "\n".join(_lines(subject, methods(subject))) + "\n"


def _lines(subject: Subject, paragraph: Sequence[Sentence]) -> Iterator[str]:
    analysis = subject.analysis
    yield PREAMBLE
    yield rf"\title{{{escaped(subject.title)}}}"
    yield r"\date{}"
    yield r"\begin{document}"
    yield r"\maketitle"
    yield from ("", escaped(headline(analysis)), "", f"{escaped(measure_in_words(analysis))}.")
    yield from ("", r"\section*{Method}", "", latex_paragraph(paragraph), "")
    yield from _table(f"Summary of the comparisons, using {_steps(analysis).words}.", holm_tabular(analysis))
    yield from _table(
        "Runs and mean ranks (1 is best) of the algorithms; the best is bold.", algorithms_tabular(analysis)
    )
    yield from _probable(analysis)
    statistics = statistics_tabular(analysis)
    if statistics is not None:
        what = f"The {analysis.settings.statistic} of each algorithm on each instance; the best is bold."
        yield from _table(what, statistics)
    if analysis.warnings:
        yield r"\section*{To be minded}"
        yield from _items([each.sentence for each in analysis.warnings])
    yield from _bibliography(paragraph)
    yield r"\end{document}"


def _probable(analysis: Analysis) -> Iterator[str]:
    """What is probable, where a margin asks for it: the answer, the table, and what to know of it."""
    if not analysis.weighs_a_margin:
        return
    said = probable_words(analysis)
    yield from (r"\section*{How probable it is}", "", escaped(said.headline), "")
    yield from _table("Posterior probabilities of the comparisons, on average and new.", bayes_tabular(analysis.bayes))
    yield from _items(said.notes)


def _items(sentences: Sequence[str]) -> Iterator[str]:
    yield r"\begin{itemize}"
    yield from (rf"\item {escaped(sentence)}" for sentence in sentences)
    yield r"\end{itemize}"


def _table(caption: str, tabular: str) -> Iterator[str]:
    """A floating table, or a long one with its caption above it."""
    if tabular.startswith(r"\begin{longtable}"):
        yield from (r"\begingroup\footnotesize", rf"\noindent {escaped(caption)}", tabular, r"\endgroup", "")
        return
    yield from (r"\begin{table}[htbp]", r"\centering\footnotesize", rf"\caption{{{escaped(caption)}}}", tabular)
    yield from (r"\end{table}", "")


def _bibliography(paragraph: Sequence[Sentence]) -> Iterator[str]:
    works = cited(paragraph)
    yield r"\begin{thebibliography}{9}"
    yield from (rf"\bibitem{{{work.key}}} {escaped(work.listed)}" for work in works)
    yield r"\end{thebibliography}"
    yield r"\iffalse  % the same for BibTeX"
    yield from (work.bibtex for work in works)
    yield r"\fi"


# what an author pastes ----------------------------------------------------------------------------------------------


def latex_paragraph(sentences: Sequence[Sentence]) -> str:
    r"""Return the methods paragraph, works cited by \cite.

    >>> print(latex_paragraph([Sentence("Holm's correction was used at α = 0.05", ("holm1979",))]))
    Holm's correction was used at \ensuremath{\alpha} = 0.05~\cite{holm1979}.
    """
    cites = [rf"~\cite{{{','.join(each.cites)}}}" if each.cites else "" for each in sentences]
    return " ".join(f"{escaped(each.words)}{cite}." for each, cite in zip(sentences, cites, strict=True))


def holm_tabular(analysis: Analysis) -> str:
    """Return the comparisons in Holm's order, on several pages where they need them."""
    return holm_table(analysis, long=len(analysis.comparisons) > MOST_ROWS)


def holm_table(analysis: Analysis, *, long: bool = False) -> str:
    r"""Return the comparisons in Holm's order as a table for a paper; a rule stands where rejecting stops.

    It needs \usepackage{booktabs} in the preamble. Of a study with looks it has the verdicts and repeated intervals.
    """
    if analysis.looks is not None:
        return _looked_tabular(analysis, long=long)
    numbers = list(counted(analysis))
    header = [
        "rank",
        "comparison",
        *numbers,
        r"$\alpha'$",
        "$p$",
        _estimate(analysis),
        f"{_steps(analysis).level}-level interval",
        "$d$",
    ]
    shown, ratio = list(in_table(analysis)), are_ratios(analysis)
    p_values = [supported(each.p_value, each.instances, analysis.settings) for each in shown]
    rows = [
        (each.rejected, _row(each, counts_of(each, analysis), p, ratio=ratio))
        for each, p in zip(shown, p_values, strict=True)
    ]
    rejected, kept = ([row for fell, row in rows if fell is asked] for asked in (True, False))
    return booktabs(header, rejected, kept, align=f"rl{'r' * len(numbers)}rrrcr", long=long)


def _looked_tabular(analysis: Analysis, *, long: bool) -> str:
    """The comparisons of a study with looks; a rule stands after those that differ."""
    header = [
        "comparison",
        "verdict",
        "look",
        "$n$",
        _estimate(analysis),
        "repeated interval",
        "$p$",
        "adjusted $p$",
        "$d$",
    ]
    rows = [(each.rejected, _looked_row(each, analysis)) for each in in_table(analysis)]
    found, others = ([row for fell, row in rows if fell is asked] for asked in (True, False))
    return booktabs(header, found, others, align="llrrrcrrr", long=long)


def _looked_row(comparison: Comparison, analysis: Analysis) -> list[str]:
    assert analysis.looks is not None
    return [
        rf"{wrapped(comparison.first)} $\times$ {wrapped(comparison.second)}",
        escaped(verdict_word(comparison, analysis)),
        str(analysis.looks.standing((comparison.first, comparison.second)).look),
        f"${comparison.instances}$",
        *_tex_estimate(comparison.estimate, comparison.interval, ratio=are_ratios(analysis)),
        tex_number(comparison.p_value),
        tex_number(comparison.p_holm),
        tex_number(comparison.effect_size),
    ]


def _steps(analysis: Analysis) -> Procedure:
    return paired_test(analysis.settings.test).procedure


def _estimate(analysis: Analysis) -> str:
    return estimate_header(analysis, ESTIMANDS[analysis.comparisons[0].estimate_of].tex).replace("%", r"\%")


def _row(comparison: Comparison, counts: Sequence[int], p: float, *, ratio: bool) -> list[str]:
    return [
        str(comparison.rank),
        rf"{wrapped(comparison.first)} $\times$ {wrapped(comparison.second)}",
        *(f"${number}$" for number in counts),
        tex_number(comparison.alpha),
        tex_number(p),
        *_tex_estimate(comparison.estimate, comparison.interval, ratio=ratio),
        tex_number(comparison.effect_size),
    ]


def bayes_tabular(bayes: Bayes) -> str:
    r"""Return what is probable as a table for a paper: mean, interval, probabilities, those of a new instance, verdict.

    It needs \usepackage{booktabs} in the preamble.
    """
    names = sides(bayes)
    mean = location_header("mean", bayes.analysis.settings).replace("%", r"\%")
    header = ["comparison", mean, rf"{digits(100 * bayes.level)}\,\% interval", *names, *(f"new: {x}" for x in names)]
    rows = [
        [
            rf"{wrapped(each.first)} $\times$ {wrapped(each.second)}",
            *(("--", "--") if each.posterior is None else _tex_posterior(each.posterior, bayes)),
            *_tex_chances(each.chances),
            *_tex_chances(each.new_chances),
            wrapped(said_verdict(each, bayes).replace("–", "--")),
        ]
        for each in bayes.comparisons
    ]
    return booktabs([*header, "verdict"], rows, align="lrc" + "r" * 6 + "l", long=len(rows) > MOST_ROWS)


def _tex_chances(chances: Chances | None) -> list[str]:
    return ["--" if cell.text == "–" else f"${cell.text}$" for cell in chance_cells(chances)]


def _tex_posterior(found: Posterior, bayes: Bayes) -> tuple[str, str]:
    ratio = bayes.analysis.settings.difference == "ratio"
    return _tex_estimate(shown_mean(found, bayes), shown_interval(found, bayes), ratio=ratio)


def _tex_estimate(estimate: float, interval: Interval, *, ratio: bool) -> tuple[str, str]:
    """An estimate and its interval, ratios as percent changes or factors."""
    if not ratio:
        return tex_number(estimate), _tex_interval(interval)
    texts = (text.replace(" %", r"\,\%").replace("×", r"\times ") for text in texts_of_ratios(estimate, *interval))
    value, low, high = (text.replace("∞", r"\infty").replace("−", "-") for text in texts)
    return f"${value}$", f"$[{low}, {high}]$"


def _tex_interval(interval: Interval) -> str:
    low, high = (tex_number(bound).strip("$") for bound in interval)
    return f"$[{low}, {high}]$"


def algorithms_tabular(analysis: Analysis) -> str:
    """Return the algorithms with runs and mean rank, the best rank in bold."""
    best = min(row.mean_rank for row in analysis.algorithms)
    failed = any(row.failures for row in analysis.algorithms)
    rows = [
        [
            wrapped(row.algorithm),
            f"${row.runs}$",
            *([f"${row.solved}$"] if failed else []),
            _rank(row.mean_rank, best),
        ]
        for row in analysis.algorithms
    ]
    header = ["algorithm", "runs", *(["gave a value"] if failed else []), "mean rank"]
    return booktabs(header, rows, align=f"lr{'r' * failed}r", long=len(rows) > MOST_ROWS)


def _rank(rank: float, best: float) -> str:
    return "--" if math.isnan(rank) else _bold(f"{rank:.2f}", rank == best)


def statistics_tabular(analysis: Analysis) -> str | None:
    """Return the statistic of each algorithm on each instance, the best in bold; None if they do not fit a page."""
    names = [row.algorithm for row in analysis.algorithms]
    if len(names) > MOST_COLUMNS:
        return None
    values = analysis.statistics
    best = np.nanmin(values, axis=1) if analysis.settings.better == "lower" else np.nanmax(values, axis=1)
    rows = [
        [
            wrapped(row.instance),
            *(_value(value, best[i]) for value in values[i].tolist()),
        ]
        for i, row in enumerate(analysis.accuracy)
    ]
    header = ["instance", *(wrapped(name, 12) for name in names)]
    return booktabs(header, rows, align="l" + "r" * len(names), long=len(rows) > MOST_ROWS)


def _value(value: float, best: float) -> str:
    return "--" if math.isnan(value) else _bold(tex_number(value, 4).strip("$"), value == best)


def _bold(text: str, best: bool) -> str:
    r"""A number in mathematics, \mathbf where it is the best."""
    return rf"$\mathbf{{{text}}}$" if best else f"${text}$"


# words, numbers and tables ------------------------------------------------------------------------------------------


def _escapes() -> dict[str, str]:
    """What stands for a character in LaTeX; Greek letters and symbols are known in mathematics only."""
    named = {mark: rf"\text{name}{{}}" for mark, name in (_NAMED_MARKS | {'"': "quotedbl"}).items()}
    letters = _letters("α", _GREEK) | _letters("Γ", _GREEK_CAPITALS)
    symbols = {symbol: rf"\ensuremath{{{name}}}" for symbol, name in (_SYMBOLS | letters).items()}
    return {mark: rf"\{mark}" for mark in _MARKS} | named | symbols


def _letters(first: str, names: str) -> dict[str, str]:
    """The letters from `first` on by their names; a dot is one that looks like a Latin one, or is none."""
    return {chr(ord(first) + place): rf"\{name}" for place, name in enumerate(names.split()) if name != "."}


_ESCAPES = str.maketrans(_escapes())


def escaped(text: str) -> str:
    r"""Return a text that LaTeX sets as it stands; line breaks become blanks.

    >>> print(escaped("(1+(λ,λ)) GA_{r/2} & 50%"))
    (1+(\ensuremath{\lambda},\ensuremath{\lambda})) GA\_\{r/2\} \& 50\%
    """
    return " ".join(text.split()).translate(_ESCAPES)


def tex_number(value: float, significant: int = 2) -> str:
    r"""Return a number in mathematics, with so many significant digits.

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
    plain = " ".join(text.split())
    if len(plain) <= width:
        return escaped(plain)
    lines = [escaped(plain[start : start + width]) for start in range(0, len(plain), width)]
    stacked = r"\\".join(lines)
    return rf"\shortstack[l]{{{stacked}}}"


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
    for place, group in enumerate(filter(None, groups)):
        lines += [*([] if long and place == 0 else [r"\midrule"]), *map(_line, group)]
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{kind}}}"])


def _line(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"
