"""What cuDNN takes inside convolutions and recurrent nets, asked of a GPU, real or virtual.

    python tests/phantom/workspace_questions.py    # on a GPU: prints workspace_answers.json anew
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils.rnn import pack_padded_sequence

FILE = Path(__file__).parent / "workspace_answers.json"
PARTS = ("forward", "input gradient", "weight gradient")


def requested(moment: str) -> int:
    return int(torch.cuda.memory_stats()[f"requested_bytes.all.{moment}"])


def bytes_taken(call: Callable[[], Any]) -> tuple[int, Any]:
    """What the call had and gave back, above all that was alive, and its result."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    result = call()
    return requested("peak") - requested("current"), result


@dataclass(frozen=True)
class Convolution:
    x: list[int]
    w: list[int]
    stride: int
    padding: int
    dilation: int
    groups: int
    dtype: str
    channels_last: bool
    transposed: bool

    def tensor(self, sizes: list[int]) -> torch.Tensor:
        made = torch.empty(sizes, device="cuda", dtype=getattr(torch, self.dtype))
        last = torch.channels_last if len(sizes) == 4 else torch.channels_last_3d
        return made.to(memory_format=last) if self.channels_last else made

    def ask(self) -> list[int]:
        """The bytes of each part."""
        sides = len(self.x) - 2
        how = ([self.stride] * sides, [self.padding] * sides, [self.dilation] * sides,
               self.transposed, [0] * sides, self.groups)
        x, w = self.tensor(self.x), self.tensor(self.w)
        forward, y = bytes_taken(lambda: torch.ops.aten.convolution(x, w, None, *how))
        gradient = torch.empty_like(y)
        backward = [bytes_taken(lambda wanted=wanted: torch.ops.aten.convolution_backward(
            gradient, x, w, None, *how, wanted))[0]
            for wanted in ([True, False, False], [False, True, False])]
        return [forward, *backward]

    def tensor_bytes(self) -> int:
        """Of input, weight and output."""
        x, w = self.tensor(self.x), self.tensor(self.w)
        sides = len(self.x) - 2
        y = torch.ops.aten.convolution(x, w, None, [self.stride] * sides, [self.padding] * sides,
                                       [self.dilation] * sides, self.transposed, [0] * sides,
                                       self.groups)
        return x.nbytes + w.nbytes + y.nbytes

    @property
    def family(self) -> str:
        number = "float" if self.dtype == "float32" else "half"
        return f"{'channels last' if self.channels_last else 'planes'}, {number}"


@dataclass(frozen=True)
class Net:
    mode: str
    dtype: str
    input: int
    hidden: int
    layers: int
    bidirectional: bool
    steps: int
    batch: int
    dropout: float
    packed: bool  # sequences of all lengths from half of the steps on

    def ask(self) -> list[int]:
        """The forward's workspace, and what it keeps for the backward."""
        dtype = getattr(torch, self.dtype)
        net = getattr(torch.nn, self.mode)(
            self.input, self.hidden, self.layers, bidirectional=self.bidirectional,
            dropout=self.dropout, device="cuda", dtype=dtype)
        x: Any = torch.empty(self.steps, self.batch, self.input, device="cuda", dtype=dtype)
        if self.packed:
            lengths = torch.linspace(self.steps // 2, self.steps, self.batch).long().flip(0)
            x = pack_padded_sequence(x, lengths)
        before = requested("current")
        taken, y = bytes_taken(lambda: net(x)[0])
        y = y.data if self.packed else y
        states = self.layers * (1 + self.bidirectional) * self.batch * self.hidden * dtype.itemsize
        if self.mode == "LSTM":
            states *= 2
        # The last states die with the call; the first ones are kept, as the output is, and so is a
        # buffer of weights where these do not lie in one (PyTorch leaves bfloat16 apart).
        kept = y.nbytes + states
        if not torch.backends.cudnn.is_acceptable(net.weight_ih_l0):
            kept += sum(weight.nbytes for weight in net.parameters())
        return [taken - states, requested("current") - before - kept]


def make_random_states() -> None:
    """The first net to drop makes them, for all that come."""
    Net("LSTM", "float32", 8, 8, 2, False, 2, 2, 0.5, False).ask()


def answers(text: str) -> Iterator[tuple[Convolution | Net, list[int]]]:
    told = json.loads(text)
    for kind, name in ((Convolution, "convolutions"), (Net, "nets")):
        for *question, answer in told[name]:
            yield kind(*question), answer


def main() -> None:
    import subprocess

    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=True).stdout.strip()
    facts: dict[str, Any] = {
        "gpu": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(), "convolutions": [], "nets": []}
    make_random_states()
    for question, _ in answers(FILE.read_text()):
        name = "convolutions" if isinstance(question, Convolution) else "nets"
        facts[name].append([*vars(question).values(), question.ask()])
    lines = {name: ",\n  ".join(json.dumps(row, separators=(",", ":")) for row in facts.pop(name))
             for name in ("convolutions", "nets")}
    head = json.dumps(facts, indent=1).removesuffix("\n}")
    print(head + "".join(f',\n "{name}": [\n  {rows}\n ]' for name, rows in lines.items()) + "\n}")


if __name__ == "__main__":
    main()
