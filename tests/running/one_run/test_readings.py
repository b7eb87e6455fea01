"""The value in what a command printed, whatever the pieces in which it comes."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.plan import Reading
from ampler.running.one_run.readings import KEPT, NoValue, Tail, excerpt, value_in

JSON = Reading("json", "cost")


def read(text, reading=Reading(), size=None):  # noqa: B008
    tail = Tail()
    for start in range(0, len(text), size or len(text) or 1):
        tail.feed(text[start : start + (size or len(text))])
    return value_in(tail, reading)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17", 17.0),
        ("best: -1.5e-3\n", -1.5e-3),
        ("+.5", 0.5),
        ("5.", 5.0),
        ("1E5", 1e5),
        ("1 2 3", 3.0),
        ("a=1,b=2", 2.0),
        ("cost 5 written to run2.sol", 5.0),
        ("\x1b[1mcost 5\x1b[0m", 5.0),
        ("cost 5 v1.2.3x", 5.0),
        ("[3, 4]", 4.0),
        ("(cost=17.5).", 17.5),
        ('{"cost":5}', 5.0),
        ("1.5D+03", 1500.0),
        ("-1.5d-2", -0.015),
        ("\u22125", -5.0),
        ("1e\u22125", 1e-5),
        ("\x1b[31m17.5\x1b[0m", 17.5),
        ("\x1b]0;title 3\x07cost 5\x1b[38;5;208m", 5.0),
        ("10%\r20%\rcost 5", 5.0),
        ("took 12.5 s", 12.5),
        ("2024-01-05 12:30:01 cost 5", 5.0),
    ],
)
def test_the_default_is_the_last_number_that_stands_by_itself(text, value):
    assert read(text).value == value


IN_DOUBT = [
    *("3,14", "1,234.56", "1'234", "1_000", "1\u00a0234", "1\u202f234", "1,2,3", "cost=3,5"),
    *("took 12.5s", "0.532ms", "3.7GB", "50%", "$5", "5€", "#5", "1.0f", "0x1f", "cost 5 in 12ms"),
    *("2024-01-05", "05/01/2024", "12:30:01", "at 12:30", "1.2.3", "1/2", "5-3", "--5", "\u20135"),
    *("12.5±0.3", "12.5 ± 0.3", "12.5 +/- 0.3", "cost->5", "x:y:5", "2d3", "1.5D", "1.#INF", "\u0661\u0662", "\uff15"),
]


@pytest.mark.parametrize("text", IN_DOUBT)
def test_what_can_be_read_in_more_than_one_way_is_refused_with_its_line_and_the_way_out(text):
    with pytest.raises(NoValue, match="must be a separate word") as refused:
        read(f"seed 7\n{text}\n")

    assert excerpt(text) in str(refused.value)
    assert "`value`" in str(refused.value)


def test_a_number_after_what_was_in_doubt_is_the_value():
    assert read("2024-01-05 3,14\nbest 7\n").value == 7.0


def test_a_word_longer_than_what_is_kept_is_no_number():
    with pytest.raises(NoValue, match="must be a separate word"):
        read("7" * (5 * KEPT), size=1000)


@pytest.mark.parametrize("text", ["cost 5\nnan", "cost 5\n-nan", "5 inf", "5 -Infinity", "5 NaN\n", "1e999"])
def test_nan_and_infinity_are_refused_instead_of_giving_way_to_an_earlier_number(text):
    with pytest.raises(NoValue, match="must be a finite number, got"):
        read(text)


@pytest.mark.parametrize(("text", "end"), [("", "it printed nothing"), ("\x00\xff garbage\n", "ends with 'ÿ garbage'")])
def test_output_without_a_number_says_what_was_printed(text, end):
    with pytest.raises(NoValue, match=end):
        read(text)


def test_a_pattern_gives_the_first_group_of_its_last_match_in_any_line():
    pattern = Reading("pattern", r"^(\d+) steps")

    assert read("1 steps\nno 7 steps\n23 steps (5)\n", pattern).value == 23.0


def test_a_pattern_may_span_lines_and_needs_no_group():
    assert read("best:\n  4.5\n", Reading("pattern", r"best:\s+(\S+)")).value == 4.5
    assert read("x12y", Reading("pattern", r"\d+")).value == 12.0


def test_what_a_pattern_finds_must_be_a_number():
    with pytest.raises(NoValue, match="must be a number, got '1_000'"):
        read("cost 1_000", Reading("pattern", r"cost (\S+)"))
    with pytest.raises(NoValue, match=r"no match of 'cost: .*' in its output, which ends with 'time 3'"):
        read("time 3", Reading("pattern", r"cost: (\d+)"))


@pytest.mark.parametrize(
    "text",
    [
        '{"cost": 5, "time": 2.5}',
        'log line {"cost": 1}\n{"cost": 4}\n{"cost": 5, "time": 2.5}\nbye {\n',
        json.dumps({"cost": 5, "parts": [{"cost": 1}], "time": 2.5, "ok": True, "name": "x"}, indent=2),
    ],
)
def test_a_json_field_is_read_from_the_last_object_that_has_it_and_other_numbers_are_measures(text):
    result = read(text, JSON)

    assert result.value == 5.0
    assert result.measures == {"cost": 5.0, "time": 2.5}


def test_a_json_field_may_be_a_path_and_an_exact_name_wins():
    assert read('{"best": {"cost": 3}}', Reading("json", "best.cost")).value == 3.0
    assert read('{"best.cost": 4, "best": {"cost": 3}}', Reading("json", "best.cost")).value == 4.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nothing here", "no JSON object with the field 'cost'"),
        ('{"price": 3}', "no JSON object with the field 'cost'"),
        ('{"cost": "3"}', 'must hold a number, got "3"'),
        ('{"cost": true}', "must hold a number, got true"),
        ('{"cost": NaN}', "must be a finite number, got nan"),
        ("{" * 50_000, "no JSON object"),
        ("[" * 50_000, "no JSON object"),
    ],
)
def test_json_without_the_number_says_what_is_missing(text, problem):
    with pytest.raises(NoValue, match=re.escape(problem)):
        read(text, JSON)


words = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr), st.text(alphabet="ab12.-+e \n{}", max_size=12)
)


@given(st.lists(words, max_size=30).map(" ".join), st.integers(1, 40))
def test_the_pieces_in_which_output_comes_do_not_matter(text, size):
    def outcome(pieces):
        try:
            return read(text, size=pieces).value
        except NoValue as problem:
            return str(problem)

    assert outcome(size) == outcome(None)


@pytest.mark.parametrize("seed", range(8))
def test_long_output_gives_the_same_as_a_search_through_all_of_it(seed):
    rng = random.Random(seed)
    numbers = [f"{rng.random() * 1000:.7g}" for _ in range(300)]
    words = [*numbers, *("x" * rng.randrange(1, 3000) + "7" for _ in range(300))]
    rng.shuffle(words)
    text = "".join(word + rng.choice([" ", "\n", "\t\r\n"]) for word in words)
    assert len(text) > KEPT

    expected = [word for word in words if word in numbers][-1]
    unanchored = re.findall(r"\d+", text)[-1]

    assert read(text, size=rng.randrange(100, 70_000)).value == float(expected)
    assert read(text, Reading("pattern", r"\d+"), size=rng.randrange(100, 70_000)).value == float(unanchored)


@pytest.mark.parametrize("reading", [Reading(), Reading("pattern", r"^(\d+)"), Reading("pattern", r"\d+")])
def test_a_word_that_was_cut_off_at_its_beginning_is_no_value(reading):
    with pytest.raises(NoValue, match="its output"):
        read("1\n" + "a" * (2 * KEPT) + "7" * (KEPT - 2) + " x", reading, size=1000)


def test_only_the_end_is_kept():
    tail = Tail()
    for number in range(90_000):
        tail.feed(f"{number}\n")

    assert len(tail.text) == KEPT
    assert tail.is_cut
    assert tail.text.endswith("89998\n89999\n")


def test_an_excerpt_is_one_short_printable_line():
    assert excerpt("a\n\tb\x00c") == "a b c"
    assert len(excerpt("word " * 1000)) == 160
    assert excerpt("word " * 1000).startswith("…")


@pytest.mark.parametrize("output", ["-\n234\n", "cost: −\n 234", "1 ±\n2", "5 ∞-", "x ∞-\n"])
def test_a_sign_at_the_end_of_a_line_or_a_strange_infinity_is_refused(output):
    tail = Tail()
    tail.feed(output)

    with pytest.raises(NoValue, match="must be a separate word"):
        value_in(tail, Reading())
