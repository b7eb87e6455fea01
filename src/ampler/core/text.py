"""Text: numbers, counts, times and names in sentences, parameters in messages, and tables that fit a width. Pure."""

from __future__ import annotations

import json
import math
import re
import shlex
import textwrap
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from itertools import takewhile, zip_longest
from types import MappingProxyType
from typing import Any, Literal, TypeVar

T = TypeVar("T")

# Each unit is used from two upwards: 90 minutes, then 2 hours.
TIMES = (("second", 1), ("minute", 60), ("hour", 3600), ("year", 365.25 * 86400))
PRECISE_CHANGE = 0.1  # from this ratio's logarithm on, a percent change has three digits: 10.5 %
LARGEST_CHANGE = math.log(2.0) + 1e-9  # a ratio beyond it is displayed as a factor, not as a percent change
LARGEST_EXPONENT = 700.0  # largest exponent without overflow
LONGEST_QUOTE = 80  # characters of user text displayed in an error


def digits(value: float, significant: int = 3, *, zeros: bool = False) -> str:
    """Write a number with this many significant digits, without an exponent where that reads well.

    Final zeros after the point are left out, unless columns of numbers should look equally exact (`zeros`).

    >>> digits(1234.5), digits(0.034561), digits(1.5e-9), digits(0.5), digits(0.5, zeros=True)
    ('1230', '0.0346', '1.5e-09', '0.5', '0.500')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "unknown"
    exact = f"{value:.{significant - 1}e}"
    power = int(exact.partition("e")[2])
    if value == 0 or -4 <= power < 6:
        text = f"{float(exact):.{max(0, significant - 1 - power)}f}"
        return text.rstrip("0").rstrip(".") if "." in text and not zeros else text
    return exact if zeros else f"{value:.{significant}g}"


def alike(value: float, *limits: float, significant: int = 3) -> tuple[str, ...]:
    """Write an estimate and its limits with the same decimals, chosen by the larger of estimate and spread.

    Where one limit is far away, the other one counts.

    >>> alike(-1.6, -3.19, -0.00825), alike(0.0034, -1.75, 1.7568), alike(1234.5, 1100.0, math.inf)
    (('-1.60', '-3.19', '-0.01'), ('0.00', '-1.75', '1.76'), ('1230', '1100', '∞'))
    >>> alike(-0.786, -1.03, 180.38)
    ('-0.786', '-1.030', '180.380')
    """
    spread = sorted(abs(limit - value) for limit in limits if math.isfinite(limit) and limit != value)
    size = max([abs(value), *(spread[:1] if spread and spread[-1] > 10 * spread[0] else spread)])
    if not math.isfinite(size) or not 1e-4 <= size < 1e6:
        return tuple(digits(number, significant) for number in (value, *limits))
    decimals = significant - 1 - int(f"{size:.{significant - 1}e}".partition("e")[2])

    def rounded(number: float) -> str:  # negative decimals round to tens and hundreds; -0.00 keeps its sign
        if not math.isfinite(number):
            return digits(number)
        return f"{round(number, decimals):.0f}" if decimals < 0 else f"{number or 0.0:.{decimals}f}"

    return tuple(map(rounded, (value, *limits)))


def factor_texts(value: float, *limits: float) -> tuple[str, ...]:
    """Write ratios, given as logarithms, as factors with significant digits on the logarithmic scale.

    >>> factor_texts(math.log(283.6), math.log(1.03), math.log(78113)), factor_texts(0.016, 0.0001, 0.0319)
    (('284', '1.03', '78100'), ('1.016', '1.000', '1.032'))
    """
    size = max([abs(value), *(abs(limit - value) for limit in limits if math.isfinite(limit))])
    more = min(max(math.ceil(-math.log10(size)) - 1, 0), 6) if 0 < size < math.inf else 0
    return tuple(digits(_exp(number), 3 + more, zeros=bool(limits)) for number in (value, *limits))


def ratio_texts(value: float, *limits: float) -> tuple[str, ...]:
    """Write ratios, given as logarithms, as percent changes between a half and the double, beyond that as factors.

    >>> ratio_texts(math.log(0.981), math.log(0.973), math.log(0.99)), ratio_texts(math.log(3.4))
    (('-1.90 %', '-2.70 %', '-1.00 %'), ('×3.4',))
    """
    if are_changes(value, *limits):
        texts = alike(*map(change, (value, *limits)))
        return tuple(f"{'' if text.startswith('-') or not text.strip('0.') else '+'}{text} %" for text in texts)
    return tuple(f"×{text}" for text in factor_texts(value, *limits))


def are_changes(value: float, *limits: float) -> bool:
    """Whether log ratios are displayed as percent changes: all finite ones are near 1."""
    return all(abs(number) <= LARGEST_CHANGE for number in (value, *filter(math.isfinite, limits)))


def change(value: float) -> float:
    """Return a ratio, given as its logarithm, as a percent change."""
    return 100 * (_exp(value) - 1)


def _exp(value: float) -> float:
    return math.exp(value) if value < LARGEST_EXPONENT else math.inf


def difference_text(value: float, difference: str) -> str:
    """Write a difference in the usual unit of its kind: percent, a factor, or its own unit.

    >>> difference_text(0.02, "percent"), difference_text(0.693, "ratio"), difference_text(12.5, "simple")
    ('2 %', '2', '12.5')
    """
    if difference == "percent":
        return f"{digits(100 * value)} %"
    return factor_texts(value)[0] if difference == "ratio" else digits(value)


def amount(size: float, difference: str) -> str:
    """Write the size of a difference for a sentence.

    >>> amount(0.02, "percent"), amount(0.02, "ratio"), amount(0.7, "ratio")
    ('2 %', '2 %', 'a factor of 2.01')
    """
    if difference != "ratio":
        return difference_text(size, difference)
    if are_changes(size):
        return f"{digits(change(size), 2 if size < PRECISE_CHANGE else 3)} %"
    return f"a factor of {difference_text(size, difference)}"


def rounded_up(value: float, significant: int) -> str:
    """Write a positive number with this many significant digits, rounded up: an effect called detectable must be.

    >>> rounded_up(0.6040, 2), rounded_up(0.24871, 3), rounded_up(12.3, 2)
    ('0.61', '0.249', '13')
    """
    decimals = significant - 1 - math.floor(math.log10(value))
    factor = 10.0**decimals
    return f"{math.ceil(round(value * factor, 9)) / factor:.{max(decimals, 0)}f}"


def capitalised(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def count(number: int, noun: str) -> str:
    """Return a number of things with their noun.

    >>> count(1, "instance"), count(1200, "instance")
    ('1 instance', '1,200 instances')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def count_are(number: int, noun: str) -> str:
    """Return a number of things with their noun and verb.

    >>> count_are(1, "run"), count_are(2, "run")
    ('1 run is', '2 runs are')
    """
    return f"{count(number, noun)} {'is' if number == 1 else 'are'}"


