"""Algorithms that join a finished study: a later family, and a first one that stays as it was."""

import random
import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import ampler as am
from ampler.analysis.compare import p_values
from ampler.core.errors import PlanMismatch, RunFailed
from ampler.core.plan import Continue
from ampler.design import detect as planning
from ampler.running import run_plan
from ampler.sampling import rules
from ampler.stats.holm import step_down
from ampler.study.status import status_of
from ampler.study.store import merge_stores, open_store, read_store
from ampler.study.toml import read_study_file
from ampler.testing import SerialExecutor

OLD = Path(__file__).parent / "old"
DESIGNS = {
    "detect": am.Detect(0.9, pilot=8, runs=3),
    "interim": am.FixedSize(instances="needed", effect=0.7, runs=2, interim=3),
    "interim with a target": am.Precision(se=0.5, effect=0.7, start=4, interim=3),
}


def solver(name, shift):
    def run(place, seed):
        own = random.Random(f"{name} {place}").gauss(0, 1)
        return 50 + shift + own + random.Random(f"{name} {seed}").gauss(0, 0.5)

    return run


ALGORITHMS = {"a": solver("a", 0), "b": solver("b", 0.4), "c": solver("c", 2), "d": solver("d", 0.1)}


def study(names, design=DESIGNS["detect"], reference="a", **given):
    common = {"difference": "simple", "better": "lower", "reference": reference, "design": design, "seed": 5}
    algorithms = {name: ALGORITHMS[name] for name in names}
    return am.Study(algorithms=algorithms, **{"instances": {f"i{n}": n for n in range(60)}, **common, **given})


def run(path, names, *args, **given):
    return study(names, *args, **given).run(path, executor=SerialExecutor(), progress=False)


def without_families(analysis):
    document = analysis.as_dict()
    return {name: value for name, value in document.items() if name != "families"}


@pytest.fixture(scope="module")
def joined(tmp_path_factory):
    """A finished study of a and b that c and d joined, with the analysis before."""
    path = tmp_path_factory.mktemp("joined") / "study.db"
    return path, run(path, "ab"), run(path, "abcd")


@pytest.mark.parametrize("reference", ["a", None])
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_the_first_family_stays_exactly_as_it_was(tmp_path, design, reference, monkeypatch):
    path = tmp_path / "study.db"
    before = without_families(run(path, "ab", design, reference))
    with read_store(path) as store:
        decisions, plan = store.decisions(), store.plans()[-1]

    after = run(path, "abc", design, reference)
    assert without_families(after) == before
    assert without_families(run(path, "abc", design, reference)) == before, "when it is resumed"
    merge_stores([path], tmp_path / "merged.db")
    merged = am.analyse(tmp_path / "merged.db")
    assert without_families(merged) == before
    assert merged.as_dict()["families"] == after.as_dict()["families"]
    with read_store(path) as store:
        assert store.decisions(0) == decisions
        assert store.plans()[0] == plan

    monkeypatch.setattr(planning, "EVEN_CAUTION", 0.9)
    monkeypatch.setattr(planning, "usual_slack", lambda cost: 0.5)
    monkeypatch.setattr(rules, "RUNS_PER_ALGORITHM", 7)
    assert without_families(run(path, "abcd", design, reference)) == before, "under other defaults"


@pytest.mark.parametrize("name", ["sized", "looks"])
def test_an_algorithm_joins_a_finished_study_of_an_earlier_version(tmp_path, name):
    shutil.copytree(OLD / name, tmp_path / "study")
    toml, results = tmp_path / "study" / "study.toml", tmp_path / "study" / "study.db"
    before = without_families(am.analyse(results))
    text = toml.read_text()
    first = text[text.index("[[algorithm]]") :].split("[[algorithm]]")[1]
    new = first.replace('name = "', 'name = "new ', 1).partition("[instances]")[0]
    toml.write_text(f"{text}\n[[algorithm]]{new}")

    with open_store(results) as store:
        run_plan(read_study_file(toml).plan, store, executor=SerialExecutor())

    after = am.analyse(results)
    assert len(after.families) == 1
    assert without_families(after) == before


@pytest.mark.parametrize(("reference", "pairs"), [("a", {"ac", "ad"}), (None, {"ac", "ad", "bc", "bd", "cd"})])
def test_a_later_family_has_the_pairs_with_an_added_algorithm(tmp_path, reference, pairs):
    run(tmp_path / "study.db", "ab", reference=reference)
    (family,) = run(tmp_path / "study.db", "abcd", reference=reference).families

    later = family.analysis
    assert {"".join(pair) for pair in later.pairs} == pairs
    assert later.settings.family_alpha == 0.05
    assert set(np.isfinite(later.differences).sum(axis=0)) == {family.instances}
    steps = step_down(p_values(later.differences, test="t", alternative="two-sided"), 0.05)
    assert {item.pair: item.p_holm for item in later.comparisons} == pytest.approx(
        dict(zip(later.pairs, steps.adjusted.tolist(), strict=True))
    ), "Holm over this family alone"


