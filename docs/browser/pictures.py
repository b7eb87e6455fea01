"""Take the pictures of docs/browser.md: every page, light and dark, of a study that runs meanwhile.

Run it by hand where Chromium is installed: `python docs/browser/pictures.py`.
"""

from __future__ import annotations

import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = {"width": 1280, "height": 860}
QUALITY = 60
PLACES = "berlin52 eil51 st70 eil76 pr76 rat99 kroA100 kroB100 kroC100 kroD100 eil101 lin105 pr107 pr124 bier127 ch130"

SOLVERS = """
import os, random, time

SLOWER = float(os.environ.get("SLOWER", "1"))


def solve(instance, seed, quality=0.0, pace=0.01, fails=0.0):
    rng = random.Random(seed)
    time.sleep(SLOWER * pace * (0.5 + rng.random()))
    if rng.random() < fails:
        raise RuntimeError(f"no feasible tour of {instance} within the time")
    size = 100 + 10 * (sum(map(ord, str(instance))) % 17)
    return size * (1 + quality + rng.gauss(0, 0.02 + 0.0001 * size))
"""
STUDY = f"""
name = "tours"
reference = "anneal"
difference = "percent"
better = "lower"
se = 0.01
seed = 7

[run]
workers = 2
on-failure = "drop"

[rule]
start = 8
budget = 300

[instances]
names = {PLACES.split()!r}
use = "all"
"""
ALGORITHMS = {
    "anneal": "",
    "greedy-restart": "quality = 0.04, pace = 0.006",
    "tabu": "quality = 0.005, pace = 0.015, fails = 0.02",
    "random-keys": "quality = 0.015",
    "ants": "quality = -0.006, pace = 0.012",
}
PAGES = {
    "home": "/",
    "design": "/design?available=40",
    "studies": "/studies",
    "study": "/study/tours",
    "instance": "/study/tours/instance/1",
    "results": "/study/done/results",
    "pair": "/study/done/results?view=pair",
    "groups": "/study/done/results?view=groups",
    "probable": "/study/done/results?view=probable&margin=0.02",
    "more": "/study/done/results?view=more&detect=0.005",
    "figures": "/study/done/results?view=figures",
    "take": "/study/done/results?view=take",
    "bring": "/results",
}


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _write_study(folder)
        command = [sys.executable, "-m", "ampler"]
        subprocess.run(
            [*command, "run", "study.toml", "--store", "done.db"], cwd=folder, check=True, capture_output=True
        )
        runner = subprocess.Popen(
            [*command, "run", "study.toml", "--store", "tours.db"],
            cwd=folder,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"SLOWER": "20"},  # it runs as long as pictures are taken
        )
        while not (folder / "tours.db-wal").exists():
            time.sleep(0.2)
        time.sleep(60)
        serve = [*command, "serve", str(folder / "tours.db"), str(folder / "done.db")]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        _take_all(server.stdout.readline().strip(), _table(folder))
        for child in (server, runner):
            child.terminate()
            child.wait()


def _write_study(folder: Path) -> None:
    tables = "".join(
        f'\n[[algorithm]]\nname = "{name}"\npython = "solvers:solve"\nparameters = {{ {parameters} }}\n'
        for name, parameters in ALGORITHMS.items()
    )
    (folder / "solvers.py").write_text(SOLVERS, encoding="utf-8")
    (folder / "study.toml").write_text(STUDY + tables, encoding="utf-8")


def _table(folder: Path) -> Path:
    """A table in which two columns could be the value."""
    rng, rows = random.Random(5), ["solver,problem,seed,length,time"]
    for place in PLACES.split():
        for name, worse in (("anneal", 0.0), ("tabu", 0.1), ("ants", 0.3)):
            rows += [f"{name},{place},{n},{100 + 10 * worse + rng.random():.2f},{rng.random():.2f}" for n in range(3)]
    (folder / "my runs.csv").write_text("\n".join(rows), encoding="utf-8")
    return folder / "my runs.csv"


def _take_all(address: str, table: Path) -> None:
    found = next(path for path in map(shutil.which, BROWSERS) if path)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            _take(chromium, scheme, address, table)
        chromium.close()


def _take(chromium: Browser, scheme: str, address: str, table: Path) -> None:
    page = chromium.new_context(viewport=SIZE, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(120_000)
    page.goto(address)  # the token becomes a cookie
    address = address.partition("/?")[0]
    for name, where in PAGES.items():
        page.goto(f"{address}{where}")
        page.wait_for_timeout(300)
        _keep(page.screenshot(), f"{name}-{scheme}")
    page.goto(f"{address}/results")
    page.set_input_files("#file", table)
    page.wait_for_selector("#columns")
    _keep(page.screenshot(), f"columns-{scheme}")


def _keep(picture: bytes, name: str) -> None:
    Image.open(io.BytesIO(picture)).convert("RGB").save(HERE / f"{name}.webp", quality=QUALITY, method=6)


if __name__ == "__main__":
    main()
