"""What commands print: the value is read as it was meant, or the run fails with the line; never another number."""

import re
import tracemalloc

import pytest

from ampler.core.plan import Command, Instance, Limits, Reading
from ampler.running.one_run.execution import run_once
from ampler.running.one_run.readings import KEPT, NoValue, Tail, value_in

PLAIN = {  # the output, the value, and the line it came from
    "a word": ("17.5", 17.5, "17.5"),
    "a sentence": ("The cost is 17.5.", 17.5, "The cost is 17.5."),
    "a line among others": ("seed 3\ncost 17.5\nbye\n", 17.5, "cost 17.5"),
    "no newline at the end": ("a\nb 17.5", 17.5, "b 17.5"),
    "lines of Windows": ("seed 3\r\ncost 17.5\r\n", 17.5, "cost 17.5"),
    "a name": ("cost=17.5", 17.5, "cost=17.5"),
    "brackets": ("<17.5>", 17.5, "<17.5>"),
    "quotes": ("'17.5'", 17.5, "'17.5'"),
    "a plus": ("+17.5", 17.5, "+17.5"),
    "an exponent": ("1.75E+1", 17.5, "1.75E+1"),
    "Fortran": ("0.175D+02", 17.5, "0.175D+02"),
    "Fortran without a fraction": (" 17.5d0", 17.5, "17.5d0"),
    "a minus of typesetters": ("−17.5", -17.5, "−17.5"),
    "colours": ("\x1b[1;32mcost\x1b[0m \x1b[31m17.5\x1b[0m", 17.5, "cost 17.5"),
    "colours of grep": ("cost \x1b[01;31m\x1b[K17\x1b[m\x1b[K.5", 17.5, "cost 17.5"),
    "a link": ("\x1b]8;;http://x/9\x1b\\17.5\x1b]8;;\x1b\\", 17.5, "17.5"),
    "a cursor that moves": ("50\x1b[2K\x1b[1G17.5", 17.5, "50 17.5"),
    "progress": ("10%\r50%\r17.5", 17.5, "10% 50% 17.5"),
    "a table": ("| old | 3 | 17.5 |", 17.5, "| old | 3 | 17.5 |"),
    "columns": ("iter 1 9\niter 2 17.5\n", 17.5, "iter 2 17.5"),
    "a path after it": ("17.5 in run_3/b.txt", 17.5, "17.5 in run_3/b.txt"),
    "a version before it": ("solver 2.1.7 gave 17.5", 17.5, "solver 2.1.7 gave 17.5"),
    "invalid bytes around it": ("\ufffd\ufffd 17.5 \ufffd", 17.5, "\ufffd\ufffd 17.5 \ufffd"),
    "NULs around it": ("\x00\x00 17.5 \x00", 17.5, "17.5"),
    "zero": ("-0.0", 0.0, "-0.0"),
    "many digits": ("17." + "5" * 400, 17.0 + 5 / 9, None),
    "the smallest number": ("5e-324", 5e-324, "5e-324"),
}
DOUBTFUL = [
    *("17,5", "1.234,5", "1,234.5", "1'234.5", "1’234.5", "1_234", "1\u00a0234", "1\u202f234,5", "1\u2009234"),
    *("17.5s", "17.5ms", "17.5µs", "17.5 ± 0.5", "17.5±0.5", "17.5(3)", "17.5%", "17.5‰", "17.5°", "17.5kB", "17.5×"),
    *("$17.5", "17.5$", "€17.5", "17.5€", "£17", "¥17", "USD17.5=$17.5", "17.5k", "1.5M", "17th", "№17", "#17"),
    *(
        "2024-01-05",
        "2024/01/05",
        "05.01.2024",
        "2024-01-05T12:30:01Z",
        "12:30",
        "12:30:01.5",
        "0:12.5",
        "1h30",
        "P3D"[1:],
    ),
    *("1.2.3", "10.0.0.1", "0x1F", "0b101", "0o17", "1.5e", "1e+", "1e5x", "1e5.5", "1d", "1f", "1.0L", "1u"),
    *("1/2", "3/4", "17.5/20", "1-5", "1–5", "1..5", "1...5", "1:5", "1×10^3", "10^3", "1.5·10³", "1e3³"),
    *("١٧", "１７", "१७", "½", "17½", "²", "五", "Ⅳ", "៥", "߅"),
    *(
        "<17.5",
        ">17.5",
        "~17.5",
        "≈17.5",
        "≤17.5",
        "=17.5=18",
        "--17",
        "+-17",
        "-17-",
        "17-",
        "17+",
        "- 17",
        "− 17",
        "– 17",
    ),
    *("17.5\u200b", "\ufeff17.5", "1\x007\x00", "17\x085", "1\u00ad7", "nan%", "inf/2"),
    *("17;5", "3,4,5", "0,1", "1.#QNAN", "1.#INF"),
]
NOT_FINITE = [
    "nan",
    "NaN",
    "-nan",
    "inf",
    "-inf",
    "Infinity",
    "+INFINITY",
    "1e400",
    "-1e999",
    "∞",
    "-∞",
    "cost=nan",
    "1.0D400",
]


