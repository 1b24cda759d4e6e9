"""Two AdamW steps of one model type, on the CPU or on a virtual GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from small_configs import small_config
from small_inputs import inputs_for
from transformers.models.auto import modeling_auto

STEPS = 2

# A head with a loss is closer to what people train than a bare body.
HEADS = (
    "SEQ_TO_SEQ_CAUSAL_LM",
    "SPEECH_SEQ_2_SEQ",
    "MASKED_LM",
    "CAUSAL_LM",
    "IMAGE_CLASSIFICATION",
    "IMAGE_TEXT_TO_TEXT",
)


def candidate_classes(config: Any) -> Iterator[type[torch.nn.Module]]:
    """Classes that take this configuration, those with a loss first."""
    names = [f"MODEL_FOR_{head}_MAPPING" for head in HEADS] + ["MODEL_MAPPING"]
    for name in names:
        found = getattr(modeling_auto, name).get(type(config), None)
        for one in found if isinstance(found, tuple | list) else [found]:
            if one is not None:
                yield one


def float_tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() and value.requires_grad:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from float_tensors(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from float_tensors(inner)


def loss_of(output: Any) -> torch.Tensor:
    """The model's own loss, else the sum of the means of all it returns."""
    loss = output.get("loss") if isinstance(output, dict) else None
    if loss is not None:
        return loss.sum()
    means = [tensor.float().mean() for tensor in float_tensors(output)]
    if not means:
        raise RuntimeError("the model returns nothing that can be trained")
    return torch.stack(means).sum()


def to_device(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, list | tuple):
        return type(value)(to_device(inner, device) for inner in value)
    return value


def train(model_class: type[torch.nn.Module], model_type: str, device: str) -> dict[str, Any]:
    """Runs the steps; says how many parameters there are and how many were trained."""
    torch.manual_seed(0)
    model = model_class(small_config(model_type)).train().to(device)
    inputs = {name: to_device(value, device) for name, value in inputs_for(model).items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        loss = loss_of(model(**inputs))
        loss.backward()
        optimizer.step()
        trained = sum(p.grad is not None for p in model.parameters())
        optimizer.zero_grad()
    parameters = list(model.parameters())
    if any(p.device.type != device for p in parameters):
        raise RuntimeError(f"a parameter has left {device}")
    return {"class": model_class.__name__, "tensors": len(parameters), "trained": trained,
            "elements": sum(p.numel() for p in parameters)}
