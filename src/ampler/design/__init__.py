"""Sample sizes: from two of instances, effect and power compute the third. Pure.

In reading order:

* `powers`: the powers of a family of corrected tests, each at the level of its rank; fewest instances, smallest effect
* `instances`: Design, the public functions that compute it, and the cost of a design
* `interim`: interim analyses: schedule, maximum number of instances, and savings
* `simulate`: families of tests on simulated differences, to check a design
* `detect`: after a pilot, the instances and runs that detect the smallest difference of interest
* `conjunction`: the instances for a claim about several measures
* `assurance`: the instances for a probability of success averaged over a prior of the effect
* `text`: the text of a design: answer, table by rank, hints; text of an internal pilot

It may import `core` and `stats`.
"""

from ampler.design.instances import Design as Design
from ampler.design.instances import achieved_power as achieved_power
from ampler.design.instances import detectable_effect as detectable_effect
from ampler.design.instances import effect_from as effect_from
from ampler.design.instances import n_comparisons as n_comparisons
from ampler.design.instances import power_curve as power_curve
from ampler.design.instances import required_instances as required_instances
