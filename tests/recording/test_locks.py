"""Nobody keeps a lock of ours while waiting for Python's: who has Python's may wait for ours.

To take hold of a tensor that only Python has is to wait for Python's lock, since PyTorch counts such
references in Python; thousands of them make a meeting certain. Who waits forever does so with Python's
lock held, so the programs run in processes of their own.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

START = """
import sys, threading
import torch
from torch import nn
from tidemark.compat import MemTracker
from tidemark.recording.library import _recorder
torch.set_num_threads(1)
sys.setswitchinterval(1e-6)  # threads change at every chance

def at_once(*works):
    threads = [threading.Thread(target=work) for work in works]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
"""

MODULES_MET_IN_A_BACKWARD = """
class Mostly(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.idle = nn.ParameterList(nn.Parameter(torch.ones(1)) for _ in range(2000))

    def forward(self, x):
        return self.used(x)

model = Mostly()

def train():
    for _ in range(20):
        model(torch.ones(4)).sum().backward()

def meet_modules():
    for _ in range(500):
        nn.Linear(1, 1)(torch.ones(1))

with MemTracker():
    model(torch.ones(4))
    at_once(train, meet_modules)
"""

TWO_BACKWARDS_OF_A_GRAPH = """
idle = [torch.ones(1, requires_grad=True) for _ in range(2000)]
leaf = torch.ones(1, requires_grad=True)
middle = leaf * 2
loss = (middle * 3).sum()
arrived = []
_recorder.await_gradients([leaf, middle, *idle], all=True, action=lambda _: arrived.append(1))

def go_back():
    for _ in range(20):
        loss.backward(retain_graph=True)

at_once(go_back, go_back)
assert len(arrived) == 40, len(arrived)
"""


@pytest.mark.parametrize("program", [MODULES_MET_IN_A_BACKWARD, TWO_BACKWARDS_OF_A_GRAPH],
                         ids=["modules met in a backward", "two backwards of one graph"])
def test_threads_with_thousands_of_leaves_come_to_their_end(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True,
                          check=False, timeout=100)
    assert done.returncode == 0, done.stderr
