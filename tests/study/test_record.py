"""What is kept of a plan, and when two plans may share a study file."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ampler.core.failures import Drop
from ampler.core.plan import Command, Fingerprint, Function, Instance, Limits, Question, Reading
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.changes import plan_change
from ampler.study.plan import make_plan
from ampler.study.record import as_begun, changed, fingerprint, from_json, identity, record, to_json, undated


def a_plan(**changes):
    given = {
        "question": Question("simple", better="lower"),
        "algorithms": {"a": first, "b": second, "c": second},
        "instances": [f"i{n}" for n in range(60)],
        "rule": Fixed(runs=3),
        "seed": 7,
        "count": "all",
    }
    return make_plan(**given | changes)


def first(instance, seed):
    return 1.0


def second(instance, seed, *, cooling=0.9):
    return 2.0


def test_an_equal_plan_has_an_equal_fingerprint():
    assert fingerprint(a_plan()) == fingerprint(a_plan())
    assert changed(fingerprint(a_plan()), fingerprint(a_plan())) is None


COMMAND = Command("x", ("solve", "{seed}", "{instance}", "{k}"), {"k": 1}, Reading("json", "cost"))
CHANGES = [
    (replace(COMMAND, argv=("solve", "-v", "{seed}", "{instance}", "{k}")), "command"),
    (replace(COMMAND, parameters={"k": 1.0}), "parameters"),
    (replace(COMMAND, parameters={"k": True}), "parameters"),
    (replace(COMMAND, reading=Reading("seconds")), "value"),
    (replace(COMMAND, protocol="irace"), "command"),
    (Command("x", ("solve",), {"k": 1}, Reading("json", "cost"), "worker"), "command"),
    (Function("x", second, "m:f", {"k": 1}, Reading("json", "cost")), "command"),
]


@pytest.mark.parametrize(("other", "field"), CHANGES)
def test_a_change_of_what_gives_a_run_its_value_is_named(other, field):
    before = fingerprint(a_plan(algorithms=[COMMAND, Command("y", ("y", "{seed}", "{instance}"))]))
    after = fingerprint(a_plan(algorithms=[Command("y", ("y", "{seed}", "{instance}")), other]))
    assert changed(before, after).field == field
    assert f"{field} of algorithm 'x' is recorded as" in str(changed(before, after))


def test_a_change_of_the_seed_or_of_a_file_is_named():
    before = fingerprint(a_plan(instances=[Instance("i", "/i", "abc"), Instance("j")]))
    assert str(changed(before, replace(before, seed=8))) == "seed of the study is recorded as 7, planned as 8"
    after = fingerprint(a_plan(instances=[Instance("i", "/other/i", "abd"), Instance("j")]))
    assert changed(before, after).field == "content"


@pytest.mark.parametrize("changes", [
    {"question": Question("percent", "a", effect=0.5, better="lower")},
    {"rule": Fixed(runs=9)},
    {"limits": Limits(timeout=5)},
    {"policy": Drop()},
    {"algorithms": {"c": second, "a": first, "d": first}},
    {"instances": [f"i{n}" for n in range(100)]},
    {"retries": 3},
])  # fmt: skip
def test_everything_else_may_change(changes):
    assert changed(fingerprint(a_plan()), fingerprint(a_plan(**changes))) is None


def test_a_study_may_be_moved_and_its_parameters_reordered():
    before = Command("x", ("s", "{seed}", "{instance}", "{a}", "{b}"), {"a": 1, "b": 2}, folder="/here", cost=2.0)
    after = replace(before, parameters={"b": 2, "a": 1}, folder="/there", cost=1.0)
    one, other = (fingerprint(a_plan(algorithms={"x": each, "y": second})) for each in (before, after))
    assert changed(one, other) is None


def test_decisions_hang_on_rule_policy_and_algorithms_but_not_on_the_instances():
    same = record(a_plan()).decisions
    assert record(a_plan(count=5, seed=9, limits=Limits(timeout=3), name="other")).decisions == same
    for changes in [
        {"rule": Fixed(runs=4)},
        {"policy": Drop()},
        {"algorithms": {"b": first, "a": second, "c": second}},
        {"algorithms": [Function(n, first, "m:f", deterministic=n == "a") for n in "abc"]},
    ]:
        assert record(a_plan(**changes)).decisions != same, changes


def test_a_record_says_what_a_reader_must_know():
    question = Question("percent", "a", effect=0.5, better="higher")
    plan = a_plan(
        question=question,
        algorithms=[
            Function("a", first, "m:f", reading=Reading("seconds")),
            Function("b", first, "m:f", deterministic=True),
        ],
        instances=[Instance(f"i{n}", features={"size": str(n)}) for n in range(50)],
        rule=Accuracy(se=0.05, difference="percent", reference="a", costs={"b": 3.0}),
    )
    kept = record(plan)
    assert (kept.algorithms, kept.instances) == (("a", "b"), tuple(instance.name for instance in plan.instances))
    assert (kept.timed, kept.deterministic) == (("a",), ("b",))
    assert (kept.rule["rule"], kept.rule["se"], kept.rule["costs"]) == ("Accuracy", 0.05, {"b": 3.0})
    assert kept.features["i3"] == {"size": "3"}
    assert kept.question == replace(question, formula="corrected")
    assert from_json(to_json(kept)) == kept


def test_exit_codes_are_part_of_what_gives_runs_their_values_and_the_usual_ones_are_not_written():
    usual, unusual = Command("a", ("solve",)), Command("a", ("solve",), success=(20, 0, 10))

    assert identity(usual) == {"command": ["solve"], "parameters": {}, "value": ""}, "as files of earlier days have it"
    change = changed(Fingerprint(1, {"a": identity(usual)}, {}), Fingerprint(1, {"a": identity(unusual)}, {}))
    assert str(change) == "success of algorithm 'a' is recorded as nothing, planned as '0 10 20'"


def test_limits_of_single_algorithms_are_kept_and_plans_without_them_are_as_they_were():
    plain = record(a_plan_with())
    own = record(a_plan_with(limits=Limits(cpu_timeout=2.0)))

    assert from_json(to_json(own)) == own
    assert own.own_limits == {"a": Limits(cpu_timeout=2.0)}
    assert "own_limits" not in to_json(plain)
    assert "cpu_timeout" not in to_json(plain)
    assert from_json(to_json(plain)) == plain
    assert str(plan_change(plain, own)).startswith("cpu-timeout none → a 2:")


def a_plan_with(**fields):
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms=[
            Command("a", ("solve", "{seed}", "{instance}"), **fields),
            Command("b", ("solve", "{seed}", "{instance}")),
        ],
        instances=["i1", "i2"],
        rule=Fixed(runs=2),
        count="all",
    )


# the edition of the guard

ACCURATE = Accuracy(se=0.05, difference="percent", reference="fast", costs={"slow": 3.0})


def accurate_plan(rule=ACCURATE, formula=None):
    return make_plan(
        question=Question("percent", reference="fast", effect=1.0, power=0.8, better="lower", formula=formula),
        algorithms=[Command(name, ("solve", name, "{instance}", "{seed}")) for name in ("fast", "slow", "exact")],
        instances=[f"i{number}" for number in range(30)],
        rule=rule,
        seed=7,
    )


def test_a_rule_of_the_first_edition_is_recorded_as_it_was_before_there_were_editions():
    """The digest was computed before Accuracy had the field: finished instances of such files stay finished."""
    kept = record(accurate_plan(replace(ACCURATE, guard_edition=1, formula="delta"), "delta"))
    assert kept.decisions == "b162156cf0d59431d23924a5d16e1a2a"
    assert kept.rule["guard_edition"] == 1


def test_a_new_study_records_the_newest_edition():
    kept = record(as_begun(accurate_plan()))
    assert kept.rule["guard_edition"] == 2
    assert kept.decisions != "b162156cf0d59431d23924a5d16e1a2a"
    assert from_json(to_json(kept)) == kept


@pytest.mark.parametrize("edition", [1, 2])
def test_a_plan_takes_the_edition_of_its_study_file_whatever_else_is_changed(edition):
    before = record(accurate_plan(replace(ACCURATE, guard_edition=edition, formula="delta")))
    for rule in (ACCURATE, replace(ACCURATE, se=0.02)):
        begun = as_begun(accurate_plan(rule), before).rule
        assert (begun.guard_edition, begun.formula) == (edition, "delta")


@pytest.mark.parametrize("edition", [1, 2])
def test_an_edition_that_is_asked_for_is_taken(edition):
    asked = accurate_plan(replace(ACCURATE, guard_edition=edition, formula="paper"), "delta")
    for before in (1, 2):
        assert (
            as_begun(asked, record(accurate_plan(replace(ACCURATE, guard_edition=before)))).rule.guard_edition
            == edition
        )


def test_a_plan_without_a_study_file_or_without_a_guard_takes_none_from_there():
    fixed = accurate_plan(Fixed(runs=3), "corrected")
    assert as_begun(accurate_plan()).rule.guard_edition == 2
    assert as_begun(fixed, record(accurate_plan())).rule == fixed.rule
    assert as_begun(accurate_plan(), record(fixed)).rule.guard_edition == 2


def test_a_study_keeps_the_formula_it_began_with():
    """A file of the days before there was another formula says none, and is told by its rule or means "delta"."""
    old = record(accurate_plan(Fixed(runs=3), "delta"))
    assert "formula" not in json.loads(to_json(old))["question"]
    assert from_json(to_json(old)).question.formula == "delta"
    new = record(as_begun(accurate_plan(Fixed(runs=3))))
    assert json.loads(to_json(new))["question"]["formula"] == "corrected"
    assert new.decisions != old.decisions
    for before in (old, new):
        assert record(as_begun(accurate_plan(Fixed(runs=3)), before)) == before
    assert as_begun(accurate_plan(Fixed(runs=3), "corrected"), old).question.formula == "corrected"


def test_the_formula_of_the_rule_is_that_of_the_study_unless_the_rule_has_its_own():
    published = replace(ACCURATE, formula="paper")
    assert as_begun(accurate_plan(published)).question.formula == "paper"
    assert as_begun(accurate_plan(published, "corrected")).rule.formula == "paper"
    assert as_begun(accurate_plan(formula="delta")).rule.formula == "delta"


def test_a_power_that_is_rounded_otherwise_makes_no_other_plan_and_another_power_does():
    kept = replace(record(a_plan()), power=0.8227356802464707, created="2026-01-01T00:00:00+00:00")

    assert undated(kept) == undated(replace(kept, power=0.8227356802464708, created=""))
    assert undated(kept) != undated(replace(kept, power=0.8227357))
    assert undated(replace(kept, power=None)) != undated(kept)
