"""The page in a real browser: at four widths, light and dark, nothing overflows, is cut off or shut to anyone."""

from __future__ import annotations

import json
import random

import numpy as np
import pandas as pd
import pytest
from accessibility import axe_script, violations, without_scripts
from flat_study import flat_analyse, flat_study
from interim_studies import small_analysis

import ampler
from ampler.report import write_report
from ampler.report.drawings import drawings
from ampler.testing import SerialExecutor

SLOW = pytest.mark.slow
WIDTHS, SCHEMES = (390, 768, 1280, 1920), ("light", "dark")

OVERFLOWING = """() => Array.from(document.querySelectorAll("body *")).filter((element) => {
  const place = element.getBoundingClientRect();
  return place.width && !element.closest(".scroll, pre") && (place.right > innerWidth + 1 || place.left < -1);
}).map((element) => element.outerHTML.slice(0, 120))"""

WITH_OWN_TEXT = """Array.from(document.querySelectorAll("body *:not(svg *)")).filter((element) =>
  element.checkVisibility()
  && Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim()))"""

CLIPPED = f"""() => {WITH_OWN_TEXT}.filter((element) => {{
  const style = getComputedStyle(element);
  const hides = (way) => way === "hidden" || way === "clip";
  return (hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1)
    || (hides(style.overflowY) && element.scrollHeight > element.clientHeight + 1);
}}).map((element) => element.outerHTML.slice(0, 120))"""

LETTER_BY_LETTER = f"""() => {WITH_OWN_TEXT}.filter((element) => Array.from(element.childNodes).some((node) => {{
  if (node.nodeType !== 3 || !node.data.trim()) return false;
  const range = document.createRange();
  range.selectNodeContents(node);
  const lines = new Set(Array.from(range.getClientRects(), (line) => Math.round(line.top))).size;
  const words = node.data.trim().split(/\\s+/);
  return lines >= 3 && lines > words.length && node.data.trim().length / lines < 4;
}})).map((element) => element.outerHTML.slice(0, 120))"""


FEW = ", few figures"  # after the name of a report: drawing takes nearly all the time that a page takes


class Written(dict):
    """Paths of reports by name, written when they are asked for."""

    def __init__(self, folder, sources):
        super().__init__()
        self.folder, self.sources = folder, sources

    def __missing__(self, name):
        source, path = self.sources[name.removesuffix(FEW)](), self.folder / f"{name}.html"
        if isinstance(source, str):
            path.write_text(source, encoding="utf-8")
        else:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("ampler.report.html.drawings", few_drawings if name.endswith(FEW) else drawings)
                write_report(source, path, title=name)
        self[name] = path  # last: what could not be written is not there
        return path


def few_drawings(analysis):
    return (each for each in drawings(analysis) if each.section in ("evidence", "trust"))


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "\u202eמימין לשמאל",
    "🧬🚀 " * 12,
    "w" * 200,
    "a long name of many words " * 8,
)


def hostile_table():
    """Names that are HTML, run from right to left, are pictures or have no end: of algorithms and of instances."""
    rng = np.random.default_rng(8)
    places = [f"{place} {name}" for place in "ab" for name in HOSTILE]
    cells = [(where, name, j) for where in places for j, name in enumerate(HOSTILE) for _ in range(2)]
    rows = [(where, name, rng.normal(j, 1)) for where, name, j in cells]
    return pd.DataFrame(rows, columns=["instance", "algorithm", "cost"])


def failing_table():
    """A solver study: one algorithm times out on half of the instances, another crashes on one."""
    rng = np.random.default_rng(4)
    rows = [
        (f"sat/{i}.cnf", name, rng.lognormal(1, 0.5), "timeout" if (name, i % 2) == ("slow", 0) else "ok")
        for i in range(4)
        for name in ("quick", "slow", "plain")
        for _ in range(3)
    ]
    return pd.DataFrame(rows, columns=["instance", "solver", "time", "status"])


def detecting_study(folder):
    """A study that found its own size after a pilot."""
    file = folder / "study.db"
    algorithms = {name: _noisy(shift) for name, shift in {"a": 0.0, "b": 0.3, "c": 40.0}.items()}
    places = {f"i{k}": k for k in range(30)}
    asked = {"difference": "percent", "reference": "a", "detect": 0.01, "pilot": 6, "start": 3, "seed": 5}
    flat_study(algorithms=algorithms, instances=places, **asked).run(file, executor=SerialExecutor())
    return file


