"""The sentence for a damaged file."""

from pathlib import Path

import pytest

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.study.store.access import damaged, surprises_as_damage

STUDY = Path("/somewhere/study.db")


def test_the_sentence_names_what_was_found_and_the_way_out_in_one_line():
    sentence = str(damaged(STUDY, "a\x1b[2J\nb" + "x" * 1000))

    assert sentence.startswith("study.db is damaged (a\\x1b[2J b")
    assert sentence.endswith("ampler rescue study.db -o rescued.db")
    assert len(sentence) < 400


@pytest.mark.parametrize(
    "surprise", [KeyError("x"), ValueError("x"), TypeError("x"), RecursionError(), OverflowError()]
)
def test_what_surprises_a_reader_is_damage(surprise):
    with pytest.raises(StoreUnusable, match="its plan cannot be read"), surprises_as_damage(STUDY, "its plan"):
        raise surprise


@pytest.mark.parametrize("other", [StoreBusy("x"), KeyboardInterrupt(), MemoryError()])
def test_what_is_no_surprise_passes(other):
    with pytest.raises(type(other)), surprises_as_damage(STUDY, "its plan"):
        raise other
