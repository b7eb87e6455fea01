"""The table of a study with interim analyses as text."""

from interim_studies import small_analysis

from ampler.analysis.rows import rows_of
from ampler.analysis.tables import comparison_columns


def test_a_row_has_verdict_interval_adjusted_p_and_the_interim_analysis_at_which_it_stopped():
    columns = {column.head: column.cells for column in comparison_columns(small_analysis()).columns}

    assert {"repeated 95 % CI", "adj. p", "look", "verdict"} <= columns.keys()
    assert (columns["verdict"][0], columns["look"][0]) == ("worse", "1")


def test_what_is_not_decided_is_continuing():
    analysis = small_analysis(done=1)

    assert {row.verdict_text for row in rows_of(analysis)} == {"worse", "continuing"}
