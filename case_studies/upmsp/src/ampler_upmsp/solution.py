"""A schedule and its checker, written from the definition of the problem and apart from the optimiser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ampler_upmsp.instance import Instance

Schedule = Sequence[Sequence[int]]  # for every machine its jobs in order


class InvalidSolution(ValueError):
    """A schedule that does not process every job exactly once."""


@dataclass(frozen=True, slots=True)
class Solution:
    """For every machine the sequence of its jobs, and the makespan that the checker found."""

    sequences: tuple[tuple[int, ...], ...]
    makespan: int


def checked(instance: Instance, sequences: Schedule) -> Solution:
    """Return the solution with its makespan, or raise when a job is missing, doubled or unknown."""
    jobs = sorted(job for sequence in sequences for job in sequence)
    if jobs != list(range(instance.jobs)):
        raise InvalidSolution(f"every job must be scheduled exactly once on {instance.name!r}")
    if len(sequences) != instance.machines:
        raise InvalidSolution(f"{instance.name!r} has {instance.machines} machines, the schedule {len(sequences)}")
    return Solution(tuple(tuple(int(job) for job in sequence) for sequence in sequences), makespan(instance, sequences))


def makespan(instance: Instance, sequences: Schedule) -> int:
    """Return the time at which the last machine ends."""
    return max(machine_time(instance, machine, sequence) for machine, sequence in enumerate(sequences))


def machine_time(instance: Instance, machine: int, sequence: Sequence[int]) -> int:
    """Return the time at which one machine ends: its setups and its jobs, one after the other."""
    time, before = 0, None
    for job in sequence:
        setup = instance.first_setup[machine, job] if before is None else instance.setup[machine, before, job]
        time += int(setup) + int(instance.processing[machine, job])
        before = job
    return time
