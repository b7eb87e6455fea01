"""What may I conclude? Answers: which algorithms differ, how sure is that, and what spoils it? Pure: runs → Analysis.

    runs ─► blocks ─► differences ─► compare (Holm) ─► text         runs of a pilot ─► advice ─► more of what?
              └─► accuracy, warnings, exploration, omnibus tests

In reading order:

* `analyse`: the steps, in the order in which they are taken;
* `blocks`: runs gathered by instance and algorithm, then summarised; a cell may be missing;
* `differences`: the way from blocks to the differences that are tested: runs that belong together, and estimates of
  runs that their values ended;
* `clusters`: instances that belong together, whose clusters are the sample
* `compare`: each pair tested under Holm, with intervals, effect sizes and equivalence; over instances, or over the
  runs where there is one instance;
* `adaptive`: the tests of a study whose size was chosen after a pilot;
* `interim`: interim analyses, replayed one by one: their tests and their sentences;
* `claim_checks`: claims held against unseen failures, run noise, exchanged roles and skewness;
* `exploration`: subgroups, and whether the conclusion depends on a choice;
* `warnings`: what to know, one function for each thing that can spoil a conclusion;
* `results`: all of this as one value, `Analysis`, and estimates alone for studies that are not complete;
* `one_algorithm`: one algorithm alone: its mean, rate or quantile over instances with an interval;
* `display`: the whole as a terminal shows it;
* `units`: in which unit differences are written: numbers, percent, factors, percentage points;
* `text`: every sentence about an analysis; `tables`: its tables in a terminal of any width;
* `rows`: the comparisons, one row each, as every output shows them;
* `solvers`: the table of solvers: how their runs ended, PAR-k, the virtual best solver;
* `standings`: the algorithms side by side, and where means, wins, ranks and tests disagree;
* `fixed_instances`: interquartile means and probabilities of improvement on these instances
* `families`: later families of comparisons, of algorithms that joined a finished study
* `measures`: several measures together: claims and the Pareto front
* `bayes`: posteriors, verdicts, rankings; computed when requested;
* `advice`, `cost_curve` and `advice_text`: more instances or more runs, learnt from a pilot.

What is asked comes as one value, `core.settings.Settings`. Imports `core`, `stats`, `design` and `sampling`; no files,
no processes. It knows no study: what a results file says of its runs is in `study.evidence`, and `api` brings the two
together. A study with interim analyses asks here what its results say so far, so both agree."""

from ampler.analysis.analyse import analyse_runs
from ampler.analysis.compare import Comparison
from ampler.analysis.exploration import Conclusion, Features, OtherPolicy, Subgroup
from ampler.analysis.results import AlgorithmRuns, Analysis, Diagnosis, InstanceAccuracy
from ampler.core.errors import AnalysisWarning

__all__ = [
    "AlgorithmRuns",
    "Analysis",
    "AnalysisWarning",
    "Comparison",
    "Conclusion",
    "Diagnosis",
    "Features",
    "InstanceAccuracy",
    "OtherPolicy",
    "Subgroup",
    "analyse_runs",
]
