"""The numbers, fields and texts that commands print on the documented examples.

Numbers and fields are in tests/gold/outputs, texts in tests/gold/texts, one file per output. To change a text, change
the program, run `AMPLER_UPDATE_GOLD=1 pytest tests/test_frozen_outputs.py` and review the difference.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import random
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ampler.app.cli.app import app
from ampler.running import run_plan
from ampler.study.store import open_store
from ampler.study.toml import read_study_file
from ampler.testing import SerialExecutor

TESTS = Path(__file__).parent
GOLD = TESTS / "gold" / "outputs"
TEXTS = TESTS / "gold" / "texts"
OLD = TESTS / "study" / "old"
UPDATE = "AMPLER_UPDATE_GOLD" in os.environ
RELATIVE, ABSOLUTE = 1e-9, 1e-12
VOLATILE = {  # fields that hold times, versions or what depends on the machine
    *("seconds", "cpu", "started", "version", "versions", "sessions", "session", "workers", "system", "host", "path"),
    *("machine", "file", "files", "code", "date", "load", "cores", "python", "duration", "ended", "timings"),
    *("taken", "costs", "least_seconds", "most_seconds", "least_wall", "most_wall"),
}
SENTENCE = re.compile(r"\S+(?:\s+\S+){3,}")  # four words and more are wording
NUMBER = re.compile(r"(?<![\w.#/-])[-−]?\d[\d,]*(?:\.\d+)?(?:e[-−+]?\d+)?")

SOLVER = (OLD / "looks" / "solver.py").read_text(encoding="utf-8").replace("def search", "def frozen_search")
STUDY = """
name = "frozen"
difference = "percent"
reference = "plain"
seed = 11
better = "lower"
{settings}

[[algorithm]]
name = "plain"
python = "frozen_solver:frozen_search"

[[algorithm]]
name = "tuned"
python = "frozen_solver:frozen_search"
parameters = {{ gain = 0.02 }}

[[algorithm]]
name = "other"
python = "frozen_solver:frozen_search"
parameters = {{ gain = 0.001 }}

