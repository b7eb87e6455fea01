"""Helpers of the hostile tests: what every refusal must be, and how a study file is edited."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import commands
import pytest


def every_second_slow(cases, *, ids=str):
    """The cases of a long table, half of them for the slow suite."""
    return [
        pytest.param(case, id=ids(case), marks=[pytest.mark.slow] if place % 2 else [])
        for place, case in enumerate(cases)
    ]


def refused(answer: commands.Answer, *codes: int) -> str:
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
