"""Inputs of a run: its seed, and the arguments of a command with its placeholders filled in. Pure.

Also the order of the instances: pseudo-random and reproducible, like the seeds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from ampler.core.errors import InvalidPlan
from ampler.core.plan import Algorithm, Command, Instance, Plan, Reading
from ampler.core.runs import RunKey
from ampler.core.serialization import canonical
from ampler.core.settings import choice


def run_seed(study_seed: int, instance: str, algorithm: str | None, index: int) -> int:
    """Return the seed of a run: a number below 2^31 that depends on these four alone.

    Parameters
    ----------
    study_seed : int
        Seed of the study.
    instance : str
        Its name.
    algorithm : str or None
        Its name; None for the seed that all algorithms share.
    index : int
        Index of the run, from 0.

    Returns
    -------
    int
        The seed.

    Notes
    -----
    Recipe: write `[study seed, instance, algorithm, index]` as JSON without blanks, non-ASCII characters as they are
    (what JavaScript's JSON.stringify writes), as UTF-8; take blake2b (64 bytes, no key); the first 31 bits of the
    digest, most significant first, are the seed. So the seed of the example is half of the first eight digits of
    `printf '[2019,"i1","full",0]' | b2sum`. A seed that all algorithms share leaves out the algorithm.

    Examples
    --------
    >>> run_seed(2019, "i1", "full", 0)
    1973357352
    >>> run_seed(2019, "i1", None, 0)
    968027712
    """
    try:
        names = _quoted(instance) if algorithm is None else f"{_quoted(instance)},{_quoted(algorithm)}"
        text = f"[{study_seed:d},{names},{index:d}]"
        return int.from_bytes(_blake2b(text)[:4], "big") >> 1
    except (ValueError, TypeError):
        raise InvalidPlan(
            "the seed of a run needs the study's seed, names of instance and algorithm, and a whole number as index,"
            f" got {(study_seed, instance, algorithm, index)!r}"
        ) from None


def planned_seed(plan: Plan, key: RunKey) -> int:
    """Return the seed of a run of a plan, whose algorithms may share their seeds."""
    return run_seed(plan.seed, key.instance, None if plan.seeds == "shared" else key.algorithm, key.index)


def in_order(seed: int, instances: Iterable[Instance], cluster: str | None = None) -> tuple[Instance, ...]:
    """Return instances in the order in which they are used: that of blake2b over the JSON of [seed, name].

    The order is as good as random, the same everywhere, and a further instance does not disturb it. Of the clusters by
    a feature, in such an order too, each gives its first instance, then each its second, and so on.
    """
    if cluster is not None:
        groups: dict[str, list[Instance]] = {}
        for instance in in_order(seed, instances):
            groups.setdefault(str(instance.features[cluster]), []).append(instance)
        labels = sorted(groups, key=lambda label: (_blake2b(canonical([seed, label])), label))
        rounds = zip_longest(*(groups[label] for label in labels))
        return tuple(instance for first_of_each in rounds for instance in first_of_each if instance is not None)
    return tuple(sorted(instances, key=lambda instance: (_blake2b(canonical([seed, instance.name])), instance.name)))


def _blake2b(text: str) -> bytes:
    return hashlib.blake2b(text.encode()).digest()


@lru_cache(maxsize=10_000)
def _quoted(name: str) -> str:
    """A name as JSON; cached, as a study has far more runs than names."""
    return canonical(name)


# {name} is a place, {{name}} stands for the text {name}; any other brace (JSON, awk) is left alone.
PLACE = re.compile(r"\{(\{)?([A-Za-z_][\w.-]*)\}(?(1)\})")


def places(argv: Iterable[str]) -> frozenset[str]:
    """Return the names of the places in a template.

    >>> sorted(places(["java", "-jar", "x.jar", "--seed={seed}", "{instance}", "{{literally}}"]))
    ['instance', 'seed']
    """
    return frozenset(match[2] for word in argv for match in PLACE.finditer(word) if not match[1])


def arguments(command: Command, instance: Instance, seed: int) -> tuple[str, ...]:
    """Return the argument vector of one run.

    >>> command = Command("full", ("solve", "--seed={seed}", "-k", "{k}", "{instance}"), {"k": 3})
    >>> arguments(command, Instance("i1"), 42)
    ('solve', '--seed=42', '-k', '3', 'i1')
    """
    if command.protocol == "irace":
        return irace_arguments(command, instance, seed)
    values = {name: as_text(value) for name, value in command.parameters.items()}
    values |= {"instance": instance.text, "seed": str(seed)}
    return tuple(filled(word, values) for word in command.argv)


def irace_arguments(command: Command, instance: Instance, seed: int) -> tuple[str, ...]:
    """Return the arguments of an irace target runner: configuration id, instance id, seed, instance, parameters.

    The ids are short hashes of the names: irace promises its runners alphanumeric ids that differ.

    >>> runner = Command("full", ("./target-runner",), {"alpha": 0.5}, protocol="irace")
    >>> irace_arguments(runner, Instance("i1"), 42)
    ('./target-runner', 'fa87bef1', 'f465db21', '42', 'i1', '--alpha', '0.5')
    """
    switches: list[str] = []
    for name, value in command.parameters.items():
        switch, text = name if name.startswith("-") else f"--{name}", as_text(value)
        switches += [f"{switch}{text}"] if name.endswith("=") else [switch, text]  # "--alpha=" takes no blank
    return (*command.argv, _id(command.name), _id(instance.name), str(seed), instance.text, *switches)


def as_text(value: Any) -> str:
    """Write a parameter's value as a command-line argument."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def commands_around(algorithm: Algorithm) -> dict[str, Command]:
    """Return the commands around each run of an algorithm, by purpose; their output is ignored.

    >>> from ampler.core.plan import Around
    >>> solve = Command("full", ("solve", "{instance}"), around=Around(prepare=("sync",), warmup=2))
    >>> {name: command.argv for name, command in commands_around(solve).items()}
    {'prepare': ('sync',)}
    """
    around = algorithm.around
    commands = {"prepare": around.prepare, "warmup": around.warmup, "cleanup": around.cleanup}
    folder = around.folder or getattr(algorithm, "folder", "")
    return {
        name: Command(name, argv, algorithm.parameters, Reading("seconds"), folder=folder)
        for name, argv in commands.items()
        if not isinstance(argv, int) and argv
    }


def check_around(algorithm: Algorithm) -> None:
    """Raise InvalidPlan unless the commands around an algorithm's runs can be filled in."""
    for name, command in commands_around(algorithm).items():
        wordy = isinstance(command.argv, tuple) and all(isinstance(word, str) for word in command.argv)
        unknown = places(command.argv) - {"instance", "seed"} - set(algorithm.parameters) if wordy else set()
        if unknown or not wordy:
            came = f"a place {{{min(unknown)}}}" if unknown else repr(command.argv)
            raise InvalidPlan(
                f"{name} of algorithm {algorithm.name!r} must be words with placeholders for {{instance}}, {{seed}}"
                f" and its parameters, got {came}"
            )
    runs = algorithm.around.warmup
    if isinstance(runs, int) and (isinstance(runs, bool) or runs < 0):
        must = "must be a command, or a number of runs of 0 or more"
        raise InvalidPlan(f"warmup of algorithm {algorithm.name!r} {must}, got {runs!r}")


def check_command(command: Command, *, several: bool = True) -> None:
    """Raise InvalidPlan unless the template names the instance, if there are several, and exactly its parameters."""
    argv = command.argv
    if not argv or not all(isinstance(word, str) for word in argv) or not argv[0].strip():
        raise InvalidPlan(f"the command of algorithm {command.name!r} must name a program and its words, got {argv!r}")
    choice("protocol", command.protocol, ("arguments", "irace", "worker"), error=InvalidPlan)
    if command.protocol == "worker":
        _check_resident(command)
        return
    for name, value in command.parameters.items():
        if not isinstance(value, str | int | float):
            raise InvalidPlan(
                f"parameter {name!r} of algorithm {command.name!r} must be a text, a number or true/false"
                f" to be written into a command, got {value!r}"
            )
    if command.protocol == "arguments":
        _check_places(command, places(command.argv), several)


def check_dashes(commands: Iterable[Command], instances: Iterable[Instance]) -> None:
    """Raise InvalidPlan if the name of an instance looks like an option."""
    dashed = next((instance for instance in instances if instance.text.startswith("-")), None)
    for command in commands if dashed else ():
        bare = [index for index, word in enumerate(command.argv) if word.startswith("{instance}")]
        if command.protocol == "irace" or any("--" not in command.argv[:index] for index in bare):
            assert dashed is not None
            raise InvalidPlan(
                f"instance {dashed.name!r} begins with '-' and algorithm {command.name!r} would take it for an option;"
                " rename the instance, or write '--' before {instance} if the program knows it"
            )


def filled(word: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a word in one pass, so that values are not expanded again."""
    return PLACE.sub(lambda match: f"{{{match[2]}}}" if match[1] else values[match[2]], word)


def _id(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=4).hexdigest()


def _check_resident(command: Command) -> None:
    """A resident program receives instances and seeds in requests, and answers in JSON."""
    named = {"instance", "seed", *command.parameters} & places(command.argv)
    if named:
        raise InvalidPlan(
            f"the worker of algorithm {command.name!r} starts once for many runs and cannot have {{{min(named)}}} in"
            " its command; it receives instance, seed and parameters as requests (or write it as a command)"
        )
    if command.reading.kind == "pattern":
        raise InvalidPlan(
            f"algorithm {command.name!r} is a worker with JSON answers; choose one of their fields with"
            f" 'json:name', 'seconds' or 'cpu-seconds', got the pattern {command.reading.what!r}"
        )


def _check_places(command: Command, named: frozenset[str], several: bool) -> None:
    reserved = {"instance", "seed"} & set(command.parameters)
    if reserved:
        raise InvalidPlan(f"a parameter must not be called {min(reserved)!r}, as algorithm {command.name!r} has it")
    unknown = named - {"instance", "seed"} - set(command.parameters)
    if unknown:
        raise InvalidPlan(
            f"the command of algorithm {command.name!r} has the placeholder {{{min(unknown)}}}; only {{instance}},"
            f" {{seed}} and parameters are known: add the parameter, or double the braces for literal text"
        )
    if several and "instance" not in named:
        must = "must say where the instance goes; write {instance} into it"
        raise InvalidPlan(f"the command of algorithm {command.name!r} {must}")
    unused = set(command.parameters) - named
    if unused:
        raise InvalidPlan(
            f"parameter {min(unused)!r} of algorithm {command.name!r} is not used by its command;"
            f" write {{{min(unused)}}} where it belongs"
        )
