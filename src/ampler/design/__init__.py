"""How many instances does a comparison need? Two of instances, effect and power give the third. Pure.

In reading order:

* `powers`: the powers of a family of corrected tests, each at the level of its rank; which of them a target names
* `designs`: Design, and the questions it answers, checked at this door
* `solve`: the fewest instances or the smallest effect, by search
* `looks`: looking at the results on the way: when, at most how many instances, and what it saves
* `noise`: what the noise of runs takes from a power
* `simulate`: families of tests run for real on simulated differences; a design put to the proof
* `detect`: after a pilot, the instances and runs that find a difference that matters
* `early`: the same from the first half of a pilot, where few instances are enough
* `pilot`, `detect_words`: what it showed and what was decided, as a value and in sentences
* `assurance`: the instances for a probability of success averaged over what is believed of the effect
* `beliefs`: the same in words: a question, its answer and its ceiling
* `words`: a question, its answer in a sentence, the table by rank, and hints; the same for shell and browser
* `cost`: what so many instances and runs cost

It may import `core` and `stats`.
"""

from ampler.design.designs import Design as Design
from ampler.design.designs import achieved_power as achieved_power
from ampler.design.designs import detectable_effect as detectable_effect
from ampler.design.designs import effect_from as effect_from
from ampler.design.designs import n_comparisons as n_comparisons
from ampler.design.designs import power_curve as power_curve
from ampler.design.designs import required_instances as required_instances
