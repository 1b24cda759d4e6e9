"""PyTorch's own sample arguments of an operator, without what takes longer than most operators do.

PyTorch keeps the latest sample at the unittest that asks for it, and looks for that through the whole stack,
source and all: here is none to be found. Before each sample it seeds every kind of device; those that are not
there keep the seed, with a text of the stack, until they are. Samples are made on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import torch
from torch.testing._internal import common_utils
from torch.testing._internal.opinfo import core


def sample_arguments(op: Any, dtype: torch.dtype, requires_grad: bool) -> Iterator[Any]:
    """Of an entry of op_db, on the CPU."""
    with (patch.object(common_utils, "extract_test_fn", return_value=None),
          patch.object(core, "extract_test_fn", return_value=None)):
        samples = op.sample_inputs("cpu", dtype, requires_grad=requires_grad)
    end = object()
    while True:
        with patch.object(torch, "manual_seed", torch.default_generator.manual_seed):
            sample = next(samples, end)
        if sample is end:
            return
        yield sample
