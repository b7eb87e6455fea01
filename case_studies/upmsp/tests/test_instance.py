"""Instance files: what is written is read again, in every form people have it, and broken files are told apart."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler_upmsp.instance import (
    InvalidInstance,
    format_instance,
    generate_instance,
    parse_instance,
    read_instance,
    write_instance,
)

SMALL = """6  2  1
2
\t0\t1\t1\t4
\t0\t87\t1\t21
\t0\t28\t1\t68
\t0\t32\t1\t17
\t0\t38\t1\t43
\t0\t9\t1\t48
SSD
M0
0\t1\t8\t1\t3\t9
4\t0\t7\t3\t7\t8
7\t3\t0\t2\t3\t5
3\t8\t3\t0\t5\t2
8\t3\t7\t9\t0\t5
8\t8\t1\t2\t2\t0
M1
0\t5\t1\t6\t1\t7
6\t0\t7\t7\t6\t2
7\t6\t0\t9\t6\t9
3\t7\t3\t0\t1\t7
5\t8\t5\t6\t0\t9
7\t4\t1\t7\t9\t0
"""


def test_a_file_of_the_benchmark_is_read_as_it_stands():
    instance = parse_instance(SMALL, name="I_6_2_S_1-9_1")
    assert (instance.jobs, instance.machines) == (6, 2)
    assert instance.processing[1].tolist() == [4, 21, 68, 17, 43, 48]
    assert instance.setup[0, 1].tolist() == [4, 0, 7, 3, 7, 8]
    assert instance.setup[1, 5, 2] == 1
    assert not instance.first_setup.any()
    assert format_instance(instance) == SMALL


@pytest.mark.parametrize("change", [lambda t: t, lambda t: t.replace("\n", "\r\n"), lambda t: t.replace("\t", "   ")])
def test_any_white_space_gives_the_same_instance(change, tmp_path):
    (tmp_path / "a.txt").write_text(change(SMALL), newline="")
    assert read_instance(tmp_path / "a.txt") == parse_instance(SMALL, name="a")


@given(st.integers(1, 8), st.integers(1, 4), st.integers(1, 124), st.integers(0, 2**32))
def test_what_is_written_is_read_again(jobs, machines, largest, seed):
    instance = generate_instance(jobs, machines, largest, seed=seed)
    assert parse_instance(format_instance(instance), name="again") == instance


def test_gzip_is_written_and_read_by_its_content(tmp_path):
    instance = generate_instance(5, 2, 9, seed=1)
    write_instance(instance, tmp_path / "a.txt.gz")
    assert gzip.decompress((tmp_path / "a.txt.gz").read_bytes()).decode() == format_instance(instance)
    (tmp_path / "renamed.txt").write_bytes((tmp_path / "a.txt.gz").read_bytes())
    assert read_instance(tmp_path / "renamed.txt") == instance
    assert read_instance(tmp_path / "a.txt.gz").name == "a"


def test_first_setups_stand_on_the_diagonal():
    text = SMALL.replace("M1\n0\t5", "M1\n33\t5")
    instance = parse_instance(text, name="x")
    assert instance.first_setup[1].tolist() == [33, 0, 0, 0, 0, 0]
    assert instance.setup[1, 0, 0] == 0
    assert format_instance(instance) == text


def test_generated_instances_have_the_distribution_of_the_benchmark():
    instance = generate_instance(120, 10, 49, seed=2019)
    off_diagonal = instance.setup[:, ~np.eye(120, dtype=bool)]
    assert (instance.processing.min(), instance.processing.max()) == (1, 100)
    assert (off_diagonal.min(), off_diagonal.max()) == (1, 49)
    assert abs(off_diagonal.mean() - 25) < 4 * 14.14 / np.sqrt(off_diagonal.size)
    assert generate_instance(120, 10, 49, seed=2019) == instance
    assert generate_instance(120, 10, 49, seed=2020) != instance


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "too short"),
        ("6 2 1 3", "3 in line 2"),
        (SMALL[:200], "tokens"),
        (SMALL.replace("SSD", "SSX"), "'SSX' where 'SSD'"),
        (SMALL.replace("M1", "M7"), "'M7' where 'M1'"),
        (SMALL.replace("87", "eighty"), "whole number"),
        (SMALL.replace("\t0\t87\t1\t21", "\t1\t87\t0\t21"), "out of order"),
        (SMALL.replace("87", "-87"), "negative"),
        (SMALL.replace("87", str(2**41)), "coarser"),
    ],
)
def test_a_broken_file_is_refused_with_the_reason(text, says):
    with pytest.raises(InvalidInstance, match=says):
        parse_instance(text, name="broken")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InvalidInstance, match="ASCII"):
        read_instance(tmp_path / "picture.png")
