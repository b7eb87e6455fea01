"""What the methods paragraph says of posteriors, verdicts and rankings, where a margin asked for them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ampler.analysis import Analysis
from ampler.analysis.bayes import Bayes
from ampler.analysis.units import margin_in_words
from ampler.core.wording import digits
from ampler.report.references import Sentence
from ampler.stats.bayes.rankings import DRAWS as RANKING_DRAWS
from ampler.stats.bayes.signed_rank import DRAWS as TEST_DRAWS
from ampler.stats.bayes.verdicts import CERTAIN, SHARED_FROM


def belief_sentences(analysis: Analysis) -> Iterator[Sentence]:
    """Yield the sentences; none without a margin, as reports then have no probabilities."""
    if not analysis.weighs_a_margin:
        return
    bayes = analysis.bayes
    if any(each.posterior is not None for each in bayes.comparisons):
        yield _posteriors(bayes)
        yield _verdicts(bayes)
        yield _sensitivity()
    if bayes.ranking is not None:
        yield _ranking(bayes)


def _posteriors(bayes: Bayes) -> Sentence:
    asked = bayes.analysis.settings
    assert bayes.margin is not None
    weights = {
        "equal": "with equal weights of the instances, so that credible intervals of the mean are those of Student's t",
        "precision": "with instances weighted by the precision of their differences",
    }[bayes.weights]
    noise = (
        "; on a new instance the variation between instances was separated from the standard errors of the runs"
        if bayes.errors_known
        else ""
    )
    return Sentence(
        f"Beside the tests we report {digits(100 * bayes.level)} % credible intervals and posterior probabilities that"
        " the mean difference over instances lies below, within or above a region of practical equivalence of"
        f" {margin_in_words(bayes.margin, asked)}, from a normal model with a flat prior of the mean and Jeffreys'"
        f" prior of the standard deviation between instances, {weights}{noise}",
        ("benavoli2017", "corani2017"),
    )


def _verdicts(bayes: Bayes) -> Sentence:
    rule = (
        f"A comparison was called worse, better or equivalent only where the probability of that was {CERTAIN} or more"
    )
    if len(bayes.comparisons) < SHARED_FROM:
        return Sentence(rule)
    return Sentence(
        f"{rule} both under this posterior and under one in which the comparisons share a prior whose spread is learnt"
        " from all of them",
        ("gelman2012",),
    )


def _sensitivity() -> Sentence:
    return Sentence(
        "As sensitivity analyses we used the same model with Student's t distribution (4 degrees of freedom) between"
        f" instances and the Bayesian signed-rank test ({TEST_DRAWS:,} draws, seed 0)",
        ("lange1989", "benavoli2017"),
    )


def _ranking(bayes: Bayes) -> Sentence:
    assert bayes.ranking is not None
    return Sentence(
        "Rankings were analysed by the Plackett–Luce model with a uniform Dirichlet prior, a tie counting as the mean"
        f" over its orders ({RANKING_DRAWS:,} importance draws, of which {bayes.ranking.effective:,.0f} count, seed 0)",
        ("plackett1975",),
    )
