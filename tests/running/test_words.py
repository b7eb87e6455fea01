"""What is said of a study that runs."""

from ampler.running import Progress
from ampler.running.progress import carried_out, under_way
from ampler.study.failure_patterns import CommonFailure

SOME = Progress(40, 12, runs=8419, new=300, failures=3, seconds=75, rate=4.25, error=0.0621, target=0.05, left=200)


def test_progress_is_one_line():
    assert under_way(SOME) == ("12/40 instances, 8,419 runs, SE 0.0621 (target 0.05), 3 failed, 3 min left")
    assert under_way(Progress(40, 0)) == "0/40 instances, 0 runs, 0.00 runs/s"
    endless = Progress(10**6, 10**6 - 1, 10**9, 10**9, failures=10**6, error=0.06211, target=0.0512, left=10**6)
    assert len(under_way(endless)) <= 80


def test_what_was_done_names_spent_budgets_and_failed_runs_only_where_there_are_any():
    well = Progress(2, 2, runs=40, new=12)
    assert carried_out("mine", well, ["accuracy reached"] * 2, "study.db") == (
        "mine: all 2 instances finished. 40 runs recorded in study.db (12 new)."
    )
    badly = Progress(2, 2, runs=40, new=12, failures=3)
    assert carried_out("mine", badly, ["accuracy reached", "budget spent"], "study.db").endswith(
        "The budget was reached on 1 instance, before the target SE. 3 runs failed and gave no value."
    )


def test_one_run_that_failed_is_one():
    progress = Progress(1, 1, runs=1, new=1, seconds=0.0, rate=1.0, failures=1)
    assert "1 run failed and gave no value." in carried_out("s", progress, [], "s.db")
    assert "1 run recorded in s.db" in carried_out("s", progress, [], "s.db")


def test_what_was_done_names_the_commonest_failure():
    badly = Progress(2, 2, runs=40, new=12, failures=3)

    said = carried_out("mine", badly, ["runs done"] * 2, "study.db", CommonFailure("it ended with exit code 10", 3, 3))

    assert said.endswith("3 runs failed and gave no value, every time: it ended with exit code 10.")
