"""Bayesian conclusions from differences on instances, in addition to the tests. Pure.

In reading order:

* `posterior`: mixtures, their areas below, within and above a margin, and verdicts from them; one comparison: the mean
  over instances, their heterogeneity, a new instance; also with heavy tails
* `shared`: many comparisons that learn from each other
* `signed_rank`: the Bayesian signed-rank test
* `rankings`: the Plackett-Luce model of rankings

It may import what `stats` may.
"""
