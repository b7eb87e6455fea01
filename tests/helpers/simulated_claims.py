"""Simulated tables whose truth is known, to count false claims of an analysis. Fixed seeds."""

import math

import numpy as np
import pandas as pd


def limit(level: float, studies: int) -> float:
    """Return the highest error rate that chance allows: the level and three standard errors."""
    return level + 3 * math.sqrt(level * (1 - level) / studies)


def noise(rng: np.random.Generator, shape: tuple[int, ...], correlation: float, *, skewed: bool) -> np.ndarray:
    """Return noise of mean 0 and variance 1 whose last axis is correlated, pair by pair alike."""
    size = shape[-1]
    matrix = np.full((size, size), correlation) + (1 - correlation) * np.eye(size)
    normal = rng.standard_normal(shape) @ np.linalg.cholesky(matrix).T
    return (np.exp(0.5 * normal) - np.exp(0.125)) / math.sqrt((np.exp(0.25) - 1) * np.exp(0.25)) if skewed else normal


def wide_table(means, seed, *, instances: int = 20, correlation: float = 0.0, skewed: bool = False) -> pd.DataFrame:
    """Return one value of each algorithm (columns a, b, c, …) on each instance."""
    rng = np.random.default_rng(seed)
    values = np.array(means) + noise(rng, (instances, len(means)), correlation, skewed=skewed)
    values += 5 * rng.standard_normal((instances, 1))
    table = pd.DataFrame(values, columns=list("abcdefghij"[: len(means)]))
    table.insert(0, "instance", [f"i{row}" for row in range(instances)])
    return table
