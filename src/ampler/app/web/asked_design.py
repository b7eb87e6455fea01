"""The design that an address asks for: the calculator's state, and the same design as a command and as Python."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args

from ampler.app.web.query import Words, address, choice_of, number, whole
from ampler.core.choices import Alternative, TargetWord, Test
from ampler.core.errors import InvalidInput
from ampler.design import effect_from, n_comparisons
from ampler.design.cost import Cost
from ampler.design.words import Ask, Hint

MOST_ALGORITHMS = 500  # all with all are then 124,750 comparisons
MOST_INSTANCES = 10**7
MOST_RUNS = 10**9
LOOKS = (2, 3, 4, 5, 6)  # more are seldom worth their work
TARGETS = (*get_args(TargetWord), "number")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedDesign:
    """What stands in the calculator's fields; as it opens, the design of Campelo and Wanner (2019)."""

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
    tests: int | None = None  # for the target "number": in so many of the tests
    test: Test = "t"
    looks: int | None = None
    alternative: Alternative = "two-sided"
    available: int | None = None
    runs: int | None = None
    seconds: float | None = None
    workers: int | None = None

    @property
    def comparisons(self) -> int:
        """The number of pairs."""
        return n_comparisons(self.algorithms, reference=self.versus == "one")

    @property
    def raw(self) -> bool:
        """Whether the effect is said in its own unit."""
        return self.unit == "own"

    @property
    def standardised(self) -> float:
        """The effect in standard deviations, as tests see it."""
        if not self.raw:
            return self.effect
        if self.difference is None or self.sd is None:
            raise InvalidInput("an effect in your own unit needs both: the difference, and its sd over instances")
        return effect_from(self.difference, self.sd, se=self.se or 0.0)

    @property
    def wanted_target(self) -> Any:
        """What must reach the power, as the design takes it."""
        if self.target != "number":
            return self.target
        if self.tests is None:
            raise InvalidInput("say in how many tests the power is wanted")
        return self.tests

    @property
    def ask(self) -> Ask:
        """The question, as the room of designs takes it."""
        if self.versus == "all" and self.alternative != "two-sided":
            raise InvalidInput(
                f"the alternative {self.alternative!r} needs a reference to be {self.alternative} than: compare all"
                " with one, or choose two-sided"
            )
        return Ask(
            algorithms=self.algorithms,
            reference=self.versus == "one",
            comparisons=self.comparisons,
            effect=self.standardised,
            **{name: getattr(self, name) for name in ("power", "alpha", "alternative", "test", "looks")},
            target=self.wanted_target,
        )

    def cost(self, instances: int) -> Cost | None:
        """Return what so many instances cost, as far as it is said."""
        return None if self.runs is None else Cost(instances, self.algorithms, self.runs, self.seconds, self.workers)

    @property
    def changed(self) -> dict[str, Any]:
        """What differs from the calculator as it opens."""
        plain = asdict(AskedDesign())
        return {name: value for name, value in asdict(self).items() if value != plain[name]}

    @property
    def link(self) -> str:
        """The address of this design."""
        return address("/design", self.changed)

    def following(self, hint: Hint) -> str:
        """Return the address of the design with a hint followed."""
        words = {"alternative": "alternative", "target": "target"}
        change: dict[str, Any] = {words[name]: value for name, value in hint.change.items() if name in words}
        change |= {"versus": "one"} if hint.change.get("reference") else {}
        return replace(self, **change).link

    @property
    def command(self) -> str:
        """The same design at the command line."""
        raw = [("--difference", self.difference), ("--sd", self.sd), ("--se", self.se)]
        effect = raw if self.raw else [("--effect", self.effect)]
        usual = AskedDesign()
        rest = [
            ("--alpha", self.alpha if self.alpha != usual.alpha else None),
            ("--target", self.wanted_target if self.target != "mean" else None),
            ("--test", self.test if self.test != usual.test else None),
            ("--alternative", self.alternative if self.alternative != usual.alternative else None),
            *((f"--{name}", getattr(self, name)) for name in ("looks", "available")),
            *((f"--{name}", getattr(self, name) if self.runs else None) for name in ("runs", "seconds", "workers")),
        ]
        options = [*effect, ("--power", self.power), *rest]
        words = [f"{option} {_plain(value)}" for option, value in options if value is not None]
        return " ".join(["ampler design", f"--algorithms {self.algorithms}", f"--vs-{self.versus}", *words])

    @property
    def python(self) -> str:
        """The same design in Python."""
        se = f", se={self.se!r}" if self.se else ""
        effect = f"am.effect_from({self.difference!r}, {self.sd!r}{se})" if self.raw else repr(self.effect)
        usual = AskedDesign()
        words = {
            "alpha": self.alpha if self.alpha != usual.alpha else None,
            "target": self.wanted_target if self.target != "mean" else None,
            "test": self.test if self.test != usual.test else None,
            "alternative": self.alternative if self.alternative != usual.alternative else None,
            "looks": self.looks,
        }
        rest = "".join(f", {name}={value!r}" for name, value in words.items() if value is not None)
        return f"am.required_instances(comparisons={self.comparisons}, effect={effect}, power={self.power!r}{rest})"


def asked_design(words: Words) -> AskedDesign:
    """Return the design that an address asks for; InvalidInput when its words are none."""
    plain = AskedDesign()
    return AskedDesign(
        algorithms=whole(words, "algorithms", plain.algorithms, least=2, most=MOST_ALGORITHMS) or 2,
        versus=choice_of(words, "versus", ("one", "all"), plain.versus),
        unit=choice_of(words, "unit", ("sd", "own"), plain.unit),
        effect=number(words, "effect", plain.effect) or 0.0,
        difference=number(words, "difference"),
        sd=number(words, "sd"),
        se=number(words, "se"),
        power=number(words, "power", plain.power) or 0.0,
        alpha=number(words, "alpha", plain.alpha) or 0.0,
        target=choice_of(words, "target", TARGETS, plain.target),
        tests=whole(words, "tests", least=1, most=10**9),
        test=choice_of(words, "test", get_args(Test), plain.test),
        alternative=choice_of(words, "alternative", get_args(Alternative), plain.alternative),
        looks=whole(words, "looks", least=min(LOOKS), most=max(LOOKS)),
        available=whole(words, "available", least=2, most=MOST_INSTANCES),
        runs=whole(words, "runs", least=1, most=MOST_RUNS),
        seconds=number(words, "seconds"),
        workers=whole(words, "workers", least=1, most=MOST_RUNS),
    )


def typed(words: Words) -> dict[str, str]:
    """Return what stands in the fields, whether it is a design or not: nobody has to type it again."""
    plain = {field.name: getattr(AskedDesign(), field.name) for field in fields(AskedDesign)}
    usual = {name: "" if value is None else _plain(value) for name, value in plain.items()}
    return usual | {name: words[name][:60] for name in usual if name in words}


def _plain(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else shlex.quote(str(value))
