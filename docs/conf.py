"""How the documentation is built. Everything that can go stale is made at build time: the figures of the gallery
by running their scripts, the API page from the public names, the command pages from the shell itself."""

from __future__ import annotations

import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import ampler

HERE = Path(__file__).parent
FIGURES = HERE / "_build" / "figures"

# Types that stand in signatures by their name; the API page lists the words behind them.
CHOICES = {
    "Alternative": "core.settings",
    "Better": "core.settings",
    "Correction": "stats.holm",
    "Dependence": "design.simulate",
    "Difference": "core.settings",
    "Simulated": "design.powers",
    "Target": "core.settings",
    "Test": "core.settings",
}
ALIASES = (*CHOICES, "Distribution", "Floats")
# What public functions take and give besides public names: documented on the API page as well.
VALUES = (
    "analysis.advice.Advice",
    "analysis.advice.StudyPlan",
    "analysis.bayes.Bayes",
    "analysis.bayes.Chances",
    "analysis.bayes.Probable",
    "analysis.bayes.Ranking",
    "analysis.bayes.Sensitivity",
    "analysis.claim_checks.FailureBound",
    "analysis.compare.ClusterEffect",
    "analysis.compare.Comparison",
    "analysis.compare.Doubt",
    "analysis.compare.Equivalence",
    "analysis.cost_curve.Choice",
    "analysis.cost_curve.VarianceParts",
    "analysis.exploration.Conclusion",
    "analysis.exploration.OtherPolicy",
    "analysis.exploration.Subgroup",
    "analysis.results.AlgorithmRuns",
    "analysis.results.Diagnosis",
    "analysis.results.InstanceAccuracy",
    "core.arrays.Runs",
    "core.arrays.Samples",
    "core.contracts.Executor",
    "core.contracts.PairErrors",
    "core.contracts.Rule",
    "core.contracts.Statistic",
    "core.contracts.Store",
    "core.contracts.StudyRule",
    "core.errors.AnalysisWarning",
    "core.plan.Around",
    "core.plan.Continue",
    "core.plan.DecisionRecord",
    "core.plan.EndStudy",
    "core.plan.Fingerprint",
    "core.plan.Plan",
    "core.plan.PlanRecord",
    "core.plan.Question",
    "core.plan.Reading",
    "core.plan.Sample",
    "core.plan.Stop",
    "core.runs.Code",
    "core.runs.Finished",
    "core.runs.Observation",
    "core.runs.Progress",
    "core.runs.RunKey",
    "core.runs.Session",
    "core.runs.Tally",
    "design.detect.PilotReport",
    "design.instances.Design",
    "design.interim.Expectation",
    "design.interim.InterimDesign",
    "design.powers.PlannedFamily",
    "design.powers.Terms",
    "design.simulate.SimulatedPower",
    "design.simulate.SimulatedRate",
    "running.check.Check",
    "running.check.FirstRun",
    "running.check.Inspection",
    "sampling.rules.Fixed",
    "sampling.rules.Sampled",
    "stats.bayes.posterior.Areas",
    "stats.bayes.posterior.Posterior",
    "stats.bayes.shared.SharedPosterior",
    "stats.contrasts.Contrasts",
    "stats.estimate.Estimate",
    "stats.omnibus.BlockAnova",
    "stats.omnibus.Friedman",
    "stats.omnibus.Omnibus",
    "stats.omnibus.RankTest",
    "stats.sequential.boundaries.Schedule",
    "stats.sequential.boundaries.Spending",
    "stats.sequential.decisions.Declared",
    "stats.sequential.decisions.EquivalenceStop",
    "stats.sequential.decisions.Standing",
    "study.changes.ChangedSetting",
    "study.changes.PlanChange",
    "study.code.CodeChange",
    "study.forecast.Forecast",
    "study.store.transfer.Merged",
    "study.store.transfer.Rescued",
    "study.toml.reading.StudyFile",
)

