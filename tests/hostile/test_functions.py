"""Functions that misbehave: each gives its value or fails with its reason, in every engine, and harms no other run."""

import asyncio
import ctypes
import decimal
import faulthandler
import fractions
import gc
import math
import os
import random
import re
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

import numpy as np
import pandas as pd
import pytest

from ampler.core.failures import Penalty
from ampler.core.plan import Command, Function, Limits, Question
from ampler.running import run_plan
from ampler.running.engines.dask import dask_cluster
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.testing import MemoryStore, SerialExecutor

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and limits are those of Linux"),
    pytest.mark.filterwarnings("ignore"),  # coroutines that nobody awaits, and numbers that are masked
]

# Functions, each with the expected value or the expected message of its failure. What needs the whole process (it ends,
# or closes its descriptors) is in `ENDING`: without a limit it takes its worker along, under one its child.


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


class UnprintableForGood(BaseException):
    def __str__(self):  # noqa: PLE0307 - that is the point
        sys.exit("no words at all")


class NoText(Exception):
    def __str__(self):
        return 5  # noqa: PLE0307 - that is the point


class Shy:
    def __repr__(self):
        raise ValueError("I am not shown")


class Chatty:
    def __repr__(self):
        return "x" * 10_000_000


class EvilFloat:
    def __float__(self):
        raise SystemExit("no float")


class NoFloat:
    def __float__(self):
        return "5"


class Double(float):
    """A float of 3 that says it is 99."""

    def __float__(self):
        return 99.0

    def __repr__(self):
        raise ValueError


class EvilMapping(dict):
    def items(self):
        raise KeyError("nothing here")


class EvilName:
    def __str__(self):
        raise ValueError("nameless")

    __repr__ = __str__


class Dimensional:
    """What asks for its dimension is told off."""

    @property
    def ndim(self):
        raise RuntimeError("no dimension")

    def __float__(self):
        return 1.0


def raising(problem):
    def function(instance, seed):
        raise problem

    return function


def giving(make):
    return lambda instance, seed: make()


def deep(instance, seed):
    return deep(instance, seed)


def raise_in_group(instance, seed):
    raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])


def raise_chain(instance, seed):
    problem = ValueError("0")
    for number in range(2000):
        problem = ValueError(str(number), problem)
    raise problem


def raise_itself(instance, seed):
    problem = ValueError("my own cause")
    problem.__cause__ = problem
    raise problem


def warn_as_error(instance, seed):
    warnings.simplefilter("error")
    warnings.warn("now an error", stacklevel=1)


def thrown_into_a_coroutine(instance, seed):
    async def cancelled():
        raise asyncio.CancelledError

    asyncio.run(cancelled())


