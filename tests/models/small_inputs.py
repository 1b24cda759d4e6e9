"""Makes the inputs of a small model: one tensor for every argument its forward needs."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from small_configs import LENGTH, VOCABULARY, input_settings

BATCH = 2
CHANNELS = 3
GRID = 4  # patches along each side of a picture

# Arguments that are given when a forward takes them, needed or not.
WANTED = ("attention_mask", "decoder_input_ids", "bbox", "grid_thw")


def find(config: Any, *names: str, default: Any) -> Any:
    """The first of these attributes, in the configuration or in those inside it."""
    for name in names:
        for one in (config, *inner_configs(config)):
            value = getattr(one, name, None)
            if value is not None:
                return value
    return default


def inner_configs(config: Any) -> list[Any]:
    return [
        inner
        for name in type(config).sub_configs
        if (inner := getattr(config, name, None)) is not None and not isinstance(inner, dict)
    ]


def pair(size: Any) -> tuple[int, int]:
    if isinstance(size, dict):
        return size["height"], size["width"]
    return (size, size) if isinstance(size, int) else tuple(size)[-2:]


def token_ids(config: Any) -> torch.Tensor:
    """Ids below every special one: those are at the vocabulary's end, or among the first five."""
    vocabulary = min(find(config, "vocab_size", "src_vocab_size", default=VOCABULARY), VOCABULARY)
    return torch.randint(5, max(vocabulary // 2, 6), (BATCH, LENGTH))


def pixels(config: Any, frames: int | None = None) -> torch.Tensor:
    channels = find(config, "num_channels", "in_channels", "in_chans", default=CHANNELS)
    size = pair(find(config, "image_size", "input_size", "img_size", default=64))
    shape = (BATCH, channels, *size) if frames is None else (BATCH, frames, channels, *size)
    return torch.randn(shape)


def features(config: Any) -> torch.Tensor:
    """A spectrogram. Speech encoders differ in which dimension is time; the settings say so."""
    bins = find(config, "num_mel_bins", "feature_size", "input_feat_per_channel", "n_mels",
                "feature_projection_input_dim", "input_dim", default=80)
    frames = 2 * find(config, "max_source_positions", default=32)
    return torch.randn(BATCH, bins, frames)


def patches(config: Any) -> torch.Tensor:
    """The flattened patches of one image, for towers that take pictures of any size."""
    channels = find(config, "num_channels", "in_channels", "in_chans", default=CHANNELS)
    frames = find(config, "temporal_patch_size", default=1)
    side = pair(find(config, "patch_size", default=8))[0]
    return torch.randn(GRID * GRID, channels * frames * side * side)


def series(config: Any) -> torch.Tensor:
    length = find(config, "context_length", default=32)
    return torch.randn(BATCH, length, find(config, "num_input_channels", default=1))


def is_dual_encoder(model: torch.nn.Module) -> bool:
    """Compares texts with pictures: it needs both."""
    config: Any = model.config
    both = hasattr(config, "text_config") and hasattr(config, "vision_config")
    return both and type(model).__name__.endswith("Model")


MAKERS: dict[str, Any] = {
    "input_ids": token_ids,
    "decoder_input_ids": token_ids,
    "text_input_ids": token_ids,
    "attention_mask": lambda config: torch.ones(BATCH, LENGTH, dtype=torch.long),
    "bbox": lambda config: torch.tensor([1, 2, 9, 10]).repeat(BATCH, LENGTH, 1),
    "pixel_values": pixels,
    "pixel_values_videos": lambda config: pixels(config, find(config, "num_frames", default=4)),
    "input_values": lambda config: torch.randn(BATCH, 8000),
    "input_features": features,
    "input_features_mask": lambda config: torch.ones(features(config).shape[::2], dtype=torch.bool),
    "hidden_states": patches,
    "grid_thw": lambda config: torch.tensor([[1, GRID, GRID]]),
    "past_values": series,
}


def inputs_for(model: torch.nn.Module, seed: int = 0) -> dict[str, Any]:
    """What to call the model with; the same for the same seed."""
    torch.manual_seed(seed)
    config: Any = model.config
    settings = input_settings(config.model_type)
    given = {name: made(shape) for name, shape in settings.items()}
    parameters = inspect.signature(model.forward).parameters
    wanted = {main_input(model, parameters), *WANTED}
    if is_dual_encoder(model):
        wanted |= {"input_ids", "pixel_values"}
    for name, parameter in parameters.items():
        is_needed = name in wanted or parameter.default is inspect.Parameter.empty
        if is_needed and name in MAKERS and name not in settings:
            given[name] = MAKERS[name](config)
    return add_labels(model, parameters, fitting_mask(given), settings)


def main_input(model: torch.nn.Module, parameters: Any) -> str:
    main = getattr(model, "main_input_name", "input_ids")
    if main in parameters:
        return main
    return next((name for name in MAKERS if name in parameters), next(iter(parameters)))


def fitting_mask(given: dict[str, Any]) -> dict[str, Any]:
    """A mask over tokens is of no use where there are none."""
    if "input_ids" not in given:
        given.pop("attention_mask", None)
    return given


def add_labels(model: torch.nn.Module, parameters: Any, given: dict[str, Any],
               settings: dict[str, Any]) -> dict[str, Any]:
    """Language models learn their own input; what classifies images learns class 0."""
    if "labels" not in parameters or "labels" in settings:
        return given
    name = type(model).__name__
    if name.endswith(("ForCausalLM", "ForMaskedLM", "LMHeadModel")) and "input_ids" in given:
        given["labels"] = given["input_ids"]
    elif "ConditionalGeneration" in name and "decoder_input_ids" in parameters:
        given["labels"] = token_ids(model.config)
        given.pop("decoder_input_ids", None)
    elif "ConditionalGeneration" in name and "input_ids" in given:
        given["labels"] = given["input_ids"]
    elif "ImageClassification" in name:
        given["labels"] = torch.zeros(BATCH, dtype=torch.long)
    return given


def made(shape: Any) -> torch.Tensor:
    """A tensor as the settings describe it: {"shape": [...]}."""
    return torch.randn(shape["shape"])
