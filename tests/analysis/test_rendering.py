"""Plain values for JSON, and rows for data frames."""

import json
import math
from dataclasses import dataclass

import numpy as np

from ampler.analysis.rendering import flat, jsonable


@dataclass(frozen=True)
class Thing:
    name: str
    interval: tuple[float, float]
    array: object = None


def test_what_is_infinite_or_unknown_is_none_at_any_depth():
    value = {"a": [math.inf, {"b": (math.nan, 1.5)}], "c": np.array([1.0, -np.inf]), "d": np.float64("nan")}
    assert jsonable(value) == {"a": [None, {"b": [None, 1.5]}], "c": [1.0, None], "d": None}


def test_frozen_values_become_dicts_and_numpy_becomes_python():
    document = jsonable(Thing("x", (np.float64(1.0), np.float64(2.0)), np.bool_(True)))
    assert json.loads(json.dumps(document)) == {"name": "x", "interval": [1.0, 2.0], "array": True}


def test_an_interval_becomes_two_columns():
    assert flat(Thing("x", (1.0, 2.0))) == {"name": "x", "interval_lower": 1.0, "interval_upper": 2.0, "array": None}