def test_a_later_family_equals_that_of_a_study_with_the_reference_alone(joined):
    path, _, analysis = joined
    (family,) = analysis.families
    with read_store(path) as store:
        values = {(run.key.instance, run.key.algorithm): [] for run in store.observations()}
        for run_ in store.observations():
            values[run_.key.instance, run_.key.algorithm].append(run_.value)
    names = [row.instance for row in family.analysis.accuracy]
    means = [np.mean(values[name, "a"]) - np.mean(values[name, "c"]) for name in names]
    assert family.analysis.differences[:, 0] == pytest.approx(means)


def test_the_size_keeps_the_promise_of_power_or_states_what_is_missing(joined, tmp_path):
    family = joined[2].families[0]
    assert family.needed == family.instances
    assert 0.8 <= family.power < 0.85

    few = {"instances": {f"i{n}": n for n in range(19)}}
    told = []
    run(tmp_path / "study.db", "ab", **few)
    study("abcd", **few).run(tmp_path / "study.db", executor=SerialExecutor(), progress=told.append)
    (request,) = (event for event in told if isinstance(event, Continue))
    (family,) = am.analyse(tmp_path / "study.db").families
    assert family.power < 0.8 < 1 < family.instances < family.needed
    assert request.notes == (f"power 0.8 needs {family.needed} instances, and this family has {family.instances}",)


def test_the_size_of_an_interim_family_depends_on_no_result(tmp_path):
    sizes = set()
    for shift in (0, 0.4, 5):
        path = tmp_path / f"{shift}.db"
        first = study("ab", DESIGNS["interim"])
        changed = {"a": ALGORITHMS["a"], "b": solver("b", shift)}
        replace(first, algorithms=changed).run(path, executor=SerialExecutor(), progress=False)
        later = replace(first, algorithms={**changed, "c": ALGORITHMS["c"]})
        sizes.add(later.run(path, executor=SerialExecutor(), progress=False).families[0].instances)
    assert len(sizes) == 1


def test_further_algorithms_form_further_families(tmp_path):
    path = tmp_path / "study.db"
    run(path, "ab")
    two = run(path, "abc")
    three = run(path, "abcd")
    assert [(family.number, family.added) for family in three.families] == [(2, ("c",)), (3, ("d",))]
    assert three.families[0].as_dict() == two.families[0].as_dict()
    assert "3 families" in str(three)


LEFT = {"runs": 0}  # of the module: what a function remembers by itself is copied before each run


def tiring(place, seed):
    LEFT["runs"] -= 1
    if LEFT["runs"] < 0:
        raise RuntimeError("tired")
    return ALGORITHMS["c"](place, seed)


def test_an_interrupted_family_is_resumed_and_equals_an_uninterrupted_one(tmp_path, joined):
    path = tmp_path / "study.db"
    LEFT["runs"] = 20
    run(path, "ab")
    algorithms = {**{name: ALGORITHMS[name] for name in "abd"}, "c": tiring}
    late = replace(study("ab"), algorithms=dict(sorted(algorithms.items())))
    with pytest.raises(RunFailed):
        late.run(path, executor=SerialExecutor(), progress=False)
    unfinished = am.analyse(path)
    assert without_families(unfinished) == without_families(joined[1])
    assert all(family.analysis is None or family.analysis.unfinished for family in unfinished.families)
    assert "resume the study" in str(unfinished)

    LEFT["runs"] = 10**6
    resumed = late.run(path, executor=SerialExecutor(), progress=False)
    ours, theirs = (item.families[0].as_dict()["comparisons"] for item in (resumed, joined[2]))
    assert ours == theirs


def test_nothing_joins_before_the_study_is_finished(tmp_path):
    path, told = tmp_path / "study.db", []

    class Enough(Exception):
        pass

    def stop(event):
        told.append(event)
        if sum(isinstance(item, Continue) for item in told) == 2:
            raise Enough

    with pytest.raises(Enough):
        study("ab").run(path, executor=SerialExecutor(), progress=stop)
    for attempt in (lambda: run(path, "abc"), lambda: study("abc").check(path, workers=1)):
        with pytest.raises(PlanMismatch, match=r"'c' cannot join now.*run it to its end without"):
            attempt()
    with read_store(path) as store:
        assert len(store.plans()) == 1


