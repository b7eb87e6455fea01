"""What is as good as random in a study and the same everywhere: the seed of a run, the order of the instances. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from ampler.core.plain import canonical
from ampler.core.values import Instance


def run_seed(study_seed: int, instance: str, algorithm: str, index: int) -> int:
    """Return the seed of a run: a number below 2^31 that hangs on these four alone.

    Recipe: write `[study seed, instance, algorithm, index]` as JSON without blanks, non-ASCII characters as they are
    (what JavaScript's JSON.stringify writes), as UTF-8; take blake2b (64 bytes, no key); the first 31 bits of the
    digest, most significant first, are the seed. So the seed of the example is half of the first eight digits of
    `printf '[2019,"i1","full",0]' | b2sum`.

    >>> run_seed(2019, "i1", "full", 0)
    1973357352
    """
    text = f"[{study_seed:d},{_quoted(instance)},{_quoted(algorithm)},{index:d}]"
    return int.from_bytes(_blake2b(text)[:4], "big") >> 1


def in_order(seed: int, instances: Iterable[Instance]) -> tuple[Instance, ...]:
    """Return instances in the order in which they are used: that of blake2b over the JSON of [seed, name].

    The order is as good as random, the same everywhere, and a further instance does not disturb it.
    """
    return tuple(sorted(instances, key=lambda instance: (_blake2b(canonical([seed, instance.name])), instance.name)))


def _blake2b(text: str) -> bytes:
    return hashlib.blake2b(text.encode()).digest()


@lru_cache(maxsize=10_000)
def _quoted(name: str) -> str:
    """A name as JSON has it; a study has far more runs than names."""
    return canonical(name)
