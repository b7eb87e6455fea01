"""An exact solver for percent differences to the grand mean, to check the quick shape: Newton in a log barrier."""

import numpy as np

from ampler.sampling.allocation import GrandMeanPairs, optimal_counts

NEWTON_STEPS = 30  # five are usual
BARRIER_GROWTH = 30.0
BARRIER_GAP = 1e-7  # of the optimum, relative
CENTRED = 1e-6  # squared Newton decrement at which a barrier problem counts as solved
SMALLEST_PART = 1e-10  # of a Newton step: below, rounding decides


def exact_counts(pairs, se, lower, costs=None):
    """The counts with the smallest total cost; all shapes but the grand mean's are solved exactly anyway."""
    if not isinstance(pairs, GrandMeanPairs):
        return optimal_counts(pairs, se, lower, costs)
    return _solved(pairs, se, lower, np.ones(lower.shape[-1]) if costs is None else costs)


def _solved(pairs, se, lower, costs):
    """Solve each problem of the batch by the barrier method."""
    shape = np.broadcast_shapes(pairs.noise.shape, lower.shape)
    parts = (np.broadcast_to(a, shape).reshape(-1, shape[-1]) for a in (pairs.noise, pairs.shares, lower, costs))
    solved = [
        _barrier(_coefficients(shares, pairs.formula), se * se, noise, least, price)
        for noise, shares, least, price in zip(*parts, strict=True)
    ]
    return np.reshape(solved, shape)


def _coefficients(shares, formula):
    """One row per pair: what multiplies each v in its squared error."""
    i, j = np.triu_indices(len(shares), 1)
    share = shares[i] - shares[j]
    tilt = 2 * share if formula == "delta" else np.zeros_like(share)
    matrix = np.repeat((share * share)[:, None], len(shares), axis=1)
    rows = np.arange(len(share))
    matrix[rows, i] += 1 - tilt
    matrix[rows, j] += 1 + tilt
    return matrix


def _barrier(matrix, target, noise, lower, costs):
    """Minimise Σ cost·noise/v, matrix·v ≤ target, 0 < v ≤ noise/lower, by Newton steps inside a log barrier."""
    counts = lower.astype(float).copy()
    noisy = noise > 0
    if not noisy.any() or (matrix @ (noise / lower)).max() <= target:
        return counts
    # In units u = v·lower/noise ≤ 1 the problem is well scaled whatever the units of the values.
    limit = noise[noisy] / lower[noisy]
    rows = np.vstack([matrix[:, noisy] * limit / target, np.eye(int(noisy.sum()))])
    price = costs[noisy] * lower[noisy]
    u = np.full(len(limit), 0.9 / rows.sum(axis=1).max())
    weight = 1.0 / (price / u).sum() * len(rows)
    while len(rows) / weight > BARRIER_GAP * (price / u).sum():
        weight *= BARRIER_GROWTH
        u = _centre(rows, price, weight, u)
    counts[noisy] = lower[noisy] / u
    return counts


def _centre(rows, price, weight, u):
    """Minimise weight·Σ price/u − Σ log(1 − rows·u) by damped Newton steps."""
    for _ in range(NEWTON_STEPS):
        slack = 1.0 - rows @ u
        pressure = rows / slack[:, None]
        gradient = pressure.sum(axis=0) - weight * price / u**2
        curvature = pressure.T @ pressure
        curvature[np.diag_indices_from(curvature)] += 2 * weight * price / u**3
        step = np.linalg.solve(curvature, -gradient)
        decrement = -gradient @ step
        u = u + step * _damping(price * weight, u, step, slack, rows @ step, decrement)
        if decrement < CENTRED:
            break
    return u


def _damping(price, u, step, slack, rise, decrement):
    """How much of a Newton step to take: halved until it stays inside and lowers the barrier function."""
    part = min(1.0, 0.95 / max((rise / slack).max(), (-step / u).max(), 1e-12))
    start = (price / u).sum() - np.log(slack).sum()
    while part > SMALLEST_PART:
        value = (price / (u + part * step)).sum() - np.log(slack - part * rise).sum()
        if value <= start - 0.1 * part * decrement + abs(start) * 1e-14:
            break
        part /= 2
    return float(part)
