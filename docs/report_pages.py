"""The screenshots of docs/report.md: five kinds of reports, at the widths people have, light, dark and as printed.

    python docs/report_pages.py FOLDER

writes the reports into FOLDER and the pictures into docs/figures: for each report the first screens at four widths side
by side, light and dark, and the first pages that it prints on A4. It needs Chromium, Playwright, Pillow and
Ghostscript; the paper's runs are taken from ../shared/public-data where they are there, and the study of the scheduling
demo (`upmsp-demo`, `ampler run`) from FOLDER/study.db.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

import ampler

HERE = Path(__file__).parent
PUBLIC = HERE.parents[1] / "shared" / "public-data"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WIDTHS = {390: 844, 768: 1024, 1280: 900, 1920: 1080}
SCHEMES = ("light", "dark")
SMALLER = 0.5  # of a screen, in the pictures that show four
BETWEEN, GROUND = 16, "#8a8f99"
PRINTED, DOTS = 4, 60  # pages, and dots per inch
COLOURS = 128  # of a picture: pages have few
ALONE = (  # report, width, scheme: pictures of their own
    ("scheduling", 1280, "light"),
    ("scheduling", 390, "dark"),
    ("paper", 1280, "dark"),
    ("many", 1920, "light"),
    ("two", 1280, "light"),
    ("single-values", 1280, "light"),
)


def main(folder: Path) -> None:
    """Write the reports and the pictures of them."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    pages = dict(reports(folder))
    found = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        for name, page_file in pages.items():
            for scheme in SCHEMES:
                take(browser, page_file, name, scheme, folder)
            printed(browser, page_file, HERE / "figures" / f"report-{name}-printed.webp", folder)
        browser.close()


def take(browser: Any, page_file: Path, name: str, scheme: str, folder: Path) -> None:
    """Take the first screens at all widths; some stand by themselves, too."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(page_file.as_uri())
    screens = []
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.screenshot(path=str(folder / "screen.png"))
        screens.append(Image.open(folder / "screen.png").convert("RGB"))
        if (name, width, scheme) in ALONE:
            alone = screens[-1].quantize(COLOURS, dither=Image.Dither.NONE)
            alone.save(HERE / "figures" / f"report-{name}-{width}-first.png", optimize=True)
    page.close()
    smaller = [each.resize((int(each.width * SMALLER), int(each.height * SMALLER)), Image.LANCZOS) for each in screens]
    side_by_side(smaller).save(HERE / "figures" / f"report-{name}-{scheme}.webp", quality=72, method=6)


def printed(browser: Any, page_file: Path, target: Path, folder: Path) -> None:
    """Print a report, and show its first pages."""
    page = browser.new_page()
    page.goto(page_file.as_uri())
    page.pdf(path=str(folder / "printed.pdf"), prefer_css_page_size=True)
    page.close()
    for old in folder.glob("printed-*.png"):
        old.unlink()
    command = ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-dTextAlphaBits=4", "-dGraphicsAlphaBits=4", "-sDEVICE=png16m"]
    where = [f"-r{DOTS}", f"-dLastPage={PRINTED}", f"-sOutputFile={folder}/printed-%02d.png"]
    subprocess.run([*command, *where, str(folder / "printed.pdf")], check=True)
    sheets = [Image.open(each).convert("RGB") for each in sorted(folder.glob("printed-*.png"))]
    side_by_side(sheets).save(target, quality=72, method=6)


def side_by_side(pictures: Sequence[Image.Image]) -> Image.Image:
    """Return the pictures in a row, their upper ends at the same height."""
    width = sum(each.width for each in pictures) + BETWEEN * (len(pictures) + 1)
    row = Image.new("RGB", (width, max(each.height for each in pictures) + 2 * BETWEEN), GROUND)
    left = BETWEEN
    for each in pictures:
        row.paste(each, (left, BETWEEN))
        left += each.width + BETWEEN
    return row


def reports(folder: Path) -> Iterator[tuple[str, Path]]:
    """Write the five reports; a study of the scheduling demo is taken from FOLDER/study.db where it is."""
    demo, paper = folder / "study.db", PUBLIC / "paper_experiment1_runs.csv"
    if demo.is_file():
        yield "scheduling", ampler.write_report(demo, folder / "scheduling.html", title="scheduling")
    if paper.is_file():
        asked = {"reference": "Full", "difference": "percent", "better": "lower", "se": 0.05, "budget": 1100}
        title = "Campelo and Wanner's first experiment"
        yield "paper", ampler.write_report(paper, folder / "paper.html", title=title, effect=0.5, **asked)
    asked = {"reference": "radix sort", "difference": "ratio", "better": "lower", "margin": 0.1}
    yield "two", ampler.write_report(two_sorts(), folder / "two.html", title="Two ways to sort", **asked)
    title = "Forty configurations"
    yield "many", ampler.write_report(forty(), folder / "many.html", title=title, difference="percent", better="lower")
    asked = {"reference": "plain", "difference": "simple", "better": "higher"}
    yield (
        "single-values",
        ampler.write_report(four_trees(), folder / "values.html", title="Four ways to prune", **asked),
    )


def two_sorts() -> pd.DataFrame:
    """Two algorithms on 24 instances, twelve runs of each."""
    rng = np.random.default_rng(7)
    rows = []
    for k in range(24):
        level = rng.lognormal(3, 1.2)
        for name, factor in (("quicksort", 1.0), ("radix sort", 0.82)):
            typical = level * factor * rng.lognormal(0, 0.15)
            rows += [(f"data/set-{k:02d}.csv", name, typical * rng.lognormal(0, 0.1)) for _ in range(12)]
    return pd.DataFrame(rows, columns=["instance", "algorithm", "seconds"])


def forty() -> pd.DataFrame:
    """Forty algorithms on 200 instances, five runs of each."""
    rng = np.random.default_rng(2019)
    shape = 200, 40, 5
    level = np.exp(rng.normal(4.6, 0.5, shape[:1]))[:, None] * np.exp(rng.normal(0, 0.03, shape[:2]))
    level *= np.exp(0.004 * np.arange(40) * rng.random(40))
    values = level[:, :, None] * np.exp(rng.normal(0, 0.03, shape))
    places = np.indices(shape).reshape(3, -1)
    names = {
        "instance": [f"bench/n{k:03d}.txt" for k in places[0]],
        "algorithm": [f"config-{k:02d}" for k in places[1]],
    }
    return pd.DataFrame(names | {"cost": values.ravel()})


def four_trees() -> pd.DataFrame:
    """One value in each cell: four variants on 14 data sets."""
    rng = np.random.default_rng(14)
    level = rng.uniform(0.6, 0.95, 14)
    names = {"plain": 0.0, "m": 0.012, "cf": 0.004, "m+cf": 0.02}
    columns = {name: np.round(level + gain + rng.normal(0, 0.015, 14), 3) for name, gain in names.items()}
    return pd.DataFrame({"dataset": [f"set {k + 1}" for k in range(14)], **columns})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
