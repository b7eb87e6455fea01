"""What all tests share: their order, processes that have loaded everything, a browser, and the public data."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from begins import begun_elsewhere, in_one_order
from hypothesis import is_hypothesis_test, settings
from order import dealt_out
from together import together

settings.register_profile("house", deadline=None)  # a busy machine is not a bug
settings.load_profile("house")

SHARE = {True: 4, False: 2}  # of the examples of a costly law the fast suite tries a quarter, of others half,
MORE = 2  # and the slow one twice as many, of costly ones all


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Have each worker, if there are any, begin to collect elsewhere."""
    report = yield
    given = getattr(collector.config, "workerinput", None)
    if given is not None and collector.path == Path(__file__).parent and report.result:
        begun_elsewhere(report.result, int(given["workerid"].removeprefix("gw")), given["workercount"])
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Deal the tests out to the workers, if there are any, and say how many examples of each law are tried.

    Workers must agree on the order: they have one before the tests are shuffled, wherever collecting began.
    """
    given = getattr(config, "workerinput", None)
    if given is not None:
        in_one_order(items)
    yield
    if given is not None:
        items[:] = dealt_out(together(items), given["workercount"])
    laws = {item.obj: item.get_closest_marker("costly") is not None for item in items if is_hypothesis_test(item.obj)}
    for law, costly in laws.items():
        whole = law._hypothesis_internal_use_settings
        if config.option.markexpr == "not slow":
            number = -(-whole.max_examples // SHARE[costly])
        else:
            number = whole.max_examples * (1 if costly else MORE)
        law._hypothesis_internal_use_settings = settings(whole, max_examples=number)


collect_ignore_glob = ["study/old/*"]  # studies as users have them: their solvers are no tests

ROOT = Path(__file__).parents[1]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test marked `alone` in a process of its own where others have left threads in this one."""
    if pyfuncitem.get_closest_marker("alone") is None or threading.active_count() == 1:
        return None
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:randomly", pyfuncitem.nodeid]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (answer.returncode, " passed" in answer.stdout) == (0, True), answer.stdout + answer.stderr
    return True


@pytest.fixture(scope="session", autouse=True)
def _commands_are_made_once():
    """Typer reads the signatures of all commands at each call: once for a user, a thousand times for us."""
    import typer.main

    make, made = typer.main.get_command, {}

    def get_command(app):
        asked = (app, *app.registered_commands)  # a test may have added one
        if asked not in made:
            made[asked] = make(app)
        return made[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", get_command)
        yield


@pytest.fixture(scope="session")
def warm():
    """A process that has loaded what commands need, and forks itself for each."""
    from warm import Warm

    with Warm() as started:
        yield started


@pytest.fixture(scope="session")
def drivers():
    """One that has loaded what carries studies out and no more, for drivers that are watched, interrupted or killed."""
    from warm import Warm

    with Warm("runs") as started:
        yield started


@pytest.fixture(scope="session")
def forked(warm, drivers):
    """`forked("run", "study.toml", cwd=folder)`: a command in a process of its own that need not load Python first."""
    from warm import CARRYING

    def run(*words, **how):
        return (drivers if words[0] in CARRYING else warm).run(*words, **how)

    return run


@pytest.fixture
def figures_only_of(monkeypatch):
    """`figures_only_of("course")`: pages with the figures of these sections only; drawing takes nearly all the time."""
    from ampler.report.drawings import drawings

    def keep(*sections):
        def chosen(analysis):
            return (each for each in drawings(analysis) if each.section in sections)

        monkeypatch.setattr("ampler.report.html.drawings", chosen)

    return keep


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
    *("--in-process-gpu", "--js-flags=--single-threaded"),  # fewer threads beside those of the other workers
)


@pytest.fixture(scope="module")
def chromium():
    """The browser of this machine, driven by Playwright; without it nobody sees whether the pages work in one.

    It ends with its module: while it is there, no other loop of events can run in this thread.
    """
    sync_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium on this machine: that pages work in a browser is not tested")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=found,
            args=list(FLAGS),
            headless=True,
            timeout=120_000,  # a busy machine takes its time
        )
        yield started
        started.close()


PUBLIC_DATA = next(
    (found for above in Path(__file__).parents if (found := above / "shared" / "public-data").is_dir()), Path("none")
)


@pytest.fixture(scope="session")
def public_data():
    """The folder of public results, which is not part of the project."""
    if not PUBLIC_DATA.is_dir():
        pytest.skip("the public data are not here")
    return PUBLIC_DATA


NASTY_NAMES = (
    "<script>alert(1)</script>",
    "a & b",
    "naïve-α_1%",
    r"$\frac{$",
    r"\input{x}",
    "=1+1",
    "x" * 100 + "y" * 100,
    "x" * 100 + "z" * 99 + "y",
    "50% #1 ~^{}|\"'",
)


@pytest.fixture(scope="session")
def nasty_names():
    """Names that break HTML, LaTeX, spreadsheets and mathematics in figures."""
    return NASTY_NAMES


@pytest.fixture(scope="session")
def study_of():
    """`study_of(names)`: an analysis of made-up runs, the later algorithms ever a little worse; the same every time.

    `lacking` are cells without runs, by the places of their instance and algorithm.
    """
    from ampler.analysis import Analysis, analyse_runs
    from ampler.core.runs import Runs
    from ampler.core.settings import AnalysisSettings

    def make(
        names, *, instances=12, runs=6, features=None, difference="simple", reference=None, lacking=(), **options
    ) -> Analysis:
        rng = np.random.default_rng(2019)
        places = [f"{k} & $x_{k}$" for k in range(instances)]
        hard = rng.normal(0, 0.5, (instances, len(names)))
        columns = [
            (place, name, 50 + 0.4 * j + hard[i, j] + rng.normal(0, 1 + j % 3))
            for i, place in enumerate(places)
            for j, name in enumerate(names)
            for _ in range(runs)
        ]
        columns = [row for row in columns if (places.index(row[0]), names.index(row[1])) not in lacking]
        groups = {
            feature: {place: values[i % len(values)] for i, place in enumerate(places)}
            for feature, values in (features or {}).items()
        }
        made = Runs.from_columns(*map(list, zip(*columns, strict=True)))
        settings = AnalysisSettings(difference=difference, reference=reference, **options)
        return analyse_runs(made, settings, features=groups)

    return make
