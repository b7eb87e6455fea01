"""`ampler design`: how many instances, which power, or which effect; with advice, costs and the power curve."""

from __future__ import annotations

from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ampler.app.shell.assured import belief_of, check_beside_assurance, tell_assured
from ampler.app.shell.options import JsonOption, NumberOption, WholeOption, from_options_alone, word_or_number
from ampler.app.shell.output import WrongUsage, note, say, say_next, say_points, say_table, write_json
from ampler.core.choices import Alternative, Test
from ampler.core.layout import table_of

if TYPE_CHECKING:
    from ampler.design import Design
    from ampler.design.cost import Cost
    from ampler.design.looks import Looks
    from ampler.design.words import Ask, Hint

Option = typer.Option
WHOLE_PROFILE = 1000  # comparisons up to which the JSON document lists every level and power


@from_options_alone
def design(
    algorithms: Annotated[int | None, WholeOption(help="How many algorithms are compared.")] = None,
    vs_one: Annotated[
        bool | None, Option("--vs-one/--vs-all", help="All against one reference, or all against all.")
    ] = None,
    comparisons: Annotated[int | None, WholeOption(help="The number of pairs, when you choose them yourself.")] = None,
    instances: Annotated[int | None, WholeOption(help="Problem instances.")] = None,
    effect: Annotated[float | None, NumberOption(help="Smallest effect of interest: mean/sd over instances.")] = None,
    power: Annotated[float | None, NumberOption(help="Wanted power. Two of these three give the third.")] = None,
    difference: Annotated[float | None, NumberOption(help="The effect as a raw difference; goes with --sd.")] = None,
    sd: Annotated[float | None, NumberOption(help="Standard deviation of the true differences over instances.")] = None,
    se: Annotated[
        float | None, NumberOption(help="Standard error of one instance's difference, from its runs.")
    ] = None,
    alpha: Annotated[float, NumberOption(help="Family-wise error rate.")] = 0.05,
    target: Annotated[
        str, Option(help="What must reach the power: mean, median, worst, best, simulated, or so many tests.")
    ] = "mean",
    alternative: Annotated[Alternative, Option(help="One-sided tests need --vs-one.")] = "two-sided",
    test: Annotated[Test, Option(help="The paired test.")] = "t",
    correction: Annotated[Literal["holm", "bonferroni"], Option(help="For many comparisons.")] = "holm",
    available: Annotated[int | None, WholeOption(help="Instances you have: which effect can they detect?")] = None,
    runs: Annotated[int | None, WholeOption(help="Runs per algorithm and instance, for the cost.")] = None,
    seconds: Annotated[float | None, NumberOption(help="Seconds per run, for the cost.")] = None,
    workers: Annotated[int | None, WholeOption(help="Runs at the same time, for the cost.")] = None,
    looks: Annotated[
        str | None, Option(metavar="N", help="Look at the results so often, or at these shares: 0.4,0.7,1.")
    ] = None,
    assurance: Annotated[float | None, NumberOption(help="Wanted probability of success, with --effect-sd.")] = None,
    effect_sd: Annotated[
        float | None, NumberOption(help="How uncertain the effect is; in its unit. For --assurance.")
    ] = None,
    margin: Annotated[float | None, NumberOption(help="Too small to matter; in its unit. For --assurance.")] = None,
    goal: Annotated[
        Literal["above", "inside"] | None, Option(help="The interval shall lie above the margin, or inside it.")
    ] = None,
    plot: Annotated[Path | None, Option(metavar="FILE", help="Draw the power curve: .svg, .pdf or .png.")] = None,
    seed: Annotated[int, WholeOption(help="For the simulated powers.")] = 0,
    json: JsonOption = False,
) -> None:
    """How many instances do I need, or which power or effect do I have?

    Give two of --instances, --effect and --power; the third is the answer. With --effect-sd, what is believed of the
    effect, give --assurance or --instances.

    Example: ampler design --algorithms 22 --vs-one --effect 0.5 --power 0.8
    """
    from ampler.design.beliefs import BeliefAsk
    from ampler.design.words import Ask, answer_to

    if any(said is not None for said in (assurance, effect_sd, margin, goal)):
        check_beside_assurance(
            {
                "--power": power is not None,
                "--target": target != "mean",
                "--alternative": alternative != "two-sided",
                "--test": test != "t",
                "--correction": correction != "holm",
                "--available": available is not None,
                "--plot": plot is not None,
                "--looks": looks is not None,
            }
        )
        unit = 1.0 if sd is None else hypot(sd, se or 0.0)
        believed = BeliefAsk(
            **belief_of(_effect(effect, difference, sd, se), effect_sd, margin, goal, unit=unit),
            level=1 - alpha,
            instances=instances,
            assurance=assurance,
            comparisons=1 if algorithms is comparisons is None else _comparisons(algorithms, vs_one, comparisons),
        )
        tell_assured(believed, cost_of=lambda number: _cost(number, algorithms, runs, seconds, workers), json=json)
        return
    ask = Ask(
        comparisons=_comparisons(algorithms, vs_one, comparisons),
        instances=instances,
        effect=_effect(effect, difference, sd, se),
        power=power,
        alpha=alpha,
        alternative=alternative,
        test=test,
        target=word_or_number(target),
        correction=correction,
        algorithms=algorithms,
        reference=vs_one,
        seed=seed,
        looks=_looks(looks),
    )
    _check_usage(ask, available, runs, seconds, workers)
    answer = answer_to(ask)
    cost = _cost(answer.instances, algorithms, runs, seconds, workers)
    if plot is not None:
        _draw(answer, plot)
    if json:
        write_json(_document(ask, answer, available, cost))
    else:
        _tell(ask, answer, available, cost, noise_counted=se is not None)


