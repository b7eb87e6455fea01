"""The calculator: how many instances a comparison needs, redrawn while a slider moves."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ampler.app.web.asked_design import LOOKS, MOST_ALGORITHMS, AskedDesign, asked_design, typed
from ampler.app.web.design_charts import power_chart, ranks_chart
from ampler.app.web.pages import as_sentence, fragment, page
from ampler.core.choices import Alternative, Test
from ampler.core.errors import InvalidInput
from ampler.core.wording import rounded_up

FEWEST_COMPARISONS = 2  # for which a chart by rank shows something
TESTS = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed ranks",
    "sign": "sign test",
    "bootstrap-t": "bootstrap-t, all together",
    "sign-flip": "sign flips, all together",
}
ALTERNATIVES = {"two-sided": "two-sided", "less": "first is less", "greater": "first is greater"}
TARGETS = {
    "mean": "mean power of the tests",
    "median": "median power",
    "worst": "power of the strictest test",
    "best": "power of the mildest test",
    "number": "power in so many tests:",
}


def calculator(request: Request) -> Response:
    """Show the form and the answer; it works without scripts."""
    words = dict(request.query_params)
    answer = _answered(words)
    choices = {
        "tests": [(name, TESTS[name]) for name in get_args(Test)],
        "alternatives": [(name, ALTERNATIVES[name]) for name in get_args(Alternative)],
        "targets": list(TARGETS.items()),
        "looks": LOOKS,
        "most_algorithms": MOST_ALGORITHMS,
    }
    status = 422 if answer["problem"] else 200
    return page("design.html", status=status, here="plan", state=typed(words), choices=choices, **answer)


def redrawn(request: Request) -> Response:
    """Return what changes when a slider moves: the headline and the answer."""
    answer = _answered(dict(request.query_params))
    document = {
        "headline": fragment("design_headline.html", **answer),
        "answer": "" if answer["problem"] else fragment("design_answer.html", **answer),
        "problem": answer["problem"],
        "link": answer["link"],
    }
    return JSONResponse(document, status_code=422 if answer["problem"] else 200)


def _answered(words: dict[str, str]) -> dict[str, Any]:
    """The answer, or the sentence that says why there is none."""
    try:
        return _answer(asked_design(words))
    except InvalidInput as problem:
        empty = {"number": "", "rest": "", "link": "/design"}
        return empty | {"problem": as_sentence(problem)}


@lru_cache(maxsize=256)
def _answer(asked: AskedDesign) -> dict[str, Any]:
    """Everything the page says of a design."""
    from ampler.design.words import (
        answer_sentence,
        answer_to,
        borrowed_sentence,
        hints,
        look_rows,
        looks_sentences,
        noise_sentence,
        rank_rows,
    )
    from ampler.report.figures.design import power_curve_data

    ask = asked.ask
    design = answer_to(ask)
    number, _, rest = answer_sentence(ask, design).partition(": ")
    curve, rows = power_curve_data(design), rank_rows(design)
    few, fewer = _with_fewer(asked, [each.effect for each in curve.designs])
    cost = asked.cost(design.instances)
    sentences = (*looks_sentences(design), borrowed_sentence(design), None if asked.se else noise_sentence(design))
    return {
        "problem": "",
        "number": number,
        "rest": f"{rest[:1].upper()}{rest[1:]}",
        "curve": power_chart(curve, fewer),
        "fewer": few,
        "rows": rows,
        "ranks": ranks_chart(rows, asked.power, design.comparisons) if len(rows) >= FEWEST_COMPARISONS else None,
        "looks": [] if design.looks is None else look_rows(design.looks),
        "hints": [(hint.sentence, asked.following(hint)) for hint in hints(ask, design)],
        "notes": [sentence for sentence in sentences if sentence is not None],
        "cost": None if cost is None else f"{cost}.",
        "command": asked.command,
        "python": asked.python,
        "link": asked.link,
        "standardised": rounded_up(asked.standardised, 3) if asked.raw else None,
        "comparisons": design.comparisons,
    }


def _with_fewer(asked: AskedDesign, effects: list[float]) -> tuple[str | None, tuple[Any, ...]]:
    """What the instances at hand can find, in words and as a curve."""
    from ampler.design import power_curve
    from ampler.design.words import with_available

    if asked.available is None:
        return None, ()
    family = {"alpha": asked.alpha, "alternative": asked.alternative, "test": asked.test}
    curve = power_curve(effects=effects, instances=asked.available, comparisons=asked.comparisons, **family)  # type: ignore[arg-type]
    return with_available(asked.ask, asked.available), curve
