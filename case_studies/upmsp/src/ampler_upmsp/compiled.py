"""How the annealing is compiled: two decorators, and a cache that a change of any source file makes void."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

# Without reference counts on its arrays the loop is three times as fast; so compiled code must not allocate.
_OPTIONS = {"_nrt": False}


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a part of the loop: it is always inlined, since passing arrays costs more than most parts do.

    Only compiled code can call it: doors for Python and C, which nobody uses, take a quarter of the time of compiling.
    """
    return numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from Python, and keep the machine code for the next process.

    Numba notices a change of the function's own file only, not of the files whose functions it inlines; so the
    folder of the cache carries a hash of all that have any.
    """
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_cache_folder())
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ampler-upmsp" / _fingerprint()


def _fingerprint() -> str:
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        text = source.read_bytes()
        if b"import inlined" in text or b"import kernel" in text or source.name == "compiled.py":
            digest.update(text)
    return digest.hexdigest()