def _comparisons(algorithms: int | None, vs_one: bool | None, comparisons: int | None) -> int:
    """The number of pairs, from what was said of it."""
    from ampler.design import n_comparisons

    if comparisons is not None and vs_one is None:
        return comparisons
    if comparisons is not None:
        raise WrongUsage("--comparisons counts the pairs itself: leave out --vs-one and --vs-all")
    if algorithms is None:
        raise WrongUsage("say what is compared: --algorithms with --vs-one or --vs-all, or --comparisons")
    if vs_one is None:
        raise WrongUsage(f"say how the {algorithms} algorithms are compared: --vs-one (all with one) or --vs-all")
    return n_comparisons(algorithms, reference=vs_one)


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


def _looks(said: str | None) -> int | tuple[float, ...] | None:
    """A number of looks, or the shares of the instances at which to look."""
    if said is None:
        return None
    try:
        numbers = [float(each) for each in said.split(",")]
    except ValueError:
        raise WrongUsage(
            f"--looks must be a number of looks, such as 4, or shares such as 0.4,0.7,1, got {said!r}"
        ) from None
    return int(numbers[0]) if len(numbers) == 1 and numbers[0] == int(numbers[0]) else tuple(numbers)


def _check_usage(ask: Ask, available: int | None, runs: int | None, seconds: float | None, workers: int | None) -> None:
    """Refuse options that do not fit together, and say which would."""
    three = {"--instances": ask.instances, "--effect": ask.effect, "--power": ask.power}
    given = [name for name, value in three.items() if value is not None]
    if len(given) != 2:
        got = {0: "none of them", 1: f"only {given[0]}" if given else "", 3: "all three"}[len(given)]
        raise WrongUsage(f"give two of --instances, --effect and --power, the third is the answer; got {got}")
    if ask.reference is False and ask.alternative != "two-sided":
        raise WrongUsage(
            f"--alternative {ask.alternative} needs a reference to be {ask.alternative} than: use --vs-one"
        )
    if ask.looks is not None and ask.instances is not None:
        raise WrongUsage("--looks belongs to the question for instances: leave out --instances")
    if available is not None and ask.instances is not None:
        raise WrongUsage("--available belongs to the question for instances: leave out --instances")
    if runs is not None and ask.algorithms is None:
        raise WrongUsage("--runs needs --algorithms: the cost is instances × algorithms × runs")
    if seconds is not None and runs is None:
        raise WrongUsage("--seconds needs --runs: the cost is instances × algorithms × runs × seconds")
    if workers is not None and seconds is None:
        raise WrongUsage("--workers needs --seconds and --runs: they share the time of all runs")


