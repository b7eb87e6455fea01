"""How many runs on one instance? Samples in, a wish for more runs out, or that the instance is done and why. Pure.

In reading order:

* `rules`: the rules, Accuracy and Fixed, and `sample`, which asks a rule and draws until it stops
* `allocation`: which algorithm gets the next runs, and how many are still to come
* `pair_errors`: how exactly each pair is known, given the runs of each algorithm
* `optimum`: the fewest runs that make every pair exact enough
* `plain_optimum`: the same for one instance, in plain numbers, as every round of a study needs it
* `common_runs`: the same, when every instance is to have as many
* `bias`: what stopping by the values does to them, so that an analysis can undo it

It may import `core` and `stats`.
"""
