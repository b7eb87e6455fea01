"""More instances or more runs? The cheapest accuracy and number of instances that reach a power. Pure.

The differences of a pair vary from instance to instance (between), and each is known only up to the noise of its runs
(within). A pilot tells the two apart. Runs buy down the second, instances average both: here is the cheapest mixture.

    runs ─► Pilot (variance parts) ─► cost_curve (over se) ─► cheapest_choice ─► Advice

In reading order:

* `advise`: `advise_runs`, the way through the others, and `suggest_se` for when there is no pilot yet;
* `pilot`: how much the differences vary between instances, and how noisy the runs are on each;
* `goal`: the power to reach, and how many instances it takes when the differences vary so much;
* `curve`: what each accuracy costs, and the cheapest one;
* `guarded`: how many runs a rule takes that makes sure of an accuracy;
* `study_plan`: the study that detect would plan, without a pilot of its own;
* `words`: the advice in sentences and tables.
"""

from ampler.analysis.advice.advise import Advice, advise_runs, suggest_se
from ampler.analysis.advice.curve import Choice
from ampler.analysis.advice.pilot import VarianceParts

__all__ = ["Advice", "Choice", "VarianceParts", "advise_runs", "suggest_se"]
