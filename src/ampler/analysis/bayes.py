"""Posterior probabilities of every comparison, a verdict, and both in words. Pure.

Each comparison is worse, equivalent or better by more than the margin. This stands next to the tests, never instead:
Holm controls errors. Words are about the second algorithm of a pair against the first: with a reference, about the
others against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.analysis import units
from ampler.analysis.text import LONGEST_LIST, SUCCEEDED, is_about_successes, is_biased
from ampler.core.arrays import Bools, Codes, Floats, Interval, Pair
from ampler.core.errors import InvalidData
from ampler.core.serialization import jsonable
from ampler.core.settings import Better, Weights
from ampler.core.text import TextTable, count, digits, listed, table_of
from ampler.core.verdicts import Verdict, opposite
from ampler.stats.bayes.posterior import CERTAIN, SHARED_FROM, Areas, Posterior, agreed_verdict, posterior
from ampler.stats.bayes.rankings import rank_posterior
from ampler.stats.bayes.shared import FEWEST, SharedPosterior, shared_posteriors
from ampler.stats.bayes.signed_rank import signed_rank
from ampler.stats.descriptive import rank_correlation, settled_rows
from ampler.stats.paired import present_columns

if TYPE_CHECKING:
    from ampler.analysis.compare import Comparison
    from ampler.analysis.results import Analysis


NO_MARGIN = (
    "Not computed: set a margin (margin=0.02, --margin 0.02), the smallest difference that matters, to get Bayesian"
    " verdicts."
)
ABOUT_RANKING = (
    "Rankings ignore the size of differences, and the order of two algorithms can depend on the other algorithms."
)
PRECISION = (
    "Instances are weighted by the precision of their differences. If precision is related to the difference, the"
    " result differs from the table. Use equal weights, unless few instances reach the budget and difficulty is"
    " unrelated to the difference"
)
BIASED = "Do not report these results: the stopping rule biased them. Provisional: "
SMALLEST = 0.001  # probability that is reported
HANGS = 0.95  # below this probability under another model, a claim depends on the model


@dataclass(frozen=True, slots=True)
class SharedFamily:
    """Shared posteriors of comparisons, the spread of the algorithms, and the number of instances."""

    comparisons: Mapping[Pair, SharedPosterior] = field(default_factory=dict)
    omega: float = nan
    instances: int = 0
    problem: str = ""  # reason for missing posteriors


def family_of(
    differences: Floats, pairs: Sequence[Pair], *, reference: str | None, margin: float, level: float
) -> SharedFamily:
    """Return the shared posteriors of comparisons (columns), with one reference or of all with all."""
    try:
        if reference is None:
            return _all_with_all(differences, pairs, margin, level)
        rows, columns = _varying(differences)
        fit = shared_posteriors(differences[np.ix_(rows, columns)], margin=margin, level=level)
        comparisons = {pairs[k]: one for k, one in zip(columns, fit.comparisons, strict=True)}
        return SharedFamily(comparisons, fit.omega, len(rows))
    except InvalidData as problem:
        return SharedFamily(problem=str(problem))


def largest_block(present: Bools) -> tuple[Codes, Codes]:
    """Return rows and columns without gaps: of the fullest columns, as many as make the largest table.

    >>> [part.tolist() for part in largest_block(np.array([[1, 0], [1, 0], [1, 1], [1, 0]], dtype=bool))]
    [[0, 1, 2, 3], [0]]
    """
    order = np.argsort(-present.sum(axis=0), kind="stable")
    complete = np.logical_and.accumulate(present[:, order], axis=1)
    counts = complete.sum(axis=0)
    sizes = np.where(counts >= FEWEST, counts, 0) * np.arange(1, len(order) + 1)
    used = int(np.argmax(sizes)) + 1 if sizes.any() else len(order)
    return np.flatnonzero(complete[:, used - 1]), np.sort(order[:used])


def _all_with_all(differences: Floats, pairs: Sequence[Pair], margin: float, level: float) -> SharedFamily:
    """Choose the algorithm whose differences to all others determine all pairs best."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    column_of = dict(zip(pairs, differences.T, strict=True))
    column_of |= {(second, first): -column for (first, second), column in column_of.items()}
    tables = {base: np.column_stack([column_of[base, name] for name in names if name != base]) for base in names}

    def information(base: str) -> tuple[int, int]:
        """Number of algorithms to which an algorithm has varying differences, and number of those differences."""
        columns = present_columns(tables[base])
        return sum(len(np.unique(column)) > 1 for column in columns), sum(map(len, columns))

    base = max(names, key=information)
    others = [name for name in names if name != base]
    rows, columns = _varying(tables[base])
    used = [base, *(others[k] for k in columns)]
    chosen = [(used.index(i), used.index(j)) for i, j in pairs if i in used and j in used]
    fit = shared_posteriors(tables[base][np.ix_(rows, columns)], margin=margin, level=level, pairs=chosen)
    result = {(used[i], used[j]): one for (i, j), one in zip(chosen, fit.comparisons, strict=True)}
    return SharedFamily(result, fit.omega, len(rows))


