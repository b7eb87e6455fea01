"""study.toml: what it says becomes a plan, and what does not fit is pointed at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ampler.core.errors import InvalidPlan
from ampler.core.failures import Drop, Par, Penalty, StopStudy
from ampler.core.plan import Around, Command, Limits, Question, Reading
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.record import record
from ampler.study.toml import read_study_file

SMALL = """better = "lower"
difference = "simple"
se = 0.5

[[algorithm]]
name = "a"
command = "solve {seed} {instance}"

[[algorithm]]
name = "b"
command = "solve -b {seed} {instance}"

[instances]
names = ["i1", "i2", "i3"]
use = "all"
"""


def names_of(instances):
    return sorted(instance.name for instance in instances)


# What it says


def test_the_example_of_the_design_is_read_as_it_is_meant(read, folder):
    study = read(r"""
        # study.toml
        name = "neighbourhoods"
        reference = "full"               # leave out to compare all with all
        difference = "percent"           # or "simple", "ratio"
        better = "lower"
        effect = 0.5
        power = 0.8
        se = 0.05
        seed = 2019

        [run]
        workers = 4
        timeout = "60s"                  # per run; the whole process group is killed
        on-failure = "stop"              # or "drop", { penalty = 1e6 }, { par = 10 }

        [[algorithm]]
        name = "full"
        command = "java -jar upmsp.jar optimize --seed {seed} {instance}"   # split, never through a shell
        value = '^(\d+)'                 # default: the last number printed

        [[algorithm]]
        name = "mine"
        python = "solvers:anneal"        # anneal(instance, seed, **parameters) -> number, or a mapping of measures
        parameters = { cooling = 0.96 }

        [instances]
        files = "instances/*.txt"
    """)
    plan = study.plan
    assert (study.workers, study.path, plan.name, plan.seed) == (4, folder / "study.toml", "neighbourhoods", 2019)
    assert plan.question == Question("percent", "full", effect=0.5, power=0.8, better="lower")
    assert plan.rule == Accuracy(se=0.05, difference="percent", reference="full")
    assert (plan.limits, plan.policy) == (Limits(timeout=60.0), StopStudy())
    full, mine = plan.algorithms
    argv = ("java", "-jar", "upmsp.jar", "optimize", "--seed", "{seed}", "{instance}")
    assert full == Command("full", argv, reading=Reading("pattern", r"^(\d+)"), folder=str(folder))
    assert (mine.origin, mine.parameters, mine.call(None, 1)) == ("solvers:anneal", {"cooling": 0.96}, 1.0)
    assert names_of(plan.instances) == ["instances/1.txt", "instances/10.txt", "instances/2.txt"]
    assert "34 instances are needed" in plan.warnings[0]


def test_every_key_is_understood(read, folder):
    (folder / "features.csv").write_text("Instance;size;kind\ni1;3; a\ni2;4;b\ni3;5;c\nextra;6;d\n")
    study = read(r"""
        name = "all keys"
        reference = "a"
        difference = "ratio"
        effect = 0.7
        power = 0.9
        se = 0.01
        seed = -3
        alpha = 0.01
        target = "worst"
        test = "wilcoxon"
        alternative = "less"
        better = "lower"
        statistic = "quantile:0.9"
        margin = 0.05

        [rule]
        start = 5
        budget = 200
        batch = 8
        allocation = "greedy"
        guard = "all"
        formula = "paper"

        [run]
        workers = 3
        timeout = "1h30m"
        memory = "2GB"
        on-failure = { par = 10 }
        retries = 2

        [[algorithm]]
        name = "a"
        command = ["solve", "-k", "{k}", "{seed}", "{instance}"]
        parameters = { k = 3 }
        value = "json:cost"
        cost = 2.5

        [[algorithm]]
        name = "b"
        runner = "./target-runner"
        value = "cpu-seconds"
        deterministic = true

        [instances]
        names = ["i1", "i2", "i3"]
        features = "features.csv"
        use = 2
    """)
    plan, expected = study.plan, Question(
        "ratio", "a", 0.7, 0.9, 0.01, "worst", "wilcoxon", "less", "lower", "quantile:0.9", 0.05
    )  # fmt: skip
    assert (study.workers, plan.name, plan.seed, plan.question) == (3, "all keys", -3, expected)
    assert plan.rule == Accuracy(
        se=0.01, difference="ratio", reference="a", statistic="quantile:0.9", start=5, budget=200, batch=8,
        allocation="greedy", guard="all", formula="paper", costs={"a": 2.5, "b": 1.0},
    )  # fmt: skip
    assert (plan.limits, plan.policy, plan.retries) == (Limits(5400.0, 2 * 10**9), Par(10.0, 5400.0), 2)
    a, b = plan.algorithms
    assert (a.argv[2], a.parameters, a.reading, a.cost) == ("{k}", {"k": 3}, Reading("json", "cost"), 2.5)
    assert (b.argv, b.protocol, b.reading, b.deterministic) == (
        ("./target-runner",), "irace", Reading("cpu-seconds"), True,
    )  # fmt: skip
    assert (len(plan.instances), len(plan.untouched)) == (2, 1)
    assert {i.name: dict(i.features) for i in (*plan.instances, *plan.untouched)}["i2"] == {"size": "4", "kind": "b"}


@pytest.mark.parametrize(("line", "policy"), [
    ("", StopStudy()), ('on-failure = "drop"', Drop()), ("on-failure = { penalty = 1e6 }", Penalty(1e6)),
    ('timeout = 2\non-failure = { par = 10 }', Par(10.0, 2.0)),
])  # fmt: skip
def test_what_a_failed_run_means(read, line, policy):
    assert read(SMALL + "\n[run]\n" + line).plan.policy == policy


def test_a_fixed_number_of_runs_needs_no_accuracy(read):
    without_se = SMALL.replace("se = 0.5\n", "")
    assert read(without_se + "\n[rule]\nallocation = 'fixed'\nruns = 12").plan.rule == Fixed(runs=12)
    assert read(without_se + "\n[rule]\nallocation = 'fixed'").plan.rule == Fixed(runs=30)


def test_what_is_left_out_has_a_default(read):
    study = read(SMALL)
    assert (study.workers, study.plan.name, study.plan.seed, study.plan.retries) == (None, "study", 0, 0)
    assert study.plan.question == Question("simple", better="lower")
    assert study.plan.rule == Accuracy(se=0.5, difference="simple")
    assert all(algorithm.reading == Reading() for algorithm in study.plan.algorithms)


# What does not fit


def replaced(old, new):
    assert old in SMALL
    return SMALL.replace(old, new)


WRONG = [
    ('efect = 0.5\n' + SMALL, 1, "'efect' is no key of a study definition; did you mean 'effect'?"),
    ("\n\non_failure = 1\n" + SMALL, 3, "'on_failure' is no key of a study definition; "),
    (SMALL + "[run]\non_failure = 'stop'", 17, "'on_failure' is no key of [run]; did you mean 'on-failure'?"),
    (SMALL + "[run]\ntimeot = 1", 17, "'timeot' is no key of [run]; did you mean 'timeout'?"),
    (SMALL + "[run]\nse = 1", 17, "'se' is no key of [run]; it belongs at the top"),
    ("timeout = '1s'\n" + SMALL, 1, "'timeout' is no key of a study definition; it belongs under [run]"),
    (SMALL + "[zebra]", 16, "'zebra' is no key of a study definition; known are name, difference, reference, "),
    (SMALL + "[rules]", 16, "'rules' is no key of a study definition; did you mean 'rule'?"),
    (
        SMALL.replace("[[algorithm]]", "[[algorithms]]"),
        5, "'algorithms' is no key of a study definition; did you mean 'algorithm'?",
    ),
    (
        replaced('name = "b"', 'name = "b"\nvalues = "x"'),
        11, "'values' is no key of [[algorithm]]; did you mean 'value'?",
    ),
    (
        replaced('difference = "simple"', 'difference = "logs"'),
        2, "difference must be one of 'simple', 'percent', 'ratio'",
    ),
    (replaced('difference = "simple"\n', ""), None, "difference must be given: "),
    (replaced("se = 0.5", "se = '0.5'"), 3, "se must be a positive number, got '0.5'"),
    (replaced("se = 0.5", "se = nan"), 3, "se must be a positive number, got nan"),
    (replaced("se = 0.5", "se = true"), 3, "se must be a positive number, got True"),
    (replaced("se = 0.5\n", ""), None, "se must be given: "),
    ("effect = 0\n" + SMALL, 1, "effect must be a positive number, got 0"),
    ("power = 80\n" + SMALL, 1, "power must lie strictly between 0 and 1, got 80"),
    ("target = 0\n" + SMALL, 1, "target must be 'worst', 'mean', 'median', 'best' or a number of comparisons"),
    ("effect = 1\ntarget = 5\n" + SMALL, 2, "target must be "),
    ("alternative = 'less'\n" + SMALL, 1, "alternative 'less' needs a reference"),
    ("reference = 'c'\n" + SMALL, 1, "reference must be one of the algorithms 'a', 'b', got 'c'"),
    ("seed = 1.5\n" + SMALL, 1, "seed must be a whole number, got 1.5"),
    ("statistic = 'mode'\n" + SMALL, 1, "the statistic must be "),
    (SMALL + "[rule]\nstart = 1", 17, "start must be a whole number of 2 or more, got 1"),
    (SMALL + "[rule]\nbudget = 3", 17, "budget must allow the first runs of every algorithm, 20 in all, got 3"),
    (SMALL + "[rule]\nruns = 3", 17, "runs has no meaning with allocation = 'optimal'; remove it"),
    (SMALL + "[rule]\nallocation = 'fixed'\n\nguard = 'all'", 19, "guard has no meaning with allocation = 'fixed'"),
    (SMALL + "[run]\ntimeout = '60 parsecs'", 17, 'timeout must be a positive duration such as "60s"'),
    (SMALL + "[run]\nmemory = 500", 17, 'memory must be a positive size such as "500MB"'),
    (SMALL + "[run]\nworkers = 0", 17, "workers must be a whole number from 1 to 4,096, got 0"),
    (SMALL + "[run]\non-failure = { penality = 1 }", 17, 'on-failure must be "stop", "drop", { penalty = number }'),
    (SMALL + "[run]\non-failure = { par = 10 }", 17, "par = 10 multiplies the time limit, so a timeout must be set"),
    ("run = 3\n" + SMALL, 1, "run must be a table, [run], got 3"),
    (
        SMALL[: SMALL.index("[instances]")].replace("se", "instances = 40\nse", 1),
        3, "instances must be a table, [instances], got 40; write `use = 40`",
    ),
    (replaced('use = "all"', "use = 1"), 15, "use must be 'needed', 'all' or a whole number of 2 or more, got 1"),
    (replaced('use = "all"', ""), 13, "effect must be given to know how many instances are needed"),
    (replaced('name = "b"', 'name = "A"'), 9, "algorithm names must differ by more than case, got 'a' and 'A'"),
    (replaced('name = "b"\n', ""), 9, "name must be given in [[algorithm]]: "),
    (replaced('name = "b"', 'name = ""'), 10, "name must be a text in quotes, got ''"),
    (
        replaced('command = "solve -b {seed} {instance}"', ""),
        9, "algorithm 'b' must have one of command, python, runner and worker, got none",
    ),
    (
        replaced('name = "b"', 'name = "b"\nrunner = "r"'),
        9, "algorithm 'b' must have one of command, python, runner and worker, got command and runner",
    ),
    (replaced("-b {seed}", "-b {sed}"), 9, "the command of algorithm 'b' has the placeholder {sed}"),
    (
        replaced("-b {seed} {instance}", "-b {seed}"),
        9, "the command of algorithm 'b' must say where the instance goes",
    ),
    (replaced("solve -b", "solve 'b"), 11, "command must be a command with its quotes closed"),
    (
        replaced("{instance}\"\n\n[inst", "{instance} | tail -1\"\n\n[inst"),
        11, "command is not run by a shell, so '|' has no meaning",
    ),
    (replaced('"solve -b {seed} {instance}"', "[]"), 11, "command must be a text or a list of texts, got []"),
    (replaced('name = "b"', 'name = "b"\nvalue = "(["'), 11, "value must be a regular expression, 'json:field', "),
    (replaced('name = "b"', 'name = "b"\ncost = -1'), 11, "cost must be a positive number, got -1"),
    (
        replaced('name = "b"', 'name = "b"\ndeterministic = "yes"'),
        11, "deterministic must be true or false, got 'yes'",
    ),
    (replaced('name = "b"', 'name = "b"\nparameters = 3'), 11, "parameters must be a table such as"),
    (
        replaced('name = "b"', 'name = "b"\nparameters = { day = 2020-01-01 }'),
        11, "parameters must hold texts, numbers",
    ),
    (replaced('name = "b"', 'name = "b"\nparameters = { k = 3 }'), 9, "parameter 'k' of algorithm 'b' is not used"),
    (replaced('command = "solve -b', 'python = "solve -b'), 11, 'python must be "module:name", got'),
    (replaced('command = "solve -b {seed} {instance}"', 'python = "nowhere:f"'), 11, "there is no module 'nowhere'"),
    (
        replaced('command = "solve -b {seed} {instance}"', 'python = "solvers:aneal"'),
        11, "module 'solvers' has no 'aneal'; did you mean 'anneal'?",
    ),
    (
        replaced('command = "solve -b {seed} {instance}"', 'python = "problems:small"'),
        11, "python must name a function, problems:small is {",
    ),
    (
        replaced('command = "solve -b {seed} {instance}"', 'python = "broken:f"'),
        11, "module 'broken' cannot be imported (ZeroDivisionError: ",
    ),
    (
        replaced('command = "solve -b {seed} {instance}"', 'python = "leaving:f"'),
        11, "module 'leaving' cannot be imported (SystemExit: 0)",
    ),
    (replaced('names = ["i1", "i2", "i3"]', 'names = []'), 13, "a comparison needs at least two instances, got 0"),
    (
        replaced('names = ["i1", "i2", "i3"]', 'names = ["i1", 2]'),
        14, "names must be a text or a list of texts, got ['i1', 2]",
    ),
    (
        replaced('names = ["i1", "i2", "i3"]', ""),
        13, "[instances] must have one of files, names and python, got none",
    ),
    (
        replaced('names = ["i1"', 'files = "x"\nnames = ["i1"'),
        13, "[instances] must have one of files, names and python, got files and names",
    ),
    (replaced('names = ["i1", "i2", "i3"]', 'files = "nothing/*.txt"'), 14, "files must match at least one file in "),
    (replaced('names = ["i1", "i2", "i3"]', 'python = "solvers:anneal"'), 14, "solvers:anneal raised TypeError: "),
    (
        replaced('names = ["i1", "i2", "i3"]', 'python = "sys:path"'),
        14, "python must name a mapping of names to instances, sys:path is list",
    ),
    (SMALL + 'features = "none.csv"', 16, "the table of features "),
    (
        replaced('"i1", "i2", "i3"', '"instance-2", "x"') + 'features = "few.csv"',
        16, "few.csv must have a row for instance 'instance-2'; did you mean 'instance-1' there?",
    ),
    (SMALL + 'features = "ragged.csv"', 16, "ragged.csv must be a table with distinct columns"),
    (SMALL[: SMALL.index("[[")].lstrip("\n") + "[instances]\nnames = ['x', 'y']", None, "algorithms must be given"),
    (
        SMALL[: SMALL.index("[[")] + "[algorithm]\nname = 'a'",
        5, "algorithm must be written as [[algorithm]], with two brackets",
    ),
    ("seed = \n" + SMALL, 1, "invalid value"),
    ('name = "x\n' + SMALL, 1, "illegal character"),
    ("seed = 1\nseed = 2\n" + SMALL, 2, "cannot overwrite a value"),
    ("instances = 40\n" + SMALL, 14, "`use = …` under [instances]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), WRONG, ids=[message[:40] for _, _, message in WRONG])
def test_what_does_not_fit_is_pointed_at_in_one_sentence(folder, text, line, message):
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    (folder / "few.csv").write_text("instance,size\ninstance-1,3\n")
    (folder / "ragged.csv").write_text("instance,size\ni1,3\ni2\ni3,4\n")
    (folder / "study.toml").write_text(text)
    with pytest.raises(InvalidPlan) as problem:
        read_study_file(folder / "study.toml")
    said = str(problem.value)
    where = "study.toml: " if line is None else f"study.toml, line {line}: "
    assert said.startswith(where), said
    assert message in said
    assert "\n" not in said


def test_a_file_that_cannot_be_read_is_said(tmp_path):
    with pytest.raises(InvalidPlan, match=r"there is no study definition .*; `ampler init` creates one"):
        read_study_file(tmp_path / "study.toml")
    (tmp_path / "study.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(InvalidPlan, match="must be text in UTF-8, got the byte 0xff"):
        read_study_file(tmp_path / "study.toml")


def test_a_folder_is_told_with_the_study_in_it(tmp_path):
    with pytest.raises(InvalidPlan, match=r"is a folder; `ampler init` makes a study.toml in one$"):
        read_study_file(tmp_path)
    (tmp_path / "study.toml").touch()
    with pytest.raises(InvalidPlan, match=rf"is a folder; say {re.escape(str(tmp_path / 'study.toml'))}$"):
        read_study_file(tmp_path)


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(folder):
    (folder / "study.toml").write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert len(read_study_file(folder / "study.toml").plan.algorithms) == 2


# The documentation

PAGE = (Path(__file__).parents[3] / "docs" / "study-files.md").read_text(encoding="utf-8")


def test_the_example_of_the_documentation_is_a_study(read):
    example = PAGE.split("```toml\n")[1].split("```")[0]
    assert [algorithm.name for algorithm in read(example).plan.algorithms] == ["full", "mine"]


# Round trips

scalars = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=12),
)

studies = st.fixed_dictionaries({
    "name": st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip),
    "difference": st.sampled_from(["simple", "percent", "ratio"]),
    "se": st.floats(1e-9, 1e9),
    "seed": st.integers(-(2**63), 2**63 - 1),
    "alpha": st.floats(1e-6, 0.5),
    "power": st.floats(0.01, 0.99),
    "margin": st.floats(1e-9, 10),
    "better": st.sampled_from(["lower", "higher"]),
    "test": st.sampled_from(["t", "wilcoxon", "sign", "bootstrap-t", "sign-flip"]),
    "rule": st.fixed_dictionaries({}, optional={
        "start": st.integers(2, 20), "budget": st.integers(100, 10**6), "batch": st.integers(1, 99),
        "guard": st.sampled_from(["none", "pairs", "all"]),
        "allocation": st.sampled_from(["optimal", "greedy", "balanced"]),
    }),
    "run": st.fixed_dictionaries({}, optional={
        "workers": st.integers(1, 64), "timeout": st.floats(1e-3, 1e6), "retries": st.integers(0, 9),
        "on-failure": st.sampled_from(["stop", "drop"]) | st.fixed_dictionaries({"penalty": st.floats(1e-3, 1e9)}),
    }),
    "parameters": st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True).filter(
        lambda name: name not in ("seed", "instance")), scalars, max_size=3),
})  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(studies)
def test_what_is_written_is_what_is_planned(folder, as_toml, study):
    tables = {name: study.pop(name) for name in ("rule", "run")}
    parameters = study.pop("parameters")
    words = ["solve", "{seed}", "{instance}", *(f"{{{name}}}" for name in parameters)]
    text = "".join(f"{name} = {as_toml(value)}\n" for name, value in study.items())
    for name, table in tables.items():
        text += f"[{name}]\n" + "".join(f"{each} = {as_toml(value)}\n" for each, value in table.items())
    text += f"[[algorithm]]\nname = 'a'\nparameters = {as_toml(parameters)}\ncommand = {as_toml(words)}\n"
    (folder / "study.toml").write_text(text + SMALL[SMALL.index('[[algorithm]]\nname = "b"') :], newline="")
    read = read_study_file(folder / "study.toml")
    plan, run = read.plan, tables["run"]
    assert plan.name == study["name"].strip()
    assert plan.seed == study["seed"]
    for field in ("difference", "alpha", "power", "margin", "better", "test"):
        assert getattr(plan.question, field) == study[field]
    assert plan.rule == Accuracy(se=study["se"], difference=study["difference"], **tables["rule"])
    assert (read.workers, plan.limits.timeout, plan.retries) == (
        run.get("workers"), run.get("timeout"), run.get("retries", 0),
    )  # fmt: skip
    policies = {"stop": StopStudy(), "drop": Drop()}
    failure = run.get("on-failure", "stop")
    assert plan.policy == (policies[failure] if isinstance(failure, str) else Penalty(failure["penalty"]))
    assert plan.algorithms[0].parameters == parameters
    assert plan.algorithms[0].argv == tuple(words)


def test_exit_codes_that_mean_success_are_read_and_most_commands_have_zero_alone(read):
    study = read(SMALL.replace('name = "b"', 'name = "b"\nsuccess = [20, 0, 10]'))

    assert [algorithm.success for algorithm in study.plan.algorithms] == [(0,), (0, 10, 20)]


@pytest.mark.parametrize("codes", ["[]", "[256]", '"ok"', "[-1]", "true"])
def test_what_is_no_exit_code_is_refused(read, codes):
    with pytest.raises(InvalidPlan, match="success must be an exit code from 0 to 255 or a list of them"):
        read(SMALL.replace('name = "b"', f'name = "b"\nsuccess = {codes}'))


def test_success_of_a_function_is_refused(read):
    with pytest.raises(InvalidPlan, match="success is about exit codes, and a python algorithm has none"):
        read(SMALL.replace('command = "solve -b {seed} {instance}"', 'python = "solvers:anneal"\nsuccess = [0]'))


DEFAULTS = """
    difference = "simple"
    se = 0.5
    [run]
    on-failure = { par = 10, cutoff = 1 }
    timeout = "60s"
    [defaults]
    value = "cpu-seconds"
    success = [0, 10, 20]
    parameters = { level = 3, other = "x" }
    cpu-timeout = "1s"
    [[algorithm]]
    name = "a"
    command = "solve {seed} {level} {instance}"
    [[algorithm]]
    name = "b"
    command = "solve -b {seed} {level} {instance}"
    value = "seconds"
    success = 0
    parameters = { level = 4 }
    timeout = "5s"
    memory = "1GB"
    cpu-timeout = "2s"
    [[algorithm]]
    name = "c"
    python = "solvers:anneal"
    [instances]
    names = ["i1", "i2", "i3"]
    use = "all"
