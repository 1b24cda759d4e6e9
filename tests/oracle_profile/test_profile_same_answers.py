"""PyTorch's memory profile and ours, of the same finished run: everything they say is the same."""

import pytest
from profile_comparing import both, profiled
from profile_programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_profile_says_the_same(name: str) -> None:
    expected, found = both(profiled(PROGRAMS[name]()))
    for part in expected:
        assert found[part] == expected[part], part