def _varying(table: Floats) -> tuple[Codes, Codes]:
    """The largest complete block, without constant differences, which need no inference."""
    rows, columns = largest_block(~np.isnan(table))
    block = table[np.ix_(rows, columns)]
    largest = np.abs(block).max(initial=0.0)
    varies = (block / largest).std(axis=0) > 0 if largest > 0 else np.zeros(len(columns), dtype=bool)
    if not varies.any():
        raise InvalidData(f"a shared prior needs differences that vary on {FEWEST} or more complete instances")
    return rows, columns[varies]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Posterior of the rankings of the algorithms, best first."""

    algorithms: tuple[str, ...]
    win: Floats  # the chance to be first on an instance
    best: Floats  # the probability to be the best of all
    better: Floats  # the probability that the row is better than the column
    pair: Floats  # the chance that the row is ahead of the column on an instance
    instances: int  # on which two or more algorithms have values
    effective: float  # effective sample size


def ranking_of(algorithms: tuple[str, ...], values: Floats, *, better: Better) -> Ranking:
    """Return the ranking of algorithms (columns) over instances (rows); NaN where one was not run.

    Values that differ by rounding alone are tied; InvalidData where the answer would rest on too few draws.
    """
    present = ~np.isnan(values)
    used = np.flatnonzero(present.any(axis=0))
    rows = present.sum(axis=1) > 1
    if len(used) < 2 or not rows.any():
        raise InvalidData("rankings need an instance on which two or more algorithms have values")
    used = used[present[rows][:, used].any(axis=0)]
    result = rank_posterior(settled_rows(values[rows][:, used]), better=better)
    order = np.argsort(-result.win, kind="stable")
    square = np.ix_(order, order)
    return Ranking(
        algorithms=tuple(algorithms[used[k]] for k in order),
        win=result.win[order],
        best=result.best[order],
        better=result.better[square],
        pair=result.pair[square],
        instances=int(rows.sum()),
        effective=result.effective,
    )


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One comparison by other models."""

    first: str
    second: str
    robust: Posterior | None  # of the centre of the typical instances
    signed_rank: Areas | None  # how often pairs of instances average below, within, above the margin most of all
    mean_point: Areas | None  # of the signed-rank test: the shares of such pairs, expected
    problem: str = ""  # reason for a missing model


def sensitivity_of(
    first: str, second: str, differences: Floats, errors: Floats, *, margin: float, level: float
) -> Sensitivity:
    """Return the comparison by the robust model and by the Bayesian signed-rank test."""
    robust, problem = None, ""
    try:
        robust = posterior(differences, errors, margin=margin, model="robust", level=level)
    except InvalidData as found:
        problem = str(found)
    if not len(differences):
        return Sensitivity(first, second, robust, None, None, problem)
    test = signed_rank(differences, margin=margin)
    return Sensitivity(first, second, robust, test.areas, test.mean_areas, problem)


