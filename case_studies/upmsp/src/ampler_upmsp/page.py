"""The page of `make paper`: figures and tables of the paper, ours beside the published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import ampler as am
from ampler import plots
from ampler_upmsp import published
from ampler_upmsp.replication import EstimatePair, draw_estimate_pairs, estimate_pairs, own_estimates, table_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment as the page shows it: its name is that of its report's file."""

    name: str
    title: str
    words: str
    table: str
    published: Sequence[published.Published]
    published_instances: int
    published_runs: str
    published_at_budget: str
    figures: tuple[tuple[str, str], ...]  # names of drawings, and their captions


FIRST = Experiment(
    name="first",
    title="First experiment: which neighbourhoods matter",
    words="The full algorithm against 21 variants that lack one or two of its six neighbourhoods.",
    table="Table 1",
    published=published.FIRST,
    published_instances=published.FIRST_INSTANCES,
    published_runs=f"{published.FIRST_RUNS:,}",
    published_at_budget=str(published.FIRST_AT_BUDGET),
    figures=(
        ("accuracy", "Figure 3: the standard errors reached on each instance; above, the runs spent there."),
        ("runs", "Figure 4: where the runs went."),
        ("beside", "Figure 5: the estimates with their intervals, beside the published ones."),
    ),
)
SECOND = Experiment(
    name="second",
    title="Second experiment: what the first did not separate",
    words="The full algorithm against the 7 variants without shift, swap or switch, or several of them.",
    table="Table 2",
    published=published.SECOND,
    published_instances=published.SECOND_INSTANCES,
    published_runs="not said",
    published_at_budget="not said",
    figures=(
        ("power", "Figure 6: the power of this experiment for effects of every size."),
        ("beside", "Figure 7: the estimates with their intervals, beside the published ones, …"),
        ("runs", "… and where the runs went."),
    ),
)
GENERAL = {"effect": 0.5, "power": 0.9, "comparisons": range(1, 31)}  # Figures 1 and 2


def write_page(output: Path, setting: str, needed: int, done: Sequence[tuple[Experiment, am.Analysis]]) -> Path:
    """Write index.html with its figures; the reports lie beside it."""
    from jinja2 import Environment

    folder = output / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    plots.save(plots.draw_sample_sizes(plots.sample_sizes_data(**GENERAL)), folder / "sample-sizes.svg")
    plots.save(plots.draw_power_profiles(plots.power_profiles_data(**GENERAL)), folder / "power-profiles.svg")
    template = Environment(autoescape=True).from_string((files("ampler_upmsp") / "page.html").read_text("utf-8"))
    parts = [_part(experiment, analysis, folder) for experiment, analysis in done]
    page = output / "index.html"
    text = template.render(setting=setting, needed=needed, comparisons=len(published.FIRST), parts=parts)
    page.write_text(text, encoding="utf-8")
    return page


def _part(experiment: Experiment, analysis: am.Analysis, folder: Path) -> dict[str, object]:
    rows = estimate_pairs(own_estimates(analysis), experiment.published)
    names = [(f"{experiment.name}-{drawing}", caption) for drawing, caption in experiment.figures]
    for (drawing, _), (name, _) in zip(experiment.figures, names, strict=True):
        plots.save(_drawn(drawing, analysis, rows), folder / f"{name}.svg")
    return {
        "name": experiment.name,
        "title": experiment.title,
        "words": experiment.words,
        "table": experiment.table,
        "totals": _totals(experiment, analysis, rows),
        "figures": names,
        "rows": [table_cells(row) for row in rows],
    }


def _totals(
    experiment: Experiment, analysis: am.Analysis, rows: Sequence[EstimatePair]
) -> list[tuple[str, object, object]]:
    published_rejected = sum(row.published.rejected for row in rows)
    return [
        ("instances", analysis.instances, experiment.published_instances),
        ("runs", f"{analysis.runs:,}", experiment.published_runs),
        ("instances at the budget", len(analysis.at_budget), experiment.published_at_budget),
        ("null hypotheses rejected", sum(row.ours.rejected for row in rows), published_rejected),
        ("comparisons that agree", f"{sum(row.agrees for row in rows)} of {len(rows)}", ""),
    ]


def _drawn(drawing: str, analysis: am.Analysis, rows: Sequence[EstimatePair]) -> Axes:
    match drawing:
        case "accuracy":
            return plots.draw_accuracy(plots.accuracy_data(analysis))
        case "runs":
            return plots.draw_runs(plots.runs_data(analysis))
        case "power":
            design = am.achieved_power(
                instances=analysis.instances, comparisons=len(rows), effect=analysis.settings.effect
            )
            return plots.draw_power_curve(plots.power_curve_data(design))
    return draw_estimate_pairs(rows)
