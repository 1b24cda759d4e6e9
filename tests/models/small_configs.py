"""Makes a small configuration for any model type of transformers, from rules about names."""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Any

from transformers import AutoConfig, PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

VOCABULARY = 128
HIDDEN = 32
LENGTH = 12  # tokens of a sample

# The exceptions: what a type needs that the rules below do not give it.
OVERRIDES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "overrides.json").read_text()
)

# Whole names first, then endings; the first that fits decides.
BY_NAME: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "d_model": HIDDEN,
    "n_embd": HIDDEN,
    "dim": HIDDEN,
    "embed_dim": HIDDEN,
    "hidden_dim": HIDDEN,
    "embedding_size": HIDDEN,
    "projection_dim": HIDDEN,
    "intermediate_size": 2 * HIDDEN,
    "ffn_dim": 2 * HIDDEN,
    "d_ff": 2 * HIDDEN,
    "d_inner": 2 * HIDDEN,
    "n_inner": 2 * HIDDEN,
    "mlp_dim": 2 * HIDDEN,
    "head_dim": 8,
    "d_kv": 8,
    "num_attention_heads": 4,
    "num_heads": 4,
    "n_heads": 4,
    "n_head": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "num_layers": 2,
    "n_layers": 2,
    "n_layer": 2,
    "depth": 2,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "n_ctx": 64,
    "max_source_positions": 64,
    "max_target_positions": 64,
    "image_size": 32,
    "patch_size": 8,
    "num_queries": 8,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": HIDDEN,
    "shared_expert_intermediate_size": HIDDEN,
    "n_group": 1,
    "topk_group": 1,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "rotary_dim": 8,
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "visual_feat_dim": HIDDEN,
    "window_size": 4,
    "decoder_start_token_id": 2,
}
BY_ENDING: dict[str, Any] = {
    "_ffn_dim": 2 * HIDDEN,
    "_attention_heads": 4,
    "_hidden_layers": 2,
    "_layers": 2,
    "_intermediate_size": 2 * HIDDEN,
    "_vocab_size": VOCABULARY,
}


def field_names(config_class: type[PretrainedConfig]) -> set[str]:
    """Every argument that the class declares."""
    if dataclasses.is_dataclass(config_class):
        return {field.name for field in dataclasses.fields(config_class)}
    return set(inspect.signature(config_class.__init__).parameters)


def plain_value(config: PretrainedConfig, name: str) -> Any:
    """An attribute as it is stored: some classes refuse those that differ from layer to layer."""
    return vars(config).get(name)


def small_value(name: str, default: Any) -> Any:
    """The small value of a whole number by its name; the default where no rule fits."""
    if name == "use_cache":
        return False if default else default  # training has no use for it
    if name == "head_dim" and default is None:
        return BY_NAME[name]
    if name == "rope_parameters" and isinstance(default, dict):
        return small_rope(default)
    if isinstance(default, bool) or not isinstance(default, int | type(None)):
        return default
    small = BY_NAME.get(name)
    if small is None:
        small = next((v for ending, v in BY_ENDING.items() if name.endswith(ending)), None)
    if small is None or (default is not None and default <= small):
        return default
    # Left open means "follows from the others"; it stays so.
    return small if default is not None else None


def small_rope(rope: dict[str, Any]) -> dict[str, Any]:
    """Rotary sections (time, height, width) that fill half of a small head."""
    if "mrope_section" not in rope:
        return rope
    half = int(BY_NAME["head_dim"] * rope.get("partial_rotary_factor", 1.0)) // 2
    return {**rope, "mrope_section": [half - 2 * (half // 3), half // 3, half // 3]}


def staged_arguments(default: PretrainedConfig) -> dict[str, Any]:
    """Networks in stages, each with its own number of heads: one layer a stage, eight a head."""
    heads, image_size = plain_value(default, "num_heads"), plain_value(default, "image_size")
    whole = isinstance(plain_value(default, "embed_dim"), int) and isinstance(image_size, int)
    if not whole or not isinstance(heads, list | tuple) or not hasattr(default, "depths"):
        return {}
    return {"embed_dim": 8 * heads[0], "depths": [1] * len(heads), "image_size": 64}


def sub_config_classes(default: PretrainedConfig) -> dict[str, type[PretrainedConfig]]:
    """The classes of the configurations inside one: text, vision, audio, backbone, ..."""
    found = {}
    for name, declared in type(default).sub_configs.items():
        value = getattr(default, name, None)
        if isinstance(value, PretrainedConfig):
            found[name] = type(value)
        elif declared is not AutoConfig:
            found[name] = declared
    return found


def small_arguments(config_class: type[PretrainedConfig]) -> dict[str, Any]:
    """Arguments that make this class small, those of configurations inside it too."""
    model_type = config_class.model_type
    overrides = dict(OVERRIDES.get(model_type, {}))
    default = config_class(**overrides.pop("needs", {}))
    arguments: dict[str, Any] = {}
    for name in field_names(config_class):
        value = plain_value(default, name)
        small = small_value(name, value)
        if small != value:
            arguments[name] = small
    if plain_value(default, "num_key_value_heads") == plain_value(default, "num_attention_heads"):
        if "num_key_value_heads" in arguments:
            arguments["num_key_value_heads"] = BY_NAME["num_attention_heads"]
    arguments.update(staged_arguments(default))
    for name, inner in sub_config_classes(default).items():
        arguments[name] = {"model_type": inner.model_type, **small_arguments(inner)}
    for name, value in overrides.items():
        if isinstance(value, dict) and isinstance(arguments.get(name), dict):
            arguments[name] = {**arguments[name], **value}
        elif name != "inputs":
            arguments[name] = value
    return {**arguments, **small_token_ids(default, arguments)}


def small_token_ids(default: PretrainedConfig, arguments: dict[str, Any]) -> dict[str, int]:
    """Special tokens beyond the small vocabulary get ids at its end, one each."""
    vocabulary = arguments.get("vocab_size", VOCABULARY)
    ids: dict[str, int] = {}
    for name in sorted(field_names(type(default))):
        value = plain_value(default, name)
        is_id = name.endswith(("_token_id", "_token_index")) and isinstance(value, int)
        if is_id and value >= vocabulary and name not in arguments:
            ids[name] = vocabulary - 1 - len(ids)
    return ids


def input_settings(model_type: str) -> dict[str, Any]:
    """The shapes of inputs that this type needs and no rule gives."""
    return OVERRIDES.get(model_type, {}).get("inputs", {})


def small_config(model_type: str) -> PretrainedConfig:
    config_class = CONFIG_MAPPING[model_type]
    config = config_class(**small_arguments(config_class))
    if getattr(config, "is_encoder_decoder", False):
        # Training shifts labels to the right: these two must be there for it.
        for name, value in {"decoder_start_token_id": 0, "pad_token_id": 1}.items():
            if getattr(config, name, None) is None:
                setattr(config, name, value)
    return config