VERDICTS: dict[Better, dict[str, Verdict]] = {
    "lower": {"less": "worse", "equivalent": "equivalent", "more": "better", "inconclusive": "inconclusive"},
    "higher": {"less": "better", "equivalent": "equivalent", "more": "worse", "inconclusive": "inconclusive"},
}
OUTSIDE = "no shared posterior: one of the two algorithms lacks instances, or all differences are equal"
MOST_SENSITIVE = 60  # comparisons with a sensitivity analysis


@dataclass(frozen=True, slots=True)
class Chances:
    """Probabilities that sum to 1, of the second algorithm against the first."""

    worse: float
    equivalent: float
    better: float

    def of(self, side: str) -> float:
        """Return one of the probabilities."""
        return float(getattr(self, side))


@dataclass(frozen=True, slots=True)
class Probable:
    """Posterior probabilities of one comparison; differences are first minus second, the words about the second."""

    first: str
    second: str
    instances: int
    posterior: Posterior | None = None  # None: see `problem`
    shared: SharedPosterior | None = None  # given all comparisons; None with fewer than three, or see `problem`
    chances: Chances | None = None  # of the mean over instances
    shared_chances: Chances | None = None
    new_chances: Chances | None = None  # of a new instance of the same kind
    verdict: Verdict | None = None  # None without a margin, or if it is undefined
    error_correlation: float = nan  # Spearman's, of standard errors and differences; NaN: not known
    problem: str = ""

    @property
    def pair(self) -> Pair:
        """Both algorithms."""
        return self.first, self.second

    @property
    def claims(self) -> bool:
        """Whether the verdict claims something."""
        return self.verdict not in {None, "inconclusive"}

    @property
    def claimed(self) -> float:
        """Return the probability of the claim, from the posterior of the comparison alone."""
        return nan if self.chances is None or self.verdict is None or not self.claims else self.chances.of(self.verdict)