project = "ampler"
author = "The ampler authors"
version = release = ampler.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
napoleon_use_param = False  # types of parameters are words, not references
napoleon_use_rtype = False
napoleon_google_docstring = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "benchmarks/peers.md"]  # the latter is a part of peers.md
html_theme = "furo"
html_title = f"ampler {version}"
html_static_path = ["_static"]
html_css_files = ["entries.css"]
html_copy_source = False
html_show_copyright = False
default_role = "code"  # `names` in docstrings are code
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_type_aliases = {name: name for name in ALIASES}
python_use_unqualified_type_names = True
# `-n` looks for every type of a signature. The documentation of Python, numpy and pandas is not here to be linked to;
# names of choices and of kinds of arguments stand in words on the API page.
nitpick_ignore_regex = [
    ("py:.*", r"(collections|concurrent|contextlib|os|pathlib|typing|types|sqlite3|enum|datetime)(\..*)?"),
    ("py:.*", r"(numpy|np|pandas|pd|matplotlib)\..*"),
    ("py:.*", r"PathLike|TypeAliasForwardRef|collections\.abc\.Mapping\[str"),
    ("py:.*", r"tuple\[str|ampler\.core\.samples\.T|Names|Pair|Guard|Formula|FailurePolicy|Weights|StudyDecision"),
    ("py:.*", "|".join(ALIASES)),
    ("py:.*", r"ampler\.study\.store\..*"),  # a store is what its contract says
    ("py:class", r".*\s.*"),  # the first line of a property with a colon in it
    ("py:class", r"(.*\.)?(Files|T|Count|InitVar|SqliteStore|Event|Description|Outputs|Algorithm|Seeds)"),  # aliases
    ("py:class", r"(.*\.)?(Measure|MeasuresAnalysis|PlanOption|NonInferiority)"),  # fields of results, described there
    ("py:exc", r"(Invalid\w+|StoreError)"),
]


def setup(app) -> None:
    app.connect("builder-inited", draw_gallery)
    app.connect("source-read", fill_in)


def draw_gallery(app) -> None:
    """Run every script of docs/gallery; each leaves `ax`, which is saved under the script's name."""
    from ampler.plots import save

    FIGURES.mkdir(parents=True, exist_ok=True)
    for script in sorted((HERE / "gallery").glob("*.py")):
        figure = runpy.run_path(str(script))["ax"]
        save(figure, FIGURES / f"{script.stem}.svg")


def fill_in(app, page: str, source: list[str]) -> None:
    """Put what the package says of itself in place of the markers in a page."""
    if page == "api":
        source[0] = source[0].replace("%% choices %%", choices()).replace("%% public names %%", public_names())
        source[0] = source[0].replace("%% values %%", values())
    if page == "commands":
        source[0] = source[0].replace("%% help pages %%", help_pages())


def choices() -> str:
    """The words that each type of choice allows."""
    types = {name: getattr(import_module(f"ampler.{home}"), name) for name, home in CHOICES.items()}
    return "\n".join(f"- `{name}`: {' | '.join(_words(choice))}" for name, choice in types.items())


def _words(choice: object) -> list[str]:
    return [word for part in get_args(choice) for word in (_words(part) or [_word(part)])]


def _word(part: object) -> str:
    return "a whole number" if part is int else f'`"{part}"`'


def public_names() -> str:
    """A section for each module that is home to public names: its first line, then its public members."""
    names: dict[str, list[str]] = {}
    for name, home in ampler._HOMES.items():
        names.setdefault(home, []).append(name)
    return "\n\n".join(_module_section(home, members) for home, members in sorted(names.items()))


def _module_section(home: str, members: list[str]) -> str:
    first_line = (import_module(f"ampler.{home}").__doc__ or "").splitlines()[0].removesuffix(" Pure.")
    documented = "\n\n".join(map(_member, members))
    return f"## {home}\n\n{first_line}\n\n```{{eval-rst}}\n.. currentmodule:: ampler\n\n{documented}\n```"


def _member(name: str) -> str:
    value = getattr(ampler, name)
    if isinstance(value, type):
        return f".. autoclass:: {name}\n   :members:"
    return f".. autofunction:: {name}" if callable(value) else f".. autodata:: {name}"


def values() -> str:
    """What stands in signatures and is no public name."""
    documented = "\n\n".join(f".. autoclass:: ampler.{path}\n   :members:" for path in VALUES)
    return f"```{{eval-rst}}\n{documented}\n```"


def help_pages() -> str:
    """The help page of every command, as the shell prints it."""
    from ampler.app.cli.app import app as shell

    names = [command.name or command.callback.__name__.replace("_", "-") for command in shell.registered_commands]
    return "\n\n".join(f"### {name}\n\n```text\n{_help_page(name)}```" for name in names)


def _help_page(name: str) -> str:
    import subprocess

    command = [sys.executable, "-m", "ampler", name, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={"COLUMNS": "100"}).stdout
