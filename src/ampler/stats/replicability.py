"""On how many instances is a difference there? A lower confidence bound by partial conjunction tests. Pure.

The hypothesis "fewer than u of n differences are there" is tested by Fisher's combination of the n − u + 1 largest
p-values (Benjamini and Heller 2008), which are independent, as runs on different instances are. The bound is the
largest u up to which all of these hypotheses are rejected, so its confidence is 1 − α (Dror et al. 2017).
"""

from __future__ import annotations

import numpy as np

from ampler.core.arrays import Floats


def least_number(p_values: Floats, alpha: float) -> int:
    """Return a lower confidence bound for the number of false null hypotheses among independent tests.

    >>> least_number(np.array([1e-9, 1e-7, 0.02, 0.6]), 0.05)
    2
    """
    from scipy.special import chdtrc

    p = np.sort(np.maximum(p_values, np.finfo(float).tiny))
    statistics = -2 * np.cumsum(np.log(p[::-1]))[::-1]  # of the p-values from the u-th smallest on
    combined = chdtrc(2 * np.arange(len(p), 0, -1), statistics)
    return int(np.logical_and.accumulate(combined <= alpha).sum())
