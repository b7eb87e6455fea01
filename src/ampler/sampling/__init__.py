"""Number of runs on one instance: a rule maps samples to a request for more runs, or stops. Pure.

In reading order:

* `rules`: the rules, Accuracy and Fixed, and `sample`, which asks a rule and draws until it stops
* `allocation`: standard errors of the pairs, the algorithm to run next, and the fewest sufficient runs
* `bias`: what adaptive stopping does to estimates, so that an analysis can correct it; runs common to all instances

It imports `core` and `stats`.
"""
