"""Study files that are damaged, or made by somebody who means ill: one sentence or an answer, nothing else."""

from __future__ import annotations

import os
import random
import shutil
import socket
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ampler as am
from ampler.study.status import status_of
from ampler.study.store import open_store, read_store, rescue_store
from hostile import every_second_slow, refused, sql


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

COMMANDS = {
    "status": ("status", "study.db"),
    "analyse": ("analyse", "study.db"),
    "report": ("report", "study.db", "-o", "out.html"),
    "export": ("export", "study.db", "out.csv"),
    "advise": ("advise", "study.db", "--detect", 1),
    "merge": ("merge", "study.db", "-o", "out.db"),
    "rescue": ("rescue", "study.db", "-o", "out.db"),
    "run": ("run", "study.toml", "--workers", 1),
}
FAST = ("status", "rescue")
OUTPUTS = {"out.html", "out.csv", "out.db"}


def content(folder):
    """The files of a folder but those that SQLite keeps beside a file that was read."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {path.name: path.read_bytes() for path in files if "/dev/" not in str(path.resolve())}


def held(shell, study, words):
    """Carry out a command on a damaged file, and hold it to what must be."""
    before = content(study.parent)
    answer = shell(*words)
    after = content(study.parent)
    if answer.code:
        refused(answer, 1)
        assert after.keys() <= before.keys(), "a refusal leaves nothing"
    assert after.keys() - before.keys() <= OUTPUTS
    assert {name: after.get(name) for name in before} == before, "what is read is not changed"
    return answer


@pytest.mark.parametrize("command", every_second_slow(FAST))
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_gives_one_sentence_or_an_answer(study, shell, damage, command):
    DAMAGE[damage](study)

    answer = held(shell, study, COMMANDS[command])

    assert answer.code == 0 or "study.db" in answer.err or "results file" in answer.err


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in (*FAST, "run")])
@pytest.mark.parametrize("damage", DAMAGE)
def test_every_command_gives_one_sentence_or_an_answer_for_a_damaged_file(study, shell, damage, command):
    DAMAGE[damage](study)

    held(shell, study, COMMANDS[command])


@pytest.mark.parametrize("damage", every_second_slow(DAMAGE))
def test_a_damaged_file_that_is_opened_to_be_written_gives_one_sentence_or_opens(study, damage):
    DAMAGE[damage](study)

    try:
        open_store(study).close()
    except am.AmplerError as problem:
        assert "\n" not in str(problem)  # noqa: PT017 - only errors of ours pass here
    assert not [path.name for path in study.parent.iterdir() if path.name.endswith((".lock", ".part"))]


@pytest.mark.parametrize("damage", ["plan: no JSON", "run: of no instance", "half of it", "run: an endless view"])
def test_what_is_damaged_says_that_it_can_be_rescued(study, shell, damage):
    DAMAGE[damage](study)

    assert "ampler rescue study.db -o rescued.db" in shell("analyse", "study.db").err


def answers(path, new):
    """What Python makes of a study file: each is an answer, or an error of ours."""
    yield lambda: read_and(path, status_of)
    yield lambda: read_and(path, lambda store: list(store.observations(superseded=True)))
    yield lambda: am.analyse(path)
    yield lambda: rescue_store(path, new)
    yield lambda: am.analyse(new)
    yield lambda: open_store(path).close()


def read_and(path, ask):
    with read_store(path) as store:
        return ask(store)


def hold_to_answers(folder, bytes_):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / "study.db"
    path.write_bytes(bytes_)
    for ask in answers(path, folder / "new.db"):
        try:
            ask()
        except am.AmplerError as problem:
            assert "\n" not in str(problem)  # noqa: PT017 - only errors of ours pass here


def damaged_bytes(sound, seed, flips, share, noise):
    """A file with flipped bits, overwritten stretches and a lost end."""
    rng = random.Random(seed)
    content = bytearray((sound / "study.db").read_bytes())
    for _ in range(flips):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    for _ in range(noise):
        at = rng.randrange(len(content))
        content[at : at + 64] = rng.randbytes(len(content[at : at + 64]))
    return bytes(content[: int(share * len(content))])


DAMAGED = {
    "seed": st.integers(0, 10**6),
    "flips": st.integers(0, 60),
    "noise": st.integers(0, 3),
    "share": st.one_of(st.just(1.0), st.floats(0, 1)),
}
SHARED = [HealthCheck.function_scoped_fixture]


@settings(max_examples=8, suppress_health_check=SHARED)
@given(**DAMAGED)
def test_flipped_bits_and_lost_ends_give_an_answer_or_one_sentence(sound, tmp_path, seed, flips, share, noise):
    hold_to_answers(tmp_path / "fuzz", damaged_bytes(sound, seed, flips, share, noise))


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=SHARED)
@given(**DAMAGED)
def test_many_flipped_bits_and_lost_ends_give_an_answer_or_one_sentence(sound, tmp_path, seed, flips, share, noise):
    hold_to_answers(tmp_path / "fuzz", damaged_bytes(sound, seed, flips, share, noise))


CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from(["{}", "[]", "null", '{"a": 1}', "ok", "lost", "NaN", "9" * 5000]),
)
TABLES = ("run", "plan", "session", "instance", "algorithm", "finished", "study", "decision", "progress", "code")
EDITED = {"table": st.sampled_from(TABLES), "column": st.integers(0, 20), "cell": CELLS, "share": st.floats(0, 1)}


def hold_to_answers_edited(sound, folder, table, column, cell, share):
    """Put a value into a column of some rows, whatever the column should hold."""
    folder.mkdir(exist_ok=True)
    path = folder / "edited.db"
    shutil.copy(sound / "study.db", path)
    with closing(sqlite3.connect(path)) as connection:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    name = columns[column % len(columns)]
    with suppress(sqlite3.Error):
        without_types(table, lambda connection: connection.execute(
            f'UPDATE OR IGNORE {table} SET "{name}" = ? WHERE abs(random() % 1000) < ?', (cell, 1000 * share)
        ))(path)  # fmt: skip
    hold_to_answers(folder / "fuzz", path.read_bytes())


@settings(max_examples=8, suppress_health_check=SHARED)
@given(**EDITED)
def test_edited_rows_give_an_answer_or_one_sentence(sound, tmp_path, table, column, cell, share):
    hold_to_answers_edited(sound, tmp_path, table, column, cell, share)


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=SHARED)
@given(**EDITED)
def test_many_edited_rows_give_an_answer_or_one_sentence(sound, tmp_path, table, column, cell, share):
    hold_to_answers_edited(sound, tmp_path, table, column, cell, share)


def left(folder):
    return sorted(name for name in os.listdir(folder) if not name.endswith(("-wal", "-shm")))


@pytest.mark.parametrize("name", ["goal.db", "link.db", "./sub/../goal.db"])
def test_a_study_that_is_being_run_is_not_merged_into_under_any_name(study, shell, name):
    shutil.copy(study, "goal.db")
    os.symlink("goal.db", "link.db")
    os.mkdir("sub")
    with open_store("goal.db"):
        before = left(".")

        answer = shell("merge", "study.db", "-o", name)

        assert "being run" in refused(answer, 1) or "already open" in answer.err
        assert left(".") == before


def test_parts_that_contradict_each_other_are_one_sentence_and_leave_nothing(study, shell):
    shutil.copy(study, "other.db")
    sql("UPDATE run SET value = value + 1 WHERE instance = 3")(study.with_name("other.db"))
    before = left(".")

    answer = shell("merge", "study.db", "other.db", "-o", "out.db")

    assert "with the same seed" in refused(answer, 1)
    assert left(".") == before


@pytest.mark.parametrize("damage", ["run: of no instance", "session: none", "half of it", "run: unknown status"])
def test_a_damaged_part_is_one_sentence_and_the_target_stays_as_it_was(study, shell, damage):
    shutil.copy(study, "goal.db")
    content = study.read_bytes()
    DAMAGE[damage](study)
    before = left(".")

    answer = shell("merge", "study.db", "-o", "goal.db")

    refused(answer, 1)
    assert study.with_name("goal.db").read_bytes() == content
    assert left(".") == before


@pytest.mark.parametrize("damage", ["instance: escape sequences", "run: escape sequences"])
@pytest.mark.parametrize("words", [("status", "study.db"), ("status", "study.db", "--json")])
def test_nothing_that_a_terminal_obeys_comes_out_of_a_study_file(study, shell, damage, words):
    DAMAGE[damage](study)

    answer = shell(*words)

    assert (answer.out + answer.err).replace("\n", "").isprintable()
