"""The ways to damage a study file, by their names, and what every refusal must be."""

from __future__ import annotations

import os
import socket
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

PAGE = 4096


@dataclass(frozen=True)
class Answer:
    """What a command printed and how it left."""

    code: int
    out: str
    err: str


def every_second_slow(cases, *, ids=str):
    """The cases of a long table, half of them for the slow suite."""
    return [
        pytest.param(case, id=ids(case), marks=[pytest.mark.slow] if place % 2 else [])
        for place, case in enumerate(cases)
    ]


def refused(answer: Answer, *codes: int) -> str:
    """Hold an answer to what every refusal is: one sentence, an exit code, no defect, nothing a terminal obeys."""
    assert answer.code in codes, answer
    sentence = answer.err.strip().splitlines()[-1] if answer.code == 1 else answer.err
    assert "defect" not in answer.err
    assert "Traceback" not in answer.err
    if answer.code == 1:
        assert sentence.startswith("ampler: ")
        assert sentence.isprintable()
        assert len(sentence) < 1200
    return sentence


# Damage, each by its name -------------------------------------------------------------------------------------------


def sql(*statements):
    """Edit a file as anybody with SQLite can."""

    def edit(path):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for trigger in ("run_is_not_changed", "run_is_not_removed"):
                connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
            connection.execute("PRAGMA ignore_check_constraints = ON")
            for statement in statements:
                statement(connection) if callable(statement) else connection.execute(statement)

    return edit


def without_types(table, *statements):
    """Have a table whose columns take anything, then edit it."""

    def edit(path):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT, WITHOUT', 'WITHOUT'), ') STRICT', ')')"
                " WHERE name = ?",
                (table,),
            )
        sql(*statements)(path)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "UPDATE sqlite_schema SET sql = CASE WHEN sql LIKE '%) WITHOUT ROWID' THEN"
                " replace(sql, ') WITHOUT ROWID', ') STRICT, WITHOUT ROWID') ELSE sql || ' STRICT' END WHERE name = ?",
                (table,),
            )

    return edit


def flipped(*places):
    """Flip a bit at each of some shares of the file."""

    def edit(path):
        content = bytearray(path.read_bytes())
        for share in places:
            content[int(share * (len(content) - 1))] ^= 0x10
        path.write_bytes(content)

    return edit


def written(content):
    return lambda path: path.write_bytes(content)


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def replaced_by(make):
    """Have something else than a file where it was."""

    def edit(path):
        path.unlink()
        make(path)

    return edit


def bound_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket must be short
    with closing(socket.socket(socket.AF_UNIX)) as made, suppress(OSError):
        made.bind(path.name)
    os.chdir(here)


