"""The calculator: how many instances a comparison needs, drawn again while a slider moves."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ampler.app.web import pages
from ampler.app.web.charts import power_chart, ranks_chart
from ampler.app.web.pages import Query
from ampler.core.errors import InvalidInput
from ampler.core.settings import Alternative, TargetWord, Test, choices
from ampler.core.text import rounded_up
from ampler.design import effect_from, n_comparisons
from ampler.design.instances import Cost
from ampler.design.text import Ask, Hint

MIN_RANKS = 2  # minimum number of ranks for a chart
MAX_ALGORITHMS = 500  # all with all are then 124,750 comparisons
MAX_INSTANCES = 10**7
MAX_RUNS = 10**9
LOOKS = (2, 3, 4, 5, 6)  # more are rarely useful
CHOICES: dict[str, Collection[str]] = {
    "versus": ("one", "all"),
    "unit": ("sd", "own"),
    "target": (*get_args(TargetWord), "number"),
    "test": choices("test"),
    "alternative": choices("alternative"),
}
LIMITS = {
    "algorithms": (2, MAX_ALGORITHMS),
    "tests": (1, 10**9),
    "looks": (min(LOOKS), max(LOOKS)),
    "available": (2, MAX_INSTANCES),
    "per_cluster": (1, MAX_INSTANCES),
    "runs": (1, MAX_RUNS),
    "workers": (1, MAX_RUNS),
}


def calculator(request: Request) -> Response:
    """Show the form and the answer; it works without scripts."""
    query = dict(request.query_params)
    answer = _answer_or_problem(query)
    status, lists = (
        422 if answer["problem"] else 200,
        {"targets": CHOICES["target"], "numbers_of_looks": [*map(str, LOOKS)]},
    )
    return pages.page("design.html", status=status, here="plan", state=field_texts(query), **lists, **answer)


def calculator_answer(request: Request) -> Response:
    """Return what changes when a slider moves: the headline and the answer."""
    answer = _answer_or_problem(dict(request.query_params))
    document = {
        "headline": pages.fragment("design_headline.html", **answer),
        "answer": "" if answer["problem"] else pages.fragment("design_answer.html", **answer),
        "problem": answer["problem"],
        "link": answer["link"],
    }
    return JSONResponse(document, status_code=422 if answer["problem"] else 200)


def _answer_or_problem(query: Query) -> dict[str, Any]:
    try:
        return _answer(DesignForm.of(query))
    except InvalidInput as problem:
        return {"number": "", "rest": "", "link": "/design", "problem": pages.as_sentence(problem)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignForm:
    """Values of the calculator's fields; the default is the design of Campelo and Wanner (2019)."""

    algorithms: int = 22
    versus: str = "one"  # or all
    unit: str = "sd"  # of the effect: standard deviations, or its own
    effect: float = 0.5
    difference: float | None = None
    sd: float | None = None
    se: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    target: str = "mean"
    tests: int | None = None  # for the target "number": in this many of the tests
    test: Test = "t"
    looks: int | None = None
    alternative: Alternative = "two-sided"
    available: int | None = None
    per_cluster: int | None = None
    icc: float | None = None
    runs: int | None = None
    seconds: float | None = None
    workers: int | None = None

    @classmethod
    def of(cls, query: Query) -> DesignForm:
        """Return the form with the values of an address; InvalidInput for invalid values."""
        values: dict[str, Any] = {}
        for name, default in asdict(cls()).items():
            if name in CHOICES:
                values[name] = pages.choice_in(query, name, CHOICES[name], default)
            elif name in LIMITS:
                values[name] = pages.integer_in(query, name, default, least=LIMITS[name][0], most=LIMITS[name][1])
            else:
                values[name] = pages.number_in(query, name, default)
        return cls(**values)

    @property
    def comparisons(self) -> int:
        """The number of pairs."""
        return n_comparisons(self.algorithms, reference=self.versus == "one")

    @property
    def standardised(self) -> float:
        """The standardised effect."""
        if self.unit == "sd":
            return self.effect
        if self.difference is None or self.sd is None:
            raise InvalidInput("an effect in your own unit needs both: the difference, and its sd over instances")
        return effect_from(self.difference, self.sd, se=self.se or 0.0)

    @property
    def power_target(self) -> Any:
        """The target of the power, for the design."""
        if self.target != "number":
            return self.target
        if self.tests is None:
            raise InvalidInput("say in how many tests the power is wanted")
        return self.tests

    @property
    def ask(self) -> Ask:
        """The question, for the package `design`."""
        if self.versus == "all" and self.alternative != "two-sided":
            raise InvalidInput(
                f"the alternative {self.alternative!r} needs a reference to be {self.alternative} than: compare all"
                " with one, or choose two-sided"
            )
        if (self.per_cluster is None) != (self.icc is None):
            raise InvalidInput("clusters need both: the instances per cluster, and their intraclass correlation")
        return Ask(
            algorithms=self.algorithms,
            reference=self.versus == "one",
            comparisons=self.comparisons,
            effect=self.standardised,
            target=self.power_target,
            power=self.power,
            looks=self.looks,
            **self.tested,
        )

    @property
    def tested(self) -> dict[str, Any]:
        """The shared settings of a design and its power curve."""
        return {name: getattr(self, name) for name in ("alpha", "alternative", "test", "per_cluster", "icc")}

    def cost(self, instances: int) -> Cost | None:
        """Return the cost of this many instances, if the number of runs is given."""
        return None if self.runs is None else Cost(instances, self.algorithms, self.runs, self.seconds, self.workers)

    @property
    def changed(self) -> dict[str, Any]:
        """The fields that differ from the defaults."""
        default = asdict(DesignForm())
        return {name: value for name, value in asdict(self).items() if value != default[name]}

    @property
    def link(self) -> str:
        """The address of this design."""
        return pages.address("/design", self.changed)

    def following(self, hint: Hint) -> str:
        """Return the address of the design with a hint followed."""
        change: dict[str, Any] = {name: hint.change[name] for name in ("alternative", "target") if name in hint.change}
        change |= {"versus": "one"} if hint.change.get("reference") else {}
        return replace(self, **change).link

    def _options(self, *names: str) -> dict[str, Any]:
        """The values of these fields that differ from the defaults."""
        values = self.changed | {"target": self.power_target}
        return {name: values[name] for name in names if name in self.changed}

    @property
    def command(self) -> str:
        """The same design at the command line."""
        effect = ("difference", "sd", "se") if self.unit == "own" else ("effect",)
        options = {name: getattr(self, name) for name in (*effect, "power")}
        options |= self._options("alpha", "target", "test", "alternative", "looks", "available", "per_cluster", "icc")
        options |= self._options("runs", "seconds", "workers") if self.runs else {}
        texts = [f"--{name.replace('_', '-')} {_quoted(value)}" for name, value in options.items() if value is not None]
        return " ".join(["ampler design", f"--algorithms {self.algorithms}", f"--vs-{self.versus}", *texts])

    @property
    def python(self) -> str:
        """The same design in Python."""
        options = self._options("alpha", "target", "test", "alternative", "looks", "per_cluster", "icc")
        rest = "".join(f", {name}={value!r}" for name, value in options.items())
        effect = f"effect={self.standardised!r}"
        return f"am.required_instances(comparisons={self.comparisons}, {effect}, power={self.power!r}{rest})"


