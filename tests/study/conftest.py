"""What the tests of studies share: another process."""

import pytest


@pytest.fixture(scope="session")
def another(drivers):
    """A process that has loaded the store, and forks itself for code that must not run in this one."""
    return drivers
