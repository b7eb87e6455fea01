"""Instances of the scheduling problem: what they hold, the Vallada–Ruiz file format, and a generator of equivalents."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LARGEST_TIME = 2**40  # of a single setup or job; the annealing packs a change of times and a place into 64 bits
MOST_JOBS = 2**20 - 2
LARGEST_PROCESSING_TIME = 100  # of the benchmark files: U{1..100}, 100 as frequent as 99

Ints = NDArray[np.int64]


class InvalidInstance(ValueError):
    """The file or the numbers do not describe an instance."""


@dataclass(frozen=True, eq=False)
class Instance:
    """J jobs, M machines; all times are whole numbers.

    `processing[k, j]` is the time of job j on machine k, `setup[k, i, j]` the setup on machine k when j follows i,
    and `first_setup[k, j]` the setup when j comes first.
    """

    name: str
    processing: Ints
    setup: Ints
    first_setup: Ints

    def __post_init__(self) -> None:
        if self.machines < 1 or self.jobs < 1:
            raise InvalidInstance(f"an instance needs a job and a machine, {self.name!r} has {self.processing.shape}")
        if self.setup.shape != (self.machines, self.jobs, self.jobs):
            raise InvalidInstance(f"setup of {self.name!r} must be machines × jobs × jobs, got {self.setup.shape}")
        if min(self.processing.min(), self.setup.min(), self.first_setup.min()) < 0:
            raise InvalidInstance(f"times must not be negative, {self.name!r} has a negative one")
        if max(self.processing.max(), self.setup.max(), self.first_setup.max()) > LARGEST_TIME:
            raise InvalidInstance(f"times must be at most 2^40, {self.name!r} has a larger one: use a coarser unit")
        if self.jobs > MOST_JOBS:
            raise InvalidInstance(f"an instance has at most {MOST_JOBS} jobs, {self.name!r} has {self.jobs}")

    @property
    def machines(self) -> int:
        """The number of machines, M."""
        return int(self.processing.shape[0])

    @property
    def jobs(self) -> int:
        """The number of jobs, J."""
        return int(self.processing.shape[1])

    @cached_property
    def costs(self) -> NDArray[np.integer]:
        """The table [machine, job, other, (into, out of)] of setup plus processing time, made once.

        `costs[k, x, j]` is what it costs on machine k to go from j to x, and from x to j. Job J is a dummy that stands
        before the first and after the last job; from a job to itself there is no setup.
        """
        J = self.jobs
        out = np.zeros((self.machines, J + 1, J + 1), dtype=np.int64)
        out[:, :J, :J] = self.setup + self.processing[:, None, :]
        out[:, J, :J] = self.first_setup + self.processing
        table = np.stack([out.transpose(0, 2, 1), out], axis=-1)
        fitting = next(kind for kind in (np.uint8, np.int64) if out.max() <= np.iinfo(kind).max)
        return np.ascontiguousarray(table, dtype=fitting)  # the smaller the table, the more of it stays in the cache

    @cached_property
    def least_costs(self) -> NDArray[np.integer]:
        """What it costs at least to come to a job on a machine, from whichever job; 0 for the dummy job."""
        kind = np.int32 if self.costs.dtype == np.uint8 else np.int64
        return np.ascontiguousarray(self.costs[:, :, :, 0].min(axis=2), dtype=kind)

    def __eq__(self, other: object) -> bool:
        """Tell whether both hold the same numbers, whatever their names."""
        if not isinstance(other, Instance):
            return NotImplemented
        return (
            np.array_equal(self.processing, other.processing)
            and np.array_equal(self.setup, other.setup)
            and np.array_equal(self.first_setup, other.first_setup)
        )

    __hash__ = None  # type: ignore[assignment]


def read_instance(path: str | Path) -> Instance:
    """Read a file of Vallada & Ruiz (2011): any white space, LF or CRLF, plain or gzip."""
    path = Path(path)
    return parse_instance(_text(path), name=path.name.removesuffix(".gz").removesuffix(".txt"))


def parse_instance(text: str, *, name: str) -> Instance:
    """Read the numbers of an instance from the text of its file."""
    tokens = text.split()
    jobs, machines = _sizes(tokens, name)
    times_end = 4 + 2 * jobs * machines
    _expect(len(tokens) == times_end + 1 + machines * (1 + jobs * jobs), name, f"has {len(tokens)} tokens")
    _expect(tokens[times_end] == "SSD", name, f"has {tokens[times_end]!r} where 'SSD' must stand")
    times = _numbers(tokens[4:times_end], name).reshape(jobs, machines, 2)
    _expect(bool((times[:, :, 0] == np.arange(machines)).all()), name, "lists the machines of a job out of order")
    setup = np.stack([_setup(tokens, times_end + 1, k, jobs, name) for k in range(machines)])
    first = np.ascontiguousarray(np.diagonal(setup, axis1=1, axis2=2))
    setup[:, np.arange(jobs), np.arange(jobs)] = 0
    return Instance(name, np.ascontiguousarray(times[:, :, 1].T), setup, first)


def write_instance(instance: Instance, path: str | Path) -> None:
    """Write the instance in the format of Vallada & Ruiz; a name that ends in .gz is compressed."""
    path = Path(path)
    data = format_instance(instance).encode("ascii")
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def format_instance(instance: Instance) -> str:
    """Return the text of the instance's file."""
    diagonal = np.arange(instance.jobs)
    setup = instance.setup.copy()
    setup[:, diagonal, diagonal] = instance.first_setup
    lines = [f"{instance.jobs}  {instance.machines}  1", str(instance.machines)]
    lines += ["\t" + "\t".join(f"{k}\t{time}" for k, time in enumerate(times)) for times in instance.processing.T]
    lines.append("SSD")
    for k, table in enumerate(setup):
        lines.append(f"M{k}")
        lines.extend("\t".join(map(str, row)) for row in table)
    return "\n".join(lines) + "\n"


