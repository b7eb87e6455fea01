"""Figures, first the data, then the drawing: `*_data(…)` gives a value, `draw_*(data, ax)` draws it on axes.

In reading order:

* `colours`, `style`, `sheet`, `labels`: how all figures look and are saved, and how names stand in them;
* `titles`, `rows`, `numbers`, `split`: the finding above and the words below, named rows, differences in their unit, an
  axis of two scales;
* `design`: sample sizes, power profiles and power curves, before there are runs;
* `verdict`, `intervals`: all comparisons in rows, with all that is said of each, or with both intervals;
* `accuracy`, `runs`, `convergence`: how well each instance is known, where the runs went, how errors fell with them;
* `profile`, `cactus`, `steps`: how near the best each comes, what solvers solve; curves that rise by steps;
* `scatter`, `cloud`: one algorithm against another over instances, and the runs on one instance;
* `looks`: statistics on their way to the boundaries of looks, and what stopped when;
* `pilot`: what a pilot showed, and where the runs of a study went that found its own size;
* `pairs`: the differences on one instance, and of one pair on all;
* `diagnostics`: what the t-test rests on;
* `ranks`, `subgroups`: Demšar's diagram, and groups of instances; exploratory;
* `probable`, `best`, `simplex`: how probable it is; who is best by rankings; one pair in a triangle;
* `pgf`: files that LaTeX sets.

The data are tested, the drawings looked at. matplotlib is imported inside the functions that draw.
"""

from ampler.report.figures.accuracy import AccuracyData, accuracy_data, draw_accuracy
from ampler.report.figures.best import BestData, best_data, draw_best
from ampler.report.figures.cactus import CactusData, cactus_data, draw_cactus
from ampler.report.figures.cloud import CloudData, cloud_data, draw_cloud
from ampler.report.figures.convergence import ConvergenceData, convergence_data, draw_convergence
from ampler.report.figures.design import (
    PowerCurve,
    PowerProfiles,
    SampleSizes,
    draw_power_curve,
    draw_power_profiles,
    draw_sample_sizes,
    power_curve_data,
    power_profiles_data,
    sample_sizes_data,
)
from ampler.report.figures.diagnostics import (
    BootstrapData,
    QuantileData,
    bootstrap_data,
    draw_bootstrap,
    draw_quantiles,
    quantiles_data,
)
from ampler.report.figures.intervals import IntervalRow, Intervals, draw_intervals, intervals_data
from ampler.report.figures.looks import (
    LookPaths,
    LookStops,
    draw_look_paths,
    draw_look_stops,
    look_paths_data,
    look_stops_data,
)
from ampler.report.figures.pairs import (
    InstanceDifferences,
    PairDifferences,
    draw_instance_differences,
    draw_pair_differences,
    instance_differences_data,
    pair_differences_data,
)
from ampler.report.figures.pilot import (
    PilotData,
    SpendingData,
    draw_pilot,
    draw_spending,
    pilot_data,
    spending_data,
)
from ampler.report.figures.probable import ProbableData, ProbableRow, draw_probable, probable_data
from ampler.report.figures.profile import ProfileData, draw_profile, profile_data
from ampler.report.figures.ranks import Ranks, draw_ranks, ranks_data, table_ranks
from ampler.report.figures.runs import RunsData, draw_runs, runs_data
from ampler.report.figures.scatter import ScatterData, draw_scatter, scatter_data
from ampler.report.figures.simplex import SimplexData, draw_simplex, simplex_data
from ampler.report.figures.style import save
from ampler.report.figures.subgroups import GroupMark, Subgroups, draw_subgroups, subgroups_data
from ampler.report.figures.verdict import VerdictData, draw_verdict, verdict_data

__all__ = [
    "AccuracyData",
    "BestData",
    "BootstrapData",
    "CactusData",
    "CloudData",
    "ConvergenceData",
    "GroupMark",
    "InstanceDifferences",
    "IntervalRow",
    "Intervals",
    "LookPaths",
    "LookStops",
    "PairDifferences",
    "PilotData",
    "PowerCurve",
    "PowerProfiles",
    "ProbableData",
    "ProbableRow",
    "ProfileData",
    "QuantileData",
    "Ranks",
    "RunsData",
    "SampleSizes",
    "ScatterData",
    "SimplexData",
    "SpendingData",
    "Subgroups",
    "VerdictData",
    "accuracy_data",
    "best_data",
    "bootstrap_data",
    "cactus_data",
    "cloud_data",
    "convergence_data",
    "draw_accuracy",
    "draw_best",
    "draw_bootstrap",
    "draw_cactus",
    "draw_cloud",
    "draw_convergence",
    "draw_instance_differences",
    "draw_intervals",
    "draw_look_paths",
    "draw_look_stops",
    "draw_pair_differences",
    "draw_pilot",
    "draw_power_curve",
    "draw_power_profiles",
    "draw_probable",
    "draw_profile",
    "draw_quantiles",
    "draw_ranks",
    "draw_runs",
    "draw_sample_sizes",
    "draw_scatter",
    "draw_simplex",
    "draw_spending",
    "draw_subgroups",
    "draw_verdict",
    "instance_differences_data",
    "intervals_data",
    "look_paths_data",
    "look_stops_data",
    "pair_differences_data",
    "pilot_data",
    "power_curve_data",
    "power_profiles_data",
    "probable_data",
    "profile_data",
    "quantiles_data",
    "ranks_data",
    "runs_data",
    "sample_sizes_data",
    "save",
    "scatter_data",
    "simplex_data",
    "spending_data",
    "subgroups_data",
    "table_ranks",
    "verdict_data",
]