def out_of_memory(instance, seed):
    resource.setrlimit(resource.RLIMIT_AS, (2**32, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return len(bytearray(2**34))


def too_many_files(instance, seed):
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return len([open(os.devnull) for _ in range(100)])


def write_beyond_limit(instance, seed):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with tempfile.TemporaryFile(buffering=0) as file:
        while True:
            file.write(b"x" * 100)


RAISING = {
    "unprintable": (raising(Unprintable()), r"it raised Unprintable: it cannot be printed \("),
    "unprintable for good": (raising(UnprintableForGood()), "it raised UnprintableForGood: it cannot be printed"),
    "text that is none": (raising(NoText()), "it raised NoText: it cannot be printed"),
    "surrogates": (raising(ValueError("lone \udc80 \ud800 surrogates")), "it raised ValueError: lone surrogates"),
    "control characters": (raising(ValueError("\x1b[31mred\x00\x07\nnext")), r"it raised ValueError: \[31mred next"),
    "gigantic message": (raising(ValueError("x" * 10_000_000)), "it raised ValueError: …x+"),
    "many arguments": (raising(ValueError(*range(10_000))), "it raised ValueError: …"),
    "bytes": (raising(ValueError(b"\xff\xfe")), "it raised ValueError: "),
    "no message": (raising(ValueError()), r"it raised ValueError \("),
    "BaseException": (raising(BaseException("base")), "it raised BaseException: base"),
    "SystemExit": (raising(SystemExit(0)), "it raised SystemExit: 0"),
    "SystemExit of an object": (raising(SystemExit(Shy())), "it raised SystemExit: it cannot be printed"),
    "KeyboardInterrupt": (raising(KeyboardInterrupt()), "it raised KeyboardInterrupt"),
    "GeneratorExit": (raising(GeneratorExit()), "it raised GeneratorExit"),
    "StopIteration": (raising(StopIteration(3)), "it raised StopIteration: 3"),
    "StopAsyncIteration": (raising(StopAsyncIteration()), "it raised StopAsyncIteration"),
    "MemoryError": (raising(MemoryError()), "it raised MemoryError"),
    "EOFError": (raising(EOFError()), "it raised EOFError"),
    "BrokenPipeError": (raising(BrokenPipeError()), "it raised BrokenPipeError"),
    "ChildProcessError": (raising(ChildProcessError()), "it raised ChildProcessError"),
    "a group": (raise_in_group, "it raised ExceptionGroup: several"),
    "a long chain": (raise_chain, "it raised ValueError: "),
    "its own cause": (raise_itself, "it raised ValueError: my own cause"),
    "a warning as an error": (warn_as_error, "it raised UserWarning: now an error"),
    "a cancelled coroutine": (thrown_into_a_coroutine, "it raised CancelledError"),
    "what is no exception": (lambda instance, seed: (_ for _ in ()).throw(5), "it raised TypeError: "),
    "endless recursion": (deep, "it raised RecursionError: maximum recursion depth"),
    "division by zero": (lambda instance, seed: 1 / 0, "it raised ZeroDivisionError"),
    "no memory left": (out_of_memory, "it raised MemoryError"),
    "no files left": (too_many_files, "it raised OSError: .*Too many open files"),
    "a file too large": (write_beyond_limit, "it raised OSError: .*File too large"),
    "wrong parameters": (lambda: 1.0, "it raised TypeError: "),
    "a class that takes nothing": (dict, "it raised TypeError: "),
}
NO_NUMBER = "a number or a mapping of numbers must be returned, got "
RETURNING = {
    "nothing": (giving(lambda: None), NO_NUMBER + "nothing"),
    "text": (giving(lambda: "5"), NO_NUMBER + "str '5'"),
    "text of numpy": (giving(lambda: np.str_("5")), NO_NUMBER + "str_"),
    "text in an array": (giving(lambda: np.array("5")), NO_NUMBER + "ndarray"),
    "bytes": (giving(lambda: b"5"), NO_NUMBER + "bytes b'5'"),
    "a long text": (giving(lambda: "x" * 100_000_000), NO_NUMBER + "str '?…?x"),
    "a long list": (giving(lambda: [0] * 10_000_000), NO_NUMBER + r"list \[0, 0"),
    "an array": (giving(lambda: np.zeros(1_000_000)), NO_NUMBER + "ndarray"),
    "an array of one": (giving(lambda: np.array([5.0])), NO_NUMBER + r"ndarray array\(\[5"),
    "a series": (giving(lambda: pd.Series([5.0])), NO_NUMBER + "Series"),
    "complex": (giving(lambda: 1 + 2j), NO_NUMBER + r"complex \(1\+2j\)"),
    "complex of numpy": (giving(lambda: np.complex64(1 + 0j)), NO_NUMBER + "complex64"),
    "complex in an array": (giving(lambda: np.array(1 + 2j)), NO_NUMBER + "ndarray"),
    "nan": (giving(lambda: math.nan), "the value must be a finite number, got nan"),
    "inf": (giving(lambda: -math.inf), "the value must be a finite number, got -inf"),
    "nan of numpy": (giving(lambda: np.float32("nan")), "the value must be a finite number, got nan"),
    "nan of decimals": (giving(lambda: decimal.Decimal("NaN")), "the value must be a finite number, got nan"),
    "signalling nan": (giving(lambda: decimal.Decimal("sNaN")), "it raised ValueError"),
    "a masked number": (giving(lambda: np.ma.masked), "the value must be a finite number|it raised UserWarning"),
    "a missing number": (giving(lambda: pd.NA), NO_NUMBER + "NAType"),
    "no time": (giving(lambda: pd.NaT), "a number or a mapping|the value must be|it raised"),
    "a date": (giving(lambda: np.datetime64("2024-01-05")), NO_NUMBER + "datetime64"),
    "a duration": (giving(lambda: np.timedelta64(5, "s")), NO_NUMBER + "timedelta64"),
    "a number beyond all": (giving(lambda: 10**5000), "the value must be a finite number, got inf"),
    "a fraction beyond all": (giving(lambda: fractions.Fraction(10**5000, 3)), "the value must be a finite .* got inf"),
    "a generator": (lambda instance, seed: (yield 5), NO_NUMBER + "generator"),
    "a coroutine": (lambda instance, seed: coroutine(), NO_NUMBER + "coroutine"),
    "a function": (giving(lambda: giving), NO_NUMBER + "function"),
    "a class": (giving(lambda: float), NO_NUMBER + "type"),
    "a set": (giving(lambda: {5}), NO_NUMBER + r"set \{5\}"),
    "what cannot be shown": (giving(Shy), NO_NUMBER + "Shy <Shy instance at"),
    "what shows too much": (giving(Chatty), NO_NUMBER + "Chatty …?x"),
    "a float that ends the program": (giving(EvilFloat), "it raised SystemExit: no float"),
    "a float that is a text": (giving(NoFloat), "it raised TypeError"),
    "no dimension": (giving(Dimensional), "it raised RuntimeError: no dimension"),
    "no measure": (giving(dict), "at least one measure must be returned, got an empty mapping"),
    "a measure that is a text": (giving(lambda: {"a": "5"}), "the measure 'a' must be a number, got str '5'"),
    "a first measure of nan": (giving(lambda: {"a": math.nan, "b": 1}), "the value must be a finite number, got nan"),
    "an evil mapping": (giving(EvilMapping), "it raised KeyError: 'nothing here'"),
    "an evil name": (giving(lambda: {EvilName(): 5}), "it raised ValueError: nameless"),
    "a mapping of mappings": (giving(lambda: {"a": {"b": 1}}), "the measure 'a' must be a number, got dict"),
    "a number of many digits as text": (giving(lambda: "9" * 10_000), NO_NUMBER + "str"),
}


async def coroutine():
    return 5.0


def in_folder(instance, seed):
    os.chdir("/")
    os.umask(0o777)
    return 3.0


def with_limits(instance, seed):
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(limit, (5, resource.getrlimit(limit)[1]))
    sys.setrecursionlimit(80)
    return 3.0


def with_signals(instance, seed):
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    return 3.0


def without_streams(instance, seed):
    sys.stdout = sys.stderr = sys.stdin = None
    return 3.0


def with_closed_streams(instance, seed):
    class Closed:
        def write(self, text):
            raise ValueError("closed")

        flush = write

    sys.stdout = sys.stderr = Closed()
    return 3.0


def with_threads(instance, seed):
    for _ in range(3):
        threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()
    matrix = np.ones((200, 200))
    return float((matrix @ matrix)[0, 0]) / 200 * 3


def with_zombies(instance, seed):
    for _ in range(5):
        if os.fork() == 0:
            os._exit(1)
    return 3.0


def that_waits_for_all(instance, seed):
    try:
        while True:
            os.waitpid(-1, os.WNOHANG)
            break
    except ChildProcessError:
        pass
    return 3.0


def that_returns_twice(instance, seed):
    os.fork()
    return 3.0


def that_returns_many_times(instance, seed):
    for _ in range(3):
        os.fork()
    return 3.0


def whose_child_raises(instance, seed):
    if os.fork() == 0:
        raise ValueError("in the child")
    return 3.0


def whose_child_leaves(instance, seed):
    if os.fork() == 0:
        sys.exit(5)
    return 3.0


def whose_child_stays(instance, seed):
    if os.fork() == 0:
        time.sleep(600)
    return 3.0


def with_randomness(instance, seed):
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the one that all share
    gc.disable()
    decimal.getcontext().prec = 1
    np.seterr(all="raise")
    return 3.0


def that_prints(instance, seed):
    print("chatter", "\udc80" if seed < 0 else "", end="")
    return 3.0


VALUES = {
    "a bool": (giving(lambda: True), 1.0),
    "a bool of numpy": (giving(lambda: np.True_), 1.0),
    "an int": (giving(lambda: 3), 3.0),
    "a float of 32 bits": (giving(lambda: np.float32(3)), 3.0),
    "a float of 16 bits": (giving(lambda: np.float16(3)), 3.0),
    "a float of 80 bits": (giving(lambda: np.longdouble(3)), 3.0),
    "an int of 64 bits": (giving(lambda: np.int64(3)), 3.0),
    "an array without dimensions": (giving(lambda: np.array(3)), 3.0),
    "a decimal": (giving(lambda: decimal.Decimal("3.00")), 3.0),
    "a fraction": (giving(lambda: fractions.Fraction(6, 2)), 3.0),
    "a float that says it is 99": (giving(lambda: Double(3.0)), 3.0),
    "an object in an array": (giving(lambda: np.array(fractions.Fraction(3))), 3.0),
    "measures": (giving(lambda: {"a": 3, "b": math.nan, "c": 10**400}), 3.0),
    "measures with strange names": (giving(lambda: {"\udc80\x00": 3, "": 4, 5: 6, ("x",): 7, None: 8}), 3.0),
    "many measures": (giving(lambda: dict.fromkeys(map(str, range(20_000)), 3)), 3.0),
    "the smallest number": (giving(lambda: 5e-324), 5e-324),
    "another folder": (in_folder, 3.0),
    "lower limits": (with_limits, 3.0),
    "other signals": (with_signals, 3.0),
    "no streams": (without_streams, 3.0),
    "closed streams": (with_closed_streams, 3.0),
    "threads and matrices": (with_threads, 3.0),
    "zombies": (with_zombies, 3.0),
    "waits for all children": (that_waits_for_all, 3.0),
    "returns twice": (that_returns_twice, 3.0),
    "returns eight times": (that_returns_many_times, 3.0),
    "its child raises": (whose_child_raises, 3.0),
    "its child leaves": (whose_child_leaves, 3.0),
    "its child stays": (whose_child_stays, 3.0),
    "other randomness": (with_randomness, 3.0),
    "prints": (that_prints, 3.0),
}


def segfault(instance, seed):
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.string_at(0)


def abort(instance, seed):
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.abort()


def close_all(instance, seed):
    os.closerange(0, 1000)
    return 3.0


def close_all_and_open_others(instance, seed):
    os.closerange(0, 1000)
    for _ in range(60):
        os.open(os.devnull, os.O_RDWR)
    return 3.0


def replace_all_by_pipes(instance, seed):
    """Whoever asks through them is never answered."""
    os.closerange(0, 1000)
    for _ in range(40):
        os.pipe()
    return 3.0


def killed_by(number):
    return lambda instance, seed: os.kill(os.getpid(), number)


def deep_in_c(instance, seed):
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), signal.SIGBUS)  # how an overflown stack may end


