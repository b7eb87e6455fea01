"""Figures, first the data, then the drawing: `*_data(…)` gives a value, `draw_*(data, ax)` draws it on axes.

In reading order:

* `canvas`: how all figures look and are saved; titles, notes, names, differences and axes in them;
* `planning`: sample sizes and powers before there are runs; pilots, and interim analyses;
* `intervals`: all comparisons in rows, with their numbers or both intervals, and on groups of instances;
* `accuracy`: how well each instance is known, how errors fell with the runs, where the runs went;
* `performance`: how near the best each comes, what solvers solve, the runs on one instance, two measures;
* `pairs`: the differences on one instance and of one pair on all, both values, and what the t-test rests on;
* `ranks`: Demšar's diagram;
* `probabilities`: how probable it is, one pair in a triangle, who is best by rankings.

`ampler.plots` exports them. The data are tested, the drawings looked at. matplotlib is imported inside the functions
that draw.
"""
