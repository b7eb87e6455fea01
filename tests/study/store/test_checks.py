"""What every store insists on: observations that can be kept, and plans that fit the runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ampler.core.errors import InvalidData, PlanMismatch
from ampler.core.plan import Fingerprint
from ampler.core.runs import Observation, RunKey
from ampler.study.store.rows import MAX_MESSAGE_LENGTH, refuse_mismatch, storable

KEY = RunKey("i1", "a", 0)


def test_numbers_are_kept_as_pythons_own_and_minus_zero_as_zero():
    kept = storable(Observation(KEY, np.float32(0.5), measures={"gap": 1.0}))

    assert type(kept.value) is float
    assert kept.value == 0.5
    assert math.copysign(1, storable(Observation(KEY, -0.0)).value) == 1


def test_a_long_or_undecodable_message_is_cut_and_mended():
    kept = storable(Observation(KEY, None, status="failed", message="\udcff" + "x" * MAX_MESSAGE_LENGTH))

    assert len(kept.message) == MAX_MESSAGE_LENGTH
    assert kept.message.encode("utf-8").startswith(b"?x")


@pytest.mark.parametrize(
    ("nonsense", "message"),
    [
        (Observation(KEY, None, status="no status"), "must be one of ok, failed, timeout, lost, got 'no status'"),
        (Observation(KEY, None), "a value exactly when it is ok"),
        (Observation(KEY, 1.0, status="timeout"), "a value exactly when it is ok"),
        (Observation(KEY, math.inf), "must be finite"),
        (Observation(KEY, 1.0, measures={"gap": math.nan}), "must be finite"),
        (Observation(KEY, 1.0, seconds=-1.0), "must not be negative"),
        (Observation(KEY, 1.0, round=-1), "must not be negative"),
    ],
)
def test_what_is_no_observation_is_refused(nonsense, message):
    with pytest.raises(InvalidData, match=message):
        storable(nonsense)


def test_a_plan_that_contradicts_recorded_runs_is_refused_with_the_field_and_the_way_out():
    recorded = Fingerprint(1, {"a": {"command": "x"}}, {"i1": ""})

    with pytest.raises(PlanMismatch, match=r"^the seed was changed from 1 to 2"):
        refuse_mismatch(recorded, Fingerprint(2, recorded.algorithms, recorded.instances), "study.db")
    with pytest.raises(PlanMismatch, match=r"algorithm 'a'.*; give the changed one a new name, or use another"):
        refuse_mismatch(recorded, Fingerprint(1, {"a": {"command": "y"}}, {"i1": ""}), "study.db")


def test_what_is_new_or_not_recorded_is_no_contradiction():
    recorded = Fingerprint(1, {"a": {"command": "x"}}, {"i1": ""})
    grown = Fingerprint(1, {**recorded.algorithms, "b": {"command": "y"}}, {**recorded.instances, "i2": ""})

    assert refuse_mismatch(recorded, grown, "study.db") is None
    assert refuse_mismatch(None, Fingerprint(7, {}, {}), "study.db") is None