def hard_processor_limit(instance, seed):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    now = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (now, now))
    while True:
        pass


DEAF = "it closed the descriptor through which"
ENDING = {
    "leaves with 0": (lambda instance, seed: os._exit(0), "exit code 0"),
    "leaves with 3": (lambda instance, seed: os._exit(3), "exit code 3"),
    "segfault": (segfault, "ended by SIGSEGV"),
    "abort": (abort, "ended by SIGABRT"),
    "kills itself": (killed_by(signal.SIGKILL), "ended by SIGKILL"),
    "ends itself": (killed_by(signal.SIGTERM), "ended by SIGTERM"),
    "a signal without a name": (killed_by(40), "ended by signal 40"),
    "an own signal": (killed_by(signal.SIGUSR1), "ended by SIGUSR1"),
    "a bus error": (deep_in_c, "ended by SIGBUS"),
    "closes all descriptors": (close_all, DEAF),
    "closes all and opens others": (close_all_and_open_others, DEAF),
    "replaces all by pipes": (replace_all_by_pipes, DEAF),
}
SLOW_ENDING = {"a limit of processor time": (hard_processor_limit, "ended by SIG(XCPU|KILL)")}


def sleeps(instance, seed):
    time.sleep(600)


def loops_in_c(instance, seed):
    return sum(iter(int, 1))


