"""The command `tidemark estimate` as a fixture."""

from collections.abc import Callable

import pytest
from estimating import Estimate, run_estimate


@pytest.fixture(scope="session")
def estimate() -> Callable[..., Estimate]:
    return run_estimate