[instances]
names = {names}
"""
SETTINGS = {
    "fixed": 'effect = 0.9\n[rule]\nallocation = "fixed"\nruns = 4',
    "adaptive": "effect = 0.9\nse = 0.007\nmargin = 0.01\n[rule]\nbudget = 60\nstart = 4",
    "interim": "effect = 0.7\nse = 0.009\nlooks = 3\n[rule]\nstart = 4\nbudget = 60",
    "detect": "detect = 0.006\n[rule]\npilot = 10\nstart = 3",
}

RESULTS = ("results.csv", "--difference", "ratio", "--reference", "old", "--better", "lower")
OLD_STUDIES = ["detect", "fixed", "looks", "python", "se", "sized"]
COMMANDS: dict[str, tuple[object, ...]] = {
    "design_vs_one": ("design", "--algorithms", 22, "--vs-one", "--effect", 0.5, "--power", 0.8),
    "design_all_pairs": (
        "design",
        "--algorithms",
        5,
        "--vs-all",
        "--effect",
        0.5,
        "--power",
        0.8,
        "--target",
        "median",
    ),
    "design_power": ("design", "--algorithms", 5, "--vs-all", "--effect", 0.5, "--instances", 40),
    "design_effect": ("design", "--algorithms", 22, "--vs-one", "--instances", 40, "--power", 0.8),
    "design_wilcoxon": ("design", "--comparisons", 21, "--effect", 0.5, "--power", 0.8, "--test", "wilcoxon"),
    "design_sign": ("design", "--comparisons", 3, "--effect", 0.7, "--power", 0.9, "--test", "sign"),
    "design_raw": ("design", "--comparisons", 3, "--difference", 2, "--sd", 4, "--se", 1.5, "--power", 0.9),
    "design_cost": (
        *("design", "--algorithms", 22, "--vs-one", "--effect", 0.5, "--power", 0.8),
        *("--runs", 30, "--seconds", 60, "--workers", 16),
    ),
    "design_bonferroni": (
        *("design", "--algorithms", 4, "--vs-one", "--effect", 0.5, "--power", 0.8, "--correction", "bonferroni"),
        *("--alternative", "less", "--target", "worst", "--available", 30),
    ),
    "design_simulated": ("design", "--comparisons", 5, "--effect", 0.6, "--power", 0.8, "--target", "simulated"),
    "design_interim": ("design", "--comparisons", 5, "--effect", 0.5, "--power", 0.8, "--looks", 4),
    "design_assurance": ("design", "--assurance", 0.8, "--effect", 0.5, "--effect-sd", 0.2),
    "analyse_csv": ("analyse", *RESULTS),
    "analyse_csv_all_pairs": ("analyse", "results.csv", "--difference", "percent", "--better", "lower"),
    "analyse_csv_wilcoxon": ("analyse", *RESULTS, "--test", "wilcoxon", "--explore"),
    "analyse_csv_sign": ("analyse", *RESULTS, "--test", "sign", "--alternative", "less"),
    "analyse_csv_bootstrap": ("analyse", *RESULTS, "--test", "bootstrap-t"),
    "analyse_csv_sign_flip": ("analyse", *RESULTS, "--test", "sign-flip"),
    "analyse_csv_margin": ("analyse", *RESULTS, "--margin", 0.02, "--bayes"),
    "analyse_csv_median": ("analyse", *RESULTS, "--statistic", "median"),
    "analyse_csv_wide": ("analyse", "wide.csv", "--difference", "simple", "--better", "higher"),
    "analyse_csv_rate": ("analyse", "rates.csv", "--difference", "simple", "--better", "higher", "--statistic", "rate"),
    "analyse_csv_failures": (
        *("analyse", "times.csv", "--difference", "percent", "--reference", "a", "--better", "lower"),
        *("--value", "time", "--on-failure", "par=10,cutoff=20"),
    ),
    "advise_csv": ("advise", "results.csv", "--detect", 0.02, *RESULTS[1:]),
    "advise_csv_costs": ("advise", "results.csv", "--detect", 0.02, *RESULTS[1:], "--instance-cost", 5),
    "advise_adaptive": ("advise", "adaptive.db", "--detect", 0.02),
    "advise_rule_of_thumb": ("advise", "--detect", 0.02, "--effect", 0.5, "--difference", "percent"),
    **{f"check_{name}": ("check", f"{name}.toml") for name in SETTINGS},
    **{f"status_{name}": ("status", f"{name}.db") for name in SETTINGS},
    **{f"analyse_{name}": ("analyse", f"{name}.db") for name in SETTINGS},
    "analyse_adaptive_explore": ("analyse", "adaptive.db", "--explore", "--bayes"),
    "analyse_adaptive_all_runs": ("analyse", "adaptive.db", "--estimate", "all-runs"),
    "analyse_interim_ignored": ("analyse", "interim.db", "--ignore-looks"),
    **{f"analyse_old_{name}": ("analyse", OLD / name / "study.db") for name in OLD_STUDIES},
    **{f"status_old_{name}": ("status", OLD / name / "study.db") for name in [*OLD_STUDIES, "command", "demo"]},
}
NAMES = [command.name or command.callback.__name__.replace("_", "-") for command in app.registered_commands]
WRITTEN: dict[str, tuple[object, ...]] = {  # commands that write no JSON: the numbers of what they write
    "table_csv": ("analyse", *RESULTS, "--csv"),
    "table_latex": ("analyse", *RESULTS, "--margin", 0.02, "--latex"),
    "export_adaptive": ("export", "adaptive.db", "out.csv"),
    "export_old": ("export", OLD / "python" / "study.db", "out.csv"),
    "report_csv_html": ("report", *RESULTS, "--margin", 0.02, "-o", "out.html"),
    "report_csv_csv": ("report", *RESULTS, "-o", "out.csv"),
    "report_adaptive_html": ("report", "adaptive.db", "-o", "out.html"),
}


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables and studies that commands read, made anew with fixed seeds."""
    folder = tmp_path_factory.mktemp("examples")
    write_tables(folder)
    (folder / "frozen_solver.py").write_text(SOLVER, encoding="utf-8")
    names = [f"i{number:02d}" for number in range(1, 61)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        for name, settings in SETTINGS.items():
            Path(f"{name}.toml").write_text(STUDY.format(settings=settings, names=names), encoding="utf-8")
            with open_store(f"{name}.db") as store:
                run_plan(read_study_file(f"{name}.toml").plan, store, executor=SerialExecutor())
    sys.modules.pop("frozen_solver", None)
    return folder


def write_tables(folder: Path) -> None:
    rng = random.Random(11)  # as the tutorial on tables makes them
    rows: list[list[object]] = [["solver", "problem", "seed", "cost"]]
    for problem in range(30):
        base, gain = rng.uniform(50, 150), {"old": 0.0, "new": rng.gauss(0.03, 0.04), "mad": rng.gauss(-0.10, 0.05)}
        for solver, better in gain.items():
            for seed in range(10):
                cost = base * (1 - better) * rng.lognormvariate(0, 0.02)
                rows.append([solver, f"data/p{problem:02d}.txt", seed, cost])
    write(folder / "results.csv", rows)
    wide: list[list[object]] = [["dataset", "forest", "boosting", "bayes", "knn"]]
    for dataset in range(25):
        level = rng.uniform(0.6, 0.9)
        wide.append([f"d{dataset}", *(round(level + rng.gauss(k / 100, 0.02), 4) for k in range(4))])
    write(folder / "wide.csv", wide)
    rates: list[list[object]] = [["instance", "algorithm", "seed", "solved"]]
    times: list[list[object]] = [["instance", "algorithm", "seed", "time", "status"]]
    for instance in range(30):
        hard = rng.random()
        for shift, algorithm in enumerate("abc"):
            for seed in range(8):
                rates.append([f"i{instance}", algorithm, seed, int(rng.random() > hard - 0.1 * shift)])
                time = rng.expovariate(1 / (3 + 6 * hard + shift))
                times.append([f"i{instance}", algorithm, seed, min(time, 20.0), "ok" if time < 20 else "timeout"])
    write(folder / "rates.csv", rates)
    write(folder / "times.csv", times)


def write(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def command(examples, tmp_path, monkeypatch, shell):
    """`command("analyse", "results.csv")`: its answer, in a folder that holds the examples."""
    folder = tmp_path / "work"
    shutil.copytree(examples, folder)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))

    def run(*arguments: object) -> Any:
        answer = shell(*arguments)
        assert answer.code == 0, answer.err
        return answer

    yield run
    sys.modules.pop("frozen_solver", None)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_the_same_numbers_and_fields(command, name):
    compare(name, stable(command(*COMMANDS[name], "--json").json))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_command_writes_the_same_numbers(command, name):
    printed = command(*WRITTEN[name]).out
    out = next(Path().glob("out.*"), None)
    text = out.read_text(encoding="utf-8") if out else printed

    if out and out.suffix == ".html":
        numbers = cells(text)
    elif out and out.suffix == ".csv":
        numbers = table(text)
    else:
        numbers = NUMBER.findall(re.sub(r"(?m)^.*(?:ampler \d|version).*$", "", text))
    compare(name, numbers)


