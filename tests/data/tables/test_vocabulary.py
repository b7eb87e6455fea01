"""The words people use for their columns."""

from __future__ import annotations

import pytest

from ampler.data.tables.vocabulary import counts, describes, is_measure, summarises

DESCRIBING = (
    "size Size n_nodes #features #jobs NumVars num_clauses number_of_machines nb_customers Radius |V| capacity"
    " instance_size ProblemSize bestKnown BKS optimum lower_bound UB tightness dims timeLimit no_of_items max_degree"
)
ALGORITHMS = "GA SA RF SVM NSGA-II jSO C4.5 C4.5+m+cf k-NN 1-NN Full no-SHF gHC naive nbc standard learning CPLEX"


@pytest.mark.parametrize("name", DESCRIBING.split())
def test_a_name_that_describes_an_instance_is_known(name):
    assert describes(name) or counts(name)


@pytest.mark.parametrize("name", ALGORITHMS.split())
def test_a_name_of_an_algorithm_is_nothing_else(name):
    assert not any(says(name) for says in (describes, summarises, is_measure))


@pytest.mark.parametrize("name", ["Mean", "avg", "Avg. rank", "Average", "std", "Total", "best", "mean rank", "Sum"])
def test_a_name_that_sums_up_is_known(name):
    assert summarises(name)


@pytest.mark.parametrize("name", ["accuracy", "Test accuracy (%)", "CPU time [s]", "f1", "val_loss", "RMSE"])
def test_a_name_of_what_was_measured_is_known(name):
    assert is_measure(name)
