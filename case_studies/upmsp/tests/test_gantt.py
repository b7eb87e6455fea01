"""The Gantt chart's bars are the schedule; the drawing shows them."""

from itertools import pairwise

from matplotlib.figure import Figure

from ampler_upmsp.gantt import Bar, draw_gantt, gantt_data
from ampler_upmsp.instance import generate_instance
from ampler_upmsp.solution import checked, machine_time

INSTANCE = generate_instance(6, 3, 9, seed=1)
SOLUTION = checked(INSTANCE, [[2, 0, 4], [1, 5], [3]])


def test_bars_follow_each_other_and_end_when_the_machine_ends():
    bars = gantt_data(INSTANCE, SOLUTION)
    assert [(bar.machine, bar.job) for bar in bars] == [(0, 2), (0, 0), (0, 4), (1, 1), (1, 5), (2, 3)]
    for machine, sequence in enumerate(SOLUTION.sequences):
        own = [bar for bar in bars if bar.machine == machine]
        assert own[-1].end == machine_time(INSTANCE, machine, sequence)
        assert all(before.end == after.setup_start <= after.start for before, after in pairwise(own))


def test_the_drawing_has_a_bar_for_each_setup_and_each_job():
    ax = draw_gantt(gantt_data(INSTANCE, SOLUTION), Figure().subplots())
    assert len(ax.patches) == 12
    assert str(SOLUTION.makespan) in ax.get_legend().get_texts()[1].get_text()


def test_a_job_without_room_has_no_number():
    bars = (Bar(0, 7, 0, 0, 1000), Bar(1, 8, 0, 5, 10))
    assert [text.get_text() for text in draw_gantt(bars).texts] == ["7"]
