"""Numbers, lists, times and sizes as sentences have them."""

from __future__ import annotations

import ast
import inspect
import math
import pickle
import re
from functools import cache
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

import ampler as am
from ampler import api
from ampler.analysis.advice import Advice
from ampler.app.cli.app import app
from ampler.core.errors import AmplerError, InvalidData
from ampler.core.text import (
    OPTIONS,
    Column,
    TextTable,
    count,
    digits,
    display_width,
    distinct_names,
    duration,
    escape_formula,
    in_bytes,
    join_names,
    listed,
    natural,
    notebook_html,
    parameter,
    printable,
    quoted,
    render_for_python,
    render_for_shell,
    rounded_up,
    short_duration,
    short_names,
    split_names,
    table_of,
    unescape_formula,
    without_common,
    wrap_lines,
)
from ampler.design import Design
from ampler.study.store import merge_stores


@given(st.floats(-1e300, 1e300))
def test_numbers_in_words_keep_three_digits(value):
    assert float(digits(value)) == pytest.approx(value, rel=5.1e-3, abs=1e-320)


@pytest.mark.parametrize(
    ("value", "text"), [(math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "unknown"), (0.0, "0"), (-2.0, "-2")]
)
def test_numbers_that_are_none(value, text):
    assert digits(value) == text


@given(st.floats(1e-6, 1e6), st.integers(2, 4))
def test_rounding_up_never_rounds_down_and_stays_close(value, significant):
    rounded = float(rounded_up(value, significant))

    assert value * (1 - 1e-9) <= rounded <= value * (1 + 1.01 * 10 ** (1 - significant))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.5, "0.5 seconds"),
        (1, "1 second"),
        (0.0125, "0.013 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (90 * 60, "90 minutes"),
        (9.96 * 3600, "10 hours"),
        (2.5 * 3600, "2.5 hours"),
        (2_257_200, "627 hours"),
        (3600 * 12_345, "12,345 hours"),
        (3 * 365.25 * 86400, "3 years"),
    ],
)
def test_durations_are_told_in_the_unit_a_person_would_use(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (99, "99 s"), (100, "2 min"), (3599, "1 h 0 min"), (90000, "1 d 1 h")]
)
def test_time_spans_read_as_people_say_them(seconds, text):
    assert short_duration(seconds) == text


@pytest.mark.parametrize(("number", "text"), [(1, "1 bytes"), (2500, "2.5 kB"), (10**8, "100 MB"), (2**30, "1.07 GB")])
def test_bytes_are_written_in_the_unit_people_use(number, text):
    assert in_bytes(number) == text


@pytest.mark.parametrize(
    ("value", "significant", "text"),
    [
        (0.0, 3, "0"),
        (1230.0, 3, "1230"),
        (100.0, 2, "100"),
        (0.10, 3, "0.1"),
        (999_999.0, 3, "1e+06"),
        (1e-5, 3, "1e-05"),
    ],
)
def test_digits_are_written_plainly_where_that_reads_well(value, significant, text):
    assert digits(value, significant) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 5))
def test_zeros_kept_or_not_the_number_is_the_same(value, significant):
    kept, left_out = digits(value, significant, zeros=True), digits(value, significant)
    assert float(kept) == float(left_out)


@given(st.floats(1e-4, 9.9e5), st.integers(2, 5))
def test_numbers_with_zeros_show_as_many_digits_as_asked(value, significant):
    shown = digits(value, significant, zeros=True).replace(".", "").lstrip("0")
    assert len(shown) == max(significant, 1 + math.floor(math.log10(float(digits(value, significant)))))


@pytest.mark.parametrize(("number", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (12_345, "12,345 runs")])
def test_one_thing_has_no_plural(number, text):
    assert count(number, "run") == text


def test_a_long_list_says_how_many_more_there_are():
    names = [f"a{n}" for n in range(5)]
    assert listed(names, 5) == "a0, a1, a2, a3, a4"
    assert listed(iter(names), 2) == "a0, a1 and 3 more"
    assert listed([], 2) == ""


def test_names_in_quotes_may_be_anything():
    assert quoted([1, "it's"], 10) == "'1', \"it's\""
    assert quoted(range(30)).endswith("'19' and 10 more")


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@x", "\t=1", "\r=1", "'=1"])
def test_formulas_are_made_harmless_and_read_back_as_they_were_meant(text):
    assert escape_formula(text) == f"'{text}"
    assert unescape_formula(escape_formula(text)) == text