def _noisy(shift):
    return lambda instance, seed: 100 + instance + shift + random.Random(seed).gauss(0, 2)


def tied_table():
    """All algorithms are equal on every instance."""
    return pd.DataFrame({"instance": list("abcdef"), "one": [3.0] * 6, "two": [3.0] * 6, "three": [3.0] * 6})


@pytest.fixture(scope="module")
def pages(study_of, nasty_text, tmp_path_factory):
    """Files by name, one for each kind of study that there is; each is written when it is asked for."""
    folder = tmp_path_factory.mktemp("pages")
    features, names = {"size": ["small", "big", "huge"]}, ["one", "two", "three"]
    plain = {"difference": "simple", "better": "lower"}
    everything = {"margin": 0.5, "reference": "one", "features": features, "se": 0.8}
    sources = {
        "whole": lambda: study_of(names, **everything),
        "brief": lambda: study_of(names, instances=4, **everything),
        "nasty": lambda: nasty_text,
        "hostile": lambda: flat_analyse(hostile_table(), **plain),
        "failing": lambda: flat_analyse(ampler.read_results(failing_table(), on_failure="par=10,cutoff=60"), **plain),
        "single": lambda: study_of(names, runs=1),
        "two": lambda: study_of(names[:2], margin=0.5),
        "one instance": lambda: study_of(names, instances=1),
        "tied": lambda: flat_analyse(tied_table(), **plain),
        "detecting": lambda: detecting_study(folder),
        "looked": small_analysis,
        "many": lambda: study_of([f"config-{k:02d}" for k in range(14)], instances=61, runs=2),
    }
    return Written(folder, sources)


@pytest.fixture(scope="module")
def shown(chromium, pages):
    """`shown(name)`: the page, opened once; every part that folds is open."""
    context = chromium.new_context(accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = {}

    def open_page(name):
        if name not in opened:
            opened[name] = watched(context.new_page(), pages[name], *OPENED.get(name, (1280, "light")))
        opened[name].bring_to_front()  # or it is drawn once a second
        opened[name].mouse.move(0, 0)  # what a test before this one pointed at is not pointed at any more
        return opened[name]

    yield open_page
    context.close()


def watched(page, path, width, scheme):
    """A page as it opens: what it asked for, complained of and had folded away is noted."""
    requests, troubles = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(path.as_uri())
    page.first_width = page.evaluate("document.documentElement.scrollWidth")
    page.folded = page.locator("details:not([open])").count()
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.emulate_media(color_scheme="light")
    page.at_first, page.troubles = (requests[:], troubles[:]), troubles  # other tests put scripts of theirs into it
    return page


BRIEF = f"brief{FEW}"  # of four instances: has all that a page can have, but no long table
OPENED = {"nasty": (390, "dark")}
OFTEN = ("nasty", BRIEF, f"hostile{FEW}", f"failing{FEW}")
SELDOM = ("whole", "hostile", "failing", "single", "two", "one instance", "tied", "detecting", "looked", "many")


SEEN = [(name, width) for name in OFTEN for width in (WIDTHS if name == "nasty" else WIDTHS[::2])]
REST = [(name, width) for name in (*OFTEN, *SELDOM) for width in WIDTHS if (name, width) not in SEEN]


@pytest.mark.parametrize(("name", "width"), [*SEEN, *(pytest.param(*each, marks=SLOW) for each in REST)])
def test_nothing_overflows_is_cut_off_or_broken_letter_by_letter(shown, name, width):
    page = shown(name)

    page.set_viewport_size({"width": width, "height": 900})

    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(LETTER_BY_LETTER) == []


@pytest.mark.parametrize(("what", "style"), [("CLIPPED", "overflow: hidden; width: 3em"), ("LETTERS", "width: 1ch")])
def test_the_eyes_of_these_tests_see_what_is_wrong(shown, what, style):
    page = shown(BRIEF)
    wrong = f"<p id='wrong' style='{style}; white-space: {'nowrap' if what == 'CLIPPED' else 'normal'}'>Unreadable</p>"

    page.evaluate("text => document.body.insertAdjacentHTML('beforeend', text)", wrong)
    seen = page.evaluate(CLIPPED if what == "CLIPPED" else LETTER_BY_LETTER)
    page.evaluate("document.getElementById('wrong').remove()")

    assert len(seen) == 1


LOOKED_AT = [(BRIEF, 390, "dark"), (f"failing{FEW}", 1280, "light")]
ALL = [(name, width, scheme) for name in (*OFTEN, *SELDOM) for width in WIDTHS[::2] for scheme in SCHEMES]


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *LOOKED_AT,
        *(pytest.param(*each, marks=SLOW) for each in [*ALL, ("failing", 768, "dark")] if each not in LOOKED_AT),
    ],
)
def test_axe_finds_nothing_serious(shown, name, width, scheme):
    page = shown(name)

    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.evaluate(axe_script())

    assert violations(page) == []
    page.emulate_media(color_scheme="light")