def read(text, reading=Reading(), *, size=None, protocol="arguments"):  # noqa: B008
    tail = Tail()
    for start in range(0, len(text), size or max(1, len(text))):
        tail.feed(text[start : start + (size or len(text))])
    return value_in(tail, reading, protocol)


@pytest.mark.parametrize("kind", PLAIN)
def test_a_number_that_stands_by_itself_is_read_with_its_line(kind):
    text, value, line = PLAIN[kind]
    found = read(text)

    assert found.value == pytest.approx(value, rel=1e-15)
    assert line is None or found.line == line


@pytest.mark.parametrize("text", DOUBTFUL)
def test_what_may_be_read_in_several_ways_is_refused_and_no_earlier_number_takes_its_place(text):
    with pytest.raises(NoValue, match="must be a separate word") as refused:
        read(f"seed 3\ncost {text}\n")

    assert re.search("in the line ['\"]cost", str(refused.value))
    assert "`value`" in str(refused.value)


@pytest.mark.parametrize("text", NOT_FINITE)
def test_what_is_not_finite_is_refused(text):
    with pytest.raises(NoValue, match="must be a finite number"):
        read(f"seed 3\ncost {text}\n")


PATTERN = Reading("pattern", r"cost: (\S+)")
JSON = Reading("json", "best.cost")
FOUND = {
    "a pattern": ("cost: 3\ncost: 17.5 (2)\ntime 9\n", PATTERN, "arguments", "cost: 17.5 (2)"),
    "a pattern of a Fortran number": ("cost: 1.75D+01\n", PATTERN, "arguments", "cost: 1.75D+01"),
    "a field": ('log\n{"best": {"cost": 17.5}}\n', JSON, "arguments", '{"best": {"cost": 17.5}}'),
    "a field on several lines": (
        '{\n  "best": {\n  "cost": 17.5\n}}\n',
        JSON,
        "arguments",
        '{ "best": { "cost": 17.5 }}',
    ),
    "a place in a list": ('{"runs": [{"cost": 3}, {"cost": 17.5}]}', Reading("json", "runs.1.cost"), "arguments", None),
    "irace": ("log\n17.5 3.2\n", Reading(), "irace", "17.5 3.2"),
}


@pytest.mark.parametrize("kind", FOUND)
def test_every_way_of_reading_says_which_line_it_read(kind):
    text, reading, protocol, line = FOUND[kind]
    found = read(text, reading, protocol=protocol)

    assert found.value == 17.5
    assert line is None or found.line == line


