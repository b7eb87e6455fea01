"""upmsp-solve as other programs meet it: one line on stdout, or one sentence on stderr."""

import subprocess
import sys

import pytest

from ampler_upmsp.command import main
from ampler_upmsp.instance import generate_instance, write_instance


@pytest.fixture
def instance_file(tmp_path):
    path = tmp_path / "small.txt.gz"
    write_instance(generate_instance(12, 3, 9, seed=1), path)
    return path


def test_it_prints_makespan_iterations_and_nanoseconds(instance_file):
    command = [sys.executable, "-m", "ampler_upmsp", str(instance_file), "--seed", "4", "--iterations", "5000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    makespan, iterations, nanoseconds = map(int, done.stdout.split())
    assert makespan > 0
    assert iterations == 5000
    assert nanoseconds > 0


def test_it_writes_the_schedule_and_the_incumbents(instance_file, tmp_path, capsys):
    out, track = tmp_path / "solution.txt", tmp_path / "track.csv"
    assert main([str(instance_file), "--iterations", "2000", "--solution", str(out), "--track", str(track)]) == 0
    makespan = capsys.readouterr().out.split()[0]
    first, *machines = out.read_text().split("\n\n")[0].splitlines()
    assert first == "3"
    assert sorted(int(job) for line in machines for job in line.split()[1:]) == list(range(12))
    assert out.read_text().endswith(f"Total makespan: {makespan}\n")
    assert track.read_text().splitlines()[-1].endswith(f",{makespan}")


def test_it_draws_the_schedule_and_refuses_other_formats_before_it_searches(instance_file, tmp_path, capsys):
    assert main([str(instance_file), "--iterations", "2000", "--gantt", str(tmp_path / "gantt.svg")]) == 0
    assert "<svg" in (tmp_path / "gantt.svg").read_text()
    with pytest.raises(SystemExit):
        main([str(instance_file), "--gantt", "gantt.docx"])
    assert "must end in .svg, .pdf or .png, got 'gantt.docx'" in capsys.readouterr().err


def test_both_names_of_a_neighbourhood_mean_the_same(instance_file, capsys):
    makespans = set()
    for name in ("task-move", "TSK"):
        assert main([str(instance_file), "--iterations", "3000", "--disable", name]) == 0
        makespans.add(capsys.readouterr().out.split()[0])
    assert len(makespans) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["missing.txt"], "missing.txt"),
        (["{file}", "--cooling", "2"], "cooling"),
        (["{file}", "--iterations", "-1"], "-1"),
    ],
)
def test_a_problem_is_one_sentence_and_exit_code_one(arguments, says, instance_file, capsys):
    assert main([part.format(file=instance_file) for part in arguments]) == 1
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1