def swallows_everything(instance, seed):
    while True:
        with suppress(BaseException):
            time.sleep(600)


def ignores_requests(instance, seed):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)


def stops_itself(instance, seed):
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(600)


def joins_another_group(instance, seed):
    os.setpgid(0, os.getpgid(os.getppid()))
    time.sleep(600)


def waits_for_itself(instance, seed):
    lock = threading.Lock()
    with lock, lock:
        return 3.0


def starts_threads_that_stay(instance, seed):
    threading.Thread(target=time.sleep, args=(600,)).start()
    return time.sleep(600)


def reads_input(instance, seed):
    os.read(os.pipe()[0], 1)


HANGING = {
    "sleeps": sleeps,
    "loops in C": loops_in_c,
    "swallows everything": swallows_everything,
    "ignores requests": ignores_requests,
    "stops itself": stops_itself,
    "joins another group": joins_another_group,
    "waits for itself": waits_for_itself,
    "starts threads that stay": starts_threads_that_stay,
    "waits for input": reads_input,
}

GIVING = {**RAISING, **RETURNING, **VALUES}
OWN_PROCESS = {*ENDING, *SLOW_ENDING}
NOT_IN_OUR_PROCESS = {  # what changes the process for good, or makes another of it
    *("another folder", "lower limits", "other signals", "no streams", "closed streams", "no memory left"),
    *("no files left", "a file too large", "a warning as an error", "other randomness", "its child stays"),
    *("zombies", "waits for all children", "returns twice", "returns eight times", "its child raises"),
    *("its child leaves", "threads and matrices"),
}


