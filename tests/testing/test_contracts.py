"""The contract notices: for every promise there is a store that breaks it, and a check that says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ampler.core.errors import AmplerError
from ampler.testing import STORE_CONTRACT, MemoryStore, contract_plan


class Rounding(MemoryStore):
    def observations(self, instance=None, *, superseded=False):
        for each in super().observations(instance, superseded=superseded):
            yield replace(each, value=None if each.value is None else round(each.value, 6))


class KeepsFirstAttempts(MemoryStore):
    def observations(self, instance=None, *, superseded=False):
        everything = super().observations(instance, superseded=True)
        yield from everything if superseded else (each for each in everything if each.attempt == 0)


class InOrderOfArrival(MemoryStore):
    arrived = ()

    def add(self, observations, finished=()):
        observations = list(observations)
        super().add(observations, finished)
        self.arrived = (*self.arrived, *(each.key for each in observations))

    def observations(self, instance=None, *, superseded=False):
        everything = super().observations(instance, superseded=superseded)
        return iter(sorted(everything, key=lambda each: self.arrived.index(each.key)))


class HalfAGroup(MemoryStore):
    def add(self, observations, finished=()):
        for each in observations:
            super().add([each])
        super().add([], finished)


class TakesAnything(MemoryStore):
    def add(self, observations, finished=()):
        self.taken = list(observations), list(finished)


class OneWordForAllDecisions(MemoryStore):
    def finished(self, *decisions):
        return super().finished("d", "e")


class NeverReopens(MemoryStore):
    def add(self, observations, finished=()):
        before = [done for digest in "de" for done in self.finished(digest).values()]
        super().add(observations, [*before, *finished])


class AllRuns(MemoryStore):
    def runs(self, *decisions):
        return super().runs()


class LastPlanOnly(MemoryStore):
    def plans(self):
        return super().plans()[-1:]


class AnyPlan(MemoryStore):
    def meaning(self, *of_runs):
        return None if of_runs else super().meaning()


class NoGrowth(MemoryStore):
    def begin(self, plan, environment):
        if any(plan.instances != before.instances for before in self.plans()):
            raise AmplerError("a study never grows")
        super().begin(plan, environment)


class NoMending(MemoryStore):
    def meaning(self, *of_runs):
        return super().meaning(*(where.replace("AND status = 'ok'", "") for where in of_runs))


class ForgetsDecisions(MemoryStore):
    forgotten = ()

    def begin(self, plan, environment):
        super().begin(plan, environment)
        self.forgotten = super().decisions()

    def decisions(self):
        return tuple(each for each in super().decisions() if each not in self.forgotten)


class LastDecisionOnly(MemoryStore):
    def finished(self, *decisions):
        return super().finished(*decisions[-1:])


class MarksAtOnce(MemoryStore):
    def mark(self, progress):
        super().mark(progress)
        with self._transaction() as connection:
            self._write_mark(connection, 1)


class ClosesOnce(MemoryStore):
    closed = False

    def close(self):
        assert not self.closed
        self.closed = True


BROKEN = {
    Rounding: "gives_back_what_was_added",
    KeepsFirstAttempts: "counts_the_last_attempt",
    InOrderOfArrival: "reads_in_the_order_of_the_plan",
    HalfAGroup: "adds_all_or_nothing",
    TakesAnything: "needs_a_plan_first",
    OneWordForAllDecisions: "keeps_finished_instances_by_decisions",
    NeverReopens: "reopens_what_a_further_attempt_touches",
    AllRuns: "gives_runs_as_columns",
    LastPlanOnly: "keeps_every_plan",
    AnyPlan: "refuses_another_plan",
    NoGrowth: "lets_a_study_grow",
    NoMending: "lets_a_command_be_mended",
    ForgetsDecisions: "keeps_decisions_over_instances",
    LastDecisionOnly: "joins_the_runs_of_several_decisions",
    MarksAtOnce: "keeps_progress",
    ClosesOnce: "closes_twice",
}
CHECKS = {check.__name__.removeprefix("check_store_"): check for check in STORE_CONTRACT}


@pytest.mark.parametrize("store", BROKEN, ids=lambda store: store.__name__)
def test_a_broken_promise_is_noticed(store):
    with pytest.raises((AssertionError, AmplerError)):
        CHECKS[BROKEN[store]](store)


def test_nonsense_that_a_store_takes_is_noticed():
    with pytest.raises(AssertionError):
        CHECKS["refuses_what_is_no_observation"](TakesAnything)


def test_every_check_has_a_store_that_breaks_its_promise():
    assert {*BROKEN.values(), "refuses_what_is_no_observation"} == set(CHECKS)


def test_every_check_of_the_module_belongs_to_the_contract():
    from ampler.testing import contracts

    written = [value for name, value in vars(contracts).items() if name.startswith("check_store_")]

    assert list(STORE_CONTRACT) == written


def test_the_plan_of_the_contract_is_what_is_asked_for():
    assert list(contract_plan().algorithms) == ["a", "b"]
    assert set(contract_plan(instances=["x", "y"]).instances) == {"x", "y"}
    assert contract_plan(seed=7).fingerprint.seed == 7
