"""`ampler design`: how many instances, which power, or which effect; with advice, costs and the power curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ampler.app import load_matplotlib
from ampler.app.cli.options import IntegerOption, JsonOption, NumberOption, text_or_integer, usage_errors
from ampler.app.cli.output import WrongUsage, note, say, say_next, say_points, say_table, write_json
from ampler.core.settings import DESIGN, Alternative, Test, declared, help_text
from ampler.core.text import table_of

if TYPE_CHECKING:
    from ampler.design import Design
    from ampler.design.assurance import BeliefAsk
    from ampler.design.instances import Cost
    from ampler.design.text import Ask

Option = typer.Option
CORRELATIONS = (0.1, 0.3, 0.5)
MAX_RANKS = 15  # above which only some are printed
MAX_PROFILE = 1000  # comparisons up to which the JSON document lists every level and power


@usage_errors()
def design(
    algorithms: Annotated[int | None, IntegerOption(help=help_text("algorithms", DESIGN))] = None,
    vs_one: Annotated[
        bool | None, Option("--vs-one/--vs-all", help="Compare all algorithms with one reference, or all pairs.")
    ] = None,
    comparisons: Annotated[int | None, IntegerOption(help="Number of comparisons, if neither scheme fits.")] = None,
    instances: Annotated[int | None, IntegerOption(help=help_text("instances"))] = None,
    effect: Annotated[float | None, NumberOption(help=help_text("effect"))] = None,
    power: Annotated[float | None, NumberOption(help=declared()["power"].help)] = None,
    difference: Annotated[float | None, NumberOption(help=help_text("difference", DESIGN))] = None,
    sd: Annotated[float | None, NumberOption(help=help_text("sd"))] = None,
    se: Annotated[float | None, NumberOption(help=DESIGN["se"][1].help)] = None,
    non_inferior: Annotated[
        float | None,
        NumberOption(help="Non-inferiority margin, for no true difference; needs --sd."),
    ] = None,
    alpha: Annotated[float, NumberOption(help=declared()["alpha"].help)] = 0.05,
    target: Annotated[
        str,
        Option(metavar="NAME|N", help="Power to plan for: mean, median, worst, best, simulated, or in N comparisons."),
    ] = "mean",
    alternative: Annotated[Alternative, Option(help=declared()["alternative"].help)] = "two-sided",
    test: Annotated[Test, Option(help=declared()["test"].help)] = "t",
    correction: Annotated[Literal["holm", "bonferroni"], Option(help=DESIGN["correction"][1].help)] = "holm",
    available: Annotated[int | None, IntegerOption(help=help_text("available"))] = None,
    runs: Annotated[int | None, IntegerOption(help=help_text("runs"))] = None,
    seconds: Annotated[float | None, NumberOption(help=help_text("seconds"))] = None,
    workers: Annotated[int | None, IntegerOption(help=DESIGN["workers"][1].help)] = None,
    looks: Annotated[str | None, Option(metavar="N", help=help_text("looks"))] = None,
    per_cluster: Annotated[int | None, IntegerOption(help=help_text("per_cluster"))] = None,
    icc: Annotated[float | None, NumberOption(help=help_text("icc"))] = None,
    assurance: Annotated[float | None, NumberOption(help="Probability of success; needs --effect-sd.")] = None,
    effect_sd: Annotated[float | None, NumberOption(help="Uncertainty of the effect (SD), in its unit.")] = None,
    margin: Annotated[float | None, NumberOption(help="Differences up to this are too small to matter.")] = None,
    goal: Annotated[
        Literal["above", "inside"] | None, Option(help="Success: the interval lies above the margin, or inside it.")
    ] = None,
    plot: Annotated[
        Path | None, Option(metavar="FILE", help="Draw the power curve to a .svg, .pdf or .png file.")
    ] = None,
    seed: Annotated[int, IntegerOption(help="Seed of simulated powers.")] = 0,
    json: JsonOption = False,
) -> None:
    """Compute instances, power or effect size.

    Give two of --instances, --effect and --power; the third is the answer. If the effect is uncertain (--effect-sd),
    give --assurance or --instances.

    Example: ampler design --algorithms 22 --vs-one --effect 0.5 --power 0.8
    """
    from ampler.design import n_comparisons
    from ampler.design.assurance import BeliefAsk
    from ampler.design.instances import Cost
    from ampler.design.text import Ask, answer_to, detectable_with

    if non_inferior is not None:  # without a true difference, the test has the margin as its effect
        if effect is not None or difference is not None or vs_one is False or alternative != "two-sided":
            raise WrongUsage("--non-inferior is one-sided against a reference: it needs --sd, and no effect or side")
        difference, alternative, correction = non_inferior, "greater", "bonferroni"

    def cost_of(number: int) -> Cost | None:
        return None if runs is None or algorithms is None else Cost(number, algorithms, runs, seconds, workers)

    def pairs() -> int:
        if comparisons is not None:
            if vs_one is not None:
                raise WrongUsage("--comparisons is the number of pairs: omit --vs-one and --vs-all")
            return comparisons
        if algorithms is None:
            raise WrongUsage("specify the comparisons: --algorithms with --vs-one or --vs-all, or --comparisons")
        if vs_one is None and algorithms > 1:
            schemes = "--vs-one (all with one) or --vs-all (all pairs)"
            raise WrongUsage(f"specify the comparisons of the {algorithms} algorithms: {schemes}")
        return n_comparisons(algorithms, reference=bool(vs_one))

    if any(option is not None for option in (assurance, effect_sd, margin, goal)):
        of_tests: dict[str, object] = {"power": power, "target": target, "alternative": alternative, "test": test}
        of_tests |= {"correction": correction, "available": available, "plot": plot, "looks": looks}
        of_tests |= {"per-cluster": per_cluster if icc is None else icc}
        defaults = {"target": "mean", "alternative": "two-sided", "test": "t", "correction": "holm"}
        if wrong := [f"--{name}" for name, value in of_tests.items() if value != defaults.get(name)]:
            raise WrongUsage(f"an assurance is about a credible interval, not a test: omit {', '.join(wrong)}")
        unit = 1.0 if sd is None else hypot(sd, se or 0.0)  # of the effect, in which its spread and the margin are
        mean = _effect(effect, difference, sd, se)
        if mean is None or effect_sd is None:
            raise WrongUsage("specify the expected effect: --effect, and its uncertainty --effect-sd (0: none)")
        belief = BeliefAsk(
            effect=mean,
            effect_sd=effect_sd / unit,
            margin=(margin or 0.0) / unit,
            goal=goal or "above",
            level=1 - alpha,
            instances=instances,
            assurance=assurance,
            comparisons=1 if algorithms is comparisons is None else pairs(),
        )
        _tell_assurance(belief, cost_of=cost_of, json=json)
        return
    ask = Ask(
        comparisons=pairs(),
        instances=instances,
        effect=_effect(effect, difference, sd, se),
        power=power,
        alpha=alpha,
        alternative=alternative,
        test=test,
        target=text_or_integer(target),
        correction=correction,
        algorithms=algorithms,
        reference=vs_one,
        seed=seed,
        looks=_looks(looks),
        per_cluster=per_cluster,
        icc=icc,
    )
    if per_cluster is not None and icc is None:
        _tell_correlations(ask, json=json)
        return
    _check_usage(ask, available, runs, seconds, workers)
    answer = answer_to(ask)
    cost = cost_of(answer.instances)
    if plot is not None:
        from ampler.report.figures.canvas import figure_format, save
        from ampler.report.figures.planning import draw_power_curve, power_curve_data

        figure_format(plot)  # a wrong name is an error before anything is drawn
        load_matplotlib()
        save(draw_power_curve(power_curve_data(answer)), plot)
        note(f"The power curve is in {plot}")
    if json:
        profile = answer.comparisons <= MAX_PROFILE
        document = answer.as_dict(profile=profile) | ({} if profile else {"levels": None, "powers": None})
        document["solved_for"] = ask.unknown
        document |= {} if available is None else {"available": detectable_with(ask, available).as_dict()}
        write_json(document | ({} if cost is None else {"cost": cost.as_dict()}))
    else:
        _tell(ask, answer, available, cost, noise_counted=se is not None)


def _effect(effect: float | None, difference: float | None, sd: float | None, se: float | None) -> float | None:
    """The standardised effect, given as such or as a raw difference and its spread."""
    from ampler.design import effect_from

    if difference is None and sd is None and se is None:
        return effect
    if effect is not None:
        raise WrongUsage("give the effect once: --effect, or --difference with --sd")
    if difference is None or sd is None:
        raise WrongUsage("a raw effect needs both --difference and --sd (and --se, if the runs' noise is known)")
    return effect_from(difference, sd, se=0.0 if se is None else se)


def _looks(text: str | None) -> int | tuple[float, ...] | None:
    """A number of looks, or the shares of the instances at which to look."""
    if text is None:
        return None
    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        raise WrongUsage(
            f"--looks must be the number of interim analyses, such as 4, or shares such as 0.4,0.7,1, got {text!r}"
        ) from None
    return int(numbers[0]) if len(numbers) == 1 and numbers[0] == int(numbers[0]) else tuple(numbers)


def _check_usage(ask: Ask, available: int | None, runs: int | None, seconds: float | None, workers: int | None) -> None:
    """Refuse options that do not fit together, and report which would."""
    three = {"--instances": ask.instances, "--effect": ask.effect, "--power": ask.power}
    names = [name for name, value in three.items() if value is not None]
    if len(names) != 2:
        got = {0: "none of them", 1: f"only {' '.join(names)}", 3: "all three"}[len(names)]
        raise WrongUsage(f"give two of --instances, --effect and --power, the third is the answer; got {got}")
    kind = ask.alternative
    if ask.reference is False and kind != "two-sided":
        raise WrongUsage(f"--alternative {kind} needs a reference to be {kind} than: use --vs-one")
    for name, value in (("looks", ask.looks), ("available", available)):
        if value is not None and ask.instances is not None:
            raise WrongUsage(f"--{name} is for computing instances: omit --instances")
    if runs is not None and ask.algorithms is None:
        raise WrongUsage("--runs needs --algorithms: the cost is instances × algorithms × runs")
    if seconds is not None and runs is None:
        raise WrongUsage("--seconds needs --runs: the cost is instances × algorithms × runs × seconds")
    if workers is not None and seconds is None:
        raise WrongUsage("--workers needs --seconds and --runs: they share the time of all runs")


def _tell(ask: Ask, answer: Design, available: int | None, cost: Cost | None, *, noise_counted: bool) -> None:
    """Print the answer, the table by rank, and hints."""
    from ampler.design import text

    points: list[str | None] = []  # everything is computed before anything is printed
    for hint in text.hints(ask, answer):  # with the options that follow it
        options = ["--vs-one"] if "reference" in hint.change else []
        names = ("alternative", "target", "correction")
        options += [f"--{name} {hint.change[name]}" for name in names if name in hint.change]
        points.append(f"{hint.sentence.removesuffix('.')} ({' '.join(options)}).")
    points += [
        *text.looks_sentences(answer),
        text.cluster_sentence(answer),
        text.borrowed_sentence(answer),
        text.simulated_sentence(ask, answer) if answer.looks is None else None,
        None if noise_counted else text.noise_sentence(answer),
        None if available is None else text.with_available(ask, available),
        None if cost is None else f"{cost}.",
    ]
    say(text.answer_sentence(ask, answer), style="bold")
    if answer.looks is not None:
        looks = [(f"{look}", f"{count:,}", f"{power:.3f}") for look, count, power in text.look_rows(answer.looks)]
        say_table(table_of(("interim analysis", "instances", "mean power by then"), looks, names=()))
    elif rows := text.rank_rows(answer, most=MAX_RANKS):
        cells = [(f"{row.rank:,}", f"{row.level:.3g}", f"{row.power:.3f}") for row in rows]
        say_table(table_of(("rank of the p-value", "level", "power"), cells, names=()))
        if len(rows) < answer.comparisons:
            say(f"{len(rows)} of the {answer.comparisons:,} ranks are shown.")
    else:
        print()
    say_points(point for point in points if point is not None)
    say_next("init")


def _tell_correlations(ask: Ask, *, json: bool) -> None:
    """Print the designs for small to large intraclass correlations: a plan needs one, and there is no usual one."""
    from ampler.design.text import answer_to

    _check_usage(ask, None, None, None, None)
    answers = [answer_to(replace(ask, icc=icc)) for icc in CORRELATIONS]
    if json:
        write_json({"designs": [answer.as_dict() for answer in answers]})
        return
    say("How many clusters are needed depends on how alike the instances of a cluster are (--icc).", style="bold")
    formats = {"icc": "{:g}", "clusters": "{:,}", "instances": "{:,}", "effect": "{:.3g}", "reached": "{:.3f}"}
    rows = [[text.format(getattr(one, name)) for name, text in formats.items()] for one in answers]
    say_table(table_of(("icc", "clusters", "instances", "effect", "power"), rows, names=()))


def _tell_assurance(ask: BeliefAsk, *, cost_of: Callable[[int], Cost | None], json: bool) -> None:
    """Print the probability of success, its ceiling and notes."""
    from ampler.design.assurance import assured_answer, assured_document, assured_points, assured_sentence

    if (ask.instances is None) == (ask.assurance is None):
        raise WrongUsage("give one of --assurance and --instances, the other is the answer")
    answer = assured_answer(ask)
    cost = cost_of(answer.instances)
    if json:
        write_json(assured_document(ask, answer) | ({} if cost is None else {"cost": cost.as_dict()}))
        return
    say(assured_sentence(ask, answer), style="bold")
    say_points([*assured_points(ask, answer), *([] if cost is None else [f"{cost}."])])
    say_next("init")