SHOWN = {
    name: COMMANDS[name]
    for name in (
        *("design_vs_one", "design_all_pairs", "design_cost", "design_bonferroni", "design_interim"),
        *("design_assurance", "design_simulated", "analyse_csv", "analyse_csv_all_pairs", "analyse_csv_margin"),
        *("analyse_csv_wilcoxon", "analyse_csv_wide", "analyse_csv_rate", "analyse_csv_failures"),
        *("analyse_adaptive_explore", "analyse_interim", "analyse_detect", "advise_csv", "advise_adaptive"),
        *("advise_rule_of_thumb", "check_adaptive", "check_detect", "check_interim", "status_adaptive"),
        *("status_detect", "status_interim", "status_old_command"),
    )
} | {
    "analyse_csv_explained": ("analyse", *RESULTS, "--explain"),
    "report_csv_markdown": ("report", *RESULTS, "--margin", 0.02, "-o", "out.md"),
    "report_csv_latex": ("report", *RESULTS, "-o", "out.tex"),
    "report_detect_latex": ("report", "detect.db", "-o", "out.tex"),
    "report_interim_markdown": ("report", "interim.db", "-o", "out.md"),
    "report_csv_html": ("report", *RESULTS, "--margin", 0.02, "-o", "out.html"),
    "run_detect": ("run", "detect.toml"),
    "merge": ("merge", "adaptive.db", "-o", "out.db"),
    "rescue": ("rescue", "fixed.db", "-o", "out.db"),
    "init": ("init", "new"),
    "next": ("next", "interim.toml"),
}
CHANGING = (  # what depends on the machine and the day, and what stands for it
    (r"\d+\.\d+\.\d+\w*", "…"),  # versions
    (r"[\d.]+ (ms|s|min|h)\b|less than a second", "… s"),
    (r"\d+ workers?", "… workers"),
    (r"20\d\d-\d\d-\d\d[T \d:.+Z]*", "…"),
    (r"(?m)^(\w+ +[\d.]+) +[\d.]+(?=  from the record)", r"\1  …"),
    (r"(?m)^(algorithm +value) +seconds(.*)\n─+", r"\1  seconds\2"),
    (r"\S*/(?=\S)", ""),
)