def field_texts(query: Query) -> dict[str, str]:
    """Return the values of the fields, valid or not."""
    default = DesignForm()
    values = {field.name: getattr(default, field.name) for field in fields(default)}
    usual = {name: "" if value is None else _quoted(value) for name, value in values.items()}
    return usual | {name: query[name][:60] for name in usual if name in query}


def _quoted(value: Any) -> str:
    return shlex.quote(pages.number_text(value))


@lru_cache(maxsize=256)
def _answer(form: DesignForm) -> dict[str, Any]:
    """The values for the page about a design."""
    from ampler.design import text as words
    from ampler.report.figures.planning import power_curve_data

    ask = form.ask
    design = words.answer_to(ask)
    number, _, rest = words.answer_sentence(ask, design).partition(": ")
    curve, rows = power_curve_data(design), words.rank_rows(design)
    few, fewer = _with_fewer(form, [point.effect for point in curve.designs])
    cost = form.cost(design.instances)
    noise = None if form.se else words.noise_sentence(design)
    sentences = (*words.looks_sentences(design), words.borrowed_sentence(design), words.cluster_sentence(design), noise)
    return {
        "problem": "",
        "number": number,
        "rest": f"{rest[:1].upper()}{rest[1:]}",
        "curve": power_chart(curve, fewer),
        "fewer": few,
        "rows": rows,
        "ranks": ranks_chart(rows, form.power, design.comparisons) if len(rows) >= MIN_RANKS else None,
        "looks": [] if design.looks is None else words.look_rows(design.looks),
        "hints": [(hint.sentence, form.following(hint)) for hint in words.hints(ask, design)],
        "notes": [sentence for sentence in sentences if sentence is not None],
        "cost": None if cost is None else f"{cost}.",
        "command": form.command,
        "python": form.python,
        "link": form.link,
        "standardised": rounded_up(form.standardised, 3) if form.unit == "own" else None,
        "comparisons": design.comparisons,
        "wins": f"{100 * NormalDist().cdf(form.standardised):.0f} %",
    }


def _with_fewer(form: DesignForm, effects: list[float]) -> tuple[str | None, tuple[Any, ...]]:
    """The detectable effect of the available instances, as a sentence and as a curve."""
    from ampler.design import power_curve
    from ampler.design.text import with_available

    if form.available is None:
        return None, ()
    curve = power_curve(effects=effects, instances=form.available, comparisons=form.comparisons, **form.tested)
    return with_available(form.ask, form.available), curve
