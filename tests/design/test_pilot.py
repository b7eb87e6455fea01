"""What a pilot showed, as a value."""

import json
import math

from ampler.core.serialization import record_data
from ampler.design.detect import PilotReport


def test_a_report_is_kept_as_plain_data_even_where_a_number_is_not_known(report):
    data = json.loads(json.dumps(record_data(report().to_data())))
    back = PilotReport.from_data(data)
    assert math.isnan(back.skewness[1])
    assert str(back) == str(report())


def test_it_knows_who_goes_on_and_who_left(report):
    assert report().continuing == (0,)
    assert report().left == ("b",)
    assert report().pilot == 3


def test_units_change_what_has_a_unit(report):
    other = report().times(100.0)
    assert (other.detect, other.means, other.se) == (2.0, (1.0, 20.0), 1.0)
    assert (other.noise_shares, other.p_values) == (report().noise_shares, report().p_values)


def test_fewer_instances_than_needed_are_not_enough(report):
    assert report().is_enough
    assert not report(needed=92).is_enough