def test_axe_sees_who_is_shut_out(shown):
    page = shown(BRIEF).context.new_page()
    page.set_content(
        "<html lang='en'><title>A</title><main><h1>B</h1><img src='data:,'><p style='color: #eee'>Pale</p>"
    )
    page.evaluate(axe_script())

    assert {rule for rule, _ in violations(page)} == {"image-alt", "color-contrast"}
    page.close()


def test_a_click_on_a_comparison_opens_its_instances_and_closes_those_of_others(shown):
    page = shown(BRIEF)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("for (const part of document.querySelectorAll('details.pair')) part.open = false")

    for name in page.locator("#table-forest .name a").all():
        name.click()
        key = name.get_attribute("href")
        assert page.locator("details.pair[open]").count() == 1
        assert page.locator(f"details.pair[open] {key} .strip circle").count() == 4
        assert page.locator(f"{key} tbody tr").count() == 4


def test_pointing_at_a_mark_shows_its_instance_both_values_and_the_difference(shown):
    page = shown(BRIEF)
    page.set_viewport_size({"width": 1280, "height": 900})
    strip = page.locator("details.pair[open] svg.strip").first
    strip.scroll_into_view_if_needed()

    strip.locator("circle").first.hover()

    said = page.locator(".tip").inner_text()
    row = page.locator("details.pair[open] table").first.locator("tbody tr").first.locator("td").all_inner_texts()
    assert said.split("\n")[0] == row[0]
    assert all(text in said for text in row)
    page.evaluate("dispatchEvent(new Event('resize'))")
    assert page.locator(".tip").is_hidden()


def test_rows_are_filtered_by_letters(shown):
    page = shown("nasty")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("document.getElementById('data-statistics').closest('details').open = true")
    field = page.locator("#data-statistics .filter")

    field.fill("11 &")
    assert page.locator("#table-statistics tbody tr:visible").count() == 1
    field.fill("")

    assert page.locator("#table-statistics tbody tr:visible").count() == 12


def test_a_table_is_copied_as_csv_and_as_latex_with_the_numbers_it_shows(shown):
    page = shown("nasty")
    page.set_viewport_size({"width": 1280, "height": 900})
    acts = page.locator("#forest .foot .acts")
    cells = page.locator("#table-forest tbody tr").first.locator("th, td:not(.mark):not(.drawn)").all_text_contents()

    acts.get_by_text("CSV").click()
    csv = page.evaluate("navigator.clipboard.readText()")
    acts.get_by_text("LaTeX").click()
    latex = page.evaluate("navigator.clipboard.readText()")

    assert all(cell.replace("−", "-") in csv.replace('""', '"') for cell in cells[1:])
    assert "'=1+1" in csv
    assert latex.count(r"\\") == 9
    assert r"\$\textbackslash{}frac\{\$" in latex


def test_figures_are_downloaded_as_svg_without_anything_of_the_page(shown, tmp_path):
    page = shown(BRIEF)
    page.set_viewport_size({"width": 1280, "height": 900})
    for place in ("#forest .foot .acts", "#figure-power .acts"):
        with page.expect_download() as coming:
            page.locator(place).get_by_text("SVG").click()
        coming.value.save_as(tmp_path / "figure.svg")
        text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
        assert text.startswith("<svg")
        assert "var(--" not in text


def test_the_theme_can_be_turned_whatever_the_system_says(shown):
    page = shown(BRIEF)
    ground = "getComputedStyle(document.body).backgroundColor"

    before = page.evaluate(ground)
    page.locator(".theme").click()
    turned = page.evaluate(ground)
    page.locator(".theme").click()

    assert before != turned
    assert page.evaluate(ground) == before


