"""Tables on which tools decide which algorithms differ: instances are rows, algorithms columns, lower is better."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

Pair = tuple[str, str]
Truth = dict[Pair, float]  # of each pair: by how much the first is larger, on average over instances

PAGES = Path(__file__).parents[1] / "docs"
PUBLISHED = "benavoli2017_accuracies_mean.csv"
EASE = 5.0  # sd of how hard instances are, in sds of what an algorithm adds on an instance


@dataclass(frozen=True)
class Scenario:
    """How tables come about: algorithms' true offsets, how noisy each is, and the noise's shape."""

    offsets: tuple[float, ...]
    noises: tuple[float, ...] = ()
    shape: Callable[[np.random.Generator, tuple[int, int]], np.ndarray] = lambda rng, size: rng.standard_normal(size)
    instances: int = 20

    @property
    def names(self) -> list[str]:
        return [f"a{place}" for place in range(len(self.offsets))]

    @property
    def truth(self) -> Truth:
        offset = dict(zip(self.names, self.offsets, strict=True))
        return {(a, b): offset[a] - offset[b] for a, b in combinations(self.names, 2)}


def _skewed(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Lognormal values brought to mean 0 and sd 1."""
    return (np.exp(rng.standard_normal(size)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)


EQUAL = (0.0,) * 5
LARGE = Scenario((0, 0, 0, 0.5, 0.5, 1, 1, 2, 2, 4), instances=50)
SCENARIOS = {
    "five equal": Scenario(EQUAL),
    "five equal, one four times as noisy": Scenario(EQUAL, (1, 1, 1, 1, 4)),
    "five equal, skewed": Scenario(EQUAL, shape=_skewed),
    "three equal, two worse": Scenario((0, 0, 0, 0.8, 1.6)),
}


def simulated(scenario: Scenario, number: int) -> pd.DataFrame:
    """Return one table of a scenario."""
    rng = np.random.default_rng([2019, len(scenario.offsets), scenario.instances, number])
    size = (scenario.instances, len(scenario.offsets))
    noise = scenario.shape(rng, size) * np.array(scenario.noises or 1.0)
    values = 100 + rng.normal(0, EASE, (size[0], 1)) + np.array(scenario.offsets) + noise
    index = pd.Index([f"i{row:02d}" for row in range(size[0])], name="instance")
    return pd.DataFrame(values, index=index, columns=scenario.names)


def fixed_tables() -> dict[str, tuple[pd.DataFrame, Truth | None]]:
    """The tables that are shown one by one, with their truth where somebody knows it."""
    tables: dict[str, tuple[pd.DataFrame, Truth | None]] = {
        "10 algorithms, 50 instances": (simulated(LARGE, 0), LARGE.truth),
        "the tutorial's 4 models": (_of_tutorial(), None),
    }
    published = Path(os.environ.get("AMPLER_PUBLIC", "."), PUBLISHED)
    if published.exists():
        frame = pd.read_csv(published)
        tables["Benavoli et al. (2017)"] = (-frame.set_index(frame.columns[0]).rename_axis("instance"), None)
    return tables


def _of_tutorial() -> pd.DataFrame:
    """The data frame that the page for people of autorank has its reader make; accuracies turned into losses."""
    text = (PAGES / "tutorial-autorank.md").read_text(encoding="utf-8")
    made = re.search(r"^rng = .*?^frame = [^\n]*$", text, re.MULTILINE | re.DOTALL)
    assert made, "the tutorial makes no frame"
    names: dict[str, object] = {"random": random, "pd": pd}
    exec(made.group(), names)
    frame = names["frame"]
    assert isinstance(frame, pd.DataFrame)
    return -frame


def scored(found: set[Pair], truth: Mapping[Pair, float]) -> dict[str, float]:
    """Count what is claimed rightly, claimed wrongly and not claimed; a claim is (better, worse), lower is better."""
    right = {(a, b) if difference < 0 else (b, a) for (a, b), difference in truth.items() if difference}
    return {
        "found": float(len(found & right)),
        "wrong": float(len(found - right)),
        "missed": float(len(right - found)),
    }