@dataclass(frozen=True, eq=False)
class Bayes:
    """Bayesian analysis: `comparisons` in Holm's order, and on request `sensitivity` and `ranking`."""

    comparisons: tuple[Probable, ...]
    margin: float | None  # None: there are no verdicts
    level: float
    weights: Weights
    omega: float  # posterior mean of the standard deviation of the algorithms' levels; NaN: no shared prior
    shared_instances: int  # which the shared prior rests on
    errors_known: bool  # otherwise run noise is part of the between-instance variance
    expected_false_claims: float  # expected share of false verdicts under the prior; NaN: no verdicts
    analysis: Analysis = field(repr=False)

    @cached_property
    def sensitivity(self) -> tuple[Sensitivity, ...]:
        """The first sixty comparisons by other models: robust, and the Bayesian signed-rank test."""
        margin, level = self.margin or 0.0, self.level
        return tuple(
            sensitivity_of(*comparison.pair, *_sample(self.analysis, comparison), margin=margin, level=level)
            for comparison in self.comparisons[:MOST_SENSITIVE]
        )

    @property
    def ranking(self) -> Ranking | None:
        """The ranking by Plackett-Luce; None with a reason in `ranking_problem`."""
        return self._ranking_or_problem[0]

    @property
    def ranking_problem(self) -> str:
        """The reason for a missing ranking; empty if there is one."""
        return self._ranking_or_problem[1]

    @cached_property
    def _ranking_or_problem(self) -> tuple[Ranking | None, str]:
        names = tuple(row.algorithm for row in self.analysis.algorithms)
        try:
            return ranking_of(names, self.analysis.statistics, better=self.analysis.settings.better), ""
        except InvalidData as problem:
            return None, str(problem)

    def chances(self, areas: Areas) -> Chances:
        """Return the areas below, within and above the margin as words have them."""
        return chances_of(areas, self.analysis.settings.better)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; what is unknown is None."""
        own = ("margin", "level", "weights", "omega", "shared_instances", "errors_known", "expected_false_claims")
        document = {name: getattr(self, name) for name in own} | {
            "certain": CERTAIN,
            "comparisons": self.comparisons,
            "sensitivity": self.sensitivity,
            "ranking": self.ranking,
            "notes": list(footnotes(self)),
        }
        result: dict[str, Any] = jsonable(document)
        return result


def bayes_of(analysis: Analysis) -> Bayes:
    """Return the posterior probabilities of the comparisons of an analysis, by its margin and its weights."""
    settings = analysis.settings
    level, margin = 1 - settings.alpha, settings.margin or 0.0
    separate: list[Posterior | str] = []  # or the reason for none
    for comparison in analysis.comparisons:
        try:
            sample = _sample(analysis, comparison)
            separate.append(posterior(*sample, margin=margin, level=level, weights=settings.weights))
        except InvalidData as problem:
            separate.append(str(problem))
    family, reference = SharedFamily(), settings.reference
    has = {item.pair for item, own in zip(analysis.comparisons, separate, strict=True) if isinstance(own, Posterior)}
    if len(analysis.pairs) >= SHARED_FROM and has:
        used = [k for k, pair in enumerate(analysis.pairs) if reference is None or pair in has]
        pairs = [analysis.pairs[k] for k in used]
        family = family_of(analysis.differences[:, used], pairs, reference=reference, margin=margin, level=level)
    result = tuple(_probable(analysis, *both, family) for both in zip(analysis.comparisons, separate, strict=True))
    false_claims = sum(1 - probable.claimed for probable in result if probable.claims)
    return Bayes(
        comparisons=result,
        margin=settings.margin,
        level=level,
        weights=settings.weights,
        omega=family.omega,
        shared_instances=family.instances,
        errors_known=not np.isnan(analysis.errors[~np.isnan(analysis.differences)]).any(),
        expected_false_claims=nan if settings.margin is None else false_claims,
        analysis=analysis,
    )


def chances_of(areas: Areas, better: Better) -> Chances:
    """Return the chances from areas. Differences are first − second: if lower is better, below 0 the second is worse.

    >>> chances_of(Areas(0.9, 0.1, 0.0), "lower")
    Chances(worse=0.9, equivalent=0.1, better=0.0)
    """
    turned = areas if better == "lower" else areas.turned()
    return Chances(turned.less, turned.equivalent, turned.more)


# one comparison ---------------------------------------------------------------------------------------------------


def _sample(analysis: Analysis, comparison: Comparison | Probable) -> tuple[Floats, Floats]:
    """The differences of a comparison and their errors; where one is not known, all count as exact."""
    column = analysis.pairs.index(comparison.pair)
    there = ~np.isnan(analysis.differences[:, column])
    errors = analysis.errors[there, column]
    return analysis.differences[there, column], errors if np.isfinite(errors).all() else np.zeros_like(errors)


def _is_supported(verdict: Verdict, analysis: Analysis, comparison: Comparison) -> bool:
    """Whether nothing is known that speaks against a verdict; percentages, which favour their reference, need tests."""
    same = next(row.equivalence for row in analysis.diagnoses if row.pair == comparison.pair)
    percent = analysis.settings.difference == "percent"
    if verdict == "equivalent":
        return same is None or (same.established if percent else not same.doubt)
    return comparison.claimed if percent else not comparison.in_doubt


def _probable(analysis: Analysis, comparison: Comparison, own: Posterior | str, family: SharedFamily) -> Probable:
    if isinstance(own, str):
        return Probable(*comparison.pair, comparison.instances, problem=own)
    better, shared = analysis.settings.better, family.comparisons.get(comparison.pair)
    is_lacking = len(analysis.pairs) >= SHARED_FROM and shared is None
    verdict: Verdict | None = None
    if analysis.settings.margin is not None and not is_lacking:
        # both posteriors must agree; without a shared prior the plain one decides alone
        verdict = VERDICTS[better][agreed_verdict([one.areas for one in (own, shared) if one is not None])]
        verdict = verdict if _is_supported(verdict, analysis, comparison) else "inconclusive"
    return Probable(
        *comparison.pair,
        comparison.instances,
        posterior=own,
        shared=shared,
        chances=chances_of(own.areas, better),
        shared_chances=None if shared is None else chances_of(shared.areas, better),
        new_chances=chances_of(own.new_areas, better),
        verdict=verdict,
        error_correlation=rank_correlation(*_sample(analysis, comparison)),
        problem=(family.problem or OUTSIDE) if is_lacking else "",
    )


# the answer ---------------------------------------------------------------------------------------------------------


def bayes_headline(bayes: Bayes) -> str:
    """State the number of comparisons with each verdict, and first whether claims are unsafe."""
    warning, settings = BIASED if is_biased(bayes.analysis) else "", bayes.analysis.settings
    if bayes.margin is None:
        return warning + NO_MARGIN
    verdicts = [comparison.verdict for comparison in bayes.comparisons]
    if settings.reference is None:
        differ = verdicts.count("worse") + verdicts.count("better")
        numbers, what = {"better or worse": differ}, count(len(verdicts), "pair")
    else:
        numbers = {word: verdicts.count(word) for word in ("worse", "better")}
        what = f"{count(len(verdicts), 'algorithm')} compared with {settings.reference}"
    numbers |= {word: verdicts.count(word) for word in ("equivalent", "inconclusive")}
    numbers["without a verdict"] = verdicts.count(None)
    result = ", ".join(f"{number} {wording}" for wording, number in numbers.items() if number)
    return f"{warning}Bayesian verdicts with margin {units.margin_text(bayes.margin, settings)}, {what}: {result}."


def bayes_sentences(bayes: Bayes, *, most: int | None = None) -> Iterator[str]:
    """Yield a sentence for each comparison with a claim (at most a given number), then for the others."""
    with_posterior = [comparison for comparison in bayes.comparisons if comparison.posterior is not None]
    claims = [probable for probable in with_posterior if probable.claims or bayes.margin is None]
    for probable in claims[:most]:
        yield comparison_sentence(probable, bayes)
    if most is not None and len(claims) > most:
        yield f"… and {len(claims) - most} more, which the table shows."
    inconclusive = [_label(probable, bayes) for probable in with_posterior if probable.verdict == "inconclusive"]
    if inconclusive:
        yield f"Inconclusive: {listed(inconclusive, LONGEST_LIST)}."


def comparison_sentence(probable: Probable, bayes: Bayes) -> str:
    """State the mean difference of one comparison and its probability to exceed the margin."""
    assert probable.posterior is not None, "a comparison without a posterior has a problem instead"
    settings = bayes.analysis.settings
    badness = -1.0 if settings.better == "lower" else 1.0  # of a difference, seen from the second algorithm
    worse_by = badness * probable.posterior.mean
    word = "worse" if worse_by > 0 else "better"
    among = f" {SUCCEEDED}" if is_about_successes(bayes.analysis) else ""
    low, high = sorted(badness * end for end in probable.posterior.interval)
    if low >= 0 or high <= 0:
        small, large = sorted((abs(low), abs(high)))
        interval = f"{units.size_text(small, settings)} to {units.size_text(large, settings)}"
    else:  # the interval includes 0, so both directions are named
        interval = f"{units.size_text(-low, settings)} better to {units.size_text(high, settings)} worse"
    mean, new = probable.chances, probable.new_chances
    assert mean is not None, "so has every comparison with a posterior"
    assert new is not None
    if bayes.margin is None:
        chance = f"; on a new instance of the same kind it is {word} with probability {probability(new.of(word))}"
    else:
        margin = units.margin_text(bayes.margin, settings)
        side = "equivalent" if probable.verdict == "equivalent" else word
        what = f"within {margin} of it" if side == "equivalent" else f"{word} by more than {margin.removeprefix('±')}"
        chance = (
            f". It is {what} with probability {probability(mean.of(side))}, on a new instance of the same kind"
            f" with probability {probability(new.of(side))}"
        )
    return (
        f"On an average instance {probable.second} is {word} than {probable.first}{among} by"
        f" {units.amount_text(abs(worse_by), settings)} ({digits(100 * bayes.level)} % credible interval {interval})"
        f"{chance}."
    )


def probability(value: float) -> str:
    """Write a probability with three decimals; what is nearly certain is never called certain.

    >>> probability(0.98431), probability(0.99999), probability(1e-9)
    ('0.984', 'above 0.999', 'below 0.001')
    """
    if value > 1 - SMALLEST:
        return "above 0.999"
    return "below 0.001" if value < SMALLEST else f"{value:.3f}"


def _label(probable: Probable, bayes: Bayes) -> str:
    return probable.second if bayes.analysis.settings.reference is not None else f"{probable.first} − {probable.second}"


# tables -------------------------------------------------------------------------------------------------------------


SIDES = ("worse", "equivalent", "better")


def displayed_chances(chances: Chances | None, bayes: Bayes) -> Chances | None:
    """Return three probabilities of the row's subject: without a reference that is the first algorithm."""
    if chances is None or bayes.analysis.settings.reference is not None:
        return chances
    return replace(chances, worse=chances.better, better=chances.worse)