@given(st.text(max_size=12))
def test_whatever_is_made_harmless_can_be_read_back(text):
    assert unescape_formula(escape_formula(text)) == text or text.startswith("'")


@given(st.text())
def test_what_is_printed_moves_nothing_on_a_terminal(text):
    shown = printable(text)

    assert all(mark in "\n\t" or mark.isprintable() for mark in shown)
    assert shown == text or not text.isprintable()


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
    short = distinct_names(names, widest)

    assert len(set(short)) == len(names)
    assert all(len(label) <= widest for label in short)


@given(ANY, st.integers(12, 40))
def test_no_name_is_wider_than_asked_for(names, widest):
    assert all(len(label) <= widest for label in short_names(names, widest))


@given(st.lists(st.text("abc", min_size=1, max_size=12), unique=True, min_size=1), st.text("xyz", max_size=80))
def test_the_end_that_tells_names_apart_is_kept_when_they_are_cut(ends, stem):
    short = distinct_names([f"{stem}-{end}" for end in ends], 30)

    assert all(label.endswith(f"-{end}") for label, end in zip(short, ends, strict=True))


@given(st.text("xy", min_size=60, max_size=80), st.text("yz", min_size=60, max_size=80))
def test_what_differs_in_the_middle_is_shown(head, tail):
    assert [label.count("7") for label in distinct_names([f"{head}7{tail}", f"{head}8{tail}"], 24)] == [1, 0]


@given(ANY, st.integers(0, 7))
def test_the_same_name_is_short_in_the_same_way_wherever_it_stands(names, place):
    again = [*names, *names[place : place + 1]]

    short = distinct_names(again, 14)

    assert all(short[len(names)] == short[place] for _ in again[len(names) :])


@given(st.lists(st.text("abc", min_size=1, max_size=20), unique=True))
def test_without_a_width_ordinary_names_stay_whole(names):
    assert distinct_names(names) == tuple(names)


def test_characters_that_move_or_hide_others_are_left_out():
    assert distinct_names(["one\ntwo\u202ethree\x00"]) == ("one two three",)


@given(st.lists(st.integers(0, 10**6), unique=True))
def test_numbers_within_names_are_sorted_as_numbers(numbers):
    names = [f"n{number}-a" for number in numbers]

    assert sorted(names, key=natural) == [f"n{number}-a" for number in sorted(numbers)]


def test_every_name_can_be_sorted_beside_every_other():
    assert len(sorted(["", "1", "a1", "²", "1e400", "nan", "-3", "١٢"], key=natural)) == 8


@given(st.lists(st.text(alphabet='a ",\n\t5é', max_size=6), min_size=1, max_size=4))
def test_names_come_back_as_they_were(names):
    assert split_names(join_names(names)) == names


@given(st.text(max_size=20).filter(lambda text: '"' not in text))
def test_without_quotes_names_end_at_commas(text):
    assert split_names(text) == [name.strip() for name in text.split(",")]


def test_a_quote_within_a_name_is_a_letter():
    assert split_names('5" disk,b') == ['5" disk', "b"]
    assert split_names('"open,b') == ['"open', "b"]


SOURCE = Path(am.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
ARGUMENT = re.compile(r"\b[a-z_]+=(?:True|False|\"|\{\")")
OF_OTHERS = {"analysis/clusters.py", "data/imports/hyperfine.py", "data/imports/optuna.py"}  # options of other programs
FOR_PYTHON = {"stats/estimate.py", "report/figures/ranks.py"}  # what a shell has no option for
FOR_THE_SHELL = {"output", "same", "again", "keep", "rerun", "looks"}  # what Python has no door for


def modules():
    return [path for path in SOURCE.rglob("*.py") if "app" not in path.relative_to(SOURCE).parts[:1]]


def place(path):
    return path.relative_to(SOURCE).as_posix()


def texts(node):
    """All texts within an expression, those of f-strings included."""
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]


@cache
def written(path):
    """The texts of every error that a module raises itself, and every parameter that its messages name."""
    errors, parameters = [], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc:
            errors += texts(node.exc)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "parameter":
            parameters += [each.value for each in node.args[:1] if isinstance(each, ast.Constant)]
    return errors, parameters


def raised(path):
    """The texts of every error that a module raises itself."""
    return written(path)[0]


def named_parameters():
    """Every parameter that a message names, with the module."""
    return [(place(path), name) for path in modules() for name in written(path)[1]]


