"""The runs that estimates are judged by: none is removed or resized once it was measured."""

import argparse
import ast
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNS, HELD_OUT, STRANGERS, LATECOMERS = "runs", "held_out", "strangers", "latecomers"
# By folder. When they were measured, no rule and no calibration had seen the calls of any but the first.
LISTS: dict[str, tuple[str, ...]] = {
    RUNS: (
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
    ),
    HELD_OUT: (
        "vgg_plain_fp32",
        "densenet_autocast",
        "resnext_groups_fp32",
        "unet_3d_volumes",
        "wavenet_dilated",
        "super_resolution_fp16",
        "style_modulated",
        "conformer_autocast",
        "bilstm_adaptive_softmax",
        "mixer_fp16",
        "seq2seq_rmsnorm_gqa",
        "yolo_odd_sizes",
    ),
    STRANGERS: (
        "ppo_rollouts",
        "dqn_replay",
        "style_transfer_lbfgs",
        "maml_second_order",
        "dpo_reference",
        "moco_queue",
        "vae_images",
        "nerf_rays",
        "gcn_sparse",
        "sam_wide_resnet",
        "muon_gpt",
        "generate_kv_cache",
        "distill_teacher",
        "translate_attention_gru",
        "pinn_double",
    ),
    LATECOMERS: (
        "fourier_operator",
        "large_kernel_net",
        "video_r2plus1d_bf16",
        "wav2vec_frontend",
        "private_gradients",
        "gaussian_process",
        "vocoder_gan",
        "neural_ode_adjoint",
        "hash_grid_field",
        "gaussian_splats",
        "gated_linear_attention",
        "normalizing_flow",
        "nested_documents",
        "quantized_training",
        "offloaded_transformer",
        "graphed_steps",
        "prefetch_streams",
    ),
}
FOLDER_OF = {name: folder for folder, names in LISTS.items() for name in names}


def script_of(name: str) -> Path:
    return HERE / FOLDER_OF[name] / f"{name}.py"


def sentence_of(name: str) -> str:
    """What the run is, by its own first line."""
    return ast.get_docstring(ast.parse(script_of(name).read_text(encoding="utf-8"))) or ""


def add_choice(parser: argparse.ArgumentParser) -> None:
    """The arguments by which `chosen` chooses."""
    parser.add_argument("--list", choices=LISTS, default=RUNS, help="which list of runs, `runs` by default")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these of the list's runs alone")


def chosen(arguments: argparse.Namespace) -> tuple[str, ...]:
    """All of the list where none is named; a name that is not in it is an error."""
    names = LISTS[arguments.list]
    unknown = sorted(set(arguments.only) - set(names))
    if unknown:
        raise SystemExit(f"no such run: {', '.join(unknown)} (there are: {', '.join(names)})")
    return tuple(name for name in names if not arguments.only or name in arguments.only)


if __name__ == "__main__":
    for of_folder, of_list in LISTS.items():
        print(f"{of_folder}:")
        for each in of_list:
            print(f"  {each:28} {sentence_of(each)}")
