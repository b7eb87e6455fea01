"""What two formulas promise, over what is true: the standard error of a percent difference to the grand mean."""

import numpy as np

from ampler.report.figures.canvas import canvas
from ampler.report.theme import BLUE, GREEN, GREY, ORANGE
from ampler.stats.contrasts import contrasts_among

RUNS, REPLICATIONS = 400, 40_000
PHI = np.linspace(-1.0, 1.0, 17)


def promised_over_true(phi: float, algorithms: int) -> tuple[float, float]:
    """Delta and paper formula over Monte Carlo, for the first two of several algorithms; the first is noisy."""
    theta = np.ones(algorithms)
    theta[:2] += phi / 2, -phi / 2
    sds = np.full(algorithms, 0.3)
    sds[:2] = 0.9, 0.1
    delta, paper = (contrasts_among(algorithms, difference="percent", formula=name) for name in ("delta", "paper"))
    rng = np.random.default_rng(2019)
    means = rng.normal(theta, sds / np.sqrt(RUNS), (REPLICATIONS, algorithms))
    true = ((means[:, 0] - means[:, 1]) / means.mean(axis=1)).std()
    promised = [np.sqrt(contrasts.squared_errors(theta, sds**2 / RUNS)[0]) / true for contrasts in (delta, paper)]
    return promised[0], promised[1]


with canvas(None, width=4.5, height=2.6) as ax:
    ax.axhline(1.0, color=GREY, linewidth=0.6)
    for algorithms, colour, style in ((2, ORANGE, "-"), (5, GREEN, "--"), (22, BLUE, "-.")):
        delta, paper = zip(*(promised_over_true(phi, algorithms) for phi in PHI), strict=True)
        ax.plot(PHI, paper, color=colour, linestyle=style, label="the paper's formula" if algorithms == 2 else None)
        ax.annotate(f"A = {algorithms}", (1.0, paper[-1]), (4, -2), textcoords="offset points", color=colour)
        ax.plot(PHI, delta, "o", color="black", markersize=2.5, label="delta formula" if algorithms == 2 else None)
    ax.set(xlabel="Percent difference φ, the noisy algorithm first", ylabel="Promised / true standard error")
    ax.set_xlim(-1.05, 1.25)
    ax.set_yscale("log")
    ax.set_yticks([0.7, 0.8, 1.0, 1.25, 1.5, 2.0], ["0.7", "0.8", "1", "1.25", "1.5", "2"])
    ax.minorticks_off()
    ax.legend(loc="upper left")
