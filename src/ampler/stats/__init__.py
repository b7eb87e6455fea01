"""The mathematics: arrays in, numbers out; it knows no study and no instance names.

On one instance: how algorithms differ, and how exactly that is known.

* `summaries`: mean, median, quantile, trimmed mean, and the variance of one run of each
* `rates`: the share of yes among yes and no, and how exactly it is known
* `contrasts`: which pairs are compared, which difference, its standard error
* `estimate`: from samples to estimates and standard errors of every pair
* `two_samples`: two algorithms by their runs alone: Welch's test, Mann and Whitney's
* `guard`: upper bounds of variances, so that stopping does not rest on luck
* `plain_guard`: the same for one instance, in plain numbers, as every round of a study needs it
* `variance_prior`: what many variances say about each of them

Over the instances: what the differences show.

* `paired`: the paired tests, one row of a table each
* `resampling`: tests of all comparisons together, by resampling the instances
* `holm`: levels and step-down decisions of a family
* `effect_size`, `shape`: d with its interval; skewness and what it does to a t-test
* `location`: mean and standard deviation at any magnitude
* `ties`: numbers that differ by rounding alone are the same number
* `ranks`: ranks within rows, ties sharing their mean
* `omnibus`: tests of all algorithms together, and ranks
* `power`: the power of one paired test; `noncentral_t`: the distribution behind it and behind intervals of d
* `sequential`: the same differences judged at several looks while instances still come in
* `bayes`: how probable it is: posteriors, the signed-rank test, rankings
* `growth`, `internal_pilot`: tests of a study whose size was fixed after its pilot, and their level

It may import `core` and no other room, numpy and scipy, and it touches no file, process or clock.
"""
