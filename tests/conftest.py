"""What all tests share: hypothesis without a clock, and where the public data lie."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None)  # a busy machine is not a bug
settings.load_profile("house")

PUBLIC_DATA = Path(__file__).parents[2] / "shared" / "public-data"


@pytest.fixture(scope="session")
def public_data():
    """The folder of public results, which is not part of the project."""
    if not PUBLIC_DATA.is_dir():
        pytest.skip("the public data are not here")
    return PUBLIC_DATA