def options():
    commands = typer.main.get_command(app).commands.values()
    return {
        word for command in commands for option in command.params for word in (*option.opts, *option.secondary_opts)
    }


def test_a_parameter_is_an_argument_in_python_and_an_option_in_a_shell():
    text = (
        f"{parameter('value')}, {parameter('value', 'time')}, {parameter('instance', ['a', 'b c'])},"
        f" {parameter('same', True)}, {parameter('where', {'d': '3'})}, {parameter('on_failure', 'par=10')},"
        f" {parameter('path')}, {parameter('ignore', ['one'])}"
    )

    assert render_for_python(text) == (
        'value, value="time", instance=["a", "b c"], on_code_change="keep", where={"d": "3"},'
        ' on_failure="par=10", path, ignore="one"'
    )
    assert render_for_shell(text) == (
        "--value, --value time, --instance 'a,b c', --same, --where d=3, --on-failure par=10, --store, --ignore one"
    )


@pytest.mark.parametrize("name", ["a\x0eb", "\x0f", 'q"uote', "--where", "算法", "\\"])
def test_a_name_of_any_kind_is_told_and_breaks_no_message(name):
    text = f"say {parameter('value', name)} now"

    assert render_for_python(text).startswith('say value="')
    assert render_for_python(text).endswith(" now")
    assert render_for_shell(text).startswith("say --value ")


def test_an_error_speaks_python_and_can_be_told_in_a_shell_even_after_it_was_sent():
    problem = pickle.loads(pickle.dumps(InvalidData(f"say {parameter('metric', 'loss')}")))

    assert str(problem) == 'say metric="loss"'
    assert problem.in_shell == "say --metric loss"
    assert str(AmplerError(f"and: {problem.message}")) == 'and: say metric="loss"'
    assert str(AmplerError()) == ""


def test_no_error_below_the_doors_names_an_option_or_an_argument_by_itself():
    told = {place(path): raised(path) for path in modules()}

    assert sum(map(len, told.values())) > 500
    assert [(name, text) for name in told.keys() - OF_OTHERS for text in told[name] if OPTION.search(text)] == []
    assert [(name, text) for name in told.keys() - FOR_PYTHON for text in told[name] if ARGUMENT.search(text)] == []


def test_every_parameter_that_a_message_names_is_one_of_both_doors():
    doors = (api.analyse, api.advise, api.read_results, api.Settings, api.Study, api.Study.run, merge_stores)
    sizes = (api.Detect, api.Precision, api.FixedSize)
    ours = {name for door in (*doors, *sizes) for name in inspect.signature(door).parameters} | FOR_THE_SHELL
    known = options()
    named = named_parameters()

    assert len(named) > 40
    assert [each for each in named if each[1] not in ours] == []
    assert [each for each in named if f"--{OPTIONS.get(each[1], each[1]).replace('_', '-')}" not in known] == []


def test_every_option_that_the_shell_names_in_a_refusal_exists():
    known = options()
    for path in (SOURCE / "app" / "shell").glob("*.py"):
        for text in raised(path):
            assert [word for word in OPTION.findall(text) if word not in known] == [], path.name
            assert not ARGUMENT.search(text), text


def test_the_same_mistake_is_told_in_the_words_of_each_door(tmp_path, capsys, monkeypatch):
    table = tmp_path / "runs.csv"
    table.write_text("solver,problem,metric,value\na,i,x,1\na,i,y,1\n")
    with pytest.raises(InvalidData) as called:
        am.analyse(table, difference="simple", better="lower")
    monkeypatch.setattr("sys.argv", ["ampler", "analyse", str(table), "--difference", "simple", "--better", "lower"])
    with pytest.raises(SystemExit):
        app_main()

    assert str(called.value).endswith('specify which to compare: metric="x"')
    assert capsys.readouterr().err.endswith("specify which to compare: --metric x\n")


def app_main():
    from ampler.app.cli import main

    main()


NUMBERS = st.floats(-1e9, 1e9).map("{:.4g}".format) | st.sampled_from(["[-105, -46.2]", "3.3e-06", "–", "1,234,567"])
NAMES = st.text("abcdefghij-_./× ", min_size=1, max_size=60).map(str.strip).filter(bool)


