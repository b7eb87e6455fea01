"""Values that show themselves in a notebook ask the room of reports."""

import pytest

import ampler as am
from ampler.analysis.advice import Advice
from ampler.core.notebooks import shown_in_notebook


@pytest.mark.parametrize("kind", [am.Design, am.Analysis, Advice, am.Study])
def test_what_people_look_at_has_a_page(kind):
    assert kind._repr_html_ is shown_in_notebook


def test_anything_else_is_shown_as_its_text():
    assert shown_in_notebook("<b>") == "<pre>&lt;b&gt;</pre>"