def generate_instance(jobs: int, machines: int, largest_setup: int, *, seed: int, name: str | None = None) -> Instance:
    """Make an instance as the benchmark's: processing U{1..100}, setups U{1..largest}, none before the first job."""
    rng = np.random.default_rng([seed, jobs, machines, largest_setup])
    processing = rng.integers(1, LARGEST_PROCESSING_TIME, size=(machines, jobs), endpoint=True)
    setup = rng.integers(1, largest_setup, size=(machines, jobs, jobs), endpoint=True)
    setup[:, np.arange(jobs), np.arange(jobs)] = 0
    default_name = f"G_{jobs}_{machines}_S_1-{largest_setup}_{seed}"
    return Instance(name or default_name, processing, setup, np.zeros((machines, jobs), dtype=np.int64))


def _text(path: Path) -> str:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":  # the magic number of gzip
        data = gzip.decompress(data)
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as problem:
        raise InvalidInstance(
            f"{path.name} is not an instance file: it holds bytes that are no ASCII text"
        ) from problem


def _sizes(tokens: list[str], name: str) -> tuple[int, int]:
    _expect(len(tokens) >= 4, name, "is too short")
    jobs, machines, _, again = _numbers(tokens[:4], name)
    _expect(machines == again, name, f"says {machines} machines in line 1 and {again} in line 2")
    _expect(jobs >= 1 and machines >= 1, name, f"says {jobs} jobs and {machines} machines")
    return int(jobs), int(machines)


def _setup(tokens: list[str], start: int, machine: int, jobs: int, name: str) -> Ints:
    begin = start + machine * (1 + jobs * jobs)
    _expect(tokens[begin] == f"M{machine}", name, f"has {tokens[begin]!r} where 'M{machine}' must stand")
    return _numbers(tokens[begin + 1 : begin + 1 + jobs * jobs], name).reshape(jobs, jobs)


def _numbers(tokens: list[str], name: str) -> Ints:
    try:
        return np.array(tokens, dtype=np.int64)
    except (ValueError, OverflowError) as problem:
        raise InvalidInstance(f"{name} is not an instance file: a whole number was expected ({problem})") from problem


def _expect(holds: bool, name: str, what: str) -> None:
    if not holds:
        raise InvalidInstance(f"{name} is not a complete instance file: it {what}")