@st.composite
def tables(draw):
    """Tables of a name, numbers that may leave, words, and hostile names now and then."""
    rows = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, min_size=rows, max_size=rows, unique=True))
    numbers = draw(st.lists(st.lists(NUMBERS, min_size=rows, max_size=rows), min_size=1, max_size=12))
    columns = [Column("instance", tuple(names), "name")]
    for place, cells in enumerate(numbers):
        columns.append(Column(f"head-{place} of it", tuple(cells), leaves=place))
    columns.append(Column("state", tuple(draw(NAMES) for _ in range(rows)), "words", leaves=1))
    return TextTable(tuple(columns))


@given(tables(), st.integers(40, 200))
def test_every_number_stands_whole_in_its_row_or_its_column_is_named_as_left_out(table, width):
    fitted = table.fitted(width)

    text = "\n".join(fitted.lines)
    for column in table.columns[1:-1]:
        assert column.head in fitted.left_out or all(cell in text for cell in column.cells)
    assert max(map(display_width, fitted.lines)) <= max(width, 60)
    heads = {column.head for column in table.columns}
    assert set(fitted.left_out) <= heads - {"instance", "head-0 of it"}


@given(tables(), st.integers(40, 199))
def test_a_wider_terminal_never_shows_less(table, width):
    assert len(table.fitted(width + 1).left_out) <= len(table.fitted(width).left_out)


def test_columns_line_up():
    assert table_of(["name", "n"], [["long name", "5"], ["x", "500"]]).fitted().lines == (
        "name         n",
        "long name    5",
        "x          500",
    )


def test_what_may_leave_leaves_in_its_order_and_is_named():
    table = table_of(["name", "kept", "first", "second"], [["x", "1" * 20, "2" * 20, "3" * 20]], leaves={2: 2, 3: 1})

    assert table.fitted(80).left_out == ()
    assert table.fitted(60).left_out == ("first",)
    assert table.fitted(40).left_out == ("first", "second")


def test_where_not_even_the_needed_columns_fit_each_row_becomes_a_card_with_all_of_it():
    table = table_of(["name", "a", "b", "c"], [["first", "1" * 20, "2" * 20, "3" * 20], ["second", "4", "5", "6"]])

    fitted = table.fitted(40)
    assert fitted.left_out == ()
    assert fitted.body[:3] == ("first", f"  a: {'1' * 20}", f"  b: {'2' * 20}")
    assert "second" in fitted.body


def test_names_are_cut_so_that_they_can_be_told_apart():
    names = [f"instances/of/one/very/long/collection/number-{k}-of-it.txt" for k in range(12)]
    lines = table_of(["instance", "runs"], [[name, "30"] for name in names]).fitted(40).body

    assert len({line.split()[0] for line in lines}) == 12


def test_a_narrow_form_stands_in_before_anything_is_left_out():
    wide = Column("comparison", ("full × a", "full × b"), "name", narrow=Column("full ×", ("a", "b"), "name"))
    table = TextTable((wide, Column("x", ("1" * 15, "2"), leaves=1)))

    assert table.fitted(30).head[0].startswith("comparison")
    assert table.fitted(24).head[0].startswith("full ×")
    assert table.fitted(24).left_out == ()


def test_a_line_before_a_row_stands_there():
    table = TextTable((Column("a", ("1", "2")),), breaks={1: "-- here --"})

    assert table.fitted().body == ("1", "-- here --", "2")


def test_a_name_that_would_move_the_cursor_stays_on_its_line():
    lines = table_of(["name", "n"], [["a\nb\x1b[2Jc", "5"]]).fitted().lines

    assert len(lines) == 2
    assert "\x1b" not in "".join(lines)


def test_letters_that_take_two_columns_are_counted_as_two():
    lines = table_of(["name", "n"], [["算法一", "5"], ["plain", "6"]]).fitted().lines

    assert len({display_width(line) for line in lines[1:]}) == 1


def test_words_fold_between_words_and_numbers_stay_with_their_unit():
    assert wrap_lines("the interval is 97.5 % wide", 21) == ["the interval is", "97.5 % wide"]
    assert wrap_lines("a power of d ≥ 0.96 is", 14) == ["a power of", "d ≥ 0.96 is"]
    assert wrap_lines("", 10) == [""]


@pytest.mark.parametrize("kind", [Design, am.Analysis, Advice, am.Study])
def test_what_people_look_at_has_a_page(kind):
    assert kind._repr_html_ is notebook_html


def test_anything_else_is_shown_as_its_text():
    assert notebook_html("<b>") == "<pre>&lt;b&gt;</pre>"
