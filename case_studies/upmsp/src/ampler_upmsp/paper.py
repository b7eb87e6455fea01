"""`upmsp-paper`: the paper's two experiments from design to report, beside the published numbers."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import ampler as am
from ampler.running import Progress
from ampler_upmsp.experiments import RULES, calibration_like, first_experiment, instance_files, second_experiment
from ampler_upmsp.page import FIRST, SECOND, Experiment, write_page
from ampler_upmsp.replication import estimate_pairs, markdown_table, own_estimates
from ampler_upmsp.rules import TRUTH_RUNS, RuleOnInstance, judge_rule, summary, true_moments, truth_experiment
from ampler_upmsp.sheets import write_sheet

ITERATIONS = 750_000
RULES_ITERATIONS = 100_000  # the truth takes 150 000 runs
FOLLOW_UP = 60  # instances of the second experiment, which in the paper has all 200
EVERY = 5.0  # seconds between two lines of progress


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out what is asked for; run again after an interruption, and it goes on where it was."""
    chosen = _parser().parse_args(argv)
    try:
        chosen.output.mkdir(parents=True, exist_ok=True)
        instances = instance_files(chosen.instances) if chosen.instances else calibration_like()
        if chosen.only == "rules":
            compare_rules(instances, chosen)
        else:
            carry_out(instances, chosen)
    except (am.AmplerError, ValueError, OSError) as problem:
        print(f"upmsp-paper: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("upmsp-paper: interrupted; what is recorded stays: run it again to go on", file=sys.stderr)
        return 130
    return 0


def carry_out(instances: Sequence[am.Instance], chosen: argparse.Namespace) -> None:
    """Run the experiments, write their reports, and set their estimates beside the published ones."""
    iterations = chosen.iterations or ITERATIONS
    first = first_experiment(instances, iterations=iterations)
    follow_up = min(chosen.follow_up, len(instances))
    studies = {FIRST: first, SECOND: second_experiment(instances, iterations=iterations, use=follow_up)}
    done = []
    for experiment, study in studies.items():
        if chosen.only in (None, experiment.name):
            done.append((experiment, _finished(experiment, study, chosen)))
            page = write_page(chosen.output, _setting(iterations, chosen), first.plan.needed or 0, done)
            print(f"==> {page}", flush=True)


def compare_rules(instances: Sequence[am.Instance], chosen: argparse.Namespace) -> tuple[RuleOnInstance, ...]:
    """Run the first experiment by the paper's rule and by ours, and judge both by the true variances."""
    iterations = chosen.iterations or RULES_ITERATIONS
    used = first_experiment(instances, iterations=iterations).plan.instances
    print(f"==> the truth: {chosen.truth} runs of each algorithm on each of {len(used)} instances", flush=True)
    store = chosen.output / "truth.db"
    truth_experiment(used, iterations=iterations, runs=chosen.truth).run(
        store, workers=chosen.workers, progress=ProgressPrinter()
    )
    truth = true_moments(store)
    rows: list[RuleOnInstance] = []
    for name, rule in RULES.items():
        print(f"==> rule {name}", flush=True)
        study = first_experiment(used, iterations=iterations, rule=rule)
        analysis = study.run(chosen.output / f"rule-{name}.db", workers=chosen.workers, progress=ProgressPrinter())
        rows += judge_rule(name, analysis, truth)
    write_sheet(rows, chosen.output / "rules.csv")
    (chosen.output / "rules.md").write_text(summary(rows), encoding="utf-8")
    print(summary(rows), end="")
    return tuple(rows)


class ProgressPrinter:
    """Prints where a study stands, a line now and then."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, progress: object) -> None:
        """Print a line if it is time to."""
        now = time.monotonic()
        if isinstance(progress, Progress) and now - self._last >= EVERY:
            self._last = now
            left = "" if progress.left is None else f", some {progress.left:.0f} s to go"
            print(f"    {progress.finished} of {progress.instances} instances, {progress.runs} runs{left}", flush=True)


def _finished(experiment: Experiment, study: am.Study, chosen: argparse.Namespace) -> am.Analysis:
    plan = study.plan
    needed = f"; {plan.needed} are needed" if plan.needed else ""
    print(f"==> {study.name}: {len(plan.instances)} instances{needed}, {len(plan.algorithms)} algorithms", flush=True)
    store = chosen.output / f"{experiment.name}.db"
    analysis = study.run(store, workers=chosen.workers, progress=ProgressPrinter())
    am.write_report(store, chosen.output / f"{experiment.name}.html")
    table = chosen.output / f"{experiment.name}-beside-the-paper.md"
    table.write_text(markdown_table(estimate_pairs(own_estimates(analysis), experiment.published)), encoding="utf-8")
    write_sheet(own_estimates(analysis), chosen.output / f"{experiment.name}.csv")
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    print(f"==> {analysis.runs} runs; {rejected} of {len(analysis.comparisons)} null hypotheses rejected", flush=True)
    return analysis


def _setting(iterations: int, chosen: argparse.Namespace) -> str:
    """Say in a sentence or two what was run."""
    which = "given" if chosen.instances else "generated (equivalents of the calibration set of Vallada & Ruiz 2011)"
    return (
        "Simulated annealing (Santos et al. 2016) for the scheduling of unrelated parallel machines with setup times,"
        f" {iterations:,} iterations in each run. The instances are {which}. Numbers called published are those of"
        " Campelo & Wanner's tables, made by another program on the calibration set itself."
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="upmsp-paper", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("paper"), metavar="FOLDER")
    parser.add_argument(
        "--iterations", type=_positive, help=f"of each run (default: {ITERATIONS}; rules: {RULES_ITERATIONS})"
    )
    parser.add_argument("--instances", type=Path, metavar="FOLDER", help="files to use instead of generated instances")
    parser.add_argument("--follow-up", type=_positive, default=FOLLOW_UP, help="instances of the second experiment")
    parser.add_argument(
        "--only",
        choices=["first", "second", "rules"],
        help="one experiment instead of both; rules: the first one by the paper's rule and by ours, judged",
    )
    parser.add_argument("--truth", type=_positive, default=TRUTH_RUNS, help="runs that the true variances come from")
    parser.add_argument("--workers", type=_positive)
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


if __name__ == "__main__":
    sys.exit(main())
