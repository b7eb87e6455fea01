"""The names of the paper's variants."""

import pytest

from ampler_upmsp.variants import disabled_by, follow_up_variants, paper_variants


def test_the_first_experiment_has_full_and_21_variants():
    variants = paper_variants()
    assert len(set(variants)) == 22
    assert {"full", "no-TSK", "no-SHF.no-SWP", "no-TSK.no-2SH", "no-DSW.no-TSK"} <= set(variants)
    assert sorted(len(disabled_by(name)) for name in variants) == [0] + [1] * 6 + [2] * 15


def test_the_second_experiment_has_full_and_seven_variants():
    assert len(follow_up_variants()) == 8
    assert disabled_by("no-SHF.no-SWP.no-SWT") == ("SHF", "SWP", "SWT")


@pytest.mark.parametrize("name", ["no-XXX", "no-TSK.no-SHF", "", "TSK", "no-TSK.no-TSK"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="variant"):
        disabled_by(name)
