"""Claims held against the bias that run noise leaves in ratios and percent differences. Pure.

A ratio or a logarithm of noisy means is biased. The differences are corrected to second order; what is left could make
a difference where runs are few and noisy and instances many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ampler.analysis.blocks import Blocks
from ampler.analysis.compare import Comparison, Doubt
from ampler.core.arrays import Floats
from ampler.core.spoken import parameter
from ampler.core.wording import digits
from ampler.stats.contrasts import Contrasts
from ampler.stats.paired import FEWEST, present

NOTABLE = 0.25  # standard errors of a mean by which a bias makes 0.05 to 0.06 at most


def noise_doubts(
    comparisons: Sequence[Comparison], differences: Floats, blocks: Blocks, contrasts: Contrasts, *, corrected: bool
) -> list[tuple[Doubt, ...]]:
    """Return a doubt for each comparison, in the order of the columns, that run noise alone may have made.

    `corrected` says that first-order differences were corrected all the same, as runs that values ended are.
    """
    if contrasts.difference == "simple" or not any(each.rejected for each in comparisons):
        return [()] * len(comparisons)
    left = bias_left(blocks, contrasts) if corrected else bias_left(blocks, contrasts) + uncorrected(blocks, contrasts)
    return [
        (Doubt("noise", _reason(left[k])),) if _could_make(each, present(differences[:, k]), left[k]) else ()
        for k, each in enumerate(comparisons)
    ]


def bias_left(blocks: Blocks, contrasts: Contrasts) -> Floats:
    """Return a bound of the bias of each pair's mean difference: the first term that is not corrected for.

    With u the squared relative standard error, that of a logarithm is u²/2 at most for normal to lognormal runs (log-sd
    up to 0.8), that of a percent difference 2u² of the ratio. A reference without noise has none.
    """
    u = np.nan_to_num(np.minimum(blocks.in_logs(contrasts).relative_errors() ** 2, 1.0))
    first, second, place = contrasts.first, contrasts.second, contrasts.reference
    if contrasts.difference == "percent" and place is not None:
        with np.errstate(all="ignore"):
            left = 2 * u[:, [place]] ** 2 * np.abs(blocks.theta[:, second] / blocks.theta[:, [place]])
    else:
        left = np.maximum(u[:, first], u[:, second]) ** 2 / 2
    return np.zeros_like(_mean(left)) if contrasts.difference == "ratio" and blocks.exact_logs else _mean(left)


def uncorrected(blocks: Blocks, contrasts: Contrasts) -> Floats:
    """Return the bias of each pair's mean difference that is known and was not corrected for."""
    newest = replace(contrasts, formula="corrected")
    if contrasts.difference == "ratio" and not blocks.unbiased:
        bends = np.zeros((1, len(contrasts.first))) if blocks.exact_logs else blocks.curvature(contrasts)
        return np.abs(_mean(bends))
    return np.abs(_mean(blocks.differences(newest) - blocks.differences(contrasts)))


def _could_make(comparison: Comparison, differences: Floats, bias: float) -> bool:
    """Whether a difference would not be significant without the bias."""
    from scipy.special import stdtrit

    if not comparison.rejected or len(differences) < FEWEST:
        return False
    error = float(differences.std(ddof=1)) / np.sqrt(len(differences))
    needed = -float(stdtrit(len(differences) - 1, comparison.alpha / 2)) * error
    return bool(bias > NOTABLE * error and abs(float(differences.mean())) - bias < needed)


def _reason(bias: float) -> str:
    return (
        f"the noise of so few runs may bias it by {digits(bias, 2)}: make more runs, or compare geometric means"
        f" ({parameter('statistic', 'geometric-mean')})"
    )


def _mean(values: Floats) -> Floats:
    """The mean of each column over the instances that it has; 0 where there is none."""
    there = np.isfinite(values)
    return np.asarray(np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1))
