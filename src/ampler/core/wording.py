"""Numbers, counts, lists, times and sizes as a sentence has them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

# Each unit is used from two of it on: 90 minutes, then 2 hours. Years are for sums nobody should start.
TIMES = (("second", 1), ("minute", 60), ("hour", 3600), ("year", 365.25 * 86400))
LARGEST_CHANGE = math.log(2.0) + 1e-9  # a ratio beyond it is told as a factor, not as a percent change
LARGEST_EXPONENT = 700.0  # e to it is still a number
LONGEST_QUOTE = 80  # characters of a stranger's text that an error shows
SIZES = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def digits(value: float, significant: int = 3, *, zeros: bool = False) -> str:
    """Write a number with so many significant digits, without an exponent where that reads well.

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
    """Write an estimate and its limits with the same decimals: as many as the larger of it and its spread needs.

    >>> alike(-1.6, -3.19, -0.00825), alike(0.0034, -1.75, 1.7568), alike(1234.5, 1100.0, math.inf)
    (('-1.60', '-3.19', '-0.01'), ('0.00', '-1.75', '1.76'), ('1230', '1100', '∞'))
    """
    size = max([abs(value), *(abs(limit - value) for limit in limits if math.isfinite(limit))])
    if not math.isfinite(size) or not 1e-4 <= size < 1e6:
        return tuple(digits(each, significant) for each in (value, *limits))
    places = significant - 1 - int(f"{size:.{significant - 1}e}".partition("e")[2])
    return tuple(_with_places(each, places) for each in (value, *limits))


def _with_places(value: float, places: int) -> str:
    """Negative places round to tens and hundreds; what is rounded to nothing keeps its sign."""
    if not math.isfinite(value):
        return digits(value)
    return f"{round(value, places):.0f}" if places < 0 else f"{value or 0.0:.{places}f}"


def factor_texts(value: float, *limits: float) -> tuple[str, ...]:
    """Write ratios, given as logarithms, as factors with significant digits on the logarithmic scale.

    >>> factor_texts(math.log(283.6), math.log(1.03), math.log(78113)), factor_texts(0.016, 0.0001, 0.0319)
    (('284', '1.03', '78100'), ('1.016', '1.000', '1.032'))
    """
    size = max([abs(value), *(abs(limit - value) for limit in limits if math.isfinite(limit))])
    more = min(max(math.ceil(-math.log10(size)) - 1, 0), 6) if 0 < size < math.inf else 0
    return tuple(digits(_exp(each), 3 + more, zeros=bool(limits)) for each in (value, *limits))


def ratio_texts(value: float, *limits: float) -> tuple[str, ...]:
    """Write ratios, given as logarithms, as percent changes between a half and the double, beyond that as factors.

    >>> ratio_texts(math.log(0.981), math.log(0.973), math.log(0.99)), ratio_texts(math.log(3.4))
    (('-1.90 %', '-2.70 %', '-1.00 %'), ('×3.4',))
    """
    if are_changes(value, *limits):
        texts = alike(*map(change, (value, *limits)))
        return tuple(f"{'' if text.startswith('-') else '+'}{text} %" for text in texts)
    return tuple(f"×{text}" for text in factor_texts(value, *limits))


def are_changes(value: float, *limits: float) -> bool:
    """Whether a ratio and its limits, given as logarithms, are told as percent changes: what is finite is near 1."""
    return abs(value) <= LARGEST_CHANGE and all(abs(each) <= LARGEST_CHANGE for each in limits if math.isfinite(each))


def change(value: float) -> float:
    """Return a ratio, given as its logarithm, as a percent change."""
    return 100 * (_exp(value) - 1)


def _exp(value: float) -> float:
    return math.exp(value) if value < LARGEST_EXPONENT else math.inf


def difference_text(value: float, difference: str) -> str:
    """Write a difference in the unit people use for its kind: percent, a factor, or as it is.

    >>> difference_text(0.02, "percent"), difference_text(0.693, "ratio"), difference_text(12.5, "simple")
    ('2 %', '2', '12.5')
    """
    if difference == "percent":
        return f"{digits(100 * value)} %"
    if difference == "ratio":
        return factor_texts(value)[0]
    return digits(value)


def amount(size: float, difference: str) -> str:
    """Write the size of a difference as a sentence has it.

    >>> amount(0.02, "percent"), amount(0.693, "ratio")
    ('2 %', 'a factor of 2')
    """
    return f"{'a factor of ' if difference == 'ratio' else ''}{difference_text(size, difference)}"


def rounded_up(value: float, significant: int) -> str:
    """Write a positive number with so many significant digits, rounded up: an effect called detectable must be.

    >>> rounded_up(0.6040, 2), rounded_up(0.24871, 3), rounded_up(12.3, 2)
    ('0.61', '0.249', '13')
    """
    places = significant - 1 - math.floor(math.log10(value))
    factor = 10.0**places
    return f"{math.ceil(round(value * factor, 9)) / factor:.{max(places, 0)}f}"


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
    """Return the first names, and how many more there are.

    >>> listed(["a", "b", "c"], 3), listed("abcde", 3)
    ('a, b, c', 'a, b, c and 2 more')
    """
    everything = list(names)
    rest = len(everything) - most
    return ", ".join(everything[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def named(names: Sequence[str], most: int = 3) -> str:
    """Return the names that share a place in a sentence.

    >>> named(["a"]), named(["a", "b", "c"]), named(["a", "b", "c", "d", "e"])
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    if len(names) <= 1 or len(names) > most:
        return listed(names, most)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def quoted(names: Iterable[object], most: int = 20) -> str:
    """Return names in quotes, for an error that shows what there is.

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
    """Return a time in the one unit a person would use: for sums and forecasts.

    >>> duration(45), duration(5400), duration(2_257_200)
    ('45 seconds', '90 minutes', '627 hours')
    """
    unit, size = next((pair for pair in reversed(TIMES) if seconds >= 2 * pair[1]), TIMES[0])
    amount = seconds / size
    text = f"{amount:,.0f}" if amount >= 9.95 else f"{amount:.2g}"
    return f"{text} {unit}" + ("" if text == "1" else "s")


def short_duration(seconds: float) -> str:
    """Return a time in short units: for what changes while one looks.

    >>> short_duration(8), short_duration(200), short_duration(5400), short_duration(200_000)
    ('8 s', '3 min', '1 h 30 min', '2 d 7 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def in_bytes(number: int) -> str:
    """Return a number of bytes in the unit people use.

    >>> in_bytes(1_500_000_000), in_bytes(512)
    ('1.5 GB', '512 bytes')
    """
    for unit, size in SIZES:
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number} bytes"


def printable(text: str) -> str:
    """Return a text that only shows itself: what would move the cursor, colour or turn the line is written out.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(mark if mark in "\n\t" or mark.isprintable() else _written_out(mark) for mark in text)


def _written_out(mark: str) -> str:
    return " " if mark.isspace() and ord(mark) > 127 else mark.encode("unicode_escape").decode()


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet takes a text that begins so for a formula


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that would be begins with an apostrophe.

    >>> harmless("=1+1"), harmless("a=b")
    ("'=1+1", 'a=b')
    """
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) else text


def as_meant(text: str) -> str:
    """Return a text as it was before it was made harmless.

    >>> as_meant("'=1+1"), as_meant("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text
