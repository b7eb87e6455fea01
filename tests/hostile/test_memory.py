"""Hostile analyses in every output under a limit of memory: what comes from data has a bound."""

import json
import resource
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import ampler as am
from ampler.core.arrays import Runs
from ampler.report import render, subject_of, write_figures

LIMIT = 10**9  # bytes of resident memory
ADDRESSES = 6 * 10**9  # a defect ends with a MemoryError before it takes the machine
NAMES = [
    *("{{7*191919191}}", "{% for i in range(10**9) %}x{% endfor %}", "<script>alert(1)</script>"),
    *(
        "\\input{/etc/passwd}",
        "a|b",
        "=1+1",
        "算法" * 80,
        "$\\frac{$",
        "{0.__class__}",
        "%s%n",
        "\u202eevil",
        'a,b"c',
        "_*[x](javascript:1)",
    ),
]
RATIOS = "ratios of 1e308"
KINDS = {
    "tiny": lambda normal: np.exp(normal) * 1e-300,
    "huge": lambda normal: np.exp(normal) * 1e300,
    "over 600 decades": lambda normal: 10.0 ** np.clip(150 * normal, -300, 300),
    "smallest": lambda normal: np.abs(np.round(normal)) * 5e-324,
    "constant": lambda normal: np.full(normal.shape, 3.0),
    "nearly one": lambda normal: 1 + 1e-12 * normal,
    "offset": lambda normal: 1e15 + normal,
    RATIOS: lambda normal: np.where(normal < 0, 1e-8, 1e300) * (1 + 1e-3 * normal),
}
SHAPES = {  # algorithms, instances, runs
    **{"pair": (2, 1, 5), "few": (3, 4, 2), "many instances": (2, 300, 1)},
    **{"many algorithms": (40, 6, 1), "many cells": (100, 1000, 1)},
}


def runs_of(kind, shape, seed):
    algorithms, instances, runs = SHAPES[shape]
    value = KINDS[kind](np.random.default_rng(seed).normal(size=(instances, algorithms, runs)))
    names = [f"{NAMES[k % len(NAMES)]}{k}" for k in range(algorithms)]
    places = [f"{NAMES[k % len(NAMES)]}{k}" for k in range(instances)]
    return Runs.from_columns(
        np.repeat(places, algorithms * runs).tolist(),
        np.tile(np.repeat(names, runs), instances).tolist(),
        value.ravel().tolist(),
    )


def outputs(kind, shape, difference, seed):
    runs = runs_of(kind, shape, seed)
    reference = runs.algorithms[0] if len(runs.algorithms) > 10 else None
    settings = am.Settings(margin=1e300 if difference == "simple" else None)
    analysis = am.analyse(runs, difference=difference, better="lower", reference=reference, settings=settings)
    yield "terminal", str(analysis)
    yield "notebook", analysis._repr_html_()
    yield "json", json.dumps(analysis.as_dict())
    for form in ("html", "md", "tex", "csv"):
        yield form, render(subject_of(analysis), form)
    if shape in ("pair", "few"):
        with tempfile.TemporaryDirectory() as folder:
            yield "figures", str(write_figures(subject_of(analysis), folder, kind="png"))


def peak_memory():
    """The peak of this process in bytes; that of getrusage begins with the peak of the process that started it."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return 1024 * int(line.split()[1])


def main():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    warnings.simplefilter("ignore")
    for case in json.loads(sys.argv[1]):
        with suppress(am.AmplerError):
            for form, text in outputs(*case):
                assert "<script>alert" not in text or form not in ("html", "notebook"), case
                assert "1343434337" not in text, case
    assert peak_memory() < LIMIT


CASES = [
    (kind, shape, difference, seed)
    for seed, kind in enumerate(KINDS)
    if kind != RATIOS
    for shape in list(SHAPES)[:4]
    for difference in ("simple", "percent", "ratio")
]
QUICK = [case for number, case in enumerate(CASES) if case[1] in ("pair", "few") and number % 5 == 0]
QUICK += [(RATIOS, "pair", "percent", 7), (RATIOS, "few", "ratio", 7)]


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(QUICK, id="quick"),
        pytest.param(CASES, id="all", marks=[pytest.mark.slow, pytest.mark.timeout(1800)]),
        pytest.param(
            [("nearly one", "many cells", "simple", 1)], id="cells", marks=[pytest.mark.slow, pytest.mark.timeout(600)]
        ),
    ],
)
def test_every_output_of_a_hostile_analysis_takes_little_memory_and_executes_nothing(cases):
    done = subprocess.run([sys.executable, __file__, json.dumps(cases)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr[-2000:]


if __name__ == "__main__":
    main()
