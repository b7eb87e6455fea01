"""The rows of the comparisons as markup: safe, whole, and with a style for all it says."""

from __future__ import annotations

from ampler.report.forest import forest_of
from ampler.report.forest_html import components_css, forest_html


def test_names_are_escaped_wherever_they_stand(nasty, nasty_names):
    text = forest_html(forest_of(nasty))

    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2


def test_every_class_of_a_verdict_has_its_colour():
    style = components_css()

    assert all(f".{name}" in style for name in ("better", "worse", "equivalent", "undecided", "not-compared"))


def test_the_band_of_the_margin_is_drawn_where_there_is_one(study_of):
    assert 'class="band"' in forest_html(forest_of(study_of(["one", "two"], margin=0.5)))
    assert 'class="band"' not in forest_html(forest_of(study_of(["one", "two"])))


def test_folded_rows_are_in_the_page_and_counted(study_of):
    text = forest_html(forest_of(study_of([f"a{k}" for k in range(9)])))

    assert "12 more comparisons" in text
    assert text.count('<th scope="row"') == 36


def test_an_interval_without_an_end_has_an_arrow(study_of):
    assert 'class="arrow"' in forest_html(forest_of(study_of(["one", "two"], alternative="less", reference="one")))
