"""A study keeps the method it was begun with, whatever number inside the program is another one by now.

Every numeric constant and default of the packages that decide is changed, one at a time, and studies are opened,
resumed and analysed: finished ones of versions 0.1 and 0.2 and of today. Nothing may change but warnings.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import sys
import types
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path

import ampler as am
from ampler.running import run_plan
from ampler.study.store import open_store, read_store
from ampler.study.toml import read_study_file

OLD = Path(__file__).parent / "old"
STUDIES = ("fixed", "se", "detect", "looks", "python")
PACKAGES = ("sampling", "design", "study", "stats", "core.settings", "core.values", "analysis")
NO_METHOD = {  # of files, words and locks: nothing of them enters a decision or a number
    *("ampler.study.store", "ampler.study.code", "ampler.study.starters", "ampler.study.toml"),
}


def modules():
    """The modules of the packages that decide."""
    for package in PACKAGES:
        module = importlib.import_module(f"ampler.{package}")
        yield module
        for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"ampler.{package}."):
            if not any(found.name.startswith(name) for name in NO_METHOD):
                yield importlib.import_module(found.name)


def constants():
    """Every numeric constant as (module, name), and every numeric default of a dataclass as (class, field)."""
    for module in modules():
        for name, value in vars(module).items():
            if name.strip("_").isupper() and is_number(value) and defined_in(module, name):
                yield module, name
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__:
                yield from ((kind, field.name) for field in fields(kind) if is_number(field.default))


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def defined_in(module, name):
    """Whether a name is assigned in a module, and not imported from another one."""
    return (
        f"import {name}" not in (source := Path(module.__file__).read_text()) and f"\n{name} = " in f"\n{source}"
    ) or (f"\n{name}: " in source)


@contextmanager
def changed(place, name):
    """Have a constant, wherever it was imported, or a default be another number."""
    if isinstance(place, types.ModuleType):
        before = getattr(place, name)
        homes = [module for key, module in list(sys.modules.items()) if key.startswith("ampler")]
        homes = [module for module in homes if name in vars(module) and vars(module)[name] is before]
        for module in homes:
            setattr(module, name, another(before))
        try:
            yield
        finally:
            for module in homes:
                setattr(module, name, before)
        return
    field, init = place.__dataclass_fields__[name], place.__init__
    before = field.default
    keywords, positions = dict(init.__kwdefaults__ or {}), init.__defaults__
    field.default = another(before)
    if name in keywords:
        init.__kwdefaults__ = keywords | {name: another(before)}
    else:
        names = [each.name for each in fields(place) if each.init and not each.kw_only]
        place_of = names.index(name) - (len(names) - len(positions))
        init.__defaults__ = (*positions[:place_of], another(before), *positions[place_of + 1 :])
    try:
        yield
    finally:
        field.default, init.__kwdefaults__, init.__defaults__ = before, keywords or None, positions


def another(number):
    """A number of the same type that would matter: half as large again, or the next one."""
    if isinstance(number, int):
        return number + max(1, number // 2)
    return number * 1.5 if number else 0.1


def forget():
    """Empty every cache, in which results of the unchanged constants are."""
    for each in CACHES:
        each.cache_clear()


CACHES: list = []


def content(folder):
    """All that a study says, by what is on record, by being resumed, and by being analysed: without its words."""
    with read_store(folder / "study.db") as store:
        plan = store.plans()[-1]
    study = read_study_file(folder / "study.toml")
    asked = []
    with open_store(folder / "study.db") as store:
        progress = run_plan(study.plan, store, workers=1, announce=asked.append)
        now = store.plans()
        decided = [each.decision for each in store.decisions()]
    analysis = am.analyse(folder / "study.db").as_dict()
    return {
        "plan": (plan.rule, plan.study_rule, plan.analysis, plan.question, plan.needed, plan.power, plan.instances),
        "resumed": (progress.new, len(now), now[-1].rule, now[-1].study_rule, now[-1].needed, now[-1].power, asked),
        "decisions": [
            (each.__class__, getattr(each, "instances", ()), getattr(each, "runs", None)) for each in decided
        ],
        "details": [each.details for each in decided],
        "analysis": {name: value for name, value in analysis.items() if name not in ("warnings", "summary")},
    }
