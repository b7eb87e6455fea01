"""Mark, colour, sign and verdict of a comparison agree in every medium, with and without a reference."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from ampler import analyse
from ampler.analysis.rows import rows_of
from ampler.analysis.tables import comparison_columns
from ampler.app.cli.output import mark_colours
from ampler.core.verdicts import MARKS, opposite
from ampler.plots import draw_verdict, intervals_data, verdict_data
from ampler.report.latex import holm_table
from ampler.report.rows import forest_of
from ampler.report.svg import forest_html
from ampler.report.tables import comparisons_table
from ampler.report.theme import TERMINAL, VERDICTS

CASES = [(better, reference) for better in ("lower", "higher") for reference in (None, "one")]


@pytest.fixture(scope="module", params=CASES, ids=str)
def analysis(request):
    """Three algorithms, of which one is far larger and one is nearly the same."""
    better, reference = request.param
    rng = np.random.default_rng(4)
    level = rng.uniform(90, 110, 14)
    frame = pd.DataFrame({"instance": [f"i{k}" for k in range(14)], "one": level + rng.normal(0, 1, 14)})
    frame["near"] = level + rng.normal(0, 1, 14)
    frame["far"] = level + 20 + rng.normal(0, 1, 14)
    return analyse(frame, difference="ratio", better=better, reference=reference)


def truth(analysis):
    """By name of the row: verdict, sign of the estimate, from the arrays alone."""
    result = {}
    with_reference = analysis.settings.reference is not None
    for (first, second), column in zip(analysis.pairs, analysis.differences.T, strict=True):
        name = second if with_reference else f"{first} − {second}"
        result[name] = of_subject(analysis, -column if with_reference else column, "far" in (first, second))
    return result


def of_subject(analysis, differences, is_clear):
    sign = np.sign(differences.mean())
    is_better = (sign > 0) == (analysis.settings.better == "higher")
    return ("better" if is_better else "worse") if is_clear else "inconclusive", sign


def truth_of_lines(analysis):
    """The same of the lines of a page: without a reference a line is an algorithm, compared with the first line."""
    if analysis.settings.reference is not None:
        return truth(analysis)
    leader = forest_of(analysis).lines[0].name
    result = {}
    for (first, second), column in zip(analysis.pairs, analysis.differences.T, strict=True):
        if leader in (first, second):
            name, sign = (second, -1) if first == leader else (first, 1)
            result[name] = of_subject(analysis, sign * column, "far" in (first, second))
    return result


def sign_of(text):
    return -1 if text.startswith(("−", "$-")) else 1


def test_rows_have_the_verdict_and_sign_of_their_subject(analysis):
    assert {row.name: (row.verdict, np.sign(row.estimate)) for row in rows_of(analysis)} == truth(analysis)


def test_the_terminal_agrees(analysis):
    columns = comparison_columns(analysis).columns
    marks, names, estimates, verdicts = (columns[k].cells for k in (0, 1, 2, -1))

    found = {name: (verdict, sign_of(text)) for name, verdict, text in zip(names, verdicts, estimates, strict=True)}
    assert found == truth(analysis)
    assert list(marks) == [MARKS[verdict] for verdict in verdicts]
    assert [mark_colours()[mark] for mark in marks] == [TERMINAL[verdict] for verdict in verdicts]


def test_the_page_and_the_browser_agree(analysis):
    page = forest_html(forest_of(analysis))
    found = {}
    for row in re.findall(r'<tr class="(?!"").*?</tr>', page, re.DOTALL):
        cells = dict(re.findall(r'<t[dh][^>]*class="(mark|estimate|verdict|name)[^"]*"[^>]*>(.*?)</t', row, re.DOTALL))
        verdict = re.match(r'<tr class="([a-z]+)"', row)[1]  # which gives the colour
        if verdict == "leader":
            continue
        assert cells.get("mark", MARKS[verdict]) == MARKS[verdict]
        assert cells.get("verdict", verdict) == verdict
        found[unescape(cells["name"])] = verdict, sign_of(cells["estimate"])

    assert found == truth_of_lines(analysis)


def test_the_figures_agree(analysis):
    data = verdict_data(analysis)
    drawn = [(line.get_color(), line.get_marker()) for line in draw_verdict(data).lines if line.get_markersize() == 6.5]
    assert drawn == [VERDICTS[truth_of_lines(analysis)[row.name][0]] for row in data.rows]

    rows = intervals_data(analysis).rows
    assert {row.label: (row.kind, np.sign(row.estimate)) for row in rows} == truth(analysis)


def test_the_tables_and_latex_agree(analysis):
    table = comparisons_table(analysis)
    found = {row[1].text: (row[2].text, sign_of(row[3].text)) for row in table.rows}
    assert found == truth(analysis)

    lines = [
        line.removesuffix(r" \\").split(" & ") for line in holm_table(analysis).splitlines() if line.count("&") > 3
    ]
    place = lines[0].index(next(head for head in lines[0] if head.startswith("mean")))
    written = {cells[1].replace("$-$", "−"): (cells[-1], sign_of(cells[place])) for cells in lines[1:]}
    assert written == truth(analysis)


def test_json_keeps_first_minus_second_and_its_sentence_has_the_subject_of_the_row(analysis):
    comparisons = json.loads(json.dumps(analysis.as_dict()))["comparisons"]

    with_reference = analysis.settings.reference is not None
    for row, written in zip(rows_of(analysis), comparisons, strict=True):
        verdict, sign = truth(analysis)[row.name]
        assert np.sign(written["estimate"]) == (-sign if with_reference else sign)
        other = opposite(verdict)
        word = "Inconclusive" if verdict == "inconclusive" else f"{row.subject} is {verdict} than {row.other}"
        assert written["verdict"].startswith(word)
        assert written["direction"] == {"algorithm": row.subject, "verdict": verdict}
        assert other == "inconclusive" or f"is {other} than" not in written["verdict"]
