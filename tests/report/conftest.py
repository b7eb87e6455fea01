"""What the tests of the report share: analyses, and a results file of a real study."""

import random

import pytest

import ampler
from ampler.report import Subject, render
from ampler.sampling.rules import Accuracy
from ampler.testing import SerialExecutor


@pytest.fixture(scope="session")
def nasty(study_of, nasty_names):
    """An analysis in which everything has a nasty name."""
    features = {r"size $\frac{$": ["small", "big & <b>", "=2+2"]}
    return study_of(nasty_names, reference=nasty_names[3], features=features, se=0.8, budget=54)


@pytest.fixture(scope="session")
def nasty_text(nasty):
    """Its page; the title is nasty, too."""
    subject = Subject(r"<i>$\frac{$</i> & \input{x} <script>alert(2)</script>", nasty)
    return render(subject, "html")


@pytest.fixture
def without_figures(figures_only_of):
    """Pages without their figures: for tests of words."""
    figures_only_of()


@pytest.fixture(scope="session")
def gappy(study_of):
    """An analysis in which algorithms lack instances: a pair has all, others few, one a single one."""
    lacking = {(i, 2) for i in range(4, 12)} | {(i, 3) for i in range(3)} | {(i, 3) for i in range(4, 12)}
    features = {"half": ["one", "other"]}
    return study_of(["one", "two", "three", "four"], lacking=lacking, features=features, se=0.8, budget=24)


@pytest.fixture(scope="session")
def paper(public_data):
    """The paper's first experiment, analysed as there."""
    runs = public_data / "paper_experiment1_runs.csv"
    return ampler.analyse(
        runs,
        reference="Full",
        difference="percent",
        better="lower",
        settings=ampler.Settings(se=0.05, budget=1100, effect=0.5, formula="paper"),
    )


def noisy(shift: float):
    def run(instance: float, seed: int) -> float:
        return 100 + instance + shift + random.Random(seed).gauss(0, 1)

    return run


@pytest.fixture(scope="session")
def study_file(tmp_path_factory):
    """`study_file(rule)`: a study file of a small study under a rule, made once for each."""
    made = {}

    def make(rule=None, **options):
        key = repr((rule, options))
        if key not in made:
            path = tmp_path_factory.mktemp("study") / "study.db"
            study = ampler.Study(
                name="small & fine",
                algorithms={"full": noisy(0.0), "less": noisy(0.3), "least": noisy(0.6)},
                instances={f"i{k}": float(k) for k in range(6)},
                reference="full",
                difference="simple",
                design=ampler.FixedSize(
                    instances=5,
                    runs=rule or Accuracy(se=0.6, difference="simple", reference="full", start=4, budget=60),
                    effect=1.5,
                    target=options.get("target", "mean"),
                ),
                seed=2019,
                **{"better": "lower"} | {name: option for name, option in options.items() if name != "target"},
            )
            study.run(path, executor=SerialExecutor())
            made[key] = path
        return made[key]

    return make
