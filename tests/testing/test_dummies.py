"""Dummy algorithms and instances with a known truth."""

import pickle

import numpy as np
import pytest

from ampler.core.errors import InvalidInput
from ampler.sampling.rules import Accuracy, sample
from ampler.testing.dummies import DummyAlgorithm, DummyInstance, dummy_algorithms, dummy_draw, dummy_instances

SHAPES = ["normal", "uniform", "exponential", "lognormal", "discrete", "bernoulli"]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_the_mean_and_sd_it_is_given(shape):
    algorithm, instance = DummyAlgorithm("a", mean=50.0, sd=4.0, shape=shape), DummyInstance("i", 2.0)
    values = np.array([algorithm(instance, seed) for seed in range(8000)])
    assert values.mean() == pytest.approx(100.0, abs=4 * 8.0 / np.sqrt(8000))
    assert values.std() == pytest.approx(8.0, rel=0.15 if shape == "lognormal" else 0.05)


def test_any_distribution_can_be_given_as_a_callable():
    algorithm = DummyAlgorithm("a", mean=5.0, sd=2.0, shape=lambda rng: 1.0 if rng.random() < 0.5 else -1.0)
    assert {algorithm(DummyInstance("i"), seed) for seed in range(50)} == {3.0, 7.0}


def test_a_value_depends_on_algorithm_instance_and_seed():
    algorithms, instances = dummy_algorithms(2), dummy_instances(2)
    values = {a(i, seed) - a.true_mean(i) for a in algorithms.values() for i in instances.values() for seed in (1, 2)}
    assert len(values) == 8


def test_a_moody_algorithm_has_another_mean_on_each_instance():
    algorithm = DummyAlgorithm("a", mean=10.0, moody=0.3)
    means = [algorithm.true_mean(DummyInstance(f"i{k}")) for k in range(400)]
    assert np.std(means) == pytest.approx(3.0, rel=0.15)
    assert np.mean(means) == pytest.approx(10.0, abs=0.5)


def test_named_shapes_travel_to_workers():
    algorithm = DummyAlgorithm("a", shape="exponential")
    assert pickle.loads(pickle.dumps(algorithm)) == algorithm


def test_a_rule_samples_dummies_to_the_accuracy_it_promises():
    algorithms = dummy_algorithms(3, sd=3.0)
    rule = Accuracy(se=0.6, difference="simple", budget=2000, guard="all")
    outcome = sample(rule, dummy_draw(algorithms, DummyInstance("i1")), list(algorithms))
    errors = [3.0 / np.sqrt(n) for n in outcome.samples.counts]
    assert outcome.stop.reason == "accuracy reached"
    assert max(np.hypot(a, b) for a, b in zip(errors, [*errors[1:], errors[0]], strict=True)) <= 0.6


def test_an_unknown_shape_is_refused():
    with pytest.raises(InvalidInput, match=r"shape must be one of normal, .* got 'cauchy'"):
        DummyAlgorithm("a", shape="cauchy")