"""


def test_defaults_hold_for_every_algorithm_that_says_nothing_else(read):
    plan = read(DEFAULTS).plan
    a, b, c = plan.algorithms

    assert (a.reading.kind, a.success, a.parameters) == ("cpu-seconds", (0, 10, 20), {"level": 3})
    assert (b.reading.kind, b.success, b.parameters) == ("seconds", (0,), {"level": 4})
    assert (c.reading.kind, c.parameters) == ("cpu-seconds", {"level": 3, "other": "x"})
    assert plan.limits == Limits(60.0, None, 1.0)
    assert plan.limits_of(a) == plan.limits
    assert plan.limits_of(b) == Limits(5.0, 10**9, 2.0)
    assert plan.policy == Par(10.0, 1.0)


def test_a_limit_is_said_once_for_all(read):
    with pytest.raises(
        InvalidPlan, match=r"timeout must be specified once, under \[run\] or under \[defaults\], got both"
    ):
        read(DEFAULTS.replace('cpu-timeout = "1s"', 'timeout = "1s"', 1))


def test_par_takes_the_limit_of_what_is_measured_and_asks_where_there_are_several(read):
    same = DEFAULTS.replace(", cutoff = 1", "").replace('value = "seconds"', "")
    with pytest.raises(InvalidPlan, match=r"needs one time limit, but the algorithms have several \(1 s, 2 s\)"):
        read(same)

    assert read(same.replace('cpu-timeout = "2s"', "")).plan.policy == Par(10.0, 1.0), "processor time is the value"


@pytest.mark.parametrize("cutoff", ['"long"', "0", "-1", "true"])
def test_a_cutoff_that_is_no_time_is_refused(read, cutoff):
    with pytest.raises(InvalidPlan, match="on-failure must be"):
        read(DEFAULTS.replace("cutoff = 1", f"cutoff = {cutoff}"))


PENALISED = """
    difference = "simple"
    better = "lower"
    {top}

    [run]
    on-failure = {policy}
    timeout = "10s"

    {rule}

    [defaults]
    value = "seconds"

    [[algorithm]]
    name = "a"
    command = "solve {{seed}} {{instance}}"

    [[algorithm]]
    name = "b"
    command = "solve -b {{seed}} {{instance}}"

    [instances]
    names = ["i1", "i2", "i3"]
    use = "all"
