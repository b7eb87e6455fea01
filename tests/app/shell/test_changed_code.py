"""Changed code, from the shell: nothing runs before the user has said what it means."""

import pytest

from ampler.study.store import read_store

STUDY = """
difference = "simple"
better = "lower"
seed = 5
[rule]
allocation = "fixed"
runs = 3
[[algorithm]]
name = "mine"
command = "sh mine.sh {seed} {instance}"
[[algorithm]]
name = "other"
command = "sh other.sh {seed} {instance}"
[instances]
names = ["i1", "i2"]
use = "all"
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    for name in ("mine", "other"):
        (tmp_path / f"{name}.sh").write_text("echo $(($1 % 7))")
    return tmp_path / "study.toml"


def values(study, name):
    with read_store(study.with_suffix(".db")) as store:
        return [seen.value for seen in store.observations() if seen.key.algorithm == name]


def test_a_change_is_asked_about_once_and_made_anew_on_demand(study, apart):
    assert apart("run", study).code == 0
    study.with_name("mine.sh").write_text("echo $((100 + $1 % 7))")

    refused = apart("run", study)
    assert refused.code == 1
    assert "the code of algorithm 'mine' has changed since its 6 recorded runs were made (mine.sh)" in refused.err
    assert "'other'" not in refused.err
    assert max(values(study, "mine")) < 100

    checked = apart("check", study)
    assert "has changed since its 6 recorded runs" in checked.words
    assert "from the record" in checked.words
    assert max(values(study, "mine")) < 100, "a look records nothing of it"

    again = apart("run", study, "--again")
    assert "6 of them new" in again.words
    assert min(values(study, "mine")) >= 100
    assert apart("run", study).code == 0

    table = study.with_name("old.csv")
    assert "6 superseded attempts are written" in apart("export", study.with_suffix(".db"), table, "--superseded").words
    assert len(table.read_text().splitlines()) == 7
    assert "12 runs are written" in apart("export", study.with_suffix(".db"), study.with_name("new.csv")).words


def test_a_change_that_does_not_matter_is_remembered_and_told_with_the_results(study, apart):
    apart("run", study)
    study.with_name("mine.sh").write_text("# a remark\necho $(($1 % 7))")

    assert "0 of them new" in apart("run", study, "--same").words
    assert apart("run", study).code == 0
    assert "said to give the same values: mine (mine.sh)" in apart("analyse", study.with_suffix(".db")).words


def test_same_and_again_together_are_refused(study, apart):
    answer = apart("run", study, "--same", "--again")

    assert answer.code == 2
    assert "--same and --again contradict each other" in answer.err


def test_what_is_still_to_be_made_is_told_before_it_is(study, apart):
    apart("run", study)
    study.write_text(STUDY.replace("runs = 3", "runs = 5"))

    told = " ".join(apart("check", study).out.split())
    run = apart("run", study)

    assert "the study will take 8 runs more, beside the 12 that are recorded," in told
    assert "12 runs recorded, 8 more to be made on 2 instances." in " ".join(run.err.split())
    assert "The plan has changed. runs 3 → 5" in " ".join(run.err.split())
    assert "8 of them new" in run.words
