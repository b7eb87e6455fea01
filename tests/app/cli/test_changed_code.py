"""Changed code, from the shell: nothing runs before the user has said what it means."""

import commands
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


def test_a_change_is_asked_about_once_and_made_anew_on_demand(study, shell):
    assert shell("run", study).code == 0
    study.with_name("mine.sh").write_text("echo $((100 + $1 % 7))")

    refused = shell("run", study)
    assert refused.code == 1
    assert "the code of algorithm 'mine' has changed since its 6 recorded runs were made (mine.sh)" in refused.err
    assert "'other'" not in refused.err
    assert max(values(study, "mine")) < 100

    checked = shell("check", study)
    assert "has changed since its 6 recorded runs" in checked.words
    assert "from the record" in checked.words
    assert max(values(study, "mine")) < 100, "a look records nothing of it"

    again = shell("run", study, "--again")
    assert "(6 new)" in again.words
    assert min(values(study, "mine")) >= 100
    assert shell("run", study).code == 0

    table = study.with_name("old.csv")
    assert "6 superseded attempts are written" in shell("export", study.with_suffix(".db"), table, "--superseded").words
    assert len(table.read_text().splitlines()) == 7
    assert "12 runs are written" in shell("export", study.with_suffix(".db"), study.with_name("new.csv")).words


def test_a_change_that_does_not_matter_is_remembered_and_told_with_the_results(study, shell):
    shell("run", study)
    study.with_name("mine.sh").write_text("# a remark\necho $(($1 % 7))")

    assert "(0 new)" in shell("run", study, "--same").words
    assert shell("run", study).code == 0
    assert "mine (mine.sh)" in shell("analyse", study.with_suffix(".db")).words


def test_same_and_again_together_are_refused(study, shell):
    answer = shell("run", study, "--same", "--again")

    assert answer.code == 2
    assert "--same and --again contradict each other" in answer.err


def test_what_is_still_to_be_made_is_told_before_it_is(study, shell):
    shell("run", study)
    study.write_text(STUDY.replace("runs = 3", "runs = 5"))

    told = " ".join(shell("check", study).out.split())
    run = shell("run", study)

    assert "8 runs more (in addition to 12 recorded ones)" in told
    assert "12 runs recorded, 8 more to make on 2 instances." in " ".join(run.err.split())
    assert "The plan has changed. runs 3 → 5" in " ".join(run.err.split())
    assert "(8 new)" in run.words


MODULE = """
LIMIT = 7
def shared(seed): return seed % LIMIT
def mine(instance, seed): return 1.0 + shared(seed)
def other(instance, seed): return 2.0 + shared(seed)
"""


@pytest.fixture
def functions(tmp_path):
    text = STUDY.replace('command = "sh mine.sh {seed} {instance}"', 'python = "solvers_by_name:mine"')
    text = text.replace('command = "sh other.sh {seed} {instance}"', 'python = "solvers_by_name:other"')
    (tmp_path / "study.toml").write_text(text)
    (tmp_path / "solvers_by_name.py").write_text(MODULE)
    assert commands.process("run", "study.toml", cwd=tmp_path).returncode == 0
    return tmp_path / "study.toml"


def edited(study, old, new):
    """Edit the module, and run in a process of its own, which imports it afresh."""
    module = study.with_name("solvers_by_name.py")
    module.write_text(module.read_text().replace(old, new))
    return lambda *options: commands.process("run", study.name, *options, cwd=study.parent)


def test_an_edited_function_asks_about_the_algorithms_that_use_it(functions):
    run = edited(functions, "1.0 + shared", "101.0 + shared")
    refused = run()
    assert "algorithm 'mine' has changed" in refused.stderr
    assert "'other' has changed" not in refused.stderr

    assert run("--rerun", "mine").returncode == 0
    assert min(values(functions, "mine")) >= 101
    assert max(values(functions, "other")) < 10


@pytest.mark.parametrize(("old", "new"), [("LIMIT = 7", "LIMIT = 5"), ("return seed %", "return 3 + seed %")])
def test_an_edit_that_all_use_asks_about_all_and_each_has_its_answer(functions, old, new):
    before = values(functions, "other")
    run = edited(functions, old, new)
    for options in ([], ["--rerun", "mine"], ["--keep", "other"], ["--keep", "nobody"]):
        assert run(*options).returncode == 1, options
    assert run("--keep", "mine", "--rerun", "mine", "--keep", "other").returncode == 1

    assert run("--rerun", "mine", "--keep", "other").returncode == 0
    assert values(functions, "other") == before
    assert run().returncode == 0


@pytest.mark.parametrize("use", ["TABLE = {'x': other}\n", "globals\n", "'other'\n"])
def test_what_may_be_used_by_name_or_in_a_table_counts_as_used(functions, use):
    module = functions.with_name("solvers_by_name.py")
    module.write_text(module.read_text() + use)
    assert commands.process("run", "study.toml", "--same", cwd=functions.parent).returncode == 0

    assert "algorithm 'mine' has changed" in edited(functions, "2.0 + shared", "102.0 + shared")().stderr
