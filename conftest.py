"""Set-up of all tests, including the doctests of src and README.md: hypothesis profiles, `python3`, doctest folders."""

import os
import sys

import pytest
from hypothesis import settings

for profile, examples in {"ci": 10, "dev": 25, "thorough": 200}.items():
    settings.register_profile(profile, max_examples=examples, deadline=None)
settings.load_profile("dev")

# `python3` in the studies of tests is this Python
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])


@pytest.fixture(autouse=True)
def _doctest_folder(request):
    """Let doctests work in a folder of their own: an example may write files."""
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
