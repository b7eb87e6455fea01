"""One run of an algorithm: a Command or a Function executed under limits, and nothing left behind.

In reading order:

* `execution`: `run_once`, whatever happens becomes an outcome
* `around`: what is done before and after it, and not measured
* `functions`: calls of Python functions
* `returned`, `surroundings`: the value in what they return, and what is put back of what they change
* `threaded`: runs beside other threads, by a child with one
* `warmth`: what functions import is imported once, though every run has a child of its own
* `processes`, `guardian`: process groups that end with their owner, whatever becomes of it
* `strays`: daemons that left their group, found and ended with the run
* `readings`, `numerals`, `deadline`: the value in what a command printed, and the time a pattern may take for it
* `staying`, `answers`: programs that are started once and make run after run
"""

from ampler.running.one_run.execution import Outcome as Outcome
from ampler.running.one_run.execution import check_can_run as check_can_run
from ampler.running.one_run.execution import check_limits as check_limits
from ampler.running.one_run.execution import maker_of as maker_of
from ampler.running.one_run.execution import run_once as run_once
