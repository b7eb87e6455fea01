"""The 22 algorithms of the paper's first experiment: `full`, and it without one or two of its neighbourhoods."""

from __future__ import annotations

from itertools import combinations

# the order in which the paper's names list the neighbourhoods: no-SHF.no-SWP, no-DSW.no-TSK, no-TSK.no-2SH
ORDER = ("SHF", "DSW", "SWP", "SWT", "TSK", "2SH")
FULL = "full"


def variant_name(*disabled: str) -> str:
    """Return the name of the variant without these neighbourhoods.

    >>> variant_name("TSK", "SWP")
    'no-SWP.no-TSK'
    """
    return ".".join(f"no-{family}" for family in ORDER if family in disabled) or FULL


def disabled_by(name: str) -> tuple[str, ...]:
    """Return the neighbourhoods that a variant of this name lacks.

    >>> disabled_by("no-SHF.no-SWP")
    ('SHF', 'SWP')
    """
    parts = () if name == FULL else tuple(part.removeprefix("no-") for part in name.split("."))
    if any(part not in ORDER for part in parts) or variant_name(*parts) != name:
        raise ValueError(f"a variant is called 'full' or like 'no-TSK' or 'no-SHF.no-SWP', got {name!r}")
    return parts


def paper_variants() -> tuple[str, ...]:
    """Return `full` and the 21 variants without one or two neighbourhoods, in the order of their names' parts.

    >>> len(paper_variants())
    22
    """
    subsets = [subset for size in (1, 2) for subset in combinations(ORDER, size)]
    return (FULL, *(variant_name(*subset) for subset in subsets))


def follow_up_variants() -> tuple[str, ...]:
    """Return the 8 algorithms of the paper's second experiment: `full`, and without subsets of SHF, SWP, SWT."""
    subsets = [subset for size in (1, 2, 3) for subset in combinations(("SHF", "SWP", "SWT"), size)]
    return (FULL, *(variant_name(*subset) for subset in subsets))
