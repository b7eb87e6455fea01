from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.names import natural, short_names, told_apart, without_common

PARTS = st.text("ab01./\\_- ", min_size=1, max_size=40)
ANY = st.lists(st.text(), unique=True, max_size=8)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["instances/a.txt", "instances/b.txt"], ("a", "b")),
        (["/home/me/x/a.cnf.gz", "/home/me/x/b.cnf.gz"], ("a", "b")),
        (["x\\small\\a.tsp", "x\\large\\a.tsp"], ("small\\a", "large\\a")),
        (["a.txt", "b.dat"], ("a.txt", "b.dat")),
        (["beta 0.5", "beta 1.5"], ("beta 0.5", "beta 1.5")),
        (["folder/", "folder/b"], ("folder/", "folder/b")),
        (["d/.txt", "d/x.txt"], ("d/.txt", "d/x.txt")),
        (["d/only.txt"], ("only.txt",)),
        ([], ()),
    ],
)
def test_the_common_folder_and_ending_are_taken_off(names, expected):
    assert without_common(names) == expected


@given(st.lists(PARTS, unique=True, max_size=8))
def test_different_names_stay_different_without_what_they_share(names):
    assert len(set(without_common(names))) == len(names)


@given(st.lists(PARTS, unique=True, min_size=2, max_size=8), PARTS, st.sampled_from([".txt", ".cnf.gz", ".B"]))
def test_a_folder_and_an_ending_that_are_added_make_no_difference(names, folder, ending):
    bare = [name.replace("/", "").replace("\\", "").replace(".", "").strip() or "x" for name in names]

    assert without_common([f"{folder}/{name}{ending}" for name in bare]) == (
        tuple(bare) if len(set(bare)) > 1 else tuple(f"{name}{ending}" for name in bare)
    )


@given(ANY)
def test_two_names_never_have_the_same_short_name(names):
    assert len(set(short_names(names, 14))) == len(names)


@given(st.lists(st.text("(12) ab", max_size=50), unique=True, max_size=12), st.integers(12, 30))
def test_numbers_never_make_two_names_alike(names, widest):
    short = told_apart(names, widest)

    assert len(set(short)) == len(names)
    assert all(len(label) <= widest for label in short)


@given(ANY, st.integers(12, 40))
def test_no_name_is_wider_than_asked_for(names, widest):
    assert all(len(label) <= widest for label in short_names(names, widest))


@given(st.lists(st.text("abc", min_size=1, max_size=12), unique=True, min_size=1), st.text("xyz", max_size=80))
def test_the_end_that_tells_names_apart_is_kept_when_they_are_cut(ends, stem):
    short = told_apart([f"{stem}-{end}" for end in ends], 30)

    assert all(label.endswith(f"-{end}") for label, end in zip(short, ends, strict=True))


@given(st.text("xy", min_size=60, max_size=80), st.text("yz", min_size=60, max_size=80))
def test_what_differs_in_the_middle_is_shown(head, tail):
    assert [label.count("7") for label in told_apart([f"{head}7{tail}", f"{head}8{tail}"], 24)] == [1, 0]


@given(ANY, st.integers(0, 7))
def test_the_same_name_is_short_in_the_same_way_wherever_it_stands(names, place):
    again = [*names, *names[place : place + 1]]

    short = told_apart(again, 14)

    assert all(short[len(names)] == short[place] for _ in again[len(names) :])


@pytest.mark.costly
@given(st.lists(st.text("abc", min_size=1, max_size=20), unique=True))
def test_without_a_width_ordinary_names_stay_whole(names):
    assert told_apart(names) == tuple(names)


def test_characters_that_move_or_hide_others_are_left_out():
    assert told_apart(["one\ntwo\u202ethree\x00"]) == ("one two three",)


@given(st.lists(st.integers(0, 10**6), unique=True))
def test_numbers_within_names_are_sorted_as_numbers(numbers):
    names = [f"n{number}-a" for number in numbers]

    assert sorted(names, key=natural) == [f"n{number}-a" for number in sorted(numbers)]


def test_every_name_can_be_sorted_beside_every_other():
    assert len(sorted(["", "1", "a1", "²", "1e400", "nan", "-3", "١٢"], key=natural)) == 8