def three(chances: Chances | None) -> str:
    """Write three probabilities in short.

    >>> three(Chances(0.984, 0.016, 0.0)), three(None)
    ('.98 .02 .00', '–')
    """
    if chances is None:
        return "–"
    numbers = (chances.worse, chances.equivalent, chances.better)
    return " ".join("1.0" if number > 0.995 else f"{number:.2f}"[1:] for number in numbers)


def verdict_label(probable: Probable, bayes: Bayes) -> str:
    """Return the verdict on the row's subject: without a reference that is the first algorithm."""
    if probable.verdict is None:
        return "–"
    return probable.verdict if bayes.analysis.settings.reference is not None else opposite(probable.verdict)


def bayes_columns(bayes: Bayes) -> TextTable:
    """Return the table of the comparisons, in Holm's order."""
    level = f"{digits(100 * bayes.level)} % interval"
    mean = units.location_header("mean", bayes.analysis.settings)
    header = ["comparison", mean, level, "on average", "shared", "new instance", "verdict"]
    rows = []
    for item in bayes.comparisons:
        interval = ("–", "–") if item.posterior is None else _mean_and_interval(item.posterior, bayes)
        kinds = (item.chances, item.shared_chances, item.new_chances)
        chances = (three(displayed_chances(each, bayes)) for each in kinds)
        rows.append([_label(item, bayes), *interval, *chances, verdict_label(item, bayes)])
    columns = table_of(header, rows, words=[6], leaves={4: 1, 5: 2}).columns
    shared = any(item.shared for item in bayes.comparisons)
    return TextTable(tuple(column for column in columns if shared or column.head != "shared"))


