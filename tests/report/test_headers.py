"""What every output says: measure, direction and failure policy at its head, and ratios with significant digits."""

from __future__ import annotations

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_study

import ampler as am
from ampler.core.plan import Reading
from ampler.report import render, subject_of
from ampler.report.drawings import figures_of
from ampler.report.methods import methods, plain_paragraph
from ampler.sampling.rules import Fixed
from ampler.testing import SerialExecutor


def long_frame(shift, spread, *, instances=10, measure="accuracy"):
    rng = np.random.default_rng(4)
    rows = [
        (name, f"i{k}", run, float(np.exp(rng.normal(far * shift, spread))))
        for k in range(instances)
        for name, far in (("old", 0.0), ("new", 1.0))
        for run in range(3)
    ]
    frame = pd.DataFrame(rows, columns=["algorithm", "instance", "run", measure])
    frame.loc[0, measure] = np.nan
    return frame


@pytest.fixture(scope="module")
def table():
    return long_frame(0.05, 0.02)


HEAD = "accuracy, higher is better (going by the name 'accuracy')"


def test_all_outputs_of_a_table_state_measure_direction_and_failure_policy(table, tmp_path):
    subject = subject_of(table, difference="ratio", reading={"on_failure": "drop"})
    analysis = subject.analysis
    assert HEAD in " ".join(str(analysis).split())
    assert "1 failed (left out)" in " ".join(str(analysis).split())
    for kind in ("md", "tex", "html"):
        assert HEAD in re.sub(r"\s+", " ", unescape(render(subject, kind)))
    paragraph = plain_paragraph(methods(subject))
    assert "by accuracy (higher is better) on" in paragraph
    assert "1 run failed; failed runs were left out." in paragraph
    document = analysis.as_dict()
    assert (document["measure"], document["settings"]["better"]) == ("accuracy", "higher")
    assert (
        document["settings"]["failures"] == {"policy": "drop"}
        or "drop" in str(document["settings"]["failures"]).lower()
    )
    short = "accuracy, higher is better; 1 failed (left out)"
    for drawing in figures_of(analysis):
        figure = drawing.draw().get_figure(root=True)
        assert " ".join(figure.get_supxlabel().split()) == short
    assert HEAD in unescape(analysis._repr_html_())


STUDIES = {
    "fixed": {"rule": Fixed(runs=3), "use": "all"},
    "se": {"se": 0.5, "start": 3, "use": "all"},
    "looks": {"rule": Fixed(runs=3), "effect": 1.0, "looks": 2},
    "detect": {"detect": 0.8, "pilot": 6, "start": 3},
}


@pytest.mark.parametrize("kind", STUDIES)
def test_all_kinds_of_studies_state_them(kind, tmp_path):
    def noisy(shift):
        return lambda instance, seed: {"score": instance + shift + np.random.default_rng(seed).normal(0, 0.3)}

    reading = Reading("json", "score")
    algorithms = [am.Function(name, noisy(shift), "m:f", reading=reading) for name, shift in (("a", 0.0), ("b", 1.0))]
    study = flat_study(
        algorithms={each.name: each for each in algorithms},
        instances={f"i{k}": 10.0 + k for k in range(24)},
        difference="simple",
        better="higher",
        seed=3,
        **STUDIES[kind],
    )
    study.run(tmp_path / "study.db", executor=SerialExecutor(), progress=False)
    subject = subject_of(tmp_path / "study.db")
    head = "score, higher is better"
    assert head in str(subject.analysis)
    assert "0 failed" in " ".join(str(subject.analysis).split())
    for ending in ("md", "tex", "html"):
        assert head in re.sub(r"\s+", " ", render(subject, ending))
    assert "by score (higher is better) on" in plain_paragraph(methods(subject))
    assert json.loads(json.dumps(subject.analysis.as_dict()))["measure"] == "score"


@pytest.mark.parametrize(("shift", "spread"), [(5.6, 8.0), (-9.0, 0.5), (0.003, 0.001), (0.4, 0.3), (0.0, 12.0)])
def test_ratios_have_significant_digits_on_their_scale_everywhere(shift, spread):
    frame = long_frame(shift, spread, measure="cost").dropna()
    subject = subject_of(frame, difference="ratio")
    analysis = subject.analysis
    (each,) = analysis.comparisons
    (row,) = analysis.as_dict()["comparisons"]
    assert row["estimate"] == each.estimate
    assert row["factor"] == pytest.approx(np.exp(each.estimate))
    assert analysis.table()["estimate"][0] == each.estimate
    texts = [str(analysis), *(render(subject, kind) for kind in ("md", "tex", "html"))]
    near = [abs(end) <= np.log(2) for end in (each.estimate, *each.joint_interval)]
    for text in texts:
        plain = re.sub(r"\s+", " ", text).replace("−", "-")
        assert not re.search(r"×0(\.0+)?(?![.\d])", plain)
    if not all(near):
        written = re.search(r"×([\d.]+(?:e[+-]?\d+)?)", str(analysis))
        assert float(written[1]) == pytest.approx(np.exp(each.estimate), rel=0.01)
    else:
        written = re.search(r"([+-][\d.]+) %", str(analysis).replace("−", "-"))
        assert float(written[1]) == pytest.approx(100 * np.expm1(each.estimate), abs=0.1)