COMMAND = ("sh", "-c", "echo 7", "{instance}", "{seed}")


def good(instance, seed):
    return 7.0


def outcomes(functions, *, limits=Limits(), places=("i1", "i2"), **how):  # noqa: B008
    """What became of each function; between them stand good ones, functions and commands, which must not suffer."""
    algorithms = [Function(name, function, f"evil:{name}") for name, function in functions.items()]
    algorithms += [
        Function("a good one", good, "evil:good"),
        Command("a good command", ("sh", "-c", "umask; echo 7", "{instance}", "{seed}")),
    ]
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=algorithms,
        instances=places,
        rule=Fixed(runs=1),
        seed=3,
        count="all",
        policy=Penalty(1.0),
        limits=limits,
    )
    store = MemoryStore()
    run_plan(plan, store, despite_failures=True, **how)
    seen = {(each.key.instance, each.key.algorithm): each for each in store.observations()}
    assert len(seen) == len(places) * len(algorithms), "nothing is lost, and nothing made twice"
    for name in ("a good one", "a good command"):
        made = [seen[place, name] for place in places]
        assert [each.value for each in made] == [7.0] * len(places), made
    return seen


def check(seen, expected):
    wrong = [(name, each) for (_, name), each in seen.items() if name in expected and not fits(each, expected[name])]
    assert not wrong


def fits(observation, wanted):
    if isinstance(wanted, float):
        return (observation.value, observation.status) == (wanted, "ok")
    message = observation.message
    short = "\n" not in message and len(message) < 500 and message.encode()
    return (observation.value, observation.status) == (None, "failed") and re.search(wanted, message) and short


def functions_of(table):
    return {name: function for name, (function, _) in table.items()}


def words_of(table):
    return {name: wanted for name, (_, wanted) in table.items()}


FEW_OR_ALL = [("i1",), pytest.param(("i1", "i2"), marks=pytest.mark.slow)]


@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
def test_whatever_a_function_raises_or_returns_is_a_value_or_a_reason_in_a_worker(places):
    check(outcomes(functions_of(GIVING), places=places, workers=2), words_of(GIVING))


@pytest.fixture(params=["processes", "threads", "dask"])
def engine(request):
    """How runs are made: by our workers, threads, or the workers of a cluster."""
    if request.param == "processes":
        yield {"workers": 2}
    elif request.param == "threads":
        with ThreadPoolExecutor(2) as executor:
            yield {"executor": executor}
    else:
        pytest.importorskip("distributed")
        with dask_cluster("local", workers=2) as client:
            yield {"executor": client}


@pytest.mark.slow
def test_under_a_limit_it_is_the_same(engine):
    check(outcomes(functions_of(GIVING), limits=Limits(timeout=60.0), **engine), words_of(GIVING))


@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
@pytest.mark.parametrize("where", ["serial", "threads"])
def test_whatever_leaves_the_process_as_it_is_does_so_in_our_own(where, places):
    table = {name: row for name, row in GIVING.items() if name not in NOT_IN_OUR_PROCESS}
    with nullcontext(SerialExecutor()) if where == "serial" else ThreadPoolExecutor(2) as executor:
        check(outcomes(functions_of(table), places=places, executor=executor), words_of(table))


@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
def test_a_function_that_ends_its_process_costs_its_own_run_only(places):
    expected = {name: f"the worker was lost .* 3 times: .*{words}" for name, words in words_of(ENDING).items()}

    check(outcomes(functions_of(ENDING), places=places, workers=2), expected)


@pytest.mark.slow
def test_under_a_limit_it_costs_its_child_only(engine):
    table = {**ENDING, **SLOW_ENDING}

    check(outcomes(functions_of(table), limits=Limits(timeout=60.0), **engine), words_of(table))


@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
@pytest.mark.parametrize("where", ["processes", "threads"])
def test_a_function_that_hangs_is_ended_by_its_limit(where, places):
    limit = len(places)  # seconds
    names = [*HANGING] if where == "processes" else ["stops itself", "joins another group"]
    if len(places) == 1 and "loops in C" in names:
        names.remove("loops in C")  # for a second; that it is ended is tested with the runs themselves
    functions = {name: HANGING[name] for name in names}
    with ThreadPoolExecutor(2) as executor:
        how = {"workers": 4} if where == "processes" else {"executor": executor}
        seen = outcomes(functions, limits=Limits(timeout=limit), places=places, **how)

    for name in names:
        for place in places:
            assert seen[place, name].status == "timeout", seen[place, name]
            assert seen[place, name].message == f"it ran longer than {limit} s and was ended"
