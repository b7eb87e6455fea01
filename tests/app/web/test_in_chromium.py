"""The pages in a real browser: they work, they are for everyone, and nothing leaves this machine."""

from __future__ import annotations

import random
import re
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from accessibility import axe_script, violations, without_scripts

PAGES = [
    "/",
    "/design",
    "/design?versus=all&algorithms=3&looks=2&available=20&runs=10&seconds=5",
    "/studies",
    "/study/small",
    "/study/small/instance/1",
    "/study/small/results",
    "/study/small/results?view=pair",
    "/study/small/results?view=groups",
    "/study/small/results?view=probable&margin=0.2",
    "/study/small/results?view=more&detect=0.1",
    "/study/small/results?view=figures",
    "/study/small/results?view=take",
    "/results",
]
REFUSED = ["/nothing", "/design?effect=x", "/study/small/results?reference=nobody"]
PATIENCE = 120.0  # seconds that a busy machine has to answer


class Watched:
    """A page with all that it asked for and all that it complained of."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address.partition("/?")[0]
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(address)  # the token becomes a cookie
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        page.on("console", self._said)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, where: str) -> Any:
        self.page.goto(f"{self.address}{where}")
        return self.page

    def check(self) -> None:
        assert {urlsplit(url).netloc for url in self.requests if not url.startswith("data:")} <= {
            urlsplit(self.address).netloc
        }
        assert self.complaints == []


@pytest.fixture(scope="module")
def address(chromium, finished_study, serve) -> Iterator[str]:
    with serve(finished_study) as found:
        yield found


@pytest.fixture(scope="module")
def watched_by_all(chromium, address) -> Iterator[Watched]:
    """One page for the tests that each open it somewhere: to start one takes longer than most of them."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    yield Watched(context.new_page(), address)
    context.close()


@pytest.fixture
def watched(watched_by_all) -> Iterator[Watched]:
    """The page, as if it had been nowhere before."""
    yield watched_by_all
    page = watched_by_all.page
    try:
        watched_by_all.check()
    finally:
        page.evaluate("localStorage.clear()")
        page.unroute_all()
        page.goto("about:blank")
        watched_by_all.requests.clear()
        watched_by_all.complaints.clear()


def test_the_calculator_follows_its_sliders(watched):
    page = watched.open("/design")
    assert page.inner_text("h1") == "57 instances"

    top = page.locator("#design").bounding_box()["y"]
    page.locator('input[data-for="effect"]').fill("1")
    said(page, "h1", "18 instances")

    assert page.input_value("#effect") == "1"
    assert page.locator("#design").bounding_box()["y"] == top, "nothing jumps"
    assert "effect=1" in page.url
    assert "--effect 1 " in page.inner_text("#command")
    page.reload()
    assert page.inner_text("h1") == "18 instances"


def test_the_calculator_says_what_is_no_design_and_goes_on(watched):
    page = watched.open("/design")
    page.fill("#power", "2")
    page.wait_for_selector(".problem")
    assert "Power must lie strictly between 0 and 1" in page.inner_text(".problem")
    page.fill("#power", "0.8")
    said(page, "h1", "57 instances")
    watched.complaints[:] = [each for each in watched.complaints if "422" not in each]


def test_the_calculator_works_without_scripts(watched):
    with without_scripts(watched.page):
        page = watched.open("/design")
        assert page.evaluate("typeof ask") == "undefined"
        page.fill("#effect", "1")
        page.click("#calculate")

        said(page, "h1", "18 instances")
        assert "effect=1" in page.url


def test_what_is_typed_before_the_script_is_there_is_answered(watched):
    def late(route: Any) -> None:
        watched.page.wait_for_timeout(1000)
        route.continue_()

    watched.page.route("**/static/design.js*", late)
    watched.page.goto(f"{watched.address}/design", wait_until="commit")
    watched.page.fill("#effect", "1")
    said(watched.page, "h1", "18 instances")
    assert "effect=1" in watched.page.url


def test_the_keyboard_reaches_the_content_and_the_theme(watched):
    page = watched.open("/design")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#theme")
    page.keyboard.press("Enter")
    chosen = page.evaluate("document.documentElement.dataset.theme")
    assert chosen in ("light", "dark")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == chosen


GROWING = """
    import pathlib, random, sys, time
    import ampler as am

    made = []

    def solved(instance, seed, worse=0.0):
        made.append(seed)
        while len(made) > 50 and not pathlib.Path(__file__).with_name("watched").exists():  # until somebody watches
            time.sleep(0.05)
        return instance + worse + random.Random(seed).random()

    study = am.Study(
        algorithms={"plain": solved, "worse": lambda instance, seed: solved(instance, seed, 0.5)},
        instances={f"i{n}": n for n in range(10)}, difference="simple", better="lower", reference="plain",
        design=am.FixedSize(runs=8), seed=1, name="growing",
    )
    study.run(sys.argv[1], workers=1)
"""


