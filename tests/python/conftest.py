"""The small training run that most tests use; every number about it is worked out by hand."""

import pytest
from hypothesis import settings

import tidemark

# Machines are busy: how long one example takes says nothing.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# cuda:0 hands out multiples of 512 bytes, so:      event   allocated  total
TINY = """\
tape 1
meta model tiny
device cuda:0
alloc weight 1000 Parameter at=train.py:3         #  0      +1024     1024
step                                              #  1
phase forward                                     #  2
begin layers.0                                    #  3
  alloc act 3000 Activation op=aten::mm at=train.py:12  #  4  +3072   4096
end layers.0                                      #  5
phase backward                                    #  6
begin layers.0                                    #  7
  alloc grad 1000 Gradient op=aten::mm_backward   #  8      +1024     5120
  free act                                        #  9      -3072     2048
end layers.0                                      # 10
phase optimizer                                   # 11
alloc state 2000 OptimizerState                   # 12      +2048     4096
free grad                                         # 13      -1024     3072
step                                              # 14
"""


@pytest.fixture
def tiny() -> tidemark.Tape:
    return tidemark.read_text(TINY)


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests, answers print for the same terminal."""
    monkeypatch.setenv("COLUMNS", "100")
