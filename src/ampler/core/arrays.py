"""The kinds of arrays and pairs that cross rooms, named once so that a signature says what it takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]  # how many: runs, instances, exponents
Codes = NDArray[np.intp]  # places: in a tuple of names, in another array
Bools = NDArray[np.bool_]
Pair = tuple[str, str]  # two algorithms that are compared
Interval = tuple[float, float]  # its lower and its upper end
