"""The annealing: what it returns is right, repeatable and as good as the published program's."""

from functools import cache
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from slowly import JavaRandom, anneal_slowly, scatter

from ampler_upmsp.annealing import Parameters, anneal
from ampler_upmsp.compiled import kernel
from ampler_upmsp.generator import GRAINS, below, grains, seeded, skip_grains
from ampler_upmsp.instance import Instance, generate_instance, parse_instance
from ampler_upmsp.solution import InvalidSolution, checked, makespan
from ampler_upmsp.variants import disabled_by, paper_variants

QUICK = Parameters(iterations_per_temperature=200)


def brute_force(instance):
    """The least makespan on two machines: every order of the jobs, cut at every place."""
    orders = permutations(range(instance.jobs))
    return min(makespan(instance, [order[:cut], order[cut:]]) for order in orders for cut in range(instance.jobs + 1))


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_of_tiny_instances_is_found(seed):
    instance = generate_instance(3 + seed % 4, 2, 49, seed=seed)
    assert anneal(instance, seed=1, iterations=60_000, parameters=QUICK).makespan == brute_force(instance)


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**9), st.sampled_from(paper_variants()))
def test_every_solution_is_a_schedule_with_the_makespan_that_the_checker_finds(jobs, machines, seed, variant):
    instance = generate_instance(jobs, machines, 99, seed=seed)
    result = anneal(instance, seed=seed, iterations=3000, disable=disabled_by(variant), parameters=QUICK)
    assert checked(instance, result.solution.sequences) == result.solution
    makespans = [found.makespan for found in result.incumbents]
    assert makespans == sorted(set(makespans), reverse=True)
    assert not makespans or makespans[-1] == result.makespan


def test_a_seed_determines_the_result_and_another_seed_gives_another():
    instance = generate_instance(30, 5, 49, seed=4)
    first, again, other = (anneal(instance, seed=seed, iterations=400_000).solution for seed in (1, 1, 2))
    assert first == again
    assert first.sequences != other.sequences


def test_the_result_does_not_depend_on_where_the_clock_is_looked_at(monkeypatch):
    instance = generate_instance(20, 4, 49, seed=4)
    whole = anneal(instance, seed=3, iterations=50_000, parameters=QUICK)
    monkeypatch.setattr("ampler_upmsp.annealing.CHUNK", 777)
    pieces = anneal(instance, seed=3, iterations=50_000, parameters=QUICK)
    assert pieces.solution == whole.solution
    assert [(found.iteration, found.makespan) for found in pieces.incumbents] == [
        (found.iteration, found.makespan) for found in whole.incumbents
    ]


def test_a_time_limit_ends_the_search():
    result = anneal(generate_instance(20, 4, 49, seed=4), seed=3, seconds=0.3)
    assert 0.3 <= result.seconds < 5
    assert result.iterations > 0


def test_without_any_neighbourhood_the_start_is_returned():
    instance = generate_instance(10, 3, 9, seed=1)
    result = anneal(instance, seed=1, iterations=1000, disable=("SHF", "DSW", "SWP", "SWT", "TSK", "2SH"))
    assert result.iterations == 0
    start = [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9]]
    assert anneal(instance, seed=1, iterations=0, start=start).solution == checked(instance, start)


def test_a_search_that_cannot_move_ends_at_once():
    single = generate_instance(1, 1, 9, seed=1)
    assert anneal(single, seed=1, iterations=10**12).makespan == single.processing[0, 0]


@pytest.fixture
def large():
    """An instance with times that need forty bits."""
    rng = np.random.default_rng(1)
    setup = rng.integers(1, 2**40, size=(2, 5, 5)) * (1 - np.eye(5, dtype=int))
    return Instance("large", rng.integers(1, 2**40, size=(2, 5)), setup, np.zeros((2, 5), dtype=np.int64))


def test_large_times_are_given_to_the_search_as_they_are(large):
    assert large.costs.dtype == large.least_costs.dtype == np.int64
    assert np.array_equal(large.costs[:, :5, :5, 1], large.setup + large.processing[:, None, :])
    assert np.array_equal(large.costs[:, :5, :5, 0].transpose(0, 2, 1), large.setup + large.processing[:, None, :])


@pytest.mark.slow  # the search is compiled once more, for large numbers
def test_large_times_are_exact(large):
    hot = Parameters(temperature=1e12, iterations_per_temperature=100)
    assert anneal(large, seed=1, iterations=60_000, parameters=hot).makespan == brute_force(large)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"temperature": 0.0}, "temperature"),
        ({"cooling": 1.0}, "cooling"),
        ({"iterations_per_temperature": 0}, "least 1"),
    ],
)
def test_impossible_settings_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        Parameters(**settings)


def test_an_unknown_neighbourhood_and_a_bad_start_are_refused():
    instance = generate_instance(4, 2, 9, seed=1)
    with pytest.raises(ValueError, match="TSX"):
        anneal(instance, seed=1, iterations=10, disable=["TSX"])
    with pytest.raises(InvalidSolution, match="exactly once"):
        anneal(instance, seed=1, iterations=10, start=[[0, 1], [1, 2]])


