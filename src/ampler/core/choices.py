"""The words of every choice that several packages share, as types. No imports, so that the help is quick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Difference = Literal["simple", "percent", "ratio"]
DIFFERENCE_ALIASES: Mapping[str, Difference] = {"absolute": "simple", "log-ratio": "ratio"}
Alternative = Literal["two-sided", "less", "greater"]
Test = Literal["t", "wilcoxon", "sign", "bootstrap-t", "sign-flip"]
Status = Literal["ok", "failed", "timeout", "lost"]
Better = Literal["lower", "higher"]
Formula = Literal["corrected", "delta", "paper"]  # of relative differences: second order, first order, the paper's
Estimate = Literal["corrected", "all-runs", "first-runs"]  # of what stands for runs that their values ended
Guard = Literal["none", "pairs", "all"]  # what protects from variances that look small by luck
SignedRanks = Literal["exact", "normal"]  # Wilcoxon's test where differences tie; normal up to version 0.2, as in R
GuardEdition = Literal[1, 2]  # how its bounds are calibrated; a study file keeps the edition it began with
Weights = Literal["equal", "precision"]  # of instances in a posterior
TargetWord = Literal["worst", "mean", "median", "best"]  # of the powers of the comparisons
Target = TargetWord | int  # which power must be reached; a number: in so many comparisons


def difference_of(word: Any) -> Any:
    """Return the kind of difference that an alias stands for; any other word unchanged.

    >>> difference_of("log-ratio"), difference_of("absolute"), difference_of("percent")
    ('ratio', 'simple', 'percent')
    """
    return DIFFERENCE_ALIASES.get(word, word) if isinstance(word, str) else word
