"""Whole studies that find their own size, simulated: how often they err, what they find, what they take.

The simulations are those of the benchmarks, whose seeds were fixed before the first look.
"""

from math import sqrt

import numpy as np
import pytest

import detect_paper
import detect_series
import detect_simulation as simulation
import detect_studies

FEW = [(1, 1.5, 0.3), (5, 1.5, 2.0), (21, 1.5, 0.3), ("all", 1.5, 0.3)]
SIZES = [("a few", 75), pytest.param("many", 1500, marks=pytest.mark.slow)]
ASKED, ALPHA = 0.8, 0.05


def key_of(cell):
    return simulation.CELLS.index(cell)


def share_error(share, number):
    return sqrt(share * (1 - share) / number)


@pytest.mark.parametrize(("words", "studies"), SIZES)
@pytest.mark.parametrize("cell", FEW, ids=str)
def test_equal_algorithms_are_told_apart_no_more_often_than_the_level(cell, words, studies):
    tally = simulation.simulate(simulation.equal(*cell), studies // 2, key=2 * key_of(cell))
    assert tally.errors[0] <= ALPHA + 3 * share_error(ALPHA, studies // 2)


@pytest.mark.parametrize(("words", "studies"), SIZES)
@pytest.mark.parametrize("cell", FEW, ids=str)
def test_differences_that_matter_are_found_as_often_as_asked(cell, words, studies):
    tally = simulation.simulate(simulation.equal(*cell, 1.0), studies // 3, key=2 * key_of(cell) + 1)
    assert tally.power >= 0.78 - 2 * share_error(ASKED, studies // 3)


@pytest.mark.slow
@pytest.mark.parametrize("cell", simulation.CELLS, ids=str)
def test_every_cell_keeps_its_level_and_takes_little_more_than_one_who_knows_everything(cell):
    studies = {1: 800, 5: 500, 21: 200, "all": 400}[cell[0]]
    null = simulation.simulate(simulation.equal(*cell), studies, key=2 * key_of(cell))
    real = simulation.simulate(simulation.equal(*cell, 1.0), studies // 2, key=2 * key_of(cell) + 1)
    best = simulation.oracle(real.truth, simulation.goal_of(real.truth)).instances
    sizes = [each.instances for each in real.outcomes]
    spread = np.std(sizes, ddof=1) / sqrt(len(sizes)) / best

    assert null.errors[0] <= ALPHA + 3 * share_error(ALPHA, studies)
    if best >= 20:  # below, the pilot alone is more
        assert np.mean(sizes) / best <= 1.25 + 2 * spread
    assert real.power >= 0.78 - 2 * share_error(ASKED, studies // 2)


WHOLE = [
    (("a few", (1, 0.7, 0.3), 2)),
    (("a few", ("all", 0.7, 2.0), 1)),
    (("a few", (5, 0.7, 2.0), 1)),
    *(pytest.param("many", cell, 12, marks=pytest.mark.slow) for cell in simulation.CELLS if cell[1] < 3),
]


@pytest.mark.parametrize(("words", "cell", "number"), WHOLE, ids=str)
def test_whole_studies_decide_and_claim_what_the_pure_decision_does_on_their_values(words, cell, number):
    """Each study compares itself with the pure decision, and raises where they differ."""
    for shift in (0.0, 1.0):
        tally = detect_studies.simulate(simulation.equal(*cell, shift), number, key=key_of(cell))
        assert len(tally.outcomes) == number
        assert all(each.runs >= 20 * 5 * len(tally.truth.means) for each in tally.outcomes)


def test_a_whole_study_with_algorithms_that_leave_does_as_the_pure_decision():
    outcome = detect_studies.study(simulation.paper_like(), 7, available=200)
    assert outcome.early >= 4
    assert outcome.runs < 22 * 5 * outcome.instances


def test_a_difference_between_whole_studies_and_the_pure_decision_is_noticed(monkeypatch):
    other = simulation.goal_of(simulation.equal(1, 1.5, 0.3), caution=0.9, early=0, available=500)
    monkeypatch.setattr(detect_studies, "goal_of", lambda truth, **said: other)
    with pytest.raises(detect_studies.Difference):
        detect_studies.study(simulation.equal(1, 1.5, 0.3), 3, available=500)


@pytest.mark.parametrize(("words", "studies"), [("a few", 25), pytest.param("many", 300, marks=pytest.mark.slow)])
def test_algorithms_that_leave_early_do_no_harm(words, studies):
    tally = simulation.simulate(simulation.paper_like(), studies, key=1000)
    assert tally.errors[0] <= ALPHA + 3 * share_error(ALPHA, studies)
    assert np.mean([each.early for each in tally.outcomes]) > 4
    assert tally.power > 0.78


@pytest.mark.parametrize(("words", "studies"), [("a few", 25), pytest.param("many", 200, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("available", "most", "power"), [(3000, 0.50, 0.80), (57, 0.62, 0.75)])
def test_the_papers_first_experiment_takes_about_half_of_its_runs(public_data, words, studies, available, most, power):
    experiment = detect_paper.read(public_data / "paper_experiment1_runs.csv")
    done = detect_paper.studies(experiment, available, studies)
    ratio, error = detect_paper.mean_and_error([each.runs / experiment.runs for each in done])
    found, deviation = detect_paper.mean_and_error([each.found for each in done])

    assert experiment.runs == 23_271
    assert ratio <= most + 2 * error
    assert found >= power - 2 * deviation


def test_a_series_that_was_interrupted_goes_on_and_has_the_same_studies(tmp_path, monkeypatch):
    monkeypatch.setattr(detect_series, "PURE", dict.fromkeys(detect_series.PURE, 3))
    path, keys = tmp_path / "log.jsonl", {0, 1, detect_series.LEAVING + 1}

    detect_series.go_on("pure", path, 1e9, keys)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    detect_series.go_on("pure", path, 1e9, keys)

    assert sorted(path.read_text().splitlines()) == sorted(whole.splitlines())
    tallies = {corner.key: tally for corner, tally in detect_series.tallies("pure", path)}
    assert [len(tallies[key].outcomes) for key in sorted(keys)] == [3, 2, 3]
    assert simulation.simulate(tallies[0].truth, 3, key=0).instances == tallies[0].instances
