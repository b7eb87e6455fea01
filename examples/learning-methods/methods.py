"""Three classifiers on generated data sets; every run draws its own split into training and test data."""

import numpy as np


def data_sets():
    """Return the instances: twenty data sets by name, as seed, number of features and distance of the classes."""
    return {f"set {number:02}": (number, 2 + number % 6, 0.6 + 0.08 * number) for number in range(20)}


def split(instance, seed):
    """Draw the data of a set, and the half of it that is for training."""
    number, features, distance = instance
    rng = np.random.default_rng(number)
    labels = rng.integers(0, 2, 160)
    spread = rng.uniform(0.5, 2, features)
    points = rng.normal(0, 1, (160, features)) * spread + distance * labels[:, None] * rng.normal(0, 1, features)
    order = np.random.default_rng(seed).permutation(160)
    train, test = order[:80], order[80:]
    return points[train], labels[train], points[test], labels[test]


def nearest_mean(instance, seed):
    """Choose the class whose mean is nearest."""
    train, labels, test, truth = split(instance, seed)
    means = np.array([train[labels == label].mean(axis=0) for label in (0, 1)])
    return accuracy(means, np.array([0, 1]), test, truth)


def scaled_mean(instance, seed):
    """Do the same after scaling every feature."""
    train, labels, test, truth = split(instance, seed)
    scale = train.std(axis=0)
    means = np.array([(train / scale)[labels == label].mean(axis=0) for label in (0, 1)])
    return accuracy(means, np.array([0, 1]), test / scale, truth)


def nearest_neighbour(instance, seed):
    """Choose the class of the nearest point."""
    train, labels, test, truth = split(instance, seed)
    return accuracy(train, labels, test, truth)


def accuracy(centres, classes, test, truth):
    """Return the share of test points whose nearest centre has their class."""
    distances = ((test[:, None, :] - centres[None]) ** 2).sum(axis=2)
    return float((classes[distances.argmin(axis=1)] == truth).mean())
