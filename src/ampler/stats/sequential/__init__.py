"""Interim analyses with a controlled error rate: group-sequential tests for many comparisons. Pure.

A spending function allocates a level to the interim analyses (looks). `Schedule.nominal_levels` turns that into
nominal levels: a test that meets the level of its look in its ordinary p-value may stop there. Everything else
follows from them: `repeated_p_values` and `sequential_p_values` say at which level a comparison would have stopped, an
ordinary interval at the nominal level is a repeated confidence interval, and `decide` runs Holm's procedure over looks.

In reading order:

* `boundaries`: spending functions, and the nominal level of each interim analysis, in normal theory and exact for t
* `decisions`: the evidence at each, p-values that stay valid, and which comparisons stop with which verdict
"""
