"""`ampler export`: every run's last attempt as a table."""

import pytest

from ampler.core.plan import Question
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.store import open_store
from ampler.testing import SerialExecutor


@pytest.fixture
def path(tmp_path):
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms={"a": lambda instance, seed: seed / 7, "b": lambda instance, seed: -seed},
        instances=["i1", "i2"],
        rule=Fixed(runs=3),
        count="all",
    )
    with open_store(tmp_path / "study.db") as store:
        run_plan(plan, store, executor=SerialExecutor())
        store.seen = list(store.observations())
    return tmp_path / "study.db"


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_the_command_exports_every_run(path, shell, name):
    pytest.importorskip("pyarrow")
    answer = shell("export", path, path.with_name(name))

    assert answer.code == 0
    assert "12 runs are written to" in answer.words
    assert path.with_name(name).stat().st_size > 0


@pytest.mark.parametrize(
    ("name", "sentence"), [("runs.xlsx", "something.csv or something.parquet"), ("no/runs.csv", "no")]
)
def test_what_cannot_be_written_is_told(path, shell, name, sentence):
    answer = shell(
        "export",
        path,
        path.with_name("x").with_name(name.split("/")[0]) / name.split("/")[1] if "/" in name else path.with_name(name),
    )

    assert answer.code == (2 if name == "runs.xlsx" else 1)
    assert sentence in answer.err
    assert len(answer.err.strip().splitlines()) == 1
