"""The mathematics: arrays in, numbers out; it knows no study and no instance names.

On one instance: how algorithms differ, and how exactly that is known.

* `summaries`: mean, median, quantile, trimmed mean, success rate, and the variance of one run of each
* `contrasts`: which pairs are compared, which difference, its standard error
* `estimate`: from samples to estimates and standard errors of every pair
* `two_samples`: two algorithms by their runs alone: Welch's test, Mann and Whitney's
* `variance_bounds`: conservative bounds of variances, so that stopping does not rest on luck

Over the instances: what the differences show.

* `paired`: the paired tests, one row of a table each
* `resampling`: tests of all comparisons together, by resampling the instances
* `holm`: levels and step-down decisions of a family; on how many instances a difference is there, by partial
  conjunction
* `groups`: letters of tied algorithms, and confidence sets for ranks
* `shape`: skewness and what it does to a t-test
* `descriptive`: means, standard deviations and ranks at any magnitude
* `dependence`: clusters, shared seeds, nested, crossed and resampled runs
* `omnibus`: tests of all algorithms together, and ranks
* `power`: the power of a paired test, d with its interval, and the noncentral t distribution
* `sequential`: the same differences at several interim analyses while instances still come in
* `bayes`: how probable it is: posteriors, the signed-rank test, rankings
* `internal_pilot`: tests of a study whose size was fixed after its pilot, and their level

It imports `core`, numpy and scipy, and touches no file, process or clock.
"""
