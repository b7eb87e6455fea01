"""The arguments of a command: a template with places for the instance, the seed and the parameters. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ampler.core.errors import InvalidPlan
from ampler.core.values import Algorithm, Command, Instance, Reading

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
    """Return what irace gives a target runner: configuration id, instance id, seed, instance, then the parameters.

    The ids are short hashes of the names: irace promises its runners alphanumeric ids that differ.

    >>> runner = Command("full", ("./target-runner",), {"alpha": 0.5}, protocol="irace")
    >>> irace_arguments(runner, Instance("i1"), 42)
    ('./target-runner', 'fa87bef1', 'f465db21', '42', 'i1', '--alpha', '0.5')
    """
    switches = (
        text
        for name, value in command.parameters.items()
        for text in _switch(name if name.startswith("-") else f"--{name}", as_text(value))
    )
    return (*command.argv, _id(command.name), _id(instance.name), str(seed), instance.text, *switches)


def _switch(name: str, value: str) -> tuple[str, ...]:
    """A parameter as irace writes it: "--alpha=" is followed by its value at once, all else by a blank."""
    return (f"{name}{value}",) if name.endswith("=") else (name, value)


def as_text(value: Any) -> str:
    """Write a parameter's value as a command gets it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def commands_around(algorithm: Algorithm) -> dict[str, Command]:
    """Return the commands around each run of an algorithm, by what they are for; nothing is read from them.

    >>> from ampler.core.values import Around
    >>> solve = Command("full", ("solve", "{instance}"), around=Around(prepare=("sync",), warmup=2))
    >>> {name: command.argv for name, command in commands_around(solve).items()}
    {'prepare': ('sync',)}
    """
    around = algorithm.around
    given = {"prepare": around.prepare, "warmup": around.warmup, "cleanup": around.cleanup}
    folder = around.folder or getattr(algorithm, "folder", "")
    return {
        name: Command(name, argv, algorithm.parameters, Reading("seconds"), folder=folder)
        for name, argv in given.items()
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
                f"{name} of algorithm {algorithm.name!r} must be words with places for {{instance}}, {{seed}} and its"
                f" parameters, got {came}"
            )
    runs = algorithm.around.warmup
    if isinstance(runs, int) and (isinstance(runs, bool) or runs < 0):
        raise InvalidPlan(
            f"warmup of algorithm {algorithm.name!r} must be a command, or a number of runs of 0 or more, got {runs!r}"
        )


def check_command(command: Command) -> None:
    """Raise InvalidPlan unless the template names the instance, and every parameter and nothing else."""
    if not command.argv or not command.argv[0].strip():
        raise InvalidPlan(f"the command of algorithm {command.name!r} must name a program, got nothing")
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
        _check_places(command, places(command.argv))


def check_dashes(commands: Iterable[Command], instances: Iterable[Instance]) -> None:
    """Raise InvalidPlan where an instance's name would be taken for an option."""
    dashed = next((each for each in instances if each.text.startswith("-")), None)
    for command in commands if dashed else ():
        bare = [place for place, word in enumerate(command.argv) if word.startswith("{instance}")]
        if command.protocol == "irace" or any("--" not in command.argv[:place] for place in bare):
            assert dashed is not None
            raise InvalidPlan(
                f"instance {dashed.name!r} begins with '-' and algorithm {command.name!r} would take it for an option;"
                " rename the instance, or write '--' before {instance} if the program knows it"
            )


def filled(word: str, values: Mapping[str, str]) -> str:
    """Return a word with its places filled, in one pass: a value that looks like a place is left alone."""
    return PLACE.sub(lambda match: f"{{{match[2]}}}" if match[1] else values[match[2]], word)


def _id(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=4).hexdigest()


def _check_resident(command: Command) -> None:
    """A resident program is told of instances and seeds by requests, and answers in JSON."""
    found = {"instance", "seed", *command.parameters} & places(command.argv)
    if found:
        raise InvalidPlan(
            f"the worker of algorithm {command.name!r} is started once for many runs, so {{{min(found)}}} has no place"
            " in it; it is sent instance, seed and parameters as requests (or write it as a command)"
        )
    if command.reading.kind == "pattern":
        raise InvalidPlan(
            f"algorithm {command.name!r} is a worker, whose answers are JSON; choose one of their fields with"
            f" 'json:name', 'seconds' or 'cpu-seconds', got the pattern {command.reading.what!r}"
        )


def _check_places(command: Command, found: frozenset[str]) -> None:
    reserved = {"instance", "seed"} & set(command.parameters)
    if reserved:
        raise InvalidPlan(f"a parameter must not be called {min(reserved)!r}, as algorithm {command.name!r} has it")
    unknown = found - {"instance", "seed"} - set(command.parameters)
    if unknown:
        raise InvalidPlan(
            f"the command of algorithm {command.name!r} has a place {{{min(unknown)}}} that is neither {{instance}},"
            f" {{seed}} nor a parameter; add the parameter, or double the braces to mean the text itself"
        )
    if "instance" not in found:
        raise InvalidPlan(
            f"the command of algorithm {command.name!r} must say where the instance goes; write {{instance}} into it"
        )
    unused = set(command.parameters) - found
    if unused:
        raise InvalidPlan(
            f"parameter {min(unused)!r} of algorithm {command.name!r} is not used by its command;"
            f" write {{{min(unused)}}} where it belongs"
        )
