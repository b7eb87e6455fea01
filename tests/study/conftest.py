"""What the tests of studies share: another process."""

import pytest
from elsewhere import Elsewhere


@pytest.fixture(scope="session")
def another():
    """A process that has loaded the store, and forks itself for code that must not run in this one."""
    with Elsewhere() as started:
        yield started