@pytest.mark.parametrize(
    ("text", "reading", "sentence"),
    [
        ("cost: 17,5", PATTERN, "the value must be a number, got '17,5'"),
        ("cost: 17.5s", PATTERN, "the value must be a number, got '17.5s'"),
        ("cost: " + "7" * 60_000, PATTERN, "the value must be a number, got"),
        ("cost: nan", PATTERN, "the value must be a finite number, got nan"),
        ("cost: 1e400", PATTERN, "the value must be a finite number, got 1e400"),
        ("price: 5", PATTERN, "no match of"),
        ('{"best": {"cost": "17.5"}}', JSON, "the JSON field 'best.cost' must hold a number"),
        ('{"best": {"cost": null}}', JSON, "the JSON field 'best.cost' must hold a number, got null"),
        ('{"best": {"cost": [17.5]}}', JSON, "the JSON field 'best.cost' must hold a number"),
        ('{"best": {"cost": 1e400}}', JSON, "the value must be a finite number, got inf"),
        ('{"best": {"cost": 1' + "0" * 400 + "}}", JSON, "the value must be a finite number, got inf"),
        ('{"best": {"cost": 1' + "0" * 5000 + "}}", JSON, "no JSON object with the field 'best.cost'"),
        ('{"best": ' * 10_000, JSON, "no JSON object with the field 'best.cost'"),
        ('{"best": 5}', JSON, "no JSON object with the field 'best.cost'"),
        ('[{"best": {"cost": 5}}]', JSON, "no JSON object with the field 'best.cost'"),
    ],
)
def test_other_readings_refuse_what_is_no_number_in_one_sentence(text, reading, sentence):
    with pytest.raises(NoValue) as refused:
        read(text, reading)

    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 600


def test_numbers_beyond_all_floats_beside_the_value_are_no_measures():
    found = read('{"best": {"cost": 5}, "n": 1' + "0" * 400 + ', "m": 3}', JSON)

    assert (found.value, found.measures) == (5.0, None)


SLOW_PATTERNS = {
    "(a+)+$": "a" * 60 + "!",
    "(a|aa)+$": "a" * 80 + "!",
    r"(\w+\s?)+$": "word " * 30 + "!",
    "(.*)*x": "a" * 100,
    r".*.*.*cost": "a" * 20_000,
    r"(\d+)*z(5)": "1" * 60,
}


FEW_PATTERNS = ["(a+)+$", r".*.*.*cost"]  # steps that double, and steps that grow with a power
OTHER_PATTERNS = [pattern for pattern in SLOW_PATTERNS if pattern not in FEW_PATTERNS]


@pytest.mark.parametrize(
    "pattern", [*FEW_PATTERNS, *(pytest.param(each, marks=pytest.mark.slow) for each in OTHER_PATTERNS)]
)
def test_a_pattern_that_goes_back_for_ever_is_given_up_and_says_so(pattern):
    command = Command("x", ("echo", SLOW_PATTERNS[pattern]), reading=Reading("pattern", pattern))
    outcome = run_once(command, Instance("i"), 1, Limits(timeout=0.25))

    assert (outcome.status, outcome.value) == ("failed", None)
    assert f"the pattern {pattern!r} was not matched within 0.25 s" in outcome.message


ENDLESS = {  # pieces that come again and again
    "chatter": "iteration of the solver goes on\n",
    "numbers": "12.5 3.7 8\n",
    "one line": "abc 1 ",
    "no blank": "abcDEF123/+",
    "digits": "7",
    "brackets": "))))((((",
    "colours": "\x1b[31m5\x1b[0m",
    "half sequences": "\x1b[",
    "titles without an end": "\x1b]0;",
    "objects without an end": '{"a":[[[[\n',
    "NULs": "\x00",
    "replacements": "\ufffd1",
    "commas": "1,2,",
    "names": "a=",
}


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("reading", [Reading(), PATTERN, JSON], ids=["default", "pattern", "json"])
def test_of_endless_output_only_the_end_is_kept(kind, reading):
    piece = ENDLESS[kind] * (KEPT // len(ENDLESS[kind]))
    tail = Tail()
    tracemalloc.start()
    try:
        for _ in range(12):
            tail.feed(piece)
        with_value = kind in ("numbers", "one line", "colours") and reading == Reading()
        if not with_value:
            with pytest.raises(NoValue):
                value_in(tail, reading)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 30 * KEPT * 4
