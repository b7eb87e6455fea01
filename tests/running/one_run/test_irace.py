"""irace target runners, as they are: what irace gives them they get, what irace takes from them is their value."""

import pytest

from ampler.core.plan import Command, Instance, Limits, Reading
from ampler.running.one_run.execution import run_once

RUNNER = """#!/bin/bash
# As in irace's template: configuration, instance, seed, path, then the switches of the configuration.
CONFIG_ID="$1"; INSTANCE_ID="$2"; SEED="$3"; INSTANCE="$4"; shift 4
[[ "$CONFIG_ID" =~ ^[[:alnum:]]+$ && "$INSTANCE_ID" =~ ^[[:alnum:]]+$ ]] || exit 1
read -r size < "$INSTANCE"
[[ "$*" == "--alpha 0.5 --rho=0.25" ]] || exit 2
OUTPUT
"""


@pytest.fixture
def runner(tmp_path):
    """`runner(output)`: what a target runner gives that ends with this line."""
    file = tmp_path / "i1.txt"
    file.write_text("30\n")

    def make(output, **fields):
        script = tmp_path / "target-runner"
        script.write_text(RUNNER.replace("OUTPUT", output))
        script.chmod(0o755)
        parameters = {"alpha": 0.5, "--rho=": 0.25}
        command = Command("x", ("./target-runner",), parameters, protocol="irace", folder=str(tmp_path), **fields)
        return run_once(command, Instance("i1.txt", path=str(file)), 7, Limits())

    return make


@pytest.mark.parametrize(
    ("output", "value", "measures"),
    [
        ("echo $((size + SEED))", 37.0, None),
        ("echo 12.5 0.31", 12.5, {"cost": 12.5, "time": 0.31}),
        ("printf '12.5\\n0.31\\n'", 12.5, {"cost": 12.5, "time": 0.31}),
        ("echo noise >&2; echo -1e-3", -0.001, None),
        ("echo step 1; echo 12.5 0.31; echo", 12.5, {"cost": 12.5, "time": 0.31}),
    ],
)
def test_the_cost_is_the_value_and_the_time_is_kept(runner, output, value, measures):
    outcome = runner(output)

    assert (outcome.status, outcome.value, outcome.measures) == ("ok", value, measures)


@pytest.mark.parametrize("output", ["echo best 12.5", "echo 1 2 3", ":", "echo 5 s"])
def test_output_without_a_cost_of_its_own_is_refused(runner, output):
    outcome = runner(output)

    assert outcome.status == "failed"
    assert outcome.message.endswith("a target runner prints the cost, or the cost and the time, and nothing else")


def test_infinity_by_which_a_runner_rejects_a_configuration_is_no_value(runner):
    assert runner("echo Inf").message == "the value must be a finite number, got Inf"


def test_a_runner_that_prints_more_can_say_where_its_value_is(runner):
    assert runner("echo best 12.5 after 300 steps", reading=Reading("pattern", r"best (\S+)")).value == 12.5
