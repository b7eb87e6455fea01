"""What the tests of figures share: every drawing of an analysis, by name."""

from functools import cache

import pytest

from ampler import plots


def drawings(analysis):
    first, second = analysis.pairs[-1]
    instance = analysis.accuracy[0].instance
    return {
        "intervals": lambda ax=None: plots.draw_intervals(plots.intervals_data(analysis), ax, interval="both"),
        "accuracy": lambda ax=None: plots.draw_accuracy(plots.accuracy_data(analysis), ax, guarded=True),
        "runs": lambda ax=None: plots.draw_runs(plots.runs_data(analysis), ax),
        "instance": lambda ax=None: plots.draw_instance_differences(
            plots.instance_differences_data(analysis, instance), ax
        ),
        "pair": lambda ax=None: plots.draw_pair_differences(plots.pair_differences_data(analysis, first, second), ax),
        "quantiles": lambda ax=None: plots.draw_quantiles(plots.quantiles_data(analysis, first, second), ax),
        "bootstrap": lambda ax=None: plots.draw_bootstrap(plots.bootstrap_data(analysis, first, second), ax),
        "ranks": lambda ax=None: plots.draw_ranks(plots.ranks_data(analysis), ax),
        "probable": lambda ax=None: plots.draw_probable(plots.probable_data(analysis), ax),
        "best": lambda ax=None: plots.draw_best(plots.best_data(analysis), ax),
        "simplex": lambda ax=None: plots.draw_simplex(plots.simplex_data(analysis, first, second, draws=2000), ax),
        "verdict": lambda ax=None: plots.draw_verdict(plots.verdict_data(analysis), ax),
        "profile": lambda ax=None: plots.draw_profile(plots.profile_data(analysis), ax),
        "cactus": lambda ax=None: plots.draw_cactus(plots.cactus_data(analysis), ax),
        "scatter": lambda ax=None: plots.draw_scatter(plots.scatter_data(analysis, first, second), ax),
        "cloud": lambda ax=None: plots.draw_cloud(plots.cloud_data(analysis, instance), ax),
        "convergence": lambda ax=None: plots.draw_convergence(plots.convergence_data(analysis), ax),
        "subgroups": lambda ax=None: plots.draw_subgroups(plots.subgroups_data(analysis), ax),
    }


@pytest.fixture(scope="session")
def nasty_drawings(study_of, nasty_names):
    """The drawings of an analysis in which everything has a nasty name."""
    features = {r"size $\frac{$": ["small", "big & <b>", "$huge$"]}
    return drawings(study_of(nasty_names, reference=nasty_names[3], features=features, se=0.8, budget=54, margin=0.5))


@pytest.fixture(scope="session")
def many_drawings(study_of):
    """`many_drawings(reference)`: those of sixty algorithms, which all with all have 1770 comparisons."""
    names = [f"algorithm number {k}" for k in range(60)]
    asked = {"runs": 2, "features": {"size": ["small", "large"]}, "margin": 0.5}
    return cache(lambda reference: drawings(study_of(names, reference=reference, **asked)))
