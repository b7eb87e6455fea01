"""The noncentral t distribution against scipy's, against digits by mpmath, and by laws."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from ampler.stats.power import noncentralities, quick_tails, upper_tail

FREEDOM = st.sampled_from([1, 2, 3, 5, 9, 19, 56, 199, 1999])


@pytest.mark.parametrize("freedom", [1, 2, 9, 10, 30, 500, 100_000])
def test_tails_are_those_of_scipy_where_its_series_holds(freedom):
    t, noncentrality = np.linspace(-2, 8, 40), np.linspace(-1, 9, 40)
    np.testing.assert_allclose(
        upper_tail(t, freedom, noncentrality), stats.nct.sf(t, freedom, noncentrality), rtol=2e-12, atol=1e-15
    )


@pytest.mark.parametrize("freedom", [1, 2, 9, 10, 11, 30, 500, 100_000])
@pytest.mark.parametrize("farthest", [2.0, 9.0, 90.0])
def test_quick_tails_have_nine_decimals(freedom, farthest):
    t, noncentrality = (each.ravel() for each in np.meshgrid(np.linspace(0.5, 12, 30), np.linspace(0, farthest, 30)))
    expected = upper_tail(t, freedom, noncentrality)
    np.testing.assert_allclose(quick_tails(t, freedom, noncentrality), expected, rtol=0, atol=1e-9)
    for first in range(0, len(t), 300):
        part = slice(first, first + 3)
        found = quick_tails(t[part], freedom, noncentrality[part])
        np.testing.assert_allclose(found, expected[part], rtol=0, atol=1e-9)


# Integrated by mpmath with 40 digits: Φ(δ − t·e^u) over the density of u = log S, u from −121 to 6.
@pytest.mark.parametrize(
    ("t", "freedom", "noncentrality", "expected"),
    [
        (12.0, 9, 0.0, 3.849943111492826e-7),
        (30.0, 4, 1.0, 2.4084615960989413e-5),
        (3.0, 199, -8.0, 7.3898103472297003e-28),
        (500.0, 9, 520.0, 0.62758282857226749),
        (900.0, 56, 1000.0, 0.88827909974529301),
        (5.0, 1, -3.0, 6.082025201307185e-5),
        (150.0, 1, 200.0, 0.81756784156471559),
        (-4.0, 19, 3.0, 0.99999999898751894),
        (0.0, 3, -9.0, 1.1285884059538406e-19),
    ],
)
def test_tails_keep_their_digits_where_they_are_tiny_or_t_is_large(t, freedom, noncentrality, expected):
    assert upper_tail(t, freedom, noncentrality) == pytest.approx(expected, rel=1e-12, abs=0)


@given(t=st.floats(-40, 40), freedom=FREEDOM)
def test_without_noncentrality_it_is_students(t, freedom):
    assert upper_tail(t, freedom, 0.0) == pytest.approx(students(t, freedom), rel=1e-12, abs=1e-30)


def students(t: float, freedom: int) -> float:
    """By the incomplete beta function: `stdtr` loses four digits near t = 0."""
    if t * t < 1:
        return 0.5 - math.copysign(0.5, t) * special.betainc(0.5, freedom / 2, t * t / (freedom + t * t))
    tail = 0.5 * special.betainc(freedom / 2, 0.5, freedom / (freedom + t * t))
    return tail if t > 0 else 1 - tail


@given(t=st.floats(-30, 30), freedom=FREEDOM, noncentrality=st.floats(-30, 30))
def test_the_two_tails_make_one(t, freedom, noncentrality):
    both = upper_tail(t, freedom, noncentrality) + upper_tail(-t, freedom, -noncentrality)
    assert both == pytest.approx(1, abs=5e-13)


@given(
    t=st.lists(st.floats(0, 1000), min_size=1, max_size=5),
    freedom=FREEDOM,
    tail=st.sampled_from([0.0005, 0.025, 0.5, 0.975, 0.9995]),
)
def test_the_noncentrality_found_gives_the_tail_asked_for(t, freedom, tail):
    found = noncentralities(np.array(t), np.full(len(t), freedom), tail)
    np.testing.assert_allclose(upper_tail(t, freedom, found), tail, rtol=1e-10)


def test_at_infinity_and_for_what_is_no_number():
    t, noncentrality = [math.inf, -math.inf, math.nan, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, math.nan, math.inf, -math.inf]
    np.testing.assert_array_equal(upper_tail(t, 5, noncentrality), [0.0, 1.0, math.nan, math.nan, 1.0, 0.0])


def test_many_at_once_are_each_alone(monkeypatch):
    rng = np.random.default_rng(3)
    t, freedom, noncentrality = rng.normal(0, 20, (3, 4)), rng.integers(1, 50, (3, 4)), rng.normal(0, 20, (3, 4))
    alone = [float(upper_tail(*each)) for each in zip(t.flat, freedom.flat, noncentrality.flat, strict=True)]
    assert upper_tail(t, freedom, noncentrality).ravel().tolist() == alone
    monkeypatch.setattr("ampler.stats.power.LARGEST_TABLE", 1)
    assert upper_tail(t, freedom, noncentrality).ravel().tolist() == alone


def test_an_analysis_of_a_table_and_a_design_do_not_wait_for_all_of_scipy_stats(tmp_path):
    rows = [f"{a},i{n},{n + k + (n * 7 + k) % 5}" for k, a in enumerate("abc") for n in range(12)]
    (tmp_path / "runs.csv").write_text("\n".join(["algorithm,instance,value", *rows]), encoding="utf-8")
    script = (
        "import sys, ampler as am;"
        " am.required_instances(comparisons=3, effect=0.5);"
        " am.analyse('runs.csv', difference='simple', better='lower', reference='a').as_dict();"
        " sys.exit('scipy.stats' in sys.modules or 'ampler.running' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False).returncode == 0
