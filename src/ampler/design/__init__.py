"""How many instances does a comparison need? Two of instances, effect and power give the third. Pure.

In reading order:

* `powers`: the powers of a family of corrected tests, each at the level of its rank; fewest instances, smallest effect
* `instances`: Design, the questions that it answers, checked at this door, and what this many instances and runs cost
* `interim`: interim analyses: when, at most how many instances, and what they save
* `simulate`: families of tests run for real on simulated differences; a design put to the proof
* `detect`: after a pilot, the instances and runs that find a difference that matters
* `conjunction`: the instances for a claim about several measures
* `assurance`: the instances for a probability of success averaged over a prior of the effect
* `text`: a question, its answer in a sentence, the table by rank, hints; a study that finds its own size

It may import `core` and `stats`.
"""

from ampler.design.instances import Design as Design
from ampler.design.instances import achieved_power as achieved_power
from ampler.design.instances import detectable_effect as detectable_effect
from ampler.design.instances import effect_from as effect_from
from ampler.design.instances import n_comparisons as n_comparisons
from ampler.design.instances import power_curve as power_curve
from ampler.design.instances import required_instances as required_instances