"""


@pytest.mark.parametrize("policy", ["{ par = 10 }", "{ penalty = 1e6 }"])
def test_where_failed_runs_count_as_a_penalty_every_algorithm_is_run_equally_often(read, policy):
    study = read(PENALISED.format(top="", policy=policy, rule=""))
    assert study.plan.rule == Fixed(runs=30)
    assert "every algorithm is run 30 times on each instance" in study.notes[0]
    assert study.plan.warnings == ()
    assert read(PENALISED.format(top="", policy=policy, rule="[rule]\nruns = 7")).plan.rule == Fixed(runs=7)


@pytest.mark.parametrize("policy", ["{ par = 10 }", "{ penalty = 1e6 }"])
def test_those_who_want_an_accuracy_all_the_same_are_warned(read, policy):
    study = read(PENALISED.format(top="se = 0.1", policy=policy, rule=""))
    assert isinstance(study.plan.rule, Accuracy)
    assert "an algorithm with rare failures" in study.plan.warnings[0]
    assert 'allocation = "fixed" and runs = 30 under [rule]' in study.plan.warnings[0]


def test_a_median_hardly_feels_a_penalty_and_dropped_runs_have_none(read):
    medians = read(PENALISED.format(top='se = 0.1\nstatistic = "median"', policy="{ par = 10 }", rule=""))
    dropped = read(PENALISED.format(top="se = 0.1", policy='"drop"', rule=""))
    assert medians.plan.warnings == dropped.plan.warnings == ()


def test_without_a_penalty_the_accuracy_must_be_said(read):
    with pytest.raises(InvalidPlan, match="se must be given"):
        read(PENALISED.format(top="", policy='"drop"', rule=""))


def test_commands_around_runs_are_those_of_the_algorithm_or_else_the_defaults(read, folder):
    study = read(
        SMALL.replace('command = "solve {seed}', 'warmup = 2\ncleanup = ["rm", "a file"]\ncommand = "solve {seed}')
        + """
        [defaults]
        prepare = "touch 'a file' {seed}"
        warmup = "cat {instance}"
        """
    )

    one, two = (algorithm.around for algorithm in study.plan.algorithms)
    assert one == Around(("touch", "a file", "{seed}"), 2, ("rm", "a file"), str(folder))
    assert two == Around(("touch", "a file", "{seed}"), ("cat", "{instance}"), (), str(folder))
    kept = record(study.plan).fingerprint.algorithms
    assert (kept["a"]["warmup"], kept["b"]["warmup"]) == (2, ["cat", "{instance}"])
    assert "warmup" not in record(read(SMALL).plan).fingerprint.algorithms["a"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("warmup = -1", "line 7: warmup must be a command, or a number of runs of 0 or more, got -1"),
        ("warmup = true", "line 7: warmup must be a command"),
        ('prepare = "a && b"', "line 7: prepare is not run by a shell"),
        ('cleanup = "rm {other}"', "cleanup of algorithm 'a' must be words with placeholders"),
        ("prepare = 3", "line 7: prepare must be a text in quotes"),
    ],
)
def test_what_cannot_be_done_around_a_run_is_pointed_at(read, line, words):
    with pytest.raises(InvalidPlan, match=words):
        read(SMALL.replace('name = "a"', f'name = "a"\n{line}'))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("instance,size\ni1,1\ni2,2\ni1,3\ni3,1\n", "must have one row for each instance, but row 4 names one"),
        ("root:x:0\nsecret line\n", "its header has one column alone"),
        ("root,x\nsecret,line,third\n", "row 2 has 3 cells where the header has 2"),
        ("secret,secret\n1,2\n", "its header has columns of the same name"),
        ("instance,size\n" + "secret" * 30_000 + ",1\n", "must be a table: field larger"),
        (b"secret\xff,1\n", "must be a text in UTF-8"),
    ],
)
def test_a_table_of_features_is_checked_without_showing_it(folder, content, message):
    (folder / "odd.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "study.toml").write_text(SMALL + 'features = "odd.csv"')
    with pytest.raises(InvalidPlan, match=message) as caught:
        read_study_file(folder / "study.toml")
    assert "secret" not in str(caught.value)
