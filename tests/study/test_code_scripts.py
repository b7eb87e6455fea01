"""A script is the study and its algorithms in one: only what the algorithms use is their code."""

import sys

import pytest

SCRIPT = """
import sys
from ampler.study.code import code_of
from ampler.core.plan import Function

K = 1
LATER = [1, 2]
TABLE = {"a": [1.5]}

def helper(x):  # K is used here
    return x + K + TABLE["a"][0]

def solve(instance, seed):
    return helper(seed)

class Base:
    limit = 9
    other = len(sys.argv)

class Solver(Base):
    def __call__(self, instance, seed):
        return helper(seed)

def made(k):
    return lambda instance, seed: k + seed

calls = {"solve": solve, "lambda": lambda instance, seed: helper(seed), "object": Solver(), "closure": made(3)}
se = 0.5
print(sorted(code_of(Function("mine", calls[sys.argv[1]], "__main__:solve")).items()))
"""
CALLS = ("solve", "lambda", "object", "closure")


@pytest.fixture
def code(tmp_path, process):
    """`code(call, **changes)`: the code of a function of the script, with some texts replaced."""

    def told(call, changes=()):
        text = SCRIPT
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "script.py").write_text(text)
        answer = process("script.py", call, cwd=tmp_path, program=(sys.executable,))
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    return told


@pytest.mark.parametrize("call", CALLS)
def test_the_study_around_the_functions_may_change(code, call):
    assert code(call) == code(
        call, [("se = 0.5", "se = 0.1\nmore = 3"), ("[1, 2]", "[3]"), ("\nK = 1", "\n# a remark\nK = 1")]
    )


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        ("solve", "return helper(seed)", "return helper(seed) + 1"),
        ("object", "limit = 9", "limit = 8"),
        ("object", "calls = {", "Base.other = 7\ncalls = {"),
        ("solve", "return x + K +", "return x - K +"),
        ("solve", "[1.5]", "[2.5]"),
        ("object", "calls = {", "TABLE['b'] = 2\ncalls = {"),
        ("solve", "\nK = 1", "\nK = 2"),
        ("lambda", "\nK = 1", "\nK = 2"),
        ("lambda", "lambda instance, seed: helper(seed)", "lambda instance, seed: -helper(seed)"),
        ("object", "        return helper(seed)", "        return -helper(seed)"),
        ("object", "return x + K +", "return x - K +"),
        ("closure", "made(3)", "made(4)"),
        ("closure", "k + seed", "k - seed"),
    ],
)
def test_what_a_function_uses_may_not(code, call, old, new):
    assert code(call) not in ("[]\n", code(call, [(old, new)]))


def test_what_the_script_imports_from_its_folder_counts(code, tmp_path):
    (tmp_path / "other.py").write_text("x = 1")
    before = code("solve", [("import sys", "import sys, other")])
    (tmp_path / "other.py").write_text("x = 2")

    assert "other.py" in before
    assert code("solve", [("import sys", "import sys, other")]) != before
