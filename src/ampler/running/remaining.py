"""What is still to be made of a study: its plan replayed over the recorded runs, as running it would."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping

from ampler.core.contracts import FinishedGroup, Store
from ampler.core.runs import on_instances
from ampler.core.values import Continue, EndStudy, Finished, Plan, PlanRecord
from ampler.running.instance import Attempt, InstanceRun
from ampler.running.ruling import heard
from ampler.study.decided import is_decided_alike
from ampler.study.defaults import as_begun
from ampler.study.forecast import Forecast, Share, forecast, further_runs, summed
from ampler.study.plan import begun_first
from ampler.study.record import record
from ampler.study.stopping import decided, instance_digest


def still_to_make(plan: Plan, store: Store, seconds: Mapping[str, float], *, workers: int) -> Forecast:
    """Return what a plan will take beyond the recorded runs; `seconds` are those of a run of each algorithm.

    A study that was looked at and never run is still to be made as a whole: its first runs are part of it.
    """
    if all("check" in session.environment for session in store.sessions()):
        return forecast(plan, seconds, workers=workers)
    plan = as_begun(begun_first(plan, store.begun()), *store.plans()[-1:])
    shares = list(_shares(plan, store, superseded_attempts(store)))
    recorded = sum(each.runs for each in store.tally())
    return summed(plan, shares, seconds, workers=workers, recorded=recorded)


def run_seconds(store: Store) -> dict[str, float]:
    """Return how long a recorded run of each algorithm took on average."""
    runs: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    for each in store.tally():
        runs[each.algorithm] += each.runs
        seconds[each.algorithm] += each.seconds
    return {name: seconds[name] / number for name, number in runs.items() if number}


def superseded_attempts(store: Store) -> frozenset[Attempt]:
    """Return the attempts that count no longer, because they were made with other code."""
    given = store.superseded() if hasattr(store, "superseded") else ()
    return frozenset((observation.key, observation.attempt) for observation in given)


def last_carried_out(store: Store) -> tuple[PlanRecord, ...]:
    """Return the last plan under which the study was run, if there is any; looks at it (`ampler check`) do not count.

    A look notes how many plans there were before it. When nothing but looks was there, the first plan stands for it.
    """
    plans = store.plans()
    number = len(plans)
    for session in reversed(store.sessions()):
        before = session.environment.get("check", "")
        if not before.isdecimal():
            break
        number = int(before)
    return plans[: max(1, number)][-1:]


def _shares(plan: Plan, store: Store, superseded: Collection[Attempt]) -> Iterator[Share]:
    """What each instance that is asked for and not finished will take."""
    found = _under_way(plan, store)
    if found is None:
        return
    asked, digest, done = found
    for name in (name for name in asked.instances if name not in done):
        attempts = store.observations(name, superseded=True)
        instance = InstanceRun(plan, name, digest, attempts, asked=asked, superseded=superseded)
        missing = Counter(task.key.algorithm for task in instance.begin())
        if instance.done is None:
            yield Share(missing, further_runs(plan, sum(instance.asked.values())))


def _under_way(plan: Plan, store: Store) -> tuple[Continue, str, Mapping[str, Finished]] | None:
    """The decision over instances whose runs are not all there, under which digest, and what is finished of them."""
    groups: list[FinishedGroup] = []
    kept, plans = record(plan), store.plans()
    on_record = store.decisions() if plans and is_decided_alike(plans[-1], kept) else ()
    while not isinstance(asked := heard(lambda: decided(plan, groups, on_record)), EndStudy):
        digest = instance_digest(kept, asked)
        done = store.finished(digest)
        if not done.keys() >= set(asked.instances):
            return asked, digest, done
        groups.append(_finished_group(asked, digest, done, store))
    return None


def _finished_group(asked: Continue, digest: str, done: Mapping[str, Finished], store: Store) -> FinishedGroup:
    finished = tuple(done[name] for name in asked.instances)
    return FinishedGroup(asked, finished, lambda: on_instances(store.runs(digest), asked.instances))
