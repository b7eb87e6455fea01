"""What is said of a study that runs."""

from ampler.running import Progress
from ampler.running.words import carried_out, under_way
from ampler.study.failing import CommonFailure

SOME = Progress(40, 12, runs=8419, new=300, failures=3, seconds=75, rate=4.25, error=0.0621, target=0.05, left=200)


def test_progress_is_one_line():
    assert under_way(SOME) == (
        "12 of 40 instances, 8,419 runs, 4.25 runs/s, worst SE 0.0621 (target 0.05), 3 failed, about 3 min left"
    )
    assert under_way(Progress(40, 0)) == "0 of 40 instances, 0 runs, 0.00 runs/s"


def test_what_was_done_names_spent_budgets_and_failed_runs_only_where_there_are_any():
    well = Progress(2, 2, runs=40, new=12)
    assert carried_out("mine", well, ["accuracy reached"] * 2, "study.db") == (
        "mine: all 2 instances are finished; 40 runs are recorded in study.db, 12 of them new."
    )
    badly = Progress(2, 2, runs=40, new=12, failures=3)
    assert carried_out("mine", badly, ["accuracy reached", "budget spent"], "study.db").endswith(
        "On 1 of them the budget was spent before the accuracy was reached. 3 runs failed and gave no value."
    )


def test_one_run_that_failed_is_one():
    progress = Progress(1, 1, runs=1, new=1, seconds=0.0, rate=1.0, failures=1)
    assert "1 run failed and gave no value." in carried_out("s", progress, [], "s.db")
    assert "1 run is recorded in s.db" in carried_out("s", progress, [], "s.db")


def test_what_was_done_names_the_commonest_failure():
    badly = Progress(2, 2, runs=40, new=12, failures=3)

    said = carried_out("mine", badly, ["runs done"] * 2, "study.db", CommonFailure("it ended with exit code 10", 3, 3))

    assert said.endswith("3 runs failed and gave no value, every time: it ended with exit code 10.")
