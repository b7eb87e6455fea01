"""Study files that are damaged, or made by somebody who means ill: one sentence or an answer, nothing else."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import suppress

import pytest
from hostile_files import DAMAGE, every_second_slow, refused, without_types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ampler as am
from ampler.study.status import status_of
from ampler.study.store import open_store, read_store, rescue_store
from ampler.study.store.structure import column_names

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

    assert answer.code == 0 or "study.db" in answer.err or "study file" in answer.err


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
    columns = column_names(table)
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
