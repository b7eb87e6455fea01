"""Runs that are looked at many at once are as well looked at as one by one."""

from dataclasses import replace

import pytest

from ampler.core.errors import InvalidData
from ampler.core.values import Observation, RunKey
from ampler.study.store.batches import all_storable, believed_rows, believed_runs
from ampler.study.store.checks import storable
from ampler.study.store.columns import NAMED, row_of
from ampler.study.store.damage import SURPRISES

SEEN = [
    Observation(RunKey("i1", "a", n), 1.5 + n, 0.25, seed=n, measures={"gap": 0.5} if n else None) for n in range(4)
]
FAILED = Observation(RunKey("i1", "b", 0), None, 0.5, "failed", "why", cpu=0.25, started=1e9)
ROWS = [row_of(seen, 1, 1 if seen.key.algorithm == "a" else 2, 1) for seen in [*SEEN, FAILED]]
NAMES = ({1: "i1"}, {1: "a", 2: "b"})


def with_cell(row, name, cell):
    place = NAMED.index(name)
    return (*row[:place], cell, *row[place + 1 :])


def until_it_raises(given):
    came = []
    try:
        came.extend(given)
    except Exception as problem:
        return came, problem
    return came, None


def test_sound_rows_are_the_observations_again():
    assert list(believed_runs([row[:-1] for row in ROWS], *NAMES)) == [*SEEN, FAILED]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("instance", 7),
        ("algorithm", None),
        ("index", -1),
        ("index", 1.0),
        ("value", None),
        ("value", "2.5"),
        ("value", float("inf")),
        ("seconds", None),
        ("status", "failed"),
        ("status", "fine"),
        ("message", b"x"),
        ("seed", 1.5),
        ("attempt", -1),
        ("round", None),
        ("measures", "{"),
        ("measures", '{"gap": 1} {}'),
        ("measures", '{"gap": NaN}'),
        ("measures", '{"gap": "x"}'),
        ("measures", "[1]"),
        ("cpu", float("nan")),
        ("started", "today"),
    ],
)
def test_a_wrong_cell_is_found_where_it_is_and_all_before_it_are_given(name, cell):
    rows = [*ROWS[:2], with_cell(ROWS[2], name, cell), ROWS[3]]

    given, problem = until_it_raises(believed_runs([row[:-1] for row in rows], *NAMES))

    assert given == SEEN[:2]
    assert isinstance(problem, SURPRISES)


@pytest.mark.parametrize(("name", "cell"), [("index", -1), ("algorithm", 7), ("seed", 1.5), ("measures", "{")])
def test_a_row_with_a_wrong_cell_does_not_travel(name, cell):
    rows = [("i1", "a", *row[2:]) for row in ROWS[:3]]

    given, problem = until_it_raises(believed_rows([*rows[:2], with_cell(rows[2], name, cell)]))

    assert given == rows[:2]
    assert isinstance(problem, SURPRISES)


def test_json_with_blanks_around_it_is_read_all_the_same():
    row = with_cell(ROWS[1], "measures", ' {"gap": 0.5} ')[:-1]

    assert list(believed_runs([row], *NAMES)) == [SEEN[1]]


@pytest.mark.parametrize(
    "unusual", [[], [FAILED], [replace(SEEN[0], value=-0.0)], [replace(SEEN[0], message="x" * 3000)]]
)
def test_what_is_unusual_is_kept_as_it_is_by_itself(unusual):
    assert list(all_storable(iter([*SEEN, *unusual]))) == [*SEEN, *map(storable, unusual)]


@pytest.mark.parametrize(
    "nonsense",
    [
        {"value": float("nan")},
        {"seconds": float("inf")},
        {"seconds": -1.0},
        {"attempt": -1},
        {"round": -1},
        {"status": "fine"},
        {"status": "failed"},
        {"measures": {"gap": float("inf")}},
        {"key": RunKey("i1", "a", -1)},
    ],
)
def test_one_that_makes_no_sense_is_refused_among_many(nonsense):
    with pytest.raises(InvalidData):
        all_storable([*SEEN, replace(SEEN[0], **nonsense)])
