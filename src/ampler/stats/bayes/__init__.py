"""How probable is it? Bayesian conclusions from differences on instances, beside the tests and never instead. Pure.

In reading order:

* `mixture`: Student's t distributions mixed, and their areas below, within and above a margin
* `heterogeneity`: how much instances differ, and what is believed of it beforehand
* `posterior`: one comparison: the mean over instances, and a new instance
* `robust`: the same with heavy tails, as a sensitivity
* `shared`: many comparisons that learn from each other
* `verdicts`: what both together allow to say
* `signed_rank`: the Bayesian signed-rank test
* `rankings`: the Plackett-Luce model of rankings

It may import what `stats` may.
"""

from ampler.stats.bayes.heterogeneity import ProperPrior
from ampler.stats.bayes.mixture import Areas
from ampler.stats.bayes.posterior import Posterior, error_correlation, posterior
from ampler.stats.bayes.rankings import RankPosterior, rank_posterior
from ampler.stats.bayes.shared import SharedFit, SharedPosterior, shared_posteriors
from ampler.stats.bayes.signed_rank import SignedRank, signed_rank
from ampler.stats.bayes.verdicts import Verdict, expected_false_claims, verdicts

__all__ = [
    "Areas",
    "Posterior",
    "ProperPrior",
    "RankPosterior",
    "SharedFit",
    "SharedPosterior",
    "SignedRank",
    "Verdict",
    "error_correlation",
    "expected_false_claims",
    "posterior",
    "rank_posterior",
    "shared_posteriors",
    "signed_rank",
    "verdicts",
]