@pytest.mark.parametrize("name", SHOWN)
def test_a_command_prints_the_reviewed_text(command, name, figures_only_of):
    figures_only_of("comparisons")
    answer = command(*SHOWN[name])
    out = next((path for path in Path().glob("out.*") if path.suffix != ".db"), None)

    compare_text(name, text_of(out.read_text(encoding="utf-8")) if out else answer.err + answer.out)


def test_the_help_pages_are_the_reviewed_ones(command):
    pages = [command("--help").out, *(command(name, "--help").out for name in NAMES)]

    assert all(len(line) <= 9 + 2 + 45 for line in pages[0].partition("Commands:")[2].splitlines())
    assert not re.search(r"<\w+>|list\[", "".join(pages))
    compare_text("help", "\n".join(pages))


def text_of(page: str) -> str:
    """The page without tags, styles, scripts and figures, one line for each part."""
    page = re.sub(r"(?s)<(style|script|svg)\b.*?</\1>", "", page)
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"<[^>]*>", "\n", page))


def compare_text(name: str, text: str) -> None:
    for pattern, sign in CHANGING:
        text = re.sub(pattern, sign, text)
    path = TEXTS / f"{name}.txt"
    if UPDATE:
        path.write_text(text, encoding="utf-8")

    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()


def cells(page: str) -> list[list[str]]:
    """The cells of the tables of a page that hold a number, row by row."""
    rows = re.findall(r"<tr[ >].*?</tr>", page, re.DOTALL)
    texts = [
        [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)] for row in rows
    ]
    return [row for row in ([cell for cell in row if NUMBER.fullmatch(cell)] for row in texts) if row]


def table(text: str) -> dict[str, list[str]]:
    """The columns of a table, without those that hold times."""
    header, *rows = csv.reader(io.StringIO(text))
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    return {name: column for name, column in columns.items() if name not in VOLATILE}


def stable(value: Any) -> Any:
    """The value without wording and without what depends on time and machine."""
    if isinstance(value, dict):
        return {key: stable(item) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [stable(item) for item in value]
    if isinstance(value, str) and (SENTENCE.fullmatch(value) or "/" in value):
        return "…"
    return value


def compare(name: str, value: Any) -> None:
    path = GOLD / f"{name}.json"
    if UPDATE:
        path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    differences = list(unlike(json.loads(path.read_text(encoding="utf-8")), value))

    assert differences == []


def unlike(before: Any, now: Any, where: str = "") -> Any:
    """Every place where two documents differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        if before.keys() != now.keys():
            yield f"{where}: fields {sorted(before.keys() ^ now.keys())} on one side only"
        for key in before.keys() & now.keys():
            yield from unlike(before[key], now[key], f"{where}.{key}")
    elif isinstance(before, list) and isinstance(now, list):
        if len(before) != len(now):
            yield f"{where}: {len(before)} items before, {len(now)} now"
        for number, (one, other) in enumerate(zip(before, now, strict=False)):
            yield from unlike(one, other, f"{where}[{number}]")
    elif isinstance(before, float) and isinstance(now, int | float):
        if not math.isclose(before, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{where}: {before!r} before, {now!r} now"
    elif before != now or type(before) is not type(now):
        yield f"{where}: {before!r} before, {now!r} now"
