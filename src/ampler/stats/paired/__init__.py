"""Paired tests on the differences of pairs over the instances, each one row of a table. Pure.

* `contract`: the fields of a row: names, hypothesis, citation, estimand, efficiency, functions of the differences
* `student`, `wilcoxon`, `sign`: the tests
* `bounds`: p-values from tails, and intervals that say what level they really have
* `missing`: differences that a pair lacks on some instances
* `family`: comparisons tested one by one and held together by Holm
* `resampled`: tests that judge all comparisons together by resampling the instances

Everything specific to a test stands in its row. Other packages use the row and never the name, so that a new
test is a file here, a row below, and its name in `core.settings.Test`. This package may import `core` and the rest of
`stats` that is not built on it (`holm`, `location`).

`family_verdict` tests a family of comparisons. Most tests use one pair at a time: then `family` of the
row stays empty and `holm_family` controls the family (Holm's step-down on the p-values, Bonferroni's joint
intervals). A test that needs all comparisons at once, as resampling the instances of the whole matrix does, brings its
own: a callable that takes the matrix (instances in rows, pairs in columns; NaN where a pair lacks an instance, and each
pair then uses those it has), the alternative and the family-wise alpha, and returns a `contract.FamilyVerdict`:

    p_values         of each comparison by itself, not adjusted
    steps            ranks, adjusted p-values and what is rejected; `levels` are those of the intervals of the ranks
    intervals        of each comparison by itself, at its entry of `steps.levels`
    joint_intervals  that hold together with probability 1 − alpha

It must give the same answer whenever it is asked with the same numbers, so what it draws at random has a seed of its
own, and it must follow a permutation of the columns. A pair with fewer than two differences is never rejected, and its
intervals are the whole line. Intervals are made when requested: many callers want the steps alone. The one-sample
questions of its row remain (subgroups and figures ask about one pair)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any, cast

from ampler.core.arrays import Floats
from ampler.core.settings import Alternative, Test
from ampler.core.text import named
from ampler.stats.paired import sign, student, wilcoxon
from ampler.stats.paired.contract import FEWEST as FEWEST
from ampler.stats.paired.contract import Bounds as Bounds
from ampler.stats.paired.contract import Estimand as Estimand
from ampler.stats.paired.contract import FamilyVerdict as FamilyVerdict
from ampler.stats.paired.contract import Many as Many
from ampler.stats.paired.contract import PairedTest as PairedTest
from ampler.stats.paired.contract import (
    Procedure,
    holm_family,
)
from ampler.stats.paired.contract import present as present
from ampler.stats.paired.contract import present_columns as present_columns
from ampler.stats.paired.contract import sample_estimate as sample_estimate
from ampler.stats.paired.contract import sample_interval as sample_interval
from ampler.stats.paired.contract import sample_p_value as sample_p_value
from ampler.stats.paired.resampled import BOOTSTRAP_T, SIGN_FLIP, Resampled
from ampler.stats.resampling import RESAMPLES

MEAN = Estimand("mean", words="on average", tex="mean")
RESAMPLING = Procedure(
    name="step-down",
    words=f"Romano and Wolf's step-down procedure, with {RESAMPLES} resamples of the instances",
    joint="come from the same resamples",
    level="step",
    order="the order of the steps",
    about="Each step-level interval has the critical values of its step, beyond which are a share α′ of the resamples",
    cites=("romano2005",),
)


def _answers(mathematics: ModuleType | Resampled) -> dict[str, Any]:
    """The functions by which the module of a test answers, by the names that all tests have for them.

    A test that resamples the instances also says something of all comparisons together.
    """
    together = ("family", "families", "equivalence") if isinstance(mathematics, Resampled) else ()
    names = ("p_value", "many", "estimate", "interval", "leaning", *together)
    return {name: getattr(mathematics, name) for name in names} | ({"procedure": RESAMPLING} if together else {})


_ROWS = (
    PairedTest(
        name="t",
        words="paired t-test",
        label="paired t-test",
        null="of zero mean difference",
        estimand=MEAN,
        **_answers(student),
        when_skewed="errs",
        by_moments=True,
    ),
    PairedTest(
        name="wilcoxon",
        words="Wilcoxon signed-rank test",
        label="Wilcoxon signed ranks",
        null="of a zero pseudomedian of the differences",
        cites=("wilcoxon1945",),
        estimand=Estimand("pseudomedian", words="in the pseudomedian", tex="pseudomedian"),
        # The paper's: its worst case over all continuous symmetric distributions is 108/125 (Hodges and Lehmann 1956).
        efficiency=Fraction(86, 100),
        **_answers(wilcoxon),
        when_skewed="tests something else",
        has_exact_p=True,
        look_back=1,
    ),
    PairedTest(
        name="sign",
        words="sign test",
        label="sign test",
        null="that either sign of the difference is equally likely",
        cites=("dixon1946",),
        estimand=Estimand(
            "P(φ>0)",
            words="of the instances without a tie",
            tex=r"$P(\varphi>0)$",
            neutral=0.5,
            axis="Share of instances where φ > 0",
        ),
        efficiency=Fraction(637, 1000),  # the paper's: 2/π for normal differences
        **_answers(sign),
        when_skewed="stays sound",
        has_exact_p=True,
        look_back=4,  # it has few possible p-values; the signed-rank test has many more
    ),
    PairedTest(
        name="bootstrap-t",
        words="bootstrap-t test",
        label="bootstrap-t, all together",
        null="of zero mean difference",
        cites=("hall1988",),
        estimand=MEAN,
        price=3,  # measured on normal differences, 8 to 150 instances, 1 to 21 comparisons: 1.2 to 3.3 of them
        **_answers(BOOTSTRAP_T),
        when_skewed="stays sound",
    ),
    PairedTest(
        name="sign-flip",
        words="sign-flip test",
        label="sign flips, all together",
        null="that the differences are symmetric about zero",
        estimand=MEAN,
        **_answers(SIGN_FLIP),
        when_skewed="errs",
        has_exact_p=True,
    ),
)
TESTS: Mapping[Test, PairedTest] = {row.name: row for row in _ROWS}
SINGLE_TESTS = named([row.name for row in _ROWS if row.family is None])  # one comparison by itself
_NORMAL_TIES: dict[str, Any] = {
    name: partial(getattr(wilcoxon, name), exact_ties=False) for name in ("p_value", "many", "interval")
}
_NORMAL = cast(Test, "wilcoxon-normal")  # for studies begun with version 0.2 or earlier
_EARLIER: Mapping[Test, PairedTest] = {_NORMAL: replace(TESTS["wilcoxon"], name=_NORMAL, **_NORMAL_TIES)}
_OF_RUNS = (  # on one instance
    Estimand("shift", words="in the median of all differences between two runs", tex="shift"),
    Estimand("difference", words="in the statistic compared", tex="difference"),
)
ESTIMANDS: Mapping[str, Estimand] = {  # by their names in results
    estimand.name: estimand for estimand in (*(row.estimand for row in _ROWS), *_OF_RUNS)
}


def paired_test(test: Test) -> PairedTest:
    """Return the test of this name.

    >>> import numpy as np
    >>> wilcoxon = paired_test("wilcoxon")
    >>> wilcoxon.p_value(np.array([1.1, -0.4, 2.0, 3.2, 0.7]), "two-sided")
    0.125
    """
    return TESTS.get(test) or _EARLIER[test]


def family_verdict(differences: Floats, *, test: Test, alternative: Alternative, alpha: float) -> FamilyVerdict:
    """Test every column of the differences with family-wise error rate alpha.

    A column is NaN on the instances that its pair lacks.

    >>> import numpy as np
    >>> differences = np.array([[1.2, 0.1], [0.8, -0.3], [1.9, 0.4], [1.4, -0.1], [0.7, 0.2]])
    >>> family_verdict(differences, test="t", alternative="two-sided", alpha=0.05).steps.rejected.tolist()
    [True, False]
    """
    row = paired_test(test)
    if row.family is not None:
        return row.family(differences, alternative, alpha)
    return holm_family(row, differences, alternative, alpha)
