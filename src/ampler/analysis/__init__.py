"""What may I conclude? Answers: which algorithms differ, how sure is that, and what spoils it? Pure: runs → Analysis.

    runs ─► blocks ─► differences ─► compare (Holm) ─► words          runs of a pilot ─► advice ─► more of what?
              └─► accuracy, cautions, exploration, omnibus tests

In reading order:

* `analyse`: the steps, in the order in which they are taken;
* `evidence`: runs with what their source says about them;
* `observed`: the way from runs to the differences that are tested;
* `blocks`: runs gathered by instance and algorithm, then summarised; a cell may be missing;
* `pairing`: runs that share a fold or a seed, compared run by run;
* `estimates`: what stands for runs that their values ended: corrected, as they are, or the first alone;
* `compare`: each pair tested under Holm, with intervals, effect sizes and equivalence;
* `failure_bounds`: claims on penalties held against the failures that were not seen;
* `run_noise`: claims on ratios held against the bias that run noise leaves; `noise_width`: intervals no narrower than
  the noise of the runs implies;
* `unfinished`: estimates without verdicts, for studies that are not complete;
* `percent_roles`: claims on percent differences held against the exchanged roles and the ratio;
* `robustness`: claims of the t-test held against skewness and other tests;
* `grown`: the tests of a study whose size was chosen after a pilot;
* `looked`: a study that was looked at on the way, replayed look by look; `look_family`: its tests; `look_words` and
  `look_table`: its sentences and its table;
* `one_instance`: the same where there is one instance, whose runs are compared;
* `exploration`: subgroups, and whether the conclusion hangs on a choice;
* `stopping`: what ending runs by their values did to the estimates, and what to say of it;
* `cautions`: what a reader must know, one function for each thing that can spoil a conclusion;
* `results`: all of this as one value, `Analysis`;
* `ordering`: in which order instances are told;
* `wins`: on how many instances each algorithm of a pair is better;
* `counts`: what tables of comparisons count, where it says something;
* `units`: in which unit differences are told: numbers, percent, factors, percentage points;
* `words`: every sentence about an analysis; `text`: its tables in a terminal of any width;
* `answer`: the whole in one sentence, and what would have been found had it been there;
* `standings`: the algorithms side by side, and where means, wins, ranks and tests disagree;
* `bayes`: how probable it is: posteriors, verdicts, rankings; computed when asked for;
* `advice`: more instances or more runs, learnt from a pilot.

What is asked comes as one value, `core.settings.AnalysisSettings`. Imports `core`, `stats`, `design` and `sampling`; no
files, no processes. It knows no study: what a study file says of its runs is in `study.evidence`, and `front` brings
the two together. A study with looks asks here what its results say so far, so that decisions and analysis agree.
"""

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
