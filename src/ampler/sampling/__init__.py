"""How many runs on one instance? Samples in, a wish for more runs out, or that the instance is done and why. Pure.

In reading order:

* `rules`: the rules, Accuracy and Fixed, and `sample`, which asks a rule and draws until it stops
* `allocation`: how exactly each pair is known, which algorithm gets the next runs, and the fewest runs that are enough
* `bias`: what adaptive stopping does to estimates, so that an analysis can correct it; runs common to all instances

It imports `core` and `stats`.
"""
