"""Files made beside a study file."""

import sqlite3
from contextlib import closing

from ampler.study.store.beside import abandon, copied_whole, new_file_beside


def test_a_new_file_never_takes_the_place_of_another_nor_follows_a_link(tmp_path):
    (tmp_path / "study-saved.db").symlink_to(tmp_path / "target")

    assert new_file_beside(tmp_path / "study.db") == tmp_path / "study-saved-2.db"
    assert not (tmp_path / "target").exists()


def test_what_an_open_connection_reads_is_copied_even_when_its_file_is_gone(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (7)")
        (tmp_path / "a.db").unlink()
        assert copied_whole(connection, tmp_path / "b.db")
    with closing(sqlite3.connect(tmp_path / "b.db")) as copy:
        assert copy.execute("SELECT x FROM t").fetchall() == [(7,)]


def test_an_abandoned_connection_leaves_the_file_as_it_is(tmp_path):
    connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (x)")
    before = (tmp_path / "a.db").read_bytes()
    abandon(connection)
    del connection

    assert (tmp_path / "a.db").read_bytes() == before