def test_a_study_run_by_another_process_is_seen_to_grow_and_to_finish(watched_by_all, serve, start, tmp_path):
    script, study, watched = tmp_path / "growing.py", tmp_path / "growing.db", tmp_path / "watched"
    script.write_text(textwrap.dedent(GROWING), encoding="utf-8")
    runner = start(script, study, program=(sys.executable,), cwd=tmp_path)
    try:
        wait_for_runs(study)
        with serve(study) as address:
            seen = Watched(watched_by_all.page.context.new_page(), address)
            page = seen.open("/study/growing")
            first = runs_shown(page)
            assert 0 < first < 160
            watched.touch()
            grown = next((n for _ in range(200) if (n := after_a_while(page)) > first), first)
            assert grown > first
            said(page, "h1", "All 10 instances are finished")
            said(page, ".facts li:first-child b", "160")
            seen.check()
            page.close()
    finally:
        watched.touch()
        runner.wait(PATIENCE)
    assert runner.returncode == 0


def wait_for_runs(study: Path) -> None:
    from ampler.core.errors import AmplerError
    from ampler.study.store import read_store

    for _ in range(600):
        try:
            with read_store(study) as store:
                if sum(each.runs for each in store.tally()):
                    return
        except AmplerError:
            pass
        time.sleep(0.1)
    pytest.fail("the study did not begin")


def said(page: Any, where: str, words: str | re.Pattern[str]) -> None:
    """Wait until a page says something; its policy allows no script of ours to be put into it."""
    from playwright.sync_api import expect

    expect(page.locator(where)).to_have_text(words, timeout=1000 * PATIENCE)


def after_a_while(page: Any) -> int:
    page.wait_for_timeout(200)
    return runs_shown(page)


def runs_shown(page: Any) -> int:
    return int(page.inner_text(".facts li:first-child b").replace(",", ""))


def wrongly_guessed(path: Path) -> Path:
    """A table in which two columns of numbers could be the results."""
    rng = random.Random(5)
    rows = ["solver,problem,score,quality"]
    for n in range(9):
        for name, worse in (("a", 0), ("b", 3)):
            rows += [f"{name},p{n},{n}.5,{10 + worse + rng.random():.4f}" for _ in range(2)]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_a_csv_with_a_wrongly_guessed_column_is_corrected_early_and_late_and_analysed(watched, tmp_path):
    waits = iter([1000])  # the script of the first page comes late, those of the pages after it at once

    def late(route: Any) -> None:
        watched.page.wait_for_timeout(next(waits, 0))
        route.continue_()

    watched.page.route("**/static/columns.js*", late)
    page = watched.open("/results")
    page.set_input_files("#file", wrongly_guessed(tmp_path / "mine.csv"))
    page.wait_for_selector("#columns")
    page.select_option("#role3", "value")
    page.wait_for_url("**value=quality**")
    assert next(waits, None) is None, "the script was late"
    assert page.inner_text("h1") == "This is how I read your columns."
    page.select_option("#role2", "value")
    page.wait_for_url("**value=score**")
    page.select_option("#role3", "value")
    page.wait_for_url("**value=quality**")
    page.select_option("#difference", "percent")
    page.select_option("#better", "lower")
    page.select_option("#reference", "a")
    page.click("text=Analyse")

    said(page, "h1", re.compile("^a is better than b"))
    page.click("text=Sample size")
    page.fill("#detect", "0.05")
    page.click("text=Compute")
    said(page, "main", re.compile("Variance components"))


def test_a_download_is_what_the_command_line_writes(watched, finished_study, shell, tmp_path):
    page = watched.open("/study/small/results?view=take&test=wilcoxon")
    for name, option in (("report.md", None), ("comparisons.csv", "--csv")):
        with page.expect_download() as waiting:
            page.click(f"text={name} >> nth=0")
        got = Path(waiting.value.path()).read_bytes()
        if option is None:
            shell("report", finished_study, "-o", tmp_path / name, "--test", "wilcoxon")
            assert got == (tmp_path / name).read_bytes()
        else:
            assert got.decode() == shell("analyse", finished_study, option, "--test", "wilcoxon").out


def test_a_choice_is_followed_at_once_and_called_exploring(watched):
    page = watched.open("/study/small/results")
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.locator(".forest tbody tr").first.bounding_box()["y"] <= 300
    page.locator("details.settings summary").click()
    page.select_option("#test", "wilcoxon")
    page.wait_for_url("**test=wilcoxon**")

    assert "This is exploration" in page.inner_text("main")


SIZES = ((390, "dark"), (1280, "light"))
ALTERNATELY = [(where, *SIZES[place % 2]) for place, where in enumerate([*PAGES, *REFUSED])]
WHOLE = [[(where, *size) for where in (*PAGES, *REFUSED)] for size in (*SIZES, (390, "light"), (1280, "dark"))]


@pytest.mark.parametrize(
    "looks",
    [ALTERNATELY, *(pytest.param(each, marks=pytest.mark.slow) for each in WHOLE)],
    ids=["alternately", *(f"{each[0][1]}-{each[0][2]}" for each in WHOLE)],
)
def test_every_page_is_for_everyone_and_asks_nobody_else(watched_by_all, looks):
    watched = Watched(watched_by_all.page.context.new_page(), watched_by_all.address)
    watched.page.add_init_script(axe_script())
    for where, width, scheme in looks:
        watched.page.set_viewport_size({"width": width, "height": 900})
        watched.page.emulate_media(color_scheme=scheme)
        opened = watched.open(where)
        assert violations(opened) == [], where
        for wide in (width, *(other for other, _ in SIZES if other != width)):
            opened.set_viewport_size({"width": wide, "height": 900})
            assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
                f"{where} is wider than {wide}"
            )
    watched.complaints[:] = [each for each in watched.complaints if "404" not in each and "422" not in each]
    watched.check()
    watched.page.close()
