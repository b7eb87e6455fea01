"""Fixtures of all tests: commands, a browser, the public data, and analyses of generated runs."""

import shutil
import threading
from pathlib import Path

import commands
import numpy as np
import pytest

collect_ignore_glob = ["study/old/*"]  # studies as users have them: their solvers are no tests


@pytest.fixture(autouse=True)
def _count_own_threads(monkeypatch):
    """Threads that earlier tests have left (Dask, loky) do not forbid a test to fork."""
    count = threading.active_count
    if left := count() - 1:
        monkeypatch.setattr(threading, "active_count", lambda: max(1, count() - left))


@pytest.fixture(scope="session")
def shell():
    """`shell("design", "--power", 0.8)`: a command in this process."""
    return commands.ampler


@pytest.fixture(scope="session")
def process():
    """`process("design", "--power", 0.8)`: a command in a process of its own."""
    return commands.process


@pytest.fixture
def start():
    """`start("run", "study.toml", cwd=folder)`: a command in the background, which is killed at the end of the test."""
    started = []

    def begin(*arguments, **options):
        started.append(commands.start(*arguments, **options))
        return started[-1]

    yield begin
    for process in started:
        commands.end(process)


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


@pytest.fixture(scope="session")
def public_data():
    """The folder of public results, which is not part of the project."""
    for folder in Path(__file__).parents:
        if (data := folder / "shared" / "public-data").is_dir():
            return data
    pytest.skip("the public data are not here")


@pytest.fixture(scope="session")
def nasty_names():
    """Names that break HTML, LaTeX, spreadsheets and mathematics in figures."""
    return (
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
def study_of():
    """`study_of(names)`: an analysis of made-up runs, the later algorithms ever a little worse; the same every time.

    `lacking` are cells without runs, by the places of their instance and algorithm.
    """
    from ampler.analysis import Analysis, analyse_runs
    from ampler.core.arrays import Runs
    from ampler.core.settings import Settings

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
        settings = Settings(difference=difference, reference=reference, **options)
        return analyse_runs(made, settings, features=groups)

    return make
