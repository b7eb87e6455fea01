"""Questions without an end."""

import sqlite3
from contextlib import closing

import pytest

from ampler.study.store.patience import LEAST, Patience, size_of

COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {}) SELECT count(*) FROM c"


def test_a_question_without_an_end_is_ended_and_the_next_one_begins_anew(study):
    study.touch()
    with closing(sqlite3.connect(study)) as connection:
        patience = Patience(connection, study)
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            connection.execute(COUNT.format(10**12)).fetchone()
        patience.renew()
        assert connection.execute(COUNT.format(1000)).fetchone() == (1000,)


def test_a_file_counts_with_what_waits_beside_it(study):
    study.write_bytes(bytes(10))
    assert size_of(study) == 10
    study.with_name("study.db-wal").write_bytes(bytes(5))
    assert size_of(study) == 15
    assert LEAST > 10**6
