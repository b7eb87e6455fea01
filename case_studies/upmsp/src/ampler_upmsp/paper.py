"""`upmsp-paper`: the paper's two experiments from design to report, beside the published numbers."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import ampler as am
from ampler_upmsp import published
from ampler_upmsp.experiments import calibration_like, first_experiment, instance_files, second_experiment

ITERATIONS = 100_000
FOLLOW_UP = 60  # instances of the second experiment, which in the paper has all 200
EVERY = 5.0  # seconds between two lines of progress


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out what is asked for; run again after an interruption, and it goes on where it was."""
    chosen = _parser().parse_args(argv)
    chosen.output.mkdir(parents=True, exist_ok=True)
    instances = instance_files(chosen.instances) if chosen.instances else calibration_like()
    studies = {
        "first": (first_experiment(instances, iterations=chosen.iterations), published.FIRST),
        "second": (
            second_experiment(instances, iterations=chosen.iterations, use=min(chosen.follow_up, len(instances))),
            published.SECOND,
        ),
    }
    try:
        for name in [chosen.only] if chosen.only else studies:
            study, rows = studies[name]
            carry_out(name, study, rows, chosen.output, chosen.workers)
    except am.AmplerError as problem:
        print(f"upmsp-paper: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("upmsp-paper: interrupted; what is recorded stays: run it again to go on", file=sys.stderr)
        return 130
    return 0


def carry_out(
    name: str, study: am.Study, rows: Sequence[published.Published], output: Path, workers: int | None
) -> am.Analysis:
    """Run one experiment, write its report, and set its estimates beside the published ones."""
    store = output / f"{name}.db"
    print(f"==> {study.name}: {len(study.plan.instances)} instances, {len(study.algorithms)} algorithms", flush=True)
    analysis = study.run(store, workers=workers, report=Teller())
    am.write_report(store, output / f"{name}.html")
    (output / f"{name}-beside-the-paper.md").write_text(beside(analysis, rows), encoding="utf-8")
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    print(f"==> {analysis.runs} runs; {rejected} of {len(analysis.comparisons)} null hypotheses rejected; {name}.html")
    return analysis


def beside(analysis: am.Analysis, rows: Sequence[published.Published]) -> str:
    """Return a table in Markdown: each comparison's estimate, d and p, ours and the published."""
    ours = {comparison.second: comparison for comparison in analysis.comparisons}
    lines = [
        f"{analysis.instances} instances, {analysis.runs} runs. Percent differences full − variant: "
        "where they are negative, the variant loses.",
        "",
        "| variant | estimate | published | d | published | p | published |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        mine = ours[row.variant]
        d = "–" if mine.effect_size is None else f"{mine.effect_size:.2g}"
        mark = " *" if mine.rejected else ""
        lines.append(
            f"| {row.variant} | {100 * mine.estimate:.2g} %{mark} | {100 * row.estimate:.2g} % "
            f"| {d} | {row.effect_size:.2g} | {mine.p_value:.2g} | {row.p_value:.2g} |"
        )
    return "\n".join([*lines, "", "\\* null hypothesis rejected (Holm, family-wise level 0.05)"]) + "\n"


class Teller:
    """Prints where a study stands, a line now and then."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, progress: am.Progress) -> None:
        """Print a line if it is time to."""
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            left = "" if progress.left is None else f", some {progress.left:.0f} s to go"
            print(f"    {progress.finished} of {progress.instances} instances, {progress.runs} runs{left}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="upmsp-paper", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("paper"), metavar="FOLDER")
    parser.add_argument("--iterations", type=int, default=ITERATIONS, help="of each run of the annealing")
    parser.add_argument("--instances", type=Path, metavar="FOLDER", help="files to use instead of generated instances")
    parser.add_argument("--follow-up", type=int, default=FOLLOW_UP, help="instances of the second experiment")
    parser.add_argument("--only", choices=["first", "second"], help="one experiment instead of both")
    parser.add_argument("--workers", type=int)
    return parser


if __name__ == "__main__":
    sys.exit(main())
