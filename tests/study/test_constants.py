"""A study keeps the method it was begun with, whatever number inside the program is another one by now.

Every numeric constant and default of the packages that decide is changed, one at a time, and studies are resumed and
analysed: finished ones of version 0.2 and 0.1, and one of today that was interrupted in its pilot. Nothing may change.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import math
import pkgutil
import re
import shutil
import sys
import types
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import ampler as am
from ampler.running import run_plan
from ampler.study.store import open_store, read_store
from ampler.study.toml import read_study_file
from ampler.testing import SerialExecutor

OLD = Path(__file__).parent / "old"
STUDIES = ("fixed", "se", "sized", "looks", "python")
PACKAGES = ("sampling", "design", "study", "stats", "core.settings", "core.plan", "core.runs", "analysis")
NO_METHOD = ("store", "code", "starters", "toml")  # of study: files, words and locks, of which no decision is made
# Numbers that are no part of the method, with the reason.
EXEMPT = {
    "EFFECT_LEVEL": "of the intervals of d, which every output calls 95 % intervals: a definition, named where it is",
    "warmup": "of Around: what a run is, not what is decided; another one is refused as another algorithm",
    "MAX_PRIOR_DEGREES": "of variances that share a prior where no guard does; a guard has that of its edition",
    "MOST_WORKERS": "of one machine: what a run is made with, not what is decided",
    "boundaries.TAIL_NODES": "of an integral: another number moves p-values by 0.1 % and no decision",
    "decisions.POINTS": "of a grid between which levels are interpolated: as TAIL_NODES",
    "decisions.SMALLEST": "the end of this grid: as TAIL_NODES",
    "FEWEST_NEW": "that looks are exact from: a fact of the distribution, not a choice",
}
DIGITS = 5  # of numbers that hang on steps and nodes of numerical methods, which are no choices


def modules():
    """The modules of the packages that decide."""
    for package in PACKAGES:
        module = importlib.import_module(f"ampler.{package}")
        yield module
        for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"ampler.{package}."):
            if not any(found.name.startswith(f"ampler.study.{name}") for name in NO_METHOD):
                yield importlib.import_module(found.name)


def constants():
    """Every numeric constant as (module, name), and every numeric default of a dataclass as (class, field)."""
    for module in modules():
        assigned = re.findall(r"^([A-Z_0-9]+)(?:: [^=]+)? = |^([A-Z_0-9, ]+) = ", source(module), re.MULTILINE)
        names = [name.strip() for each in assigned for name in ",".join(each).split(",")]
        home = module.__name__.rpartition(".")[2]
        names = [name for name in names if not {name, f"{home}.{name}"} & EXEMPT.keys()]
        yield from ((module, name) for name in names if is_number(vars(module).get(name)))
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__:
                given = (field for field in fields(kind) if field.name not in EXEMPT)
                yield from ((kind, field.name) for field in given if is_number(field.default))


def source(module):
    return Path(module.__file__).read_text()


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@contextmanager
def changed(place, name):
    """Have a constant, wherever it was imported, or a default be another number."""
    if isinstance(place, types.ModuleType):
        before = getattr(place, name)
        homes = [module for key, module in list(sys.modules.items()) if key.startswith("ampler")]
        homes = [module for module in homes if name in vars(module) and vars(module)[name] is before]
        for module in homes:
            setattr(module, name, another(before, name))
        try:
            yield
        finally:
            for module in homes:
                setattr(module, name, before)
        return
    field, init = place.__dataclass_fields__[name], inspect.unwrap(place.__init__)  # Settings wraps its own
    before = field.default
    keywords, positions = dict(init.__kwdefaults__ or {}), init.__defaults__
    field.default = another(before, name)
    if name in keywords:
        init.__kwdefaults__ = keywords | {name: another(before, name)}
    else:
        names = [each.name for each in fields(place) if each.init and not each.kw_only]
        place_of = names.index(name) - (len(names) - len(positions))
        init.__defaults__ = (*positions[:place_of], another(before, name), *positions[place_of + 1 :])
    try:
        yield
    finally:
        field.default, init.__kwdefaults__, init.__defaults__ = before, keywords or None, positions


def another(number, name):
    """A number of the same type that would matter: half as large again, or nearer to 1 if it is a share."""
    if name == "guard_edition":
        return 1
    if isinstance(number, int):
        return number + max(1, number // 2)
    if 0.5 <= number < 1:
        return (1 + number) / 2
    return number * (1.5 if abs(number) < 1e300 else 0.5) if number else 0.1


def content(folder):
    """All that a study says: by its record, by being resumed, and by being analysed; without words of warning."""
    with read_store(folder / "study.db") as store:
        recorded = store.plans()[-1]
    plan, told = read_study_file(folder / "study.toml").plan, []
    with open_store(folder / "study.db") as store:
        progress = run_plan(plan, store, executor=SerialExecutor(), announce=told.append)
        plans, decisions = store.plans(), [each.decision for each in store.decisions()]
    analysis = am.analyse(folder / "study.db").as_dict()
    document = {
        "plans": [
            (each.rule, each.study_rule, each.analysis, str(each.question), each.needed, each.power, each.instances)
            for each in (recorded, *plans)
        ],
        "resumed": (progress.new, len(told)),
        "decisions": [
            (getattr(each, "instances", ()), getattr(each, "runs", None), each.details) for each in decisions
        ],
        "analysis": {name: value for name, value in analysis.items() if name not in ("warnings", "summary")},
    }
    return rounded(document)


def rounded(value):
    """A document with its numbers to a few digits, as numerical methods have their steps; without words of warning.

    Which other tests agree is such a word: bootstrap-t is asked where the shape of the differences gives a reason.
    """
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items() if name not in ("verdict", "agree")}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS - 1}e}") if math.isfinite(value) else str(value)
    return value


def differences(folder, before, label, caches):
    """What is another thing under a changed constant."""
    for each in caches:
        each.cache_clear()
    now = content(folder)
    return [f"{label} changes {name} of {folder.name}" for name in before if before[name] != now[name]]


def tried(folders):
    """Change every constant; return how many there were, and every difference."""
    before = {folder: content(folder) for folder in folders}
    assert {folder: content(folder) for folder in folders} == before
    caches = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    caches = [each for each in caches if str(each.__module__).startswith("ampler")]
    found, number = [], 0
    for place, name in constants():
        number += 1
        with changed(place, name):
            for folder in folders:
                found += differences(folder, before[folder], f"{place.__name__}.{name}", caches)
    for each in caches:
        each.cache_clear()
    return number, found


@pytest.mark.parametrize(
    "name", [name if name == "se" else pytest.param(name, marks=pytest.mark.slow) for name in STUDIES]
)
def test_no_constant_changes_a_study_that_was_begun(tmp_path, name, record_property):
    folder = tmp_path / name
    shutil.copytree(OLD / name, folder)

    number, found = tried([folder])

    record_property("constants", number)
    print(f"{number} constants changed, {number} times {name} reopened, {len(found)} differences")
    assert number > 200
    assert found == []


class Interrupted(SerialExecutor):
    """An executor that is interrupted at its n-th call."""

    def __init__(self, calls):
        super().__init__()
        self.left = calls

    def submit(self, call, *arguments):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().submit(call, *arguments)


def carried_on(folder, copy):
    """What a study that was interrupted comes to when it is run to its end: sizes, runs and decisions."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    plan = read_study_file(copy / "study.toml").plan
    with open_store(copy / "study.db") as store:
        run_plan(plan, store, executor=SerialExecutor())
        decisions = [each.decision for each in store.decisions()]
        tally = sorted((each.instance, each.algorithm, each.runs) for each in store.tally())
    return rounded([[getattr(each, "instances", ()), getattr(each, "runs", None)] for each in decisions]), tally


@pytest.mark.slow
@pytest.mark.parametrize("name", ["se", "sized", "looks"])
def test_no_constant_changes_how_an_interrupted_study_goes_on(tmp_path, name):
    folder = tmp_path / "begun"
    shutil.copytree(OLD / name, folder)
    (folder / "study.db").unlink()
    plan = read_study_file(folder / "study.toml").plan
    with open_store(folder / "study.db") as store, pytest.raises(KeyboardInterrupt):
        run_plan(plan, store, executor=Interrupted(8))
    with read_store(folder / "study.db") as store:
        assert sum(each.runs for each in store.tally()) > 0
        assert len(store.decisions()) == 1

    before = carried_on(folder, tmp_path / "copy")
    caches = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    caches = [each for each in caches if str(each.__module__).startswith("ampler")]
    found, number = [], 0
    for place, constant in constants():
        number += 1
        for each in caches:
            each.cache_clear()
        shutil.rmtree(tmp_path / "copy")
        with changed(place, constant):
            now = carried_on(folder, tmp_path / "copy")
        if now != before:
            found.append(f"{place.__name__}.{constant}")
    for each in caches:
        each.cache_clear()
    print(f"{number} constants changed, {number} times {name} continued, {len(found)} differences: {found}")
    assert found == []