def ranking_columns(bayes: Bayes) -> TextTable:
    """Return the table of the algorithms by rankings alone, best first."""
    ranking = bayes.ranking
    if ranking is None:
        return TextTable(())
    names, settings = ranking.algorithms, bayes.analysis.settings
    against = settings.reference if settings.reference in names else None
    header = ["algorithm", "first on an instance", "best of all", f"better than {against or 'the next'}"]
    rows = []
    for k, name in enumerate(names):
        other = k + 1 if against is None else names.index(against)
        ahead = "–" if other in {k, len(names)} else f"{ranking.better[k][other]:.2f}"
        rows.append([name, f"{ranking.win[k]:.2f}", f"{ranking.best[k]:.2f}", ahead])
    return table_of(header, rows)


def mean_in_unit(result: Posterior, bayes: Bayes) -> float:
    """Return a posterior's mean in the unit of its differences, as displayed: other − reference where there is one."""
    return units.value_in_unit(_sign(bayes) * result.mean, bayes.analysis.settings)


def bounds_in_unit(result: Posterior, bayes: Bayes) -> Interval:
    """Return a posterior's interval in the unit of its differences, as displayed."""
    low, high = sorted(units.value_in_unit(_sign(bayes) * bound, bayes.analysis.settings) for bound in result.interval)
    return low, high


