"""Names made of the parts in which they differ."""

from __future__ import annotations

import pytest

from ampler.core.errors import InvalidData
from ampler.data.imports.reader import frame_of, varying_parts


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ([("a", "1"), ("a", "2")], ["1", "2"]),
        ([("a", "1"), ("b", "2")], ["a 1", "b 2"]),
        ([("a", "1")], ["a 1"]),
        ([("", "1"), ("x", "1")], ["-", "x"]),
    ],
)
def test_names_have_the_parts_in_which_they_differ(parts, names):
    assert varying_parts(parts) == names


def test_no_rows_are_no_results():
    with pytest.raises(InvalidData, match="holds no finished run of COCO"):
        frame_of([], "folder", "COCO")
