"""Functions that misbehave, each with what must become of it: a value, or the words of its failure.

What needs the whole process (it ends, or shuts its descriptors) is in `ENDING`: without a limit it takes its worker
along, under one its child.
"""

from __future__ import annotations

import asyncio
import ctypes
import decimal
import faulthandler
import fractions
import gc
import math
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd


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
