"""What the room as a whole promises."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["plan", "runs", "failures", "settings", "text", "serialization", "errors"])
def test_what_the_shell_needs_loads_without_numpy(module):
    """The shell must feel quick: numpy alone takes longer than all the rest of `ampler --help`."""
    script = f"import sys, ampler.core.{module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
