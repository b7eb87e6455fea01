"""Whose results are these, and what is refused. Each file was written by the tool itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ampler.core.errors import InvalidData
from ampler.data.tables import read_table

FILES = Path(__file__).parent / "files"


def test_frames_as_autorank_takes_them_are_read():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({f"pop_{k}": rng.normal(k / 3, 1, 20) for k in range(4)})
    table = read_table(frame)
    assert table.runs.algorithms == ("pop_0", "pop_1", "pop_2", "pop_3")
    assert len(table.runs.instances) == 20


def test_a_folder_of_several_tools_or_of_none_is_asked_about(copied, tmp_path):
    copied("coco")
    copied("ioh")
    with pytest.raises(InvalidData, match="holds results of COCO and IOHexperimenter; name the folder of one"):
        read_table(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidData, match="is a folder without results that are understood"):
        read_table(tmp_path / "empty")


BOMB = b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><result tool="&b;"><run name="x"/></result>'
OUTSIDE = b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><result tool="x"><run name="&a;"/></result>'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.xml", BOMB, "declares entities"),
        ("r.xml", OUTSIDE, "declares entities"),
        ("r.xml", b"<result>", "is not a valid BenchExec file"),
        ("r.xml", b"<other/>", "it must begin with <result>"),
        ("r.xml", b"<result/>", "it holds no <run>"),
        ("r.xml", b"<result>" + b"<a>" * 5000, "nests too deeply"),
        ("r.xml.bz2", b"BZh91AY&SY\x00\x00", "cannot be read"),
        ("a.jsonl", b"[1]\n", "must be a JSON object"),
        ("a.jsonl", b"{", "is not JSON"),
        ("a.jsonl", b"[" * 100_000, "nests too deeply"),
        ("a.jsonl", b"\xff\xfe{}", "is not UTF-8"),
        ("a.jsonl", b'{"model": "a"}\n', "no column"),
        ("o.log", b'{"op_code": 6, "worker_id": "x", "trial_id": 5}\n', "is not a valid Optuna file"),
        ("o.log", b'{"op_code": 0, "worker_id": "x", "study_name": "s", "directions": [1, 2]}\n', "2 objectives"),
        ("o.log", b'{"op_code": 9, "worker_id": "x"}\n', "holds no finished run"),
    ],
)
def test_what_is_not_understood_is_refused_in_one_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidData, match=message) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.info", "nothing\n", "is not an .info file of COCO"),
        ("a.info", "funcId = 1, DIM = 2\n%\ndata.dat, 1:60\n", "trials must have the form"),
        ("a.info", 'funcId = 1, DIM = 2, maximization = "T"\n%\nd.dat, 1:6|1.0\n', "old IOHprofiler"),
        ("IOHprofiler_f1.json", "{}", "'scenarios' is missing|'function_id' is missing"),
        ("IOHprofiler_f1.json", "[]", "has another form"),
    ],
)
def test_folders_that_are_not_understood_are_refused_in_one_sentence(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidData, match=message):
        read_table(tmp_path)