def _sign(bayes: Bayes) -> float:
    return 1.0 if bayes.analysis.settings.reference is None else -1.0


def _mean_and_interval(result: Posterior, bayes: Bayes) -> tuple[str, str]:
    settings, displayed = bayes.analysis.settings, (mean_in_unit(result, bayes), *bounds_in_unit(result, bayes))
    mean, low, high = units.texts_of_ratios(*displayed) if settings.difference == "ratio" else map(digits, displayed)
    return mean, f"[{low}, {high}]"


# warnings -------------------------------------------------------------------------------------------------------


def footnotes(bayes: Bayes) -> Iterator[str]:
    """Yield warnings about the probabilities."""
    legend = "Columns: P(worse), P(equivalent), P(better)."
    claims = [comparison for comparison in bayes.comparisons if comparison.claims]
    also = "; the tests must support it" if bayes.analysis.settings.difference == "percent" else ""
    if bayes.margin is None:
        yield f"{legend} Without a margin the middle one is 0."
    else:
        where = "under both posteriors, alone and with the prior that all comparisons share"
        if len(bayes.comparisons) < SHARED_FROM:
            where = "under the posterior (with fewer than three comparisons there is no prior to share)"
        yield f"{legend} A verdict needs a probability of {CERTAIN} or more {where}{also}."
    if bayes.margin is not None and claims:
        wrong = bayes.expected_false_claims
        number = digits(wrong, 2) if wrong >= SMALLEST else f"less than {SMALLEST}"
        yield (
            f"Expected false claims under the prior: {number} of {len(claims)}. Only the Holm tests control the error"
            " rate."
        )
    doubtful = []  # claims that another model does not support
    for own, item in zip(bayes.comparisons, bayes.sensitivity, strict=False):
        if own.claims and own.verdict is not None and item.robust is not None:
            chance = bayes.chances(item.robust.areas).of(own.verdict)
            doubtful += [f"{_label(own, bayes)} ({probability(chance)})"] if chance < HANGS else []
    if doubtful:
        yield (
            "For typical instances instead of their mean (robust model) these verdicts are less probable:"
            f" {listed(doubtful, LONGEST_LIST)}."
        )
    if bayes.weights != "equal":
        rho = [item.error_correlation for item in bayes.comparisons if not np.isnan(item.error_correlation)]
        between = f" (Spearman's correlation here: {min(rho):.2f} to {max(rho):.2f})" if rho else ""
        yield f"{PRECISION}{between}."
    if not bayes.errors_known:
        yield (
            "The precision of some differences is unknown. There, run noise counts as variation between instances: a"
            " new instance has equally noisy runs."
        )
    if bayes.shared_instances and bayes.analysis.incomplete:
        yield f"The shared prior rests on {count(bayes.shared_instances, 'complete instance')}."
    if spent := bayes.analysis.at_budget:
        where = count(len(spent), "instance")
        yield f"On {where} the budget was spent, so differences there are less exact than was wanted."
    problems: dict[str, list[str]] = {}
    for comparison in bayes.comparisons:
        if comparison.problem:
            problems.setdefault(comparison.problem, []).append(_label(comparison, bayes))
    yield from (f"{listed(names, LONGEST_LIST)}: {problem}." for problem, names in problems.items())
    if bayes.ranking_problem:
        yield f"No ranking: {bayes.ranking_problem}."
