"""What notebooks show: the answer, a table and a figure, whatever names hold."""

import base64
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

import ampler as am
from ampler.report.notebook import notebook_html

HOSTILE = "<script>alert(1)</script>"
ALLOWED = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "img", "ul", "li"}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def parsed(page):
    found = Tags()
    found.feed(page)
    return found


@pytest.fixture(scope="module")
def frame():
    names = {"new": 0.0, HOSTILE: 3.0, '"onload=x': 5.0}
    rows = [
        {"algorithm": name, "instance": f"i{i}{HOSTILE}", "value": 10 + i + shift + 0.1 * ((7 * i + 3 * r) % 5)}
        for i in range(8)
        for name, shift in names.items()
        for r in range(3)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def values(frame):
    return {
        "analysis": am.analyse(frame, difference="simple", better="lower"),
        "design": am.required_instances(comparisons=21, effect=0.5, power=0.8),
        "advice": am.advise(frame, difference="simple", detect=0.5, start=2, better="lower"),
        "study": am.Study(
            algorithms={HOSTILE: lambda instance, seed: 1.0, "b": lambda instance, seed: 2.0},
            instances={f"i{k}": k for k in range(40)},
            difference="simple",
            design=am.Precision(se=0.1, effect=0.5),
            seed=1,
            better="lower",
        ),
    }


@pytest.mark.parametrize("name", ["analysis", "design", "advice", "study"])
def test_each_is_an_answer_with_a_table_and_a_figure_and_nothing_of_it_can_run(values, name):
    page = notebook_html(values[name])

    found = parsed(page)
    assert {"strong", "table", "img"} <= found.tags <= ALLOWED
    assert found.attributes <= {"scope", "alt", "src"}
    assert values[name]._repr_html_() == page
    image = base64.b64decode(re.search(r"base64,([^\"]+)", page)[1]).decode()
    assert "<svg" in image
    assert "<script" not in image


def test_the_table_of_an_analysis_has_its_numbers_and_the_names_escaped(values):
    page = notebook_html(values["analysis"])

    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == 4
    assert "mean" in page


def test_a_long_table_is_cut_and_says_so():
    page = notebook_html(am.required_instances(comparisons=30, effect=0.5, power=0.8))

    assert "more rows." in page
