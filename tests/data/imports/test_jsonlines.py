"""Logs in JSON lines. Each file was written by the tool itself (versions in docs/other-tools.md)."""

from __future__ import annotations

import json
from pathlib import Path

import ampler as am
from ampler.data.tables import read_table

FILES = Path(__file__).parent / "files"


def test_samples_of_lm_eval_have_models_by_folder_and_documents_as_instances():
    table = read_table(FILES / "lm-eval")
    assert table.runs.algorithms == ("dummy1", "dummy2")
    assert table.runs.instances[0] == "mini_copa/0"
    assert len(table.runs) == 12
    assert table.direction.better == "higher"


def test_a_log_in_json_lines_is_a_long_table(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [
        {"model": model, "task": f"t{task}", "attempt": attempt, "score": (task * k + attempt) % 3, "meta": {"x": 1}}
        for k, model in enumerate(["gpt", "llama"])
        for task in range(4)
        for attempt in range(3)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)))
    table = read_table(path)
    assert (table.runs.algorithms, len(table.runs.instances), len(table.runs)) == (("gpt", "llama"), 4, 24)
    assert "'attempt' numbers the runs" in table.summary
    assert am.analyse(path, difference="simple", better="higher").instances == 4


def test_a_log_of_passed_tasks_is_read(tmp_path):
    path = tmp_path / "results.jsonl"
    rows = [
        {"model": m, "task_id": f"HumanEval/{k}", "completion": "x" * 5000, "passed": k % 2 == 0}
        for m in "ab"
        for k in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    table = read_table(path)
    assert table.runs.value.tolist() == [1, 0, 1, 0, 1, 0, 1, 0]
    assert table.direction.better == "higher"
