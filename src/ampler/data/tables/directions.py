"""Whether higher or lower values are better, where their name leaves no doubt.

Only names are here that mean one thing wherever results are compared. Fitness, objective, quality, performance, score
and value are said by those who maximise and by those who minimise: these are asked.
"""

from __future__ import annotations

from itertools import pairwise

from ampler.core.choices import Better
from ampler.data.tables.vocabulary import word_set, words_of

HIGHER = word_set(
    "accuracy acc auc auroc auprc f1 precision recall sensitivity specificity r2 kappa mcc ndcg mrr iou dice bleu rouge"
    " reward profit revenue hypervolume hv throughput speedup winrate successrate passrate solved success passed"
    " correct resolved likelihood elbo"
)
LOWER = word_set(
    "time times runtime runningtime seconds milliseconds duration cputime walltime usertime latency par2 par10 ert rt"
    " error errors errorrate loss logloss crossentropy nll perplexity brier mse rmse mae mape rmsle wer cer regret"
    " cost makespan tardiness lateness gap gaps igd memory evaluations failures timeouts penalty violation violations"
)
# Names that turn the direction of the word beside them, or may: neg_mean_squared_error, 1 − accuracy, error reduction.
TURNING = word_set(
    "neg negative negated minus inverse inverted reciprocal complement reduction improvement saved savings gain ratio"
)


def better_by_name(name: object) -> Better | None:
    """Return what is better of values that are called so; None where the name does not say it beyond doubt.

    >>> better_by_name("Test accuracy (%)"), better_by_name("CPU time"), better_by_name("fitness")
    ('higher', 'lower', None)
    """
    words = words_of(name)
    said = set(words) | {one + other for one, other in pairwise(words)}
    higher, lower = bool(said & HIGHER), bool(said & LOWER)
    if higher == lower or said & TURNING or words[0] in {"1", "one"}:
        return None
    return "higher" if higher else "lower"
