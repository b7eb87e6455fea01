"""Nothing outlives its owner: a small process that ends the process groups of owners that died.

A worker that is killed, or a driver that is, cannot clean up after itself. On Linux the kernel ends our direct
children (PR_SET_PDEATHSIG), but not what they have started. So each process tree has one guardian: owners tell it
their process groups through a pipe, and when an owner dies it ends them. What an owner could not tell in time is
known by a mark in its environment; what has left its group and its environment behind, by a label that every
descendant inherits.

`client` is what owners call; `script` is the guardian, a program of its own. Both need the standard library alone.
"""

from ampler.running.one_run.guardian.client import SIGN as SIGN
from ampler.running.one_run.guardian.client import adopt as adopt
from ampler.running.one_run.guardian.client import bind_worker as bind_worker
from ampler.running.one_run.guardian.client import binding as binding
from ampler.running.one_run.guardian.client import ensure as ensure
from ampler.running.one_run.guardian.client import is_worker as is_worker
from ampler.running.one_run.guardian.client import labelling as labelling
from ampler.running.one_run.guardian.client import release as release
from ampler.running.one_run.guardian.client import watch as watch
from ampler.running.one_run.guardian.client import with_mark as with_mark