def _cost(
    instances: int, algorithms: int | None, runs: int | None, seconds: float | None, workers: int | None
) -> Cost | None:
    from ampler.design.cost import Cost

    if runs is None or algorithms is None:
        return None
    return Cost(instances, algorithms, runs, seconds, workers)


def _draw(answer: Design, file: Path) -> None:
    from ampler.app.surroundings import load_matplotlib
    from ampler.report.figures import draw_power_curve, power_curve_data, save
    from ampler.report.figures.style import figure_format

    figure_format(file)  # a wrong name is told before anything is drawn
    load_matplotlib()
    save(draw_power_curve(power_curve_data(answer)), file)
    note(f"The power curve is in {file}")


def _document(ask: Ask, answer: Design, available: int | None, cost: Cost | None) -> dict[str, Any]:
    """The fields of the design; its levels and powers by rank unless they are very many; and what else was asked."""
    from ampler.design.words import detectable_with

    whole = answer.comparisons <= WHOLE_PROFILE
    document = answer.as_dict(profile=whole) | ({} if whole else {"levels": None, "powers": None})
    document["solved_for"] = ask.wanted
    if available is not None:
        document["available"] = detectable_with(ask, available).as_dict()
    if cost is not None:
        document["cost"] = cost.as_dict()
    return document


def _tell(ask: Ask, answer: Design, available: int | None, cost: Cost | None, *, noise_counted: bool) -> None:
    """Print the answer first, then the table by rank, then what else helps."""
    from ampler.design.words import answer_sentence

    points = [  # all is worked out before anything is printed
        *_what_would_help(ask, answer),
        *_what_it_allows(ask, answer, noise_counted=noise_counted),
        *_what_is_there(ask, available, cost),
    ]
    say(answer_sentence(ask, answer), style="bold")
    if answer.looks is not None:
        _tell_looks(answer.looks)
    else:
        _tell_ranks(answer)
    say_points(points)
    say_next("init")


def _what_would_help(ask: Ask, answer: Design) -> list[str]:
    from ampler.design.words import hints

    return [_with_options(point) for point in hints(ask, answer)]


def _what_it_allows(ask: Ask, answer: Design, *, noise_counted: bool) -> list[str]:
    """What the power is worth: when Holm's procedure is run, and beside the noise of runs, unless that was said."""
    from ampler.design.words import borrowed_sentence, looks_sentences, noise_sentence, simulated_sentence

    noise = None if noise_counted else noise_sentence(answer)
    simulated = simulated_sentence(ask, answer) if answer.looks is None else None
    sentences = (*looks_sentences(answer), borrowed_sentence(answer), simulated, noise)
    return [sentence for sentence in sentences if sentence is not None]


def _what_is_there(ask: Ask, available: int | None, cost: Cost | None) -> list[str]:
    from ampler.design.words import with_available

    detectable = [] if available is None else [with_available(ask, available)]
    return [*detectable, *([] if cost is None else [f"{cost}."])]


def _tell_looks(looks: Looks) -> None:
    from ampler.design.words import look_rows

    rows = [(f"{number}", f"{instances:,}", f"{found:.3f}") for number, instances, found in look_rows(looks)]
    say_table(table_of(("look", "instances", "mean power by then"), rows, names=()))


def _tell_ranks(answer: Design) -> None:
    from ampler.design.words import rank_rows

    rows = rank_rows(answer)
    if not rows:
        print()
        return
    cells = [(f"{row.rank:,}", f"{row.level:.3g}", f"{row.power:.3f}") for row in rows]
    say_table(table_of(("rank of the p-value", "level", "power"), cells, names=()))
    if len(rows) < answer.comparisons:
        say(f"{len(rows)} of the {answer.comparisons:,} ranks are shown.")


def _with_options(point: Hint) -> str:
    """The sentence, with the options that follow it."""
    options = {"reference": "--vs-one"} | {
        name: f"--{name} {point.change[name]}"
        for name in ("alternative", "target", "correction")
        if name in point.change
    }
    chosen = " ".join(option for name, option in options.items() if name in point.change)
    return f"{point.sentence.removesuffix('.')} ({chosen})."
