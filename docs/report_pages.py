"""The pictures of docs/report.md: the first screens of reports, light and dark, on a desktop and on a phone.

    python docs/report_pages.py FOLDER

writes the reports into FOLDER and the pictures into docs/figures. It needs Chromium and Playwright. The paper's runs
come from ../shared/public-data.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ampler

HERE = Path(__file__).parent
PUBLIC = HERE.parents[1] / "shared" / "public-data"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZES = {1280: 900, 390: 844}
PICTURES = (("paper", 1280, "light"), ("paper", 390, "dark"), ("ten", 1280, "light"), ("two", 1280, "dark"))


def main(folder: Path) -> None:
    """Write the reports and the pictures of them."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    pages = reports(folder)
    found = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        for name, width, scheme in PICTURES:
            page: Any = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": SIZES[width]})
            page.goto(pages[name].as_uri())
            page.screenshot(path=str(HERE / "figures" / f"report-{name}-{width}-first.png"))
            page.close()
        browser.close()


def reports(folder: Path) -> dict[str, Path]:
    """Write the reports."""
    paper = ampler.analyse(
        PUBLIC / "paper_experiment1_runs.csv",
        reference="Full",
        difference="percent",
        better="lower",
        settings=ampler.Settings(se=0.05, budget=1100, effect=0.5),
    )
    two = ampler.analyse(two_sorts(), difference="ratio", better="lower", margin=0.1)
    ten = ampler.analyse(ten_heuristics(), difference="ratio", better="lower")
    titles = {"paper": "Campelo and Wanner's first experiment", "two": "Two ways to sort", "ten": "Ten heuristics"}
    analyses = {"paper": paper, "two": two, "ten": ten}
    return {name: ampler.write_report(analyses[name], folder / f"{name}.html", title=titles[name]) for name in titles}


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


def ten_heuristics() -> pd.DataFrame:
    """One value of ten algorithms on 30 instances."""
    rng = np.random.default_rng(3)
    level = rng.lognormal(3, 0.8, 30)
    names = {"ils": 0, "grasp": 2, "tabu": 10, "vns": 15, "sa": 30, "ga": 50, "aco": 60, "lns": 100, "alns": 120}
    columns = {name: level * np.exp(gain / 1000 + rng.normal(0, 0.025, 30)) for name, gain in names.items()}
    greedy = level * np.exp(0.5 + rng.normal(0, 0.025, 30))
    return pd.DataFrame({"instance": [f"tsp/n{k:02d}.tsp" for k in range(30)], **columns, "greedy": greedy})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
