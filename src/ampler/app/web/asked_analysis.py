"""The analysis that an address asks for: its settings and columns, and the same analysis as a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from ampler.app.web.query import Words, address, choice_of, number, said
from ampler.core.choices import DIFFERENCE_ALIASES, Alternative, Better, Difference, Test, difference_of
from ampler.core.enumerated import names_in

COLUMNS = ("algorithm", "instance", "value", "metric", "ignore", "algorithms", "describing", "decimal")
LONGEST = 20_000  # characters of names of columns: a table may have many
SEVERAL = ("algorithm", "instance", "ignore", "algorithms", "describing")  # names joined by commas


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAnalysis:
    """What is asked of results; what is None is as the study says, or as is usual."""

    difference: Difference | None = None
    better: Better | None = None
    reference: str | None = None
    test: Test | None = None
    alternative: Alternative | None = None
    statistic: str | None = None
    alpha: float | None = None
    margin: float | None = None
    on_failure: str | None = None
    algorithm: str | None = None
    instance: str | None = None
    value: str | None = None
    metric: str | None = None
    ignore: str | None = None
    algorithms: str | None = None
    describing: str | None = None
    decimal: Literal[".", ","] | None = None

    @property
    def words(self) -> dict[str, Any]:
        """What was said, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def options(self) -> dict[str, Any]:
        """The same as `analyse` takes it."""
        split = {name: [each for each in names_in(self.words[name]) if each] for name in SEVERAL if name in self.words}
        return self.words | split

    @property
    def chosen(self) -> list[str]:
        """The settings of the analysis that were said, without columns."""
        return [name for name in self.words if name not in COLUMNS]

    def at(self, path: str, **more: Any) -> str:
        """Return an address with this state."""
        return address(path, self.words | more)

    def command(self, command: str, file: str) -> str:
        """Return the same at the command line."""
        options = [f"--{name.replace('_', '-')} {shlex.quote(_plain(value))}" for name, value in self.words.items()]
        return " ".join([f"ampler {command}", shlex.quote(file), *options])


def asked_analysis(words: Words) -> AskedAnalysis:
    """Return the analysis that an address asks for; InvalidInput when its words are none."""
    texts = {name: said(words, name) for name in ("reference", "statistic", "on_failure")}
    texts |= {name: said(words, name, LONGEST) for name in COLUMNS if name != "decimal"}
    return AskedAnalysis(
        difference=_difference(words),
        better=choice_of(words, "better", get_args(Better), None),
        test=choice_of(words, "test", get_args(Test), None),
        alternative=choice_of(words, "alternative", get_args(Alternative), None),
        alpha=number(words, "alpha"),
        margin=number(words, "margin"),
        decimal=choice_of(words, "decimal", (".", ","), None),
        **texts,
    )


def typed_analysis(words: Words) -> dict[str, str]:
    """Return what stands in the fields, whether it can be analysed or not."""
    return {field.name: words.get(field.name, "")[:200] for field in fields(AskedAnalysis)}


def otherwise(settings: Mapping[str, Any], asked: AskedAnalysis) -> list[str]:
    """Return the settings that were chosen otherwise than the study planned them."""
    return [name for name in asked.chosen if name in settings and settings[name] != asked.words[name]]


def _difference(words: Words) -> Difference | None:
    kind: Difference | None = choice_of(words, "difference", (*get_args(Difference), *DIFFERENCE_ALIASES), None)
    return difference_of(kind)  # type: ignore[no-any-return]


def _plain(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
