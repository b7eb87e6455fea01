"""What a session remembers of its machine."""

from __future__ import annotations

import os
from importlib.metadata import version

from ampler.study.store import environment


def test_the_environment_is_told_in_words_and_names_no_machine():
    told = environment()
    assert {"python", "ampler", "numpy", "scipy", "system", "processor", "cores"} == told.keys()
    assert all(isinstance(text, str) and text for text in told.values())
    assert os.uname().nodename not in " ".join(told.values()).split()


def test_versions_are_those_that_were_installed():
    told = environment()
    assert {name: told[name] for name in ("ampler", "numpy", "scipy")} == {
        name: version(name) for name in ("ampler", "numpy", "scipy")
    }