@pytest.mark.parametrize(
    ("names", "given", "message"),
    [
        ("abcd", {"alpha": 0.01}, "alpha cannot be changed now"),
        ("abcd", {"power": 0.9}, "power cannot be changed now"),
        ("abcd", {"instances": {f"i{n}": n for n in range(61)}}, "the instances cannot be changed now"),
        ("acd", {}, "the algorithms cannot be changed now"),
        ("ab", {}, "'c', 'd' joined the study in a later family"),
        ("abd", {}, "'c' joined the study in a later family"),
    ],
)
def test_what_the_families_rest_on_cannot_be_changed(joined, names, given, message):
    with pytest.raises(PlanMismatch, match=message):
        run(joined[0], names, **given)


def test_runs_of_a_family_are_not_made_again(joined):
    for how in ({"retry_failed": True}, {"on_code_change": "rerun"}):
        with pytest.raises(PlanMismatch, match="recorded runs cannot be repeated now"):
            study("abcd").run(joined[0], executor=SerialExecutor(), **how)


def test_check_tells_what_can_be_added_and_what_will_be(tmp_path):
    path = tmp_path / "study.db"
    assert "further algorithms can be added as a later family" in repr(study("ab").check(path, workers=1))
    run(path, "ab")
    told = repr(study("abc").check(path, workers=1))
    assert "Family 2: 'c' against a, 1 comparison on" in told
    assert "holds for this family alone" in told


def test_what_was_only_checked_may_change(tmp_path):
    path = tmp_path / "study.db"
    before = run(path, "ab")
    study("abc").check(path, workers=1)
    assert "no results yet" in str(am.analyse(path))
    with pytest.raises(PlanMismatch, match="put the algorithm back"):
        run(path, "ab")

    after = run(path, "abd")
    assert [(family.number, family.added) for family in after.families] == [(2, ("d",))]
    assert after.as_dict()["comparisons"] == before.as_dict()["comparisons"]
    assert [warning.kind for warning in after.warnings] == ["unused"], "the runs of the check"


def test_an_algorithm_that_varies_joins_deterministic_ones(tmp_path):
    def exact(shift):
        return am.core.plan.Function("", lambda place, seed: 50 + shift + place % 7, "here", deterministic=True)

    first = replace(study("ab"), algorithms={"a": exact(0), "b": replace(exact(1), call=ALGORITHMS["b"])})
    first.run(tmp_path / "study.db", executor=SerialExecutor(), progress=False)
    later = replace(first, algorithms={**first.algorithms, "c": ALGORITHMS["c"]})
    (family,) = later.run(tmp_path / "study.db", executor=SerialExecutor(), progress=False).families
    assert {row.algorithm: row.runs for row in family.analysis.algorithms} == {
        "a": family.instances,
        "c": 3 * family.instances,
    }


def test_every_output_has_the_families(joined, tmp_path):
    path, _, analysis = joined
    assert analysis.as_dict()["families"][0]["added"] == ["c", "d"]
    assert list(analysis.table()["family"]) == [1, 2, 2]
    for ending in ("html", "md", "tex"):
        text = am.write_report(path, tmp_path / f"report.{ending}").read_text()
        assert "Family 2: c, d joined on" in text, ending
        assert "2 families of comparisons" in text, ending
        assert "Family 2 was added on" in text, ending
    assert "2 families of comparisons" in str(analysis)


def test_status_counts_the_runs_of_all_families(joined):
    with read_store(joined[0]) as store:
        status = status_of(store)
    assert status.unused == 0
    assert status.finished == joined[2].families[0].instances
    assert [item.reason.split()[0] for item in islice(status.decisions, 2)] == ["Pilot:", "Pilot:"]
    assert status.decisions[-1].reason == "Family 2 is complete."


@pytest.mark.parametrize(
    "given",
    [
        {"cluster": lambda name: str(int(name[1:]) % 12)},
        {"seeds": "shared"},
        {"design": am.Detect(0.03, pilot=8, runs=3), "difference": "percent", "reference": None},
        {"design": DESIGNS["interim"], "test": "wilcoxon"},
        {"statistic": "median"},
    ],
    ids=["clusters", "shared seeds", "percent of the mean", "wilcoxon", "median"],
)
def test_algorithms_join_studies_of_every_kind(tmp_path, given):
    before = run(tmp_path / "study.db", "ab", **given)
    after = run(tmp_path / "study.db", "abc", **given)
    assert without_families(after) == without_families(before)
    assert after.families[0].analysis.unfinished == ""
    assert ("a", "c") in after.families[0].analysis.pairs


def test_a_later_family_has_no_fewer_instances_than_a_pilot(tmp_path):
    given = {"detect": 5.0, "design": None}
    run(tmp_path / "study.db", "ab", **given)
    (family,) = run(tmp_path / "study.db", "abc", **given).families
    assert family.needed < family.instances == 20
