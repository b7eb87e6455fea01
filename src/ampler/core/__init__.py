"""The values that all packages share: errors, plans, runs, settings, contracts and text. No statistics.

In reading order:

* `errors`: everything that can go wrong, as one tree, and the warnings of an analysis;
* `settings`: the types of all choices, checks of arguments, and the settings of an analysis as one value;
* `verdicts`: the verdict on a comparison, its mark, and the same from the other side;
* `measures`: several measures of the same runs, and their roles;
* `plan`: algorithms, instances, limits, the plan of a study, and the decisions of rules;
* `runs`: single runs, finished instances and the progress of a study;
* `answers`: when the answers of two solvers agree, and when they contradict each other;
* `failures`: how a run ended, and what a failed run counts as: its types, their text and their numbers;
* `arrays`: types of arrays, the samples of one instance for a rule, and many runs as columns for an analysis;
* `contracts`: what a plug-in implements: a rule, a statistic, an executor, a store;
* `text`: numbers, times, names and parameters in sentences, and tables that fit a width;
* `threads`: one thread of numerical libraries for each worker;
* `serialization`: values as JSON, records and digests, data from files checked against types, and safe writing.

A run's way through the values: an `Instance` and an `Algorithm` of a `Plan` meet in a `RunKey`; running it gives an
`Observation`; those of one instance are `Samples`, on which a rule takes a `Decision`; those of a study are `Runs`, on
which an analysis rests, and its reader gets each `AnalysisWarning`.

This package imports nothing of ampler. numpy comes with arrays only, so that the shell starts quickly.
"""
