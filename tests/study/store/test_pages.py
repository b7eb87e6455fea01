"""SQLite's pages, read without SQLite, say what SQLite says."""

import sqlite3
from contextlib import closing

import pytest

from ampler.study.store.pages import Pages, Record

ROWS = [
    (None, "a", 3, 2.5),
    (None, "", -1, None),
    (None, "x" * 9000, 2**62, float("inf")),
    (None, "naïve ∞", 0, 0.0),
    (None, b"\x00\xff", 1, -1e-300),
    *((None, f"row {n}", 7**n % 10**15, n / 7) for n in range(400)),
]


def made(path, *, page=4096, journal="DELETE"):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page}")
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c)")
    connection.execute("BEGIN")  # one transaction: a disk need not be waited for after each row
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    connection.execute("COMMIT")
    return connection


def read(path):
    with closing(Pages(path)) as pages:
        records = list(pages.records())
        return [each for each in records if len(each.cells) == 4], pages


@pytest.mark.parametrize("page", [512, 4096, 65536])
def test_every_record_is_read_as_it_was_written(tmp_path, page):
    made(tmp_path / "t.db", page=page).close()

    found, pages = read(tmp_path / "t.db")

    assert sorted(found, key=lambda each: each.number) == [Record(n, row) for n, row in enumerate(ROWS, 1)]
    assert pages.unreadable == 0


def test_what_waits_in_the_log_counts(tmp_path):
    with closing(made(tmp_path / "t.db", journal="WAL")):
        found, _ = read(tmp_path / "t.db")

        assert {each.number for each in found} == set(range(1, len(ROWS) + 1))


def test_a_damaged_page_harms_no_other(tmp_path):
    made(tmp_path / "t.db", page=512).close()
    content = bytearray((tmp_path / "t.db").read_bytes())
    middle = len(content) // 1024 * 512
    content[middle : middle + 512] = b"\xa5" * 512
    (tmp_path / "t.db").write_bytes(content)

    found, pages = read(tmp_path / "t.db")

    assert len(ROWS) - 40 < len(found) < len(ROWS)
    assert {each.cells for each in found} <= set(ROWS)
    assert pages.unreadable > 0


def test_pages_that_lead_in_circles_come_to_an_end(tmp_path):
    made(tmp_path / "t.db", page=512).close()
    content = bytearray((tmp_path / "t.db").read_bytes())
    for place in range(512, len(content), 512):
        if content[place] not in (13, 5):  # a page on which a long record goes on
            content[place : place + 4] = (2).to_bytes(4, "big")
    (tmp_path / "t.db").write_bytes(content)

    found, _ = read(tmp_path / "t.db")

    assert len(found) >= 400


@pytest.mark.parametrize("content", [b"", b"x", bytes(5000), b"SQLite format 3\0" * 1000])
def test_what_has_no_pages_has_no_records(tmp_path, content):
    (tmp_path / "t.db").write_bytes(content)

    assert read(tmp_path / "t.db")[0] == []


def test_a_number_below_zero_is_read_as_one(tmp_path):
    with closing(made(tmp_path / "t.db")) as connection:
        connection.execute("UPDATE t SET id = -7 WHERE id = 1")

    assert min(each.number for each in read(tmp_path / "t.db")[0]) == -7
