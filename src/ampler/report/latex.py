"""Words, numbers and tables as LaTeX: what names contain is escaped, tables are booktabs. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ampler.core.wording import digits

if TYPE_CHECKING:
    from ampler.analysis import Analysis, Comparison

_MARKS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "−": r"\ensuremath{-}",
    "∞": r"\ensuremath{\infty}",
}
_GREEK = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi o pi rho varsigma sigma tau upsilon"
    " varphi chi psi omega"
)
_GREEK_CAPITALS = {"Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma"} | {
    "Φ": "Phi",
    "Ψ": "Psi",
    "Ω": "Omega",
}


def _letters() -> dict[str, str]:
    """Greek letters, which pdfLaTeX knows in mathematics only."""
    small = {chr(ord("α") + place): name for place, name in enumerate(_GREEK.split())}
    names = {letter: name for letter, name in (small | _GREEK_CAPITALS).items() if name != "o"}
    return {letter: rf"\ensuremath{{\{name}}}" for letter, name in names.items()}


_ESCAPES = str.maketrans(_MARKS | _letters())


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


def holm_table(analysis: Analysis, *, long: bool = False) -> str:
    r"""Return the comparisons in Holm's order as a table for a paper; a rule stands where rejecting stops.

    It needs \usepackage{booktabs} in the preamble.
    """
    header = ["rank", "comparison", r"$\alpha'$", "$p$", _estimate(analysis), "Holm-level interval", "$d$"]
    rejected = [_row(comparison) for comparison in analysis.comparisons if comparison.rejected]
    kept = [_row(comparison) for comparison in analysis.comparisons if not comparison.rejected]
    return booktabs(header, rejected, kept, align="rlrrrcr", long=long)


def _line(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _estimate(analysis: Analysis) -> str:
    return {"P(φ>0)": r"$P(\varphi>0)$"}.get(name := analysis.comparisons[0].estimate_of, name)


def _row(comparison: Comparison) -> list[str]:
    low, high = (tex_number(bound).strip("$") for bound in comparison.interval)
    return [
        str(comparison.rank),
        rf"{wrapped(comparison.first)} $\times$ {wrapped(comparison.second)}",
        tex_number(comparison.alpha),
        tex_number(comparison.p_value),
        tex_number(comparison.estimate),
        f"$[{low}, {high}]$",
        tex_number(comparison.effect_size),
    ]