def listed(names: Iterable[str], most: int) -> str:
    """Return the first names, and the number of the others.

    >>> listed(["a", "b", "c"], 3), listed("abcde", 3)
    ('a, b, c', 'a, b, c and 2 more')
    """
    everything = list(names)
    rest = len(everything) - most
    return ", ".join(everything[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def named(names: Sequence[str], most: int = 3) -> str:
    """Return the names as a list for a sentence.

    >>> named(["a"]), named(["a", "b", "c"]), named(["a", "b", "c", "d", "e"])
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    if len(names) <= 1 or len(names) > most:
        return listed(names, most)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def quoted(names: Iterable[object], most: int = 20) -> str:
    """Return names in quotes, for an error that lists the valid ones.

    >>> quoted(["a", "b c"])
    "'a', 'b c'"
    """
    return listed((repr(shortened(str(name))) for name in names), most)


def shortened(text: str, most: int = LONGEST_QUOTE) -> str:
    """Return a text that fits into a sentence, or into `most` characters and a mark.

    >>> shortened("short"), len(shortened("x" * 10_000))
    ('short', 81)
    """
    return text if len(text) <= most else f"{text[:most]}…"


def duration(seconds: float) -> str:
    """Return a time in a single unit, for sums and forecasts.

    >>> duration(45), duration(5400), duration(2_257_200)
    ('45 seconds', '90 minutes', '627 hours')
    """
    unit, size = next((pair for pair in reversed(TIMES) if seconds >= 2 * pair[1]), TIMES[0])
    amount = seconds / size
    text = f"{amount:,.0f}" if amount >= 9.95 else f"{amount:.2g}"
    return f"{text} {unit}" + ("" if text == "1" else "s")


def short_duration(seconds: float) -> str:
    """Return a time in short units, for displays that change.

    >>> short_duration(8), short_duration(200), short_duration(5400), short_duration(200_000)
    ('8 s', '3 min', '1 h 30 min', '2 d 7 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"


def in_bytes(number: int) -> str:
    """Return a number of bytes in the usual unit.

    >>> in_bytes(1_500_000_000), in_bytes(512)
    ('1.5 GB', '512 bytes')
    """
    units = ((number / BYTE_UNITS[unit], unit) for unit in ("GB", "MB", "kB"))
    return next((f"{size:.3g} {unit}" for size, unit in units if size >= 1), f"{number} bytes")


TIME_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTE_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    f"{prefix}iB": 2 ** (10 * power) for power, prefix in enumerate("KMGT", start=1)
}


def quantity(written: str, units: Mapping[str, float]) -> float:
    """Return the sum of one or more numbers with units; case matters only where it would be ambiguous.

    >>> quantity("1h30m", TIME_UNITS), quantity("2GB", BYTE_UNITS)
    (5400.0, 2000000000.0)
    """
    folded = {unit.lower(): size for unit, size in units.items()}
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", written)
    rebuilt = re.fullmatch(r"\s*(?:\d+(?:\.\d+)?\s*[A-Za-z]+\s*)+", written)
    if not rebuilt or any(unit.lower() not in folded for _, unit in parts):
        raise ValueError(f"{written!r} is no number with a unit")
    total = sum(float(amount) * folded[unit.lower()] for amount, unit in parts)
    if not 0 < total < math.inf:
        raise ValueError(f"{written!r} must be positive")
    return total


def printable(text: str) -> str:
    """Return a text with control characters escaped, so that it cannot move the cursor or change colours.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    written_out: dict[str, str | int | None] = {
        letter: " " if letter.isspace() and ord(letter) > 127 else letter.encode("unicode_escape").decode()
        for letter in set(text)
        if not letter.isprintable() and letter not in "\n\t"
    }
    return text.translate(str.maketrans(written_out))


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # spreadsheets read a text that begins with one of these as a formula


def escape_formula(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula: an apostrophe is put before one that would be.

    >>> escape_formula("=1+1"), escape_formula("a=b")
    ("'=1+1", 'a=b')
    """
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`.

    >>> unescape_formula("'=1+1"), unescape_formula("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text


ENDING = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,9}){1,2}$")  # of a file: .txt, .tsp.gz; not the .5 of a number
CONTEXT = 4  # characters shown before the place where long names begin to differ


def composed(name: T) -> T:
    """Return a name in Unicode normal form NFC, in which names are compared.

    What is no text stays as it is.

    >>> composed("e\\N{COMBINING ACUTE ACCENT}") == "\\N{LATIN SMALL LETTER E WITH ACUTE}"
    True
    """
    if isinstance(name, str) and not name.isascii():
        return unicodedata.normalize("NFC", name)  # type: ignore[return-value]
    return name


def short_names(names: Sequence[str], widest: int | None = None) -> tuple[str, ...]:
    """Return the names without their common folder and ending, each at most `widest` characters (None: whole).

    >>> short_names(["instances/G_1-124_1.txt", "instances/G_1-124_2.txt"])
    ('G_1-124_1', 'G_1-124_2')
    """
    return distinct_names(without_common(names), widest)


def natural(name: str) -> tuple[tuple[int, float, str], ...]:
    """Return the sort key of a name; numbers within it count as numbers.

    >>> sorted(["n100", "n20", "N3", "1-9", "-2", "0.5"], key=natural)
    ['-2', '0.5', '1-9', 'N3', 'n20', 'n100']
    """
    try:
        return ((0, float(name), ""),)
    except ValueError:
        parts = re.split(r"(\d+)", name.casefold())
        return tuple((0, float(part), part) if part.isdecimal() else (1, 0.0, part) for part in parts if part)


@lru_cache(maxsize=8)  # many sentences name the same algorithms
def short_name_of(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return the short name of each, for sentences that name some of them.

    >>> dict(short_name_of(("runs/a.txt", "runs/b.txt")))
    {'runs/a.txt': 'a', 'runs/b.txt': 'b'}
    """
    return MappingProxyType(dict(zip(names, short_names(names), strict=True)))


def without_common(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without the folder, and the ending of files, that all of them have.

    >>> without_common(["runs/a/x.tsp.gz", "runs/b/x.tsp.gz"]), without_common(["v1.5", "v2.5"])
    (('a/x', 'b/x'), ('v1.5', 'v2.5'))
    """
    start = _common_start(names)
    folder = max(start.rfind("/"), start.rfind("\\")) + 1
    several = len(set(names)) > 1  # a single name has no common ending
    ending = ENDING.search(_common_start([name[::-1] for name in names])[::-1]) if several else None
    inner = tuple(name[folder : len(name) - len(ending[0] if ending else "")] for name in names)
    return inner if all(map(str.strip, inner)) else tuple(names)


def distinct_names(names: Sequence[str], widest: int | None = None) -> tuple[str, ...]:
    """Return the names on one line, cut to `widest` characters so that the differences stay.

    Only names that do not differ in this many characters are numbered by their position.

    >>> distinct_names(["full", "no-swap, with a very long explanation", "no-swap, with a Very long explanation"], 20)
    ('full', '…h a very long expl…', '…h a Very long expl…')
    """
    hidden = {"Cc", "Cf"}  # characters that move or hide others
    visible = {
        name: " ".join("".join(" " if unicodedata.category(c) in hidden else c for c in name).split()) for name in names
    }
    width = max(map(len, visible.values()), default=0) + 1 if widest is None else widest
    short = {name: _cut(text, width) for name, text in visible.items()}
    groups: dict[str, list[str]] = defaultdict(list)
    for name, label in short.items():
        groups[label].append(name)
    for group in groups.values():
        if len(group) > 1:  # equal after shortening: show the part where they differ
            begin = max(0, len(_common_start([visible[name] for name in group])) - CONTEXT)
            short |= {name: _window(visible[name], begin, width) for name in group}
    for labels in (short, dict.fromkeys(visible, "")):  # a number may produce an existing name
        if len(set(short.values())) < len(short):
            short = _numbered(visible, labels, width)
    return tuple(short[name] for name in names)


def _common_start(texts: Sequence[str]) -> str:
    shared = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in shared)


def _window(text: str, begin: int, widest: int) -> str:
    """The text from a position on, with a mark at each end where something is left out."""
    begin = min(begin, max(0, len(text) - widest + 1))
    if begin == 0:
        return text if len(text) <= widest else f"{text[: widest - 1]}…"
    rest = text[begin:]
    return f"…{rest}" if len(rest) < widest else f"…{rest[: widest - 2]}…"


def _numbered(visible: dict[str, str], labels: dict[str, str], widest: int) -> dict[str, str]:
    """The labels, those that are alike with their positions."""
    number, ends = Counter(labels.values()), {name: f" ({k})" for k, name in enumerate(visible, start=1)}
    return {
        name: label if number[label] == 1 else f"{_cut(visible[name], widest - len(ends[name]))}{ends[name]}"
        for name, label in labels.items()
    }


def _cut(text: str, widest: int) -> str:
    """The beginning and, longer, the end, in which most names differ."""
    if len(text) <= widest:
        return text
    head = max(0, widest // 3)
    return f"{text[:head]}…{text[len(text) - max(0, widest - head - 1) :]}"


PIECE = re.compile(r'(?:^|,)\s*(?:"((?:[^"]|"")*)"\s*(?=,|\Z)|([^,]*))')


def join_names(names: Iterable[str]) -> str:
    """Return names as one text.

    >>> join_names(["function", "dimension"]), join_names(["size, small", "a"])
    ('function,dimension', '"size, small",a')
    """
    needs_quotes = re.compile(r'.*,|"|\s|.*\s\Z', re.DOTALL)
    return ",".join('"{}"'.format(name.replace('"', '""')) if needs_quotes.match(name) else name for name in names)


def split_names(text: str) -> list[str]:
    """Return the names in a text.

    >>> split_names("function, dimension"), split_names('"size, small",a')
    (['function', 'dimension'], ['size, small', 'a'])
    """
    pieces = (piece.groups() for piece in PIECE.finditer(text))
    return [bare.strip() if quote is None else quote.replace('""', '"') for quote, bare in pieces]


BEGIN, END = "\x0e", "\x0f"  # control characters (shift out and in) that no name contains
MARKED = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
ARGUMENTS = {  # options with another form, with a placeholder for their value
    **{"same": 'on_code_change="keep"', "again": 'on_code_change="rerun"'},
    **{"keep": 'on_code_change={%s: "keep"}', "rerun": 'on_code_change={%s: "rerun"}'},
}
OPTIONS = {"path": "store", "costs": "cost"}  # parameters whose option has another name

Value = str | bool | float | Sequence[str] | Mapping[str, object] | None


def parameter(name: str, value: Value = None) -> str:
    """Return the mark of a parameter in a message, with the value it should have, if one is proposed.

    >>> text = f"choose one with {parameter('where', {'budget': 100})}"
    >>> print(render_for_python(text), "|", render_for_shell(text))
    choose one with where={"budget": 100} | choose one with --where budget=100
    """
    return f"{BEGIN}{json.dumps([name, value], ensure_ascii=True, default=str)}{END}"


def proposal(text: str) -> tuple[str, Any, str]:
    """Return the first parameter of a message with a value, this value, and the option; empty texts without one.

    >>> proposal(f"choose one with {parameter('metric', 'loss')} or {parameter('metric', 'accuracy')}")
    ('metric', 'loss', '--metric loss')
    """
    marks = map(json.loads, MARKED.findall(text))
    return next(((name, value, _as_option(name, value)) for name, value in marks if value is not None), ("", "", ""))


def render_for_python(text: str) -> str:
    """Return a message with its parameters as Python has them."""
    return MARKED.sub(lambda mark: _as_argument(*json.loads(mark[1])), text)


def render_for_shell(text: str) -> str:
    """Return a message with its parameters as options of a shell."""
    return MARKED.sub(lambda mark: _as_option(*json.loads(mark[1])), text)


def render_for_browser(text: str, label: Callable[[str], str]) -> str:
    """Return a message with its parameters as the labels of fields."""

    def field(name: str, value: Any = None) -> str:
        shown = value if isinstance(value, str | int | float) and not isinstance(value, bool) else None
        return f"‘{label(name)}’{'' if shown is None else f' ({shown})'}"

    return MARKED.sub(lambda mark: field(*json.loads(mark[1])), text)


def _as_argument(name: str, value: Any) -> str:
    if name in ARGUMENTS:
        return ARGUMENTS[name].replace("%s", json.dumps(value, ensure_ascii=False))
    name = {"looks": "interim"}.get(name, name)
    if value is None:
        return name
    one_name = isinstance(value, list) and len(value) == 1
    return f"{name}={'True' if value is True else json.dumps(value[0] if one_name else value, ensure_ascii=False)}"


def _as_option(name: str, value: Any) -> str:
    option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
    if value is None or value is True:
        return option
    if isinstance(value, dict):
        value = [f"{key}={level}" for key, level in value.items()]
    text = join_names(value) if isinstance(value, list) else str(value)
    is_one_word = re.fullmatch(r"[\w@%+=:,./…-]+", text) is not None  # also with letters beyond ASCII
    return f"{option} {text if is_one_word else shlex.quote(text)}"


def notebook_html(value: Any) -> str:
    """Return a value as a piece of HTML; values have this as their `_repr_html_`."""
    page: str = import_module("ampler.report.notebook").notebook_html(value)
    return page


Kind = Literal["number", "words", "name"]

GAP = "  "
SHORTEST_NAME = 24  # minimum width of a name before a column is left out
NAMES_SHARE = 0.4  # minimum width of names in a narrow terminal
SHORTEST_WORDS = 16  # minimum width of text
BOUND = re.compile(r"(?<=\d) (?=(?:%|s|min|h|d|GB|MB|kB)(?!\w))| (?=[=≥≤] )|(?<=[=≥≤]) ")
TIE = "\N{NO-BREAK SPACE}"
DEFAULT_WIDTH = 80  # width of a terminal of unknown width


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table, and its treatment in a narrow terminal.

    Numbers end at the right and are never broken; words fold between words; names are cut so that they can be
    distinguished. Columns with the largest `leaves` are left out first, those with 0 never. `narrow` may stand for it.
    """

    head: str
    cells: tuple[str, ...]
    kind: Kind = "number"
    leaves: int = 0
    narrow: Column | None = None


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table as lines: its head, its body, and the heads of the columns that found no room."""

    head: tuple[str, ...]
    body: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines of the table."""
        return self.head + self.body


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table for a terminal; `breaks` are lines that stand before the rows of these numbers.

    >>> table = TextTable((Column("pair", ("a × b", "a × c"), "name"), Column("p", ("0.04", "1e-05"))))
    >>> print("\\n".join(table.fitted().lines))
    pair       p
    a × b   0.04
    a × c  1e-05
    """

    columns: tuple[Column, ...]
    breaks: Mapping[int, str] = field(default_factory=dict)

    def first(self, rows: int) -> TextTable:
        """Return the first rows alone."""
        columns = tuple(replace(column, cells=column.cells[:rows]) for column in self.columns)
        return TextTable(columns, {number: line for number, line in self.breaks.items() if number < rows})

    def fitted(self, width: int = DEFAULT_WIDTH) -> FittedTable:
        """Return the lines in this width; if even the required columns do not fit, each row becomes a card."""
        columns = [_on_one_line(column) for column in self.columns]
        fitting = dict(enumerate(columns))
        while (widths := _widths(fitting.values(), width)) is None:
            if any(column.narrow for column in fitting.values()):
                fitting = {k: column.narrow or column for k, column in fitting.items()}
                continue
            leaving = max(reversed(fitting), key=lambda k: fitting[k].leaves)
            if not fitting[leaving].leaves:
                return FittedTable((), tuple(_cards(columns, self.breaks, width)))
            del fitting[leaving]
        pairs = list(zip(fitting.values(), widths, strict=True))
        head = _side_by_side([wrap_lines(column.head, width) for column, width in pairs], pairs)
        body: list[str] = []
        for number, row in enumerate(zip(*(_cells(column, width) for column, width in pairs), strict=True)):
            body += [self.breaks[number]] if number in self.breaks else []
            body += _side_by_side(row, pairs)
        left_out = (column.head for k, column in enumerate(columns) if k not in fitting and column.head)
        return FittedTable(tuple(head), tuple(body), tuple(left_out))


def table_of(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    names: Collection[int] = (0,),
    words: Collection[int] = (),
    leaves: Mapping[int, int] | None = None,
) -> TextTable:
    """Return a table of rows; `names` and `words` are the places of such columns, `leaves` says which leave first."""
    kinds: dict[int, Kind] = {**dict.fromkeys(names, "name"), **dict.fromkeys(words, "words")}
    cells = list(zip(*rows, strict=True)) or [()] * len(header)
    columns = ((head, cells[k], kinds.get(k, "number"), (leaves or {}).get(k, 0)) for k, head in enumerate(header))
    return TextTable(tuple(Column(*column) for column in columns))


def display_width(text: str) -> int:
    """Return the width of a text in a terminal: East Asian characters take two columns, combining marks none.

    >>> display_width("abc"), display_width("算法"), display_width("é")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    shown = (letter for letter in text if unicodedata.category(letter) not in {"Mn", "Me", "Cf"})
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in shown)


def wrap_lines(text: str, width: int) -> list[str]:
    """Return the lines of a text broken between words; a number stays with its unit, a long word stays whole.

    >>> wrap_lines("joint 95 % interval", 9)
    ['joint', '95 %', 'interval']
    """
    lines = textwrap.wrap(BOUND.sub(TIE, text), max(width, 1), break_long_words=False, break_on_hyphens=False)
    return [line.replace(TIE, " ") for line in lines] or [""]


def _on_one_line(column: Column) -> Column:
    """Without characters that would move the cursor."""
    head, *cells = (" ".join(printable(text).split()) for text in (column.head, *column.cells))
    narrow = None if column.narrow is None else _on_one_line(column.narrow)
    return replace(column, head=head, cells=tuple(cells), narrow=narrow)


def _widths(columns: Collection[Column], width: int) -> list[int] | None:
    """The widths of the columns, as close to their content as possible; None if they do not fit."""
    widths = [_least_width(column, width) for column in columns]
    spare = width - sum(widths) - len(GAP) * (len(columns) - 1)
    if spare < 0:
        return None
    for k, column in enumerate(columns):
        more = min(spare, max(map(display_width, (column.head, *column.cells))) - widths[k])
        widths[k] += more
        spare -= more
    return widths


def _least_width(column: Column, width: int) -> int:
    """Minimum width of a column: whole numbers and heading words, and readable parts of names and text."""
    head = max(map(display_width, column.head.split()), default=0)
    cells = max(map(display_width, column.cells), default=0)
    if column.kind == "number":
        return max(head, cells)
    if column.kind == "name":
        shortest = min(SHORTEST_NAME, int(NAMES_SHARE * width))
    else:
        shortest = max([SHORTEST_WORDS, *(display_width(word) for cell in column.cells for word in cell.split())])
    return max(min(head, shortest), min(cells, shortest))


def _cells(column: Column, width: int) -> list[list[str]]:
    """The lines of each cell."""
    if column.kind == "words":
        return [wrap_lines(cell, width) for cell in column.cells]
    if column.kind == "name" and max(map(display_width, column.cells), default=0) > width:
        names = short_names(column.cells, width)
        if max(map(display_width, names)) > width:
            names = short_names(column.cells, max(4, width // 2))
        return [[name] for name in names]
    return [[cell] for cell in column.cells]


def _side_by_side(row: Sequence[Sequence[str]], columns: Sequence[tuple[Column, int]]) -> list[str]:
    """The cells of a row next to each other, in as many lines as the tallest takes."""

    def padded(text: str, column: Column, width: int) -> str:
        blanks = " " * (width - display_width(text))
        return blanks + text if column.kind == "number" else text + blanks

    lines = zip_longest(*row, fillvalue="")
    return [GAP.join(padded(text, *own) for text, own in zip(line, columns, strict=True)).rstrip() for line in lines]


def _pieces(text: str, width: int) -> list[str]:
    """A text in pieces that fit; names longer than the line are broken."""
    pieces = [""]
    for letter in text:
        if pieces[-1] and display_width(pieces[-1] + letter) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _cards(columns: Sequence[Column], breaks: Mapping[int, str], width: int) -> list[str]:
    """Each row as a few lines: its name, then the rest one below the other with their heads."""
    first = next((column for column in columns if column.kind == "name"), columns[0])
    lines: list[str] = []
    for number, name in enumerate(first.cells):
        lines += [breaks[number]] if number in breaks else []
        lines += [piece for line in wrap_lines(name, width) for piece in _pieces(line, width)]
        for column in columns:
            cell = column.cells[number]
            if column is first or not cell:
                continue
            entry = [f"{column.head}: {cell}" if column.head else cell]
            if display_width(GAP + entry[0]) > width:
                entry = [*wrap_lines(f"{column.head}:", width - 2), *wrap_lines(cell, width - 2)]
            lines += [GAP + line for line in entry]
    return lines