def test_without_scripts_the_page_has_the_same_tables_and_no_dead_buttons(shown, pages):
    page = shown(BRIEF).context.new_page()
    with without_scripts(page):
        page.goto(pages[BRIEF].as_uri())

        assert page.locator("html.alive").count() == 0
        assert page.locator(".act:visible, .theme:visible, .filter:visible").count() == 0
        assert page.locator("#table-forest tbody tr").count() == 2
        link = page.locator("#table-forest .name a").first
        link.click()
        assert page.url.endswith(link.get_attribute("href"))
        assert page.locator(f"details.pair[open] {link.get_attribute('href')}").is_visible()
    page.close()


@pytest.mark.parametrize(
    "name", ["nasty", f"failing{FEW}", *(pytest.param(name, marks=SLOW) for name in ("whole", "failing", "many"))]
)
def test_on_a4_no_figure_is_wider_than_the_paper_higher_than_a_page_or_cut(shown, name):
    page = shown(name)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1000})  # 182 mm between the margins

    ends = page.evaluate("Array.from(document.querySelectorAll('svg, table'), (e) => e.getBoundingClientRect().right)")
    figures = "Array.from(document.querySelectorAll('figure'))"
    heights = page.evaluate(f"{figures}.map((e) => e.getBoundingClientRect().height)")
    breaks = page.evaluate(f"{figures}.map((e) => getComputedStyle(e).breakInside)")

    assert max(ends) <= 690
    assert max(heights) < 1016  # 269 mm
    assert set(breaks) == {"avoid"}
    page.emulate_media(media="screen")


@SLOW
def test_the_report_of_the_paper_fits_into_two_megabytes_and_every_width(paper, chromium, tmp_path):
    path = write_report(paper, tmp_path / "paper.html", title="paper")
    page = chromium.new_page()
    page.goto(path.as_uri())

    widths = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        widths[width] = page.evaluate("document.documentElement.scrollWidth")

    assert path.stat().st_size < 2_000_000
    assert json.dumps(widths) == json.dumps({width: width for width in WIDTHS})
    page.close()


@pytest.mark.parametrize(("name", "width"), [("nasty", 390), (BRIEF, 1280)], ids=["dark", "light"])
def test_chromium_opens_a_page_without_a_request_an_error_or_a_dialog(shown, pages, name, width):
    check_opened(shown(name), pages[name], width)


@SLOW
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_chromium_opens_the_nasty_page_alike_at_every_width(chromium, pages, width, scheme):
    page = watched(chromium.new_page(), pages["nasty"], width, scheme)
    check_opened(page, pages["nasty"], width)
    page.close()


def check_opened(page, path, width):
    assert page.at_first == ([path.as_uri()], [])
    assert page.first_width == width
    assert page.locator("svg").count() > 8


def test_a_click_on_a_heading_sorts_the_table_and_a_second_turns_it_round(shown, nasty):
    page = shown("nasty")
    heading = page.locator("#table-comparisons th", has_text="difference")
    column = "Array.from(document.querySelectorAll('#table-comparisons tbody tr'), row => row.cells[3].dataset.value)"
    ascending = sorted(-each.estimate for each in nasty.comparisons)  # the row is the other algorithm

    heading.locator("button").click()
    once = page.evaluate(column)
    heading.locator("button").click()
    twice = page.evaluate(column)

    assert [float(value) for value in once] == ascending
    assert [float(value) for value in twice] == ascending[::-1]
    assert heading.get_attribute("aria-sort") == "descending"


def test_what_is_folded_away_is_not_printed_and_the_paper_says_so(shown):
    page = shown("nasty")
    assert page.folded > 0
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = false")
    page.emulate_media(media="print")

    assert page.locator("details:visible").count() == 0
    assert page.locator(".paper").is_visible()
    page.emulate_media(media="screen")
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")


def test_no_script_but_ours_may_run(shown):
    page = shown(BRIEF)
    before = len(page.troubles)

    page.evaluate(
        "{ const s = document.createElement('script'); s.textContent = 'window.stolen = 1'; document.body.append(s); }"
    )

    assert page.evaluate("window.stolen") is None
    assert any("Content Security Policy" in trouble for trouble in page.troubles[before:])
