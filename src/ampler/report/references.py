"""The works a methods paragraph cites, with their BibTeX entries. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited work: its key, how it is cited in plain text, how it is listed, and its BibTeX entry."""

    key: str
    short: str
    listed: str
    bibtex: str


def reference(key: str) -> Reference:
    """Return a work by its key.

    >>> reference("holm1979").short
    'Holm 1979'
    """
    return _WORKS[key]


def _entry(kind: str, key: str, **fields: str) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _article(key: str, short: str, listed: str, **fields: str) -> Reference:
    return Reference(key, short, listed, _entry("article", key, **fields))


_ALL = (
    _article(
        "campelo2020",
        "Campelo & Wanner 2020",
        "F. Campelo and E. F. Wanner. Sample size calculations for the experimental comparison of multiple algorithms"
        " on multiple problem instances. Journal of Heuristics 26, 851–883, 2020.",
        author="Campelo, Felipe and Wanner, Elizabeth F.",
        title="Sample size calculations for the experimental comparison of multiple algorithms on multiple problem"
        " instances",
        journal="Journal of Heuristics",
        volume="26",
        pages="851--883",
        year="2020",
        doi="10.1007/s10732-020-09454-w",
    ),
    _article(
        "holm1979",
        "Holm 1979",
        "S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2),"
        " 65–70, 1979.",
        author="Holm, Sture",
        title="A simple sequentially rejective multiple test procedure",
        journal="Scandinavian Journal of Statistics",
        volume="6",
        number="2",
        pages="65--70",
        year="1979",
    ),
    _article(
        "wilcoxon1945",
        "Wilcoxon 1945",
        "F. Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 80–83, 1945.",
        author="Wilcoxon, Frank",
        title="Individual comparisons by ranking methods",
        journal="Biometrics Bulletin",
        volume="1",
        number="6",
        pages="80--83",
        year="1945",
        doi="10.2307/3001968",
    ),
    _article(
        "dixon1946",
        "Dixon & Mood 1946",
        "W. J. Dixon and A. M. Mood. The statistical sign test. Journal of the American Statistical Association"
        " 41(236), 557–566, 1946.",
        author="Dixon, W. J. and Mood, A. M.",
        title="The statistical sign test",
        journal="Journal of the American Statistical Association",
        volume="41",
        number="236",
        pages="557--566",
        year="1946",
        doi="10.1080/01621459.1946.10501898",
    ),
    _article(
        "smyth2004",
        "Smyth 2004",
        "G. K. Smyth. Linear models and empirical Bayes methods for assessing differential expression in microarray"
        " experiments. Statistical Applications in Genetics and Molecular Biology 3(1), article 3, 2004.",
        author="Smyth, Gordon K.",
        title="Linear models and empirical {B}ayes methods for assessing differential expression in microarray"
        " experiments",
        journal="Statistical Applications in Genetics and Molecular Biology",
        volume="3",
        number="1",
        pages="Article 3",
        year="2004",
        doi="10.2202/1544-6115.1027",
    ),
    _article(
        "schuirmann1987",
        "Schuirmann 1987",
        "D. J. Schuirmann. A comparison of the two one-sided tests procedure and the power approach for assessing the"
        " equivalence of average bioavailability. Journal of Pharmacokinetics and Biopharmaceutics 15(6), 657–680,"
        " 1987.",
        author="Schuirmann, Donald J.",
        title="A comparison of the two one-sided tests procedure and the power approach for assessing the equivalence"
        " of average bioavailability",
        journal="Journal of Pharmacokinetics and Biopharmaceutics",
        volume="15",
        number="6",
        pages="657--680",
        year="1987",
        doi="10.1007/BF01068419",
    ),
)
_WORKS = {work.key: work for work in _ALL}
