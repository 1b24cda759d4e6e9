"""Functions that tests estimate: they travel to a fresh process by name."""

import ctypes
import os

import torch


def train(width: int, steps: int = 10) -> None:
    print("training on", torch.cuda.get_device_name())
    model = torch.nn.Linear(width, width).cuda()
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(steps):
        model(torch.empty(8, width, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def train_and_save(width: int, path: str) -> None:
    """A step, a checkpoint in place of the old one, and a look at it."""
    model = torch.nn.Linear(width, width).cuda()
    optimizer = torch.optim.SGD(model.parameters())
    model(torch.empty(8, width, device="cuda")).sum().backward()
    optimizer.step()
    torch.save(model.state_dict(), path)
    assert torch.load(path)["weight"].shape == (width, width)


def fail(width: int) -> None:
    torch.empty(width, device="cuda")
    raise ValueError("not today")


def leave() -> None:
    os._exit(7)


def use_all_devices() -> None:
    for device in range(torch.cuda.device_count()):
        torch.empty(1000 * (device + 1), device=f"cuda:{device}")


def read_memory() -> None:
    ctypes.string_at(torch.ones(4, device="cuda").data_ptr())