# The published Java program on calibration instance I_50_10_S_1-9_1, 3 million iterations, 20 000 per temperature:
# the seeds 1 to this, mean and standard deviation of the makespan, as printed in its reference results.
PUBLISHED = {
    "full": (60, "71.8", "1.15"),
    "no-TSK": (60, "116.2", "24.1"),
    "no-SWP": (10, "72.1", "1.7"),
    "no-SHF": (10, "71.5", "1.2"),
}
ARCHIVE = Path(__file__).parents[4] / "shared/instances/upmsp-calibration-J50-J100.tar.xz"


needs_the_archive = pytest.mark.skipif(not ARCHIVE.exists(), reason="the public calibration instances are not here")


def long_searches(variant, seeds):
    """The makespans of the published settings."""
    instance, settings = calibration_instance("I_50_10_S_1-9_1"), Parameters(iterations_per_temperature=20_000)
    disable = disabled_by(variant)
    return [
        anneal(instance, seed=seed, iterations=3_000_000, disable=disable, parameters=settings).makespan
        for seed in range(1, seeds + 1)
    ]


@needs_the_archive
@pytest.mark.parametrize(
    "variant",
    [pytest.param(name, marks=[] if name == "no-SWP" else [pytest.mark.slow]) for name in PUBLISHED],
)
def test_makespans_are_those_of_the_published_program(variant):
    """The same seeds give the printed digits."""
    count, *printed = PUBLISHED[variant]
    ours = long_searches(variant, count)
    assert [as_printed(np.mean(ours), printed[0]), as_printed(np.std(ours, ddof=1), printed[1])] == printed


@needs_the_archive
@pytest.mark.slow
@pytest.mark.parametrize("variant", PUBLISHED)
def test_sixty_seeds_agree_with_the_published_ones_in_mean_and_spread(variant):
    ours = long_searches(variant, 60)
    count, mean, sd = PUBLISHED[variant][0], *map(float, PUBLISHED[variant][1:])
    assert abs(np.mean(ours) - mean) <= 3 * np.sqrt(np.var(ours, ddof=1) / 60 + sd**2 / count)
    low, high = stats.f.ppf([0.005, 0.995], 59, count - 1)
    assert low <= np.var(ours, ddof=1) / sd**2 <= high


def test_the_slow_version_draws_the_numbers_of_the_java_platform():
    rng = JavaRandom(42)  # printed by Java 17 for new Random(42): nextInt(10) twice, nextInt(16), nextDouble()
    assert [rng.below(10), rng.below(10), rng.below(16), rng.unit()] == [0, 3, 10, 0.047939305137387644]
    # ... and by Collections.shuffle of 0..7 with new Random(-5), then nextInt(1) for each job
    assert scatter(SimpleNamespace(jobs=8, machines=1), JavaRandom(-5)) == [[7, 0, 4, 1, 5, 3, 6, 2]]


@given(st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=30))
def test_the_compiled_generator_draws_the_same_numbers(seed, bounds):
    compiled, slow = seeded(seed), JavaRandom(seed)
    for bound in bounds:
        slow.unit()  # which the compiled one skips
        assert drawn(compiled, bound) == (slow.below(bound), slow.unit())


@kernel
def drawn(state, bound):
    skip_grains(state)
    return below(state, bound), grains(state) / GRAINS


# The whole search, run by run, against the slow version of it, which is the published program's on every instance.


@given(
    seed=st.integers(0, 2**31),
    jobs=st.integers(2, 16),
    machines=st.integers(2, 5),
    setup=st.sampled_from([2, 9, 124]),
    variant=st.sampled_from(paper_variants()),
    per_temperature=st.integers(1, 5),
)
def test_a_seed_gives_the_search_of_the_slow_version(seed, jobs, machines, setup, variant, per_temperature):
    assert_same_makespan(generate_instance(jobs, machines, setup, seed=seed), seed, variant, 600, per_temperature)


MORE_SIZES = [pytest.param(*size, marks=pytest.mark.slow) for size in ((150, 15), (250, 10))]


@pytest.mark.parametrize(("jobs", "machines"), [(50, 10), (100, 20), (250, 30), *MORE_SIZES])
@pytest.mark.parametrize("variant", paper_variants())
def test_the_searches_are_the_same_on_the_sizes_of_the_benchmark(jobs, machines, variant):
    assert_same_makespan(of_size(jobs, machines), 7, variant, 400, 10)


@cache
def of_size(jobs, machines):
    return generate_instance(jobs, machines, 49, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "machines"), [(50, 10), (100, 20), (250, 30)])
@pytest.mark.parametrize("variant", PUBLISHED)
def test_long_searches_are_the_same_too(jobs, machines, variant):
    assert_same_makespan(generate_instance(jobs, machines, 124, seed=2), 3, variant, 60_000, 400)


def assert_same_makespan(instance, seed, variant, iterations, per_temperature):
    disabled = disabled_by(variant)
    parameters = Parameters(iterations_per_temperature=per_temperature)
    fast = anneal(instance, seed=seed, iterations=iterations, disable=disabled, parameters=parameters)
    slow = anneal_slowly(
        instance, JavaRandom(seed), iterations=iterations, per_temperature=per_temperature, disabled=disabled
    )
    assert [list(sequence) for sequence in fast.solution.sequences] == slow


def as_printed(number, text):
    return f"{number:.{len(text.partition('.')[2])}f}"


def calibration_instance(name):
    import tarfile

    with tarfile.open(ARCHIVE) as archive:
        member = next(m for m in archive.getmembers() if m.name.endswith(f"{name}.txt"))
        return parse_instance(archive.extractfile(member).read().decode(), name=name)
