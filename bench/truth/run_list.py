"""The runs that estimates are judged by: none is removed or resized once it was measured."""

import ast
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "runs"
NAMES = (
    "gpt2_fp32",
    "llama_bf16",
    "llama_checkpointing",
    "llama_autocast",
    "bert_fp32",
    "t5_small_fp32",
    "vit_b16_fp32",
    "convnext_t_fp32",
    "resnet50_fp32",
    "efficientnet_channels_last",
    "mobilenet_fp16_scaler",
    "detection_pyramid",
    "unet_segmentation",
    "deeplab_segmentation",
    "video_3d",
    "speech_ctc",
    "translation_cross_attention",
    "moe_capacity",
    "moe_token_choice",
    "lstm_language_model",
    "gru_packed",
    "graph_messages",
    "diffusion_unet",
    "lora_llama",
    "recommender_embeddings",
    "long_sequence_causal",
    "long_sequence_mask",
    "odd_shapes",
    "gan_two_optimizers",
    "clip_contrastive",
    "swin_windows",
    "point_cloud",
    "state_space_bf16",
    "tabular_mlp",
    "masked_autoencoder_fp16",
)


def script_of(name: str) -> Path:
    return FOLDER / f"{name}.py"


def sentence_of(name: str) -> str:
    """What the run is, by its own first line."""
    return ast.get_docstring(ast.parse(script_of(name).read_text(encoding="utf-8"))) or ""


def chosen(names: list[str]) -> tuple[str, ...]:
    """All where none is named; a name that is not in the list is an error."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise SystemExit(f"no such run: {', '.join(unknown)} (there are: {', '.join(NAMES)})")
    return tuple(name for name in NAMES if not names or name in names)


if __name__ == "__main__":
    for each in NAMES:
        print(f"{each:28} {sentence_of(each)}")
