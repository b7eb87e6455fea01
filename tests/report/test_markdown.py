from __future__ import annotations

import re

import pytest

from ampler.report import Subject, render
from ampler.report.markdown import as_markdown


@pytest.mark.parametrize("analysis", ["nasty", "gappy"])
def test_markdown_tables_have_the_same_number_of_cells_in_every_row(analysis, request):
    text = render(Subject("x", request.getfixturevalue(analysis)), "md")

    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in block.splitlines()}
        assert len(cells) == 1


def test_markdown_shows_names_as_they_stand(nasty, nasty_names):
    text = render(Subject("x", nasty), "md")

    for name in nasty_names:
        assert as_markdown(name) in text
    assert "<script>" not in text


def test_markdown_has_the_paragraph_and_its_entries(nasty):
    text = render(Subject("x", nasty), "md")

    assert "## Method" in text
    assert "@article{holm1979," in text