def circles(path):
    """Pages that lead to the next page twenty times each, seventeen deep: reading them has no end."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'run'").fetchone()
    content = bytearray(path.read_bytes())
    pages = len(content) // PAGE
    leaf = bytes(content[(root - 1) * PAGE : root * PAGE])
    at = int.from_bytes(leaf[8:10], "big")
    record = leaf[at : at + 1 + leaf[at]]
    for depth in range(17):
        following = pages + depth + 1
        cells = [following.to_bytes(4, "big") + record] * 20
        starts = [PAGE - (n + 1) * len(cells[0]) for n in range(20)]
        head = bytes([2, 0, 0]) + (20).to_bytes(2, "big") + starts[-1].to_bytes(2, "big") + b"\0"
        page = bytearray(PAGE)
        page[:12] = head + following.to_bytes(4, "big")
        for place, start in enumerate(starts):
            page[12 + 2 * place : 14 + 2 * place] = start.to_bytes(2, "big")
            page[start : start + len(cells[0])] = cells[place]
        if depth == 0:
            content[(root - 1) * PAGE : root * PAGE] = page
        else:
            content += page
    last = bytearray(leaf)
    content += last
    content[28:32] = (len(content) // PAGE).to_bytes(4, "big")
    path.write_bytes(content)


def recursive_view(table, *columns):
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT " + ", ".join(columns) + " FROM c"
    return sql(f"DROP TABLE {table}", f"CREATE VIEW {table} AS {endless}")


RUN_VIEW = (
    *("1 AS instance", "1 AS algorithm", 'x AS "index"', "0 AS attempt", "0 AS round", "0 AS seed", "1.0 AS value"),
    *("NULL AS measures", "1.0 AS seconds", "'ok' AS status", "'' AS message", "1 AS session", "NULL AS cpu"),
    "NULL AS started",
)
DEEP = "[" * 100_000
DAMAGE = {
    # JSON fields
    "plan: no JSON": sql("UPDATE plan SET record = 'no JSON'"),
    "plan: empty": sql("UPDATE plan SET record = ''"),
    "plan: a list": sql("UPDATE plan SET record = '[1, 2]'"),
    "plan: deep": sql(f"UPDATE plan SET record = '{DEEP}'"),
    "plan: a huge number": sql(f"UPDATE plan SET record = '{'9' * 10_000}'"),
    "plan: NaN": sql("UPDATE plan SET record = json_set(record, '$.question.alpha', 'NaN')"),
    "plan: alpha is a text": sql("UPDATE plan SET record = json_set(record, '$.question.alpha', 'much')"),
    "plan: alpha is 7": sql("UPDATE plan SET record = json_set(record, '$.question.alpha', 7)"),
    "plan: no difference": sql("UPDATE plan SET record = json_remove(record, '$.question.difference')"),
    "plan: unknown difference": sql("UPDATE plan SET record = json_set(record, '$.question.difference', 'x')"),
    "plan: unknown reference": sql("UPDATE plan SET record = json_set(record, '$.question.reference', 'nobody')"),
    "plan: a field too many": sql("UPDATE plan SET record = json_set(record, '$.surprise', 1)"),
    "plan: a rule with a word too many": sql("UPDATE plan SET record = json_set(record, '$.rule.surprise', 1)"),
    "plan: a rule that is a number": sql("UPDATE plan SET record = json_set(record, '$.rule', 3)"),
    "plan: se is a text": sql("UPDATE plan SET record = json_set(record, '$.rule.se', 'small')"),
    "plan: unknown policy": sql("UPDATE plan SET record = json_set(record, '$.policy', 'panic')"),
    "plan: a penalty that is a text": sql(
        """UPDATE plan SET record = json_set(record, '$.policy', json('{"penalty": "x"}'))"""
    ),
    "plan: features are numbers": sql("UPDATE plan SET record = json_set(record, '$.features', json('{\"01\": 3}'))"),
    "plan: instances are a list": sql(
        "UPDATE plan SET record = json_set(record, '$.fingerprint.instances', json('[]'))"
    ),
    "plan: other instances": sql(
        "UPDATE plan SET record = json_set(record, '$.fingerprint.instances', json('{\"x\": \"\"}'))"
    ),
    "algorithm: no JSON": sql("UPDATE algorithm SET identity = 'no JSON'"),
    "session: no JSON": sql("UPDATE session SET environment = '{'"),
    "session: numbers": sql("UPDATE session SET environment = '{\"python\": 3}'"),
    "finished: no JSON": sql("UPDATE finished SET counts = 'x'"),
    "finished: unknown algorithm": sql("UPDATE finished SET counts = '{\"nobody\": 3}'"),
    "finished: counts are texts": sql("UPDATE finished SET counts = replace(counts, ':', ':\"1\",\"x\":')"),
    "finished: huge counts": sql("UPDATE finished SET counts = replace(counts, ':', ':9')"),
    "finished: another reason": sql("UPDATE finished SET reason = 'tired'"),
    "progress: no JSON": sql("INSERT OR REPLACE INTO progress VALUES (1, '', 1, 'x')"),
    "decision: no JSON": sql("INSERT INTO decision VALUES (99, 1, 0, 'x', '', '', 1)"),
    "decision: of no plan": sql("INSERT INTO decision VALUES (99, 77, 0, '{\"end\":{\"reason\":\"\"}}', '', '', 1)"),
    "measures: no JSON": sql("UPDATE run SET measures = 'x'"),
    "measures: texts": sql('UPDATE run SET measures = \'{"gap": "wide"}\''),
    # rows
    "run: of no instance": sql("UPDATE run SET instance = instance + 1000"),
    "run: of instance 0": sql("UPDATE run SET instance = 0 WHERE instance = 1"),
    "run: of no algorithm": sql("UPDATE run SET algorithm = -1 WHERE algorithm = 1"),
    "run: negative index": sql('UPDATE run SET "index" = -1 - "index"'),
    "run: huge index": sql('UPDATE run SET "index" = "index" + 9000000000000000000'),
    "run: ok without a value": sql("UPDATE run SET value = NULL WHERE instance = 1"),
    "run: failed with a value": sql("UPDATE run SET status = 'failed' WHERE instance = 1"),
    "run: infinite": sql("UPDATE run SET value = 9e999 WHERE instance = 1"),
    "run: unknown status": sql("UPDATE run SET status = 'tired'"),
    "run: a long message": sql("UPDATE run SET message = hex(zeroblob(500000)) WHERE instance = 1"),
    "run: escape sequences": sql("UPDATE run SET status = 'failed', value = NULL, message = char(27) || '[2J'"),
    "run: texts for numbers": without_types("run", "UPDATE run SET value = 'many', seconds = 'long'"),
    "run: a blob for a number": without_types("run", "UPDATE run SET round = x'00ff'"),
    "run: text that is not UTF-8": sql("UPDATE run SET message = CAST(x'ff80' AS TEXT)"),
    "run: none": sql("DELETE FROM run"),
    "instance: a huge number": sql("UPDATE instance SET id = 9000000000000000000 WHERE id = 1"),
    "instance: none": sql("DELETE FROM instance"),
    "instance: a name that is a number": without_types("instance", "UPDATE instance SET name = x'31' WHERE id = 1"),
    "instance: escape sequences": sql("UPDATE instance SET name = char(27) || ']0;owned' || char(7) WHERE id = 1"),
    "algorithm: none": sql("DELETE FROM algorithm"),
    "study: two seeds": sql("INSERT INTO study VALUES (2, 5, '')"),
    "study: none": sql("DELETE FROM study"),
    "plan: none": sql("DELETE FROM plan"),
    "session: none": sql("DELETE FROM session"),
    # the schema
    "run: an endless view": recursive_view("run", *RUN_VIEW),
    "plan: an endless view": recursive_view("plan", "x AS id", "'' AS created", "'{}' AS record"),
    "instance: an endless view": recursive_view("instance", "x AS id", "x AS name", "'' AS sha256"),
    "run: a view on itself": sql("DROP TABLE run", "CREATE VIEW run AS SELECT * FROM run"),
    "run: missing": sql("DROP VIEW last_run", "DROP TABLE run"),
    "run: an endless trigger": sql(
        "CREATE TRIGGER t AFTER INSERT ON session BEGIN INSERT INTO session SELECT NULL, 1, '', '{}' FROM"
        " (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c); END"
    ),
    "run: a computed column": sql("ALTER TABLE run ADD COLUMN more TEXT AS (hex(zeroblob(100000000)))"),
    "session: another column": sql("ALTER TABLE session ADD COLUMN more TEXT"),
    "session: an index that computes": sql("CREATE INDEX i ON session (hex(zeroblob(plan * 1000)))"),
    "version 0": sql("PRAGMA user_version = 0"),
    "version 1": sql("PRAGMA user_version = 1"),
    "version 99": sql("PRAGMA user_version = 99"),
    "version -1": sql("PRAGMA user_version = -1"),
    "another program's": sql("PRAGMA application_id = 12345"),
    # bytes
    "a bit in the name": flipped(0.0),
    "bits everywhere": flipped(*(n / 97 for n in range(97))),
    "bits in the first page": flipped(0.001, 0.004, 0.01, 0.02, 0.03),
    "a bit in the middle": flipped(0.5),
    "half of it": cut(0.5),
    "its first 100 bytes": cut(0.002),
    "less the last byte": cut(0.99999),
    "pages without an end": circles,
    "empty": written(b""),
    "a text": written(b"instance,algorithm,value\na,b,1\n" * 50),
    "zeros": written(bytes(20_000)),
    "noise": written(bytes(range(256)) * 100),
    "the name of SQLite alone": written(b"SQLite format 3\0"),
    # what is no file
    "a folder": replaced_by(lambda path: path.mkdir()),
    "a pipe": replaced_by(os.mkfifo),
    "a socket": replaced_by(bound_socket),
    "a device without an end": replaced_by(lambda path: path.symlink_to("/dev/zero")),
    "a link to itself": replaced_by(lambda path: path.symlink_to(path)),
    "a link to nothing": replaced_by(lambda path: path.symlink_to("gone.db")),
    "a link to its folder": replaced_by(lambda path: path.symlink_to(".")),
    "missing": Path.unlink,
}
