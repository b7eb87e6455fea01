"""The kinds of arrays have one home."""

from pathlib import Path

import pytest

import ampler
from ampler.core import arrays

SOURCE = Path(ampler.__file__).parent


def elsewhere() -> list[Path]:
    return [path for path in SOURCE.rglob("*.py") if path != Path(arrays.__file__)]


@pytest.mark.parametrize("kind", ["float64", "int64", "intp", "bool_"])
def test_no_other_module_spells_a_kind_of_array(kind: str) -> None:
    assert [path.name for path in elsewhere() if f"NDArray[np.{kind}]" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("name", ["Floats", "Counts", "Codes", "Bools", "Pair", "Interval"])
def test_no_other_module_defines_a_name_again(name: str) -> None:
    assert [path.name for path in elsewhere() if f"\n{name} = " in path.read_text(encoding="utf-8")] == []
