"""Accents have two spellings in Unicode: a name is the same in both, at every entrance."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing

import commands
import numpy as np
import pandas as pd
import pytest
from flat_study import flat_advise, flat_analyse

import ampler as am
from ampler.core.arrays import Runs
from ampler.core.measures import Measure
from ampler.study.toml import read_study_file
from ampler.testing import SerialExecutor

ONE, TWO = "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"
ASKED = {"difference": "simple", "better": "lower"}


def long_table(name, instance="problem"):
    rng = np.random.default_rng(1)
    rows = [(who, f"i{k}", rng.random()) for k in range(6) for who in (name, "other") for _ in range(3)]
    return pd.DataFrame(rows, columns=["algorithm", instance, "value"])


@pytest.mark.parametrize(("name", "reference"), [(ONE, TWO), (TWO, ONE), (TWO, TWO)])
@pytest.mark.parametrize("kind", ["frame", "csv", "json", "parquet", "wide", "runs"])
def test_a_reference_is_found_in_either_spelling(name, reference, kind, tmp_path):
    frame = long_table(name)
    source = tmp_path / f"runs.{kind}"
    if kind == "frame":
        source = frame
    elif kind == "runs":
        source = Runs.from_columns(frame["problem"], frame["algorithm"], frame["value"])
    elif kind == "wide":
        source = frame.groupby(["problem", "algorithm"])["value"].mean().unstack().rename_axis(None, axis=1)
    elif kind == "json":
        source.write_text(json.dumps(frame.to_dict("records")))
    elif kind == "csv":
        frame.to_csv(source, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(source)
    analysis = flat_analyse(source, reference=reference, **ASKED)
    assert analysis.settings.reference == ONE
    assert [(each.first, each.second) for each in analysis.comparisons] == [(ONE, "other")]


@pytest.mark.parametrize("where", ["cells", "Runs"])
def test_two_spellings_are_one_algorithm_and_no_comparison(where):
    frame = long_table(ONE)
    frame.loc[::2, "algorithm"] = frame.loc[::2, "algorithm"].str.replace(ONE, TWO)
    source = frame if where == "cells" else Runs.from_columns(frame["problem"], frame["algorithm"], frame["value"])
    assert [row.algorithm for row in flat_analyse(source, **ASKED).algorithms] == [ONE, "other"]


def test_columns_algorithms_and_rows_are_chosen_in_either_spelling():
    frame = long_table(TWO, instance=f"{TWO} problem").assign(part=[ONE, TWO, "x"] * 12)
    asked = {"instance": f"{ONE} problem", "where": {"part": ONE}, "ignore": "part", "algorithms": [ONE, "other"]}
    analysis = flat_analyse(frame, **asked, **ASKED)
    assert (analysis.instances, analysis.runs) == (6, 24)
    assert {row.algorithm for row in analysis.algorithms} == {ONE, "other"}


def test_a_study_in_python_takes_either_spelling_everywhere(tmp_path):
    def study(name, reference):
        return am.Study(
            algorithms={name: lambda instance, seed: seed % 7, "other": lambda instance, seed: seed % 5},
            instances={f"{name} {k}": k for k in range(4)},
            reference=reference,
            design=am.FixedSize(
                runs=am.Accuracy(se=5.0, difference="simple", reference=reference, start=3, costs={name: 2.0})
            ),
            **ASKED,
        )

    path = tmp_path / "study.db"
    first = study(ONE, TWO).run(path, executor=SerialExecutor(), progress=False)
    again = study(TWO, ONE).run(path, executor=SerialExecutor(), progress=False)
    assert (again.runs, again.settings.reference) == (first.runs, ONE)
    assert am.analyse(path, reference=TWO).settings.reference == ONE


@pytest.mark.parametrize("spelling", [ONE, TWO])
def test_clusters_are_given_by_either_spelling(spelling):
    clusters = {f"{spelling} {k}": "xyz"[k % 3] for k in range(6)}
    study = am.Study(
        algorithms={name: lambda instance, seed: seed % 7 for name in "ab"},
        instances={f"{ONE} {k}": k for k in range(6)},
        cluster=clusters,
        design=am.FixedSize(runs=2),
        **ASKED,
    )
    assert study.check()
    frame = long_table("a").assign(problem=lambda rows: rows["problem"].str.replace("i", f"{TWO} "))
    analysis = am.analyse(am.read_results(frame, cluster=clusters), **ASKED)
    assert analysis.as_dict()["clusters"] == 3


def test_a_study_definition_takes_either_spelling_of_names_features_and_files(tmp_path):
    (tmp_path / "instances").mkdir()
    for k in range(4):
        (tmp_path / "instances" / f"{TWO}-{k}.txt").write_text(str(k))
    rows = "".join(f"instances/{ONE}-{k}.txt,{k % 2}\n" for k in range(4))
    (tmp_path / "features.csv").write_text(f"instance,{TWO}\n{rows}")
    (tmp_path / "study.toml").write_text(
        f'difference = "simple"\nbetter = "lower"\nreference = "{ONE}"\n[rule]\nallocation = "fixed"\nruns = 2\n'
        + "".join(f'[[algorithm]]\nname = "{name}"\ncommand = "echo {{instance}} {{seed}}"\n' for name in (TWO, "b"))
        + '[instances]\nfiles = ["instances/*.txt"]\nfeatures = "features.csv"\nuse = "all"\n'
    )
    plan = read_study_file(tmp_path / "study.toml").plan
    assert plan.question.reference == plan.algorithms[0].name == ONE
    assert {instance.name for instance in plan.instances} == {f"instances/{ONE}-{k}.txt" for k in range(4)}
    assert all(os.path.exists(instance.path) and set(instance.features) == {ONE} for instance in plan.instances)


def test_advice_takes_costs_in_either_spelling():
    asked = {**ASKED, "detect": 0.2, "start": 2}
    dear, plain = (flat_advise(long_table(TWO), costs=costs, **asked).best.cost for costs in ({ONE: 5.0}, None))
    assert dear > plain


def test_a_results_file_with_decomposed_names_is_analysed_by_either_spelling(tmp_path):
    path = tmp_path / "study.db"
    am.Study(
        algorithms={"plain": lambda instance, seed: seed % 7, "other": lambda instance, seed: seed % 5},
        instances={f"i{k}": k for k in range(4)},
        design=am.FixedSize(runs=3),
        **ASKED,
    ).run(path, executor=SerialExecutor(), progress=False)
    with closing(sqlite3.connect(path)) as database:
        guards = list(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        for name, _ in guards:
            database.execute(f"DROP TRIGGER {name}")
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[2].upper() == "TEXT"]
            for column in columns:
                database.execute(f"UPDATE OR IGNORE {table} SET {column} = replace({column}, 'plain', ?)", (TWO,))
        for _, text in guards:
            database.execute(text)
        database.commit()
    for reference in (ONE, TWO):
        analysis = am.analyse(path, reference=reference)
        assert [(each.first, each.second) for each in analysis.comparisons] == [(ONE, "other")]


def test_options_and_files_take_either_spelling_of_names(tmp_path):
    frame = long_table("mine").assign(**{f"group{TWO}": [k // 12 for k in range(36)]})
    frame.to_csv(tmp_path / "runs.csv", index=False)
    read = am.read_results(tmp_path / "runs.csv", cluster=f"group{TWO}")
    assert am.analyse(read, **ASKED).settings.cluster == f"group{ONE}"

    for name, values in (("one", 1.0), ("two", 2.0)):
        pd.DataFrame({"problem": ["a", "b"], "value": values}).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    with pytest.raises(am.AmplerError, match="must name each of several files"):
        am.read_results(files, names=[ONE, TWO])
    with pytest.raises(am.AmplerError, match="a name of its own"):
        am.read_results({ONE: files[0], TWO: files[1]})


def test_functions_measures_and_treatments_of_code_take_either_spelling(tmp_path):
    (tmp_path / "solvers.py").write_text(
        f"def {ONE}(instance, seed): return {{'{TWO}': 1.0, 'other': 9.0}}\n"
        f"def plain(instance, seed): return {{'other': 9.0, '{ONE}': 2.0}}\n"
    )
    (tmp_path / "study.toml").write_text(
        'difference = "simple"\nbetter = "lower"\n[rule]\nallocation = "fixed"\nruns = 2\n'
        f'[defaults]\nvalue = "json:{TWO}"\n'
        f'[[algorithm]]\nname = "{ONE}"\npython = "solvers:{TWO}"\n'
        '[[algorithm]]\nname = "b"\npython = "solvers:plain"\n'
        '[instances]\nnames = ["i", "j"]\nuse = "all"\n'
    )
    made = commands.ampler("run", tmp_path / "study.toml", "--keep", TWO, "--workers", 1)
    assert made.code == 0, made.err
    assert [pair.estimate for pair in am.analyse(tmp_path / "study.db").comparisons] == [-1.0]
    assert Measure(TWO, "lower", "simple").name == ONE
