"""Functions under a limit: what they import is imported once, and nothing else of a run is there for the next."""

import os
import random
import sys
import threading
import time

import pytest

from ampler.core.values import Function, Instance, Limits
from ampler.running.one_run import run_once, warmth

pytestmark = pytest.mark.alone  # beside threads runs are made by a child that is not warm
LIMITS = Limits(timeout=60)


def call(function, seed=7, limits=LIMITS):
    return run_once(Function("f", function, "tests:f"), Instance("i1"), seed, limits)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """`module(name, text)`: a module that notes each of its imports; `module.imports(name)` counts them."""

    class Modules:
        def __call__(self, name, text=""):
            note = f"with open({str(tmp_path / name)!r}, 'a') as file: file.write('imported ')\n"
            (tmp_path / f"{name}.py").write_text(note + text)
            return name

        def imports(self, name):
            return (tmp_path / name).read_text().count("imported")

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(warmth, "_left_alone", set())
    before = set(sys.modules)
    yield Modules()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_what_a_function_imports_is_imported_for_all_later_runs(module):
    module("warm_once", "VALUE = 4")

    def function(instance, seed):
        import warm_once

        return warm_once.VALUE + seed

    assert [call(function, seed).value for seed in range(6)] == [4, 5, 6, 7, 8, 9]
    assert module.imports("warm_once") == 2, "by the first child, and by us"


def test_nothing_else_of_a_run_is_there_for_the_next(module):
    module("warm_state", "calls = []\nimport random\nrandom.seed(1)")
    folder = os.getcwd()

    def function(instance, seed):
        import warm_state

        warm_state.calls.append(seed)
        return len(warm_state.calls)

    def restless(instance, seed):
        random.seed(5)
        sys.setrecursionlimit(5000)
        os.environ["AMPLER_TEST_WARMTH"] = "1"
        os.chdir("/")
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        return 1

    assert [call(function).value for _ in range(3)] == [1, 1, 1]
    before = (random.getstate(), sys.getrecursionlimit())
    assert call(restless).value == 1
    assert (random.getstate(), sys.getrecursionlimit()) == before
    assert "AMPLER_TEST_WARMTH" not in os.environ
    assert os.getcwd() == folder
    assert threading.active_count() == 1


@pytest.mark.parametrize(
    "change", ["sys.path.insert(0, '.')", "os.environ['AMPLER_X'] = '1'", "os.chdir('/')", "thread.start()"]
)
def test_an_import_that_may_hang_on_what_was_done_before_is_left_to_the_children(module, change):
    module("warm_other")

    def function(instance, seed):
        thread = threading.Thread(target=time.sleep, args=(60,), daemon=True)
        exec(change, {"sys": sys, "os": os, "thread": thread})
        import warm_other

        return warm_other is not None

    assert [call(function).value for _ in range(3)] == [1, 1, 1]
    assert module.imports("warm_other") == 3
    assert "warm_other" not in sys.modules


def test_a_module_that_cannot_be_imported_here_is_tried_once(module):
    module("warm_child_only", f"import os\nif os.getpid() == {os.getpid()}: raise RuntimeError('not here')")

    def function(instance, seed):
        import warm_child_only

        return warm_child_only is not None

    assert [call(function).value for _ in range(4)] == [1, 1, 1, 1]
    assert module.imports("warm_child_only") == 5


def test_another_module_of_the_same_name_is_not_taken_for_it(module):
    module("warm_twin")

    warmth.warm_up([("warm_twin", "/elsewhere/warm_twin.py"), ("no_such_module", "/nowhere.py")])

    assert "warm_twin" not in sys.modules


def test_a_hung_or_dead_child_is_replaced_by_one_that_is_warm(module):
    module("warm_again")

    def function(instance, seed):
        import warm_again

        if seed == 1:
            time.sleep(60)
        if seed == 2:
            os._exit(3)
        return warm_again is not None

    seen = [call(function, seed, Limits(timeout=1.5)).status for seed in (0, 1, 2, 3)]

    assert seen == ["ok", "timeout", "failed", "ok"]
    assert module.imports("warm_again") == 2


def test_a_module_that_sets_variables_is_warm_in_the_end_with_all_that_it_imports(module):
    module("warm_inner")
    module("warm_setting", "import os, warm_inner\nos.environ.setdefault('AMPLER_TEST_SETTING', '1')")
    module("warm_after")

    def function(instance, seed):
        import warm_setting  # noqa: I001 - in this order
        import warm_after

        return int(os.environ["AMPLER_TEST_SETTING"]) + (warm_setting is warm_after)

    try:
        assert [call(function).value for _ in range(5)] == [1, 1, 1, 1, 1]
    finally:
        os.environ.pop("AMPLER_TEST_SETTING", None)
    assert [module.imports(name) for name in ("warm_setting", "warm_inner", "warm_after")] == [2, 2, 3]
