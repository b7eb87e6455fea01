"""How probable is it? What an analysis says of its comparisons beside the tests, never instead: Holm controls errors.

    differences ─► posteriors, alone and with a shared prior ─► verdicts where both agree ─► words
    values of the algorithms ─► rankings

In reading order:

* `conclusions`: every comparison with its posteriors and its verdict; all of it as one value, `Bayes`
* `families`: the posteriors of all comparisons together, on the instances that have them
* `sensitivity`: other models of the same comparison: typical instances, pairs of instances
* `ranking`: who is best by rankings alone
* `words`: sentences and tables about it

It may import what `analysis` may.
"""

from ampler.analysis.bayes.conclusions import Bayes, Chances, Probable, bayes_of
from ampler.analysis.bayes.ranking import Ranking
from ampler.analysis.bayes.sensitivity import Sensitivity

__all__ = ["Bayes", "Chances", "Probable", "Ranking", "Sensitivity", "bayes_of"]
