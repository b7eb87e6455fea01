"""`upmsp-demo` prepares a study that `ampler run` carries out."""

import sys

import pytest

import ampler as am
from ampler.app.cli import main as ampler
from ampler.study.toml import read_study_file
from ampler_upmsp.demo import main


def test_the_study_compares_five_variants_with_full_on_the_instances_that_the_power_needs(tmp_path, capsys):
    assert main(["--output", str(tmp_path / "demo")]) == 0
    plan = read_study_file(tmp_path / "demo" / "study.toml").plan
    assert len(plan.algorithms) == 6
    assert (len(plan.instances), plan.needed, len(plan.untouched)) == (14, 14, 4)
    assert plan.instances[0].features.keys() == {"jobs", "machines", "setups"}
    assert "18 random instances" in capsys.readouterr().out


def test_what_a_user_has_changed_is_left_alone_and_a_file_in_the_way_is_told(tmp_path, capsys):
    main(["--output", str(tmp_path)])
    (tmp_path / "study.toml").write_text("mine")
    assert main(["--output", str(tmp_path)]) == 0
    assert (tmp_path / "study.toml").read_text() == "mine"
    assert main(["--output", str(tmp_path / "study.toml")]) == 1
    assert "choose another folder" in capsys.readouterr().err


def test_a_smaller_version_goes_from_nothing_to_the_report(tmp_path, monkeypatch, few_figures):
    main(["--output", str(tmp_path)])
    study = tmp_path / "study.toml"
    smaller = study.read_text().replace("iterations = 200_000", "iterations = 2_000").replace("se = 0.05", "se = 0.5")
    study.write_text(smaller.replace("effect = 1.0", "effect = 3.0"))
    for words in (["run", study, "--workers", "2"], ["report", tmp_path / "study.db", "-o", tmp_path / "report.html"]):
        monkeypatch.setattr(sys, "argv", ["ampler", *map(str, words)])
        with pytest.raises(SystemExit) as leaving:
            ampler()
        assert not leaving.value.code
    analysis = am.analyse(tmp_path / "study.db")
    worst = min(analysis.comparisons, key=lambda each: each.estimate)
    assert (worst.first, worst.second) == ("full", "no-TSK")
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
