"""Runs that are looked at many at once are as well looked at as one by one."""

import json
from dataclasses import replace

import pytest

from ampler.core.errors import InvalidData
from ampler.core.runs import Observation, RunKey
from ampler.study.store.access import SURPRISES
from ampler.study.store.rows import DEFAULTS, NAMED, checked_rows, observations_of, storable

SEEN = [
    Observation(RunKey("i1", "a", n), 1.5 + n, 0.25, seed=n, measures={"gap": 0.5} if n else None) for n in range(4)
]
FAILED = Observation(RunKey("i1", "b", 0), None, 0.5, "failed", "why", cpu=0.25, started=1e9)


def row_of(run):
    fields = {name: getattr(run, name) for name in DEFAULTS}
    fields["measures"] = run.measures and json.dumps(run.measures)
    return (1, 1 if run.key.algorithm == "a" else 2, run.key.index, *fields.values(), 1)


ROWS = [row_of(run) for run in [*SEEN, FAILED]]
NAMES = ({1: "i1"}, {1: "a", 2: "b"})


def with_cell(row, name, cell):
    place = NAMED.index(name)
    return (*row[:place], cell, *row[place + 1 :])


def test_sound_rows_are_the_observations_again():
    assert list(observations_of([row[:-1] for row in ROWS], *NAMES)) == [*SEEN, FAILED]


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
def test_a_wrong_cell_is_found(name, cell):
    rows = [*ROWS[:2], with_cell(ROWS[2], name, cell), ROWS[3]]

    with pytest.raises(SURPRISES):
        list(observations_of([row[:-1] for row in rows], *NAMES))


@pytest.mark.parametrize(("name", "cell"), [("index", -1), ("algorithm", 7), ("seed", 1.5), ("measures", "{")])
def test_a_row_with_a_wrong_cell_does_not_travel(name, cell):
    rows = [("i1", "a", *row[2:]) for row in ROWS[:3]]

    assert checked_rows(rows) == rows
    with pytest.raises(SURPRISES):
        checked_rows([*rows[:2], with_cell(rows[2], name, cell)])


def test_json_with_blanks_around_it_is_read_all_the_same():
    row = with_cell(ROWS[1], "measures", ' {"gap": 0.5} ')[:-1]

    assert list(observations_of([row], *NAMES)) == [SEEN[1]]


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
def test_a_run_that_makes_no_sense_is_refused(nonsense):
    with pytest.raises(InvalidData):
        storable(replace(SEEN[0], **nonsense))
