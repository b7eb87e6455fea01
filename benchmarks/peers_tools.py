"""The tools that decide on a table: each gives the pairs (better, worse) that it declares different.

They are used as their documentation says, at a family-wise level of 0.05 where the tool has one.
What is not installed is not in `TOOLS`.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import combinations

import pandas as pd

import ampler as am

Pair = tuple[str, str]
Decide = Callable[[pd.DataFrame], set[Pair]]

ALPHA = 0.05
DRAWS = 2_000  # of a posterior: a probability of 0.95 is known to within 0.005
SEED = 2019


class Ampler:
    """ampler with one of its tests, all pairs."""

    def __init__(self, test: str) -> None:
        self.test = test
        self.last: tuple[pd.DataFrame, am.Analysis] | None = None

    def __call__(self, frame: pd.DataFrame) -> set[Pair]:
        found = [one for one in self.analysis(frame).comparisons if one.rejected]
        return {(one.first, one.second) if self._first_lower(one) else (one.second, one.first) for one in found}

    def covers(self, frame: pd.DataFrame, truth: Mapping[Pair, float]) -> bool:
        """Say whether all joint intervals hold their true differences."""
        return all(
            one.joint_interval[0] <= truth[one.first, one.second] <= one.joint_interval[1]
            for one in self.analysis(frame).comparisons
        )

    def analysis(self, frame: pd.DataFrame) -> am.Analysis:
        if self.last is None or self.last[0] is not frame:
            self.last = frame, am.analyse(frame, difference="simple", better="lower", test=self.test)
        return self.last[1]

    def _first_lower(self, one) -> bool:
        return one.estimate < (0.5 if self.test == "sign" else 0.0)


ampler_t = Ampler("t")


def autorank(frame: pd.DataFrame) -> set[Pair]:
    """autorank as it comes: it chooses between ANOVA with Tukey's HSD and Friedman with Nemenyi."""
    from autorank import autorank

    with quiet():
        result = autorank(frame.reset_index(drop=True), alpha=ALPHA, order="ascending")
    if result.pvalue >= ALPHA:
        return set()
    table = result.rankdf
    if result.posthoc == "nemenyi":
        return _apart(table["meanrank"], lambda a, b: table.meanrank[b] - table.meanrank[a] > result.cd)
    return _apart(table["mean"], lambda a, b: table.ci_upper[a] < table.ci_lower[b])


def nemenyi(frame: pd.DataFrame) -> set[Pair]:
    """Friedman, and if it rejects, Nemenyi: what Demšar (2006) recommends and scmamp does too."""
    import scikit_posthocs

    return _after_friedman(frame, scikit_posthocs.posthoc_nemenyi_friedman)


def baycomp(frame: pd.DataFrame) -> set[Pair]:
    """The signed-rank posterior of each pair, no region of equivalence; claimed above 0.95, as its authors do."""
    from baycomp import SignedRankTest

    found = set()
    for a, b in combinations(frame.columns, 2):
        test = SignedRankTest(frame[a].to_numpy(), frame[b].to_numpy(), 0, nsamples=DRAWS, random_state=SEED)
        left, _, right = test.probs()  # left: the first has the higher values
        if max(left, right) > 1 - ALPHA:
            found.add((b, a) if left > right else (a, b))
    return found


def _after_friedman(frame: pd.DataFrame, p_values: Callable[[pd.DataFrame], pd.DataFrame]) -> set[Pair]:
    from scipy.stats import friedmanchisquare

    values = frame.reset_index(drop=True)
    if friedmanchisquare(*values.to_numpy().T).pvalue >= ALPHA:
        return set()
    p = p_values(values)
    return _apart(values.rank(axis=1).mean(), lambda a, b: p.loc[a, b] < ALPHA)


def _apart(order: pd.Series, apart: Callable[[str, str], bool]) -> set[Pair]:
    """The pairs that are apart, the one that stands lower first."""
    names = list(order.sort_values().index)
    return {(a, b) for a, b in combinations(names, 2) if apart(a, b)}


@contextlib.contextmanager
def quiet():
    """What a tool prints and warns of is not what is measured."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


EVERY: dict[str, tuple[str, Decide]] = {
    "ampler, t": ("ampler", ampler_t),
    "ampler, Wilcoxon": ("ampler", Ampler("wilcoxon")),
    "ampler, bootstrap-t": ("ampler", Ampler("bootstrap-t")),
    "autorank": ("autorank", autorank),
    "Friedman–Nemenyi": ("scikit_posthocs", nemenyi),
    "baycomp, signed rank": ("baycomp", baycomp),
}
TOOLS: dict[str, Decide] = {name: decide for name, (module, decide) in EVERY.items() if find_spec(module)}
