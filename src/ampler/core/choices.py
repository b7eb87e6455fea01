"""The words of every choice that crosses rooms, as types. Nothing else, so that the shell's help is quick."""

from __future__ import annotations

from typing import Literal

Difference = Literal["simple", "percent", "log-ratio"]
Alternative = Literal["two-sided", "less", "greater"]
Test = Literal["t", "wilcoxon", "sign", "bootstrap-t", "sign-flip"]
Status = Literal["ok", "failed", "timeout", "lost"]
Better = Literal["lower", "higher"]
Formula = Literal["delta", "paper"]  # of the errors of percent differences, all with all
Estimate = Literal["corrected", "all-runs", "first-runs"]  # of what stands for runs that their values ended
Guard = Literal["none", "pairs", "all"]  # what protects from variances that look small by luck
GuardEdition = Literal[1, 2]  # how its bounds are calibrated; a study file keeps the edition it began with
Weights = Literal["equal", "precision"]  # of instances in a posterior
TargetWord = Literal["worst", "mean", "median", "best"]  # of the powers of the comparisons
Target = TargetWord | int  # which power must be reached; a number: in so many comparisons
