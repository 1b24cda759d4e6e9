"""Writes .pt2 archives by hand: the few fields of torch.export's JSON that say something of memory."""

import json
import zipfile
from pathlib import Path
from typing import Any

BYTE, FLOAT = 1, 7  # the numbers that torch.export gives these element types


def size(value: int | str) -> dict[str, Any]:
    """A number, or an expression over dimensions without a hint."""
    if isinstance(value, int):
        return {"as_int": value}
    return {"as_expr": {"expr_str": value, "hint": None}}


def tensor(elements: int | str, dtype: int = FLOAT) -> dict[str, Any]:
    """A tensor of one dimension."""
    return {
        "dtype": dtype,
        "sizes": [size(elements)],
        "strides": [size(1)],
        "storage_offset": size(0),
        "device": {"type": "cpu", "index": None},
    }


def argument(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


def node(target: str, inputs: list[str], outputs: list[str]) -> dict[str, Any]:
    return {
        "name": outputs[0] if outputs else "nothing",
        "target": target,
        "inputs": [{"name": "", "arg": argument(name)} for name in inputs],
        "outputs": [argument(name) for name in outputs],
        "metadata": {},
    }


def model(
    inputs: list[str],
    nodes: list[dict[str, Any]],
    outputs: list[str],
    tensors: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    graph = {
        "inputs": [argument(name) for name in inputs],
        "nodes": nodes,
        "outputs": [argument(name) for name in outputs],
        "tensor_values": tensors,
    }
    return {"graph_module": {"graph": graph}}


def write_archive(path: Path, model: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{path.stem}/models/model.json", json.dumps(model))
    return path
