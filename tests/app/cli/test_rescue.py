"""`ampler rescue`."""

import sqlite3
from contextlib import closing

from ampler.study.store import open_store
from ampler.testing import contract_plan


def test_the_command_says_what_is_saved_and_what_is_lost(shell, tmp_path):
    with open_store(tmp_path / "study.db") as store:
        store.begin(contract_plan(), {})
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection, connection:
        connection.execute("DELETE FROM session")

    answer = shell("rescue", tmp_path / "study.db", "-o", tmp_path / "new.db")

    assert answer.code == 0
    assert answer.words == (
        f"0 runs of study.db saved in new.db. All recorded runs were saved. Next: ampler status {tmp_path / 'new.db'}"
    )


def test_a_file_that_holds_nothing_is_one_sentence(shell, tmp_path):
    (tmp_path / "study.db").write_bytes(bytes(100))

    answer = shell("rescue", tmp_path / "study.db", "-o", tmp_path / "new.db")

    assert (answer.code, answer.err.startswith("ampler: nothing of a study can be read")) == (1, True)
    assert not (tmp_path / "new.db").exists()
