"""From runs to what may be concluded: comparisons in Holm's order, accuracy, and what a reader must know. Pure."""

from ampler.analysis.analyse import analyse_runs
from ampler.analysis.compare import Comparison
from ampler.analysis.exploration import Conclusion, Features, OtherPolicy, Subgroup
from ampler.analysis.results import AlgorithmRuns, Analysis, Diagnosis, InstanceAccuracy
from ampler.core.values import Caution

__all__ = [
    "AlgorithmRuns",
    "Analysis",
    "Caution",
    "Comparison",
    "Conclusion",
    "Diagnosis",
    "Features",
    "InstanceAccuracy",
    "OtherPolicy",
    "Subgroup",
    "analyse_runs",
]
