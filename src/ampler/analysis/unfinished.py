"""An analysis of a study that is not finished: estimates only. Pure.

Who looks at a study after every instance, and stops when something is significant, finds differences that are not
there. So until the study is complete, or at a planned interim analysis, nothing is tested.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis
from ampler.analysis.units import size_in_words
from ampler.core.settings import AnalysisSettings
from ampler.core.spoken import parameter
from ampler.core.values import Caution, CautionKind
from ampler.stats.paired import ESTIMANDS

UNKNOWN = math.nan, math.nan
ABOUT_RUNS: frozenset[CautionKind] = frozenset(  # the warnings that say nothing of what a test would find
    {
        *("unfinished", "part", "one-instance", "pseudoreplication", "duplicates", "repeated-runs", "censored", "bias"),
        *(
            "biased",
            "denominator",
            "direction",
            "incomplete",
            "code",
            "drift",
            "busy",
            "accuracy",
            "budget",
            "unmatched",
        ),
        *("accuracy-unknown", "rates", "table", "columns", "folds", "unused", "plan"),
    }
)


def estimates_only(analysis: Analysis, why: str) -> Analysis:
    """Return the analysis without p-values, intervals, verdicts and whatever else tells what a test would find."""
    pairs = {pair: place for place, pair in enumerate(analysis.pairs, start=1)}
    estimates = (
        _estimate_only(each, pairs[each.first, each.second], analysis.settings) for each in analysis.comparisons
    )
    return replace(
        analysis,
        unfinished=why,
        comparisons=tuple(sorted(estimates, key=lambda each: each.rank)),
        detectable_effect=math.nan,
        warnings=tuple(each for each in analysis.warnings if each.kind in ABOUT_RUNS),
        diagnoses=tuple(replace(each, equivalence=None, failure_bound=None) for each in analysis.diagnoses),
        omnibus=None,
        subgroups=(),
        stability=(),
        other_policies=(),
    )


def unplanned_note(why: str) -> Caution:
    """Return what stands above results that are tested before the study is finished, as was asked for."""
    return Caution(
        "unplanned",
        f"The study is not finished ({why}), and no analysis was planned for now: who tests the results again and again"
        " finds differences that are not there. Claim nothing; leave out"
        f" {parameter('unplanned', True)} for estimates.",
    )


def _estimate_only(each: Comparison, place: int, settings: AnalysisSettings) -> Comparison:
    share = ESTIMANDS[each.estimate_of].is_share
    size = f"{100 * each.estimate:.0f} %" if share else size_in_words(each.estimate, settings)
    return replace(
        each,
        interval=UNKNOWN,
        joint_interval=UNKNOWN,
        p_value=math.nan,
        p_holm=math.nan,
        rank=place,
        rejected=False,
        effect_size=math.nan,  # which is t, but for the root of the number of instances
        effect_interval=UNKNOWN,
        verdict=f"estimate so far: {size}",
        doubts=(),
    )
