"""What was estimated first for the held-out runs, by rules alone, before any rule was changed for them."""

# Peaks of allocated bytes, in MiB.
FIRST_ANSWERS: dict[str, float] = {
    "vgg_plain_fp32": 3722.0,
    "densenet_autocast": 3272.1,
    "resnext_groups_fp32": 4006.3,
    "unet_3d_volumes": 2832.5,
    "wavenet_dilated": 4075.9,
    "super_resolution_fp16": 2661.9,
    "style_modulated": 2225.9,
    "conformer_autocast": 2683.8,
    "bilstm_adaptive_softmax": 5163.7,
    "mixer_fp16": 4917.1,
    "seq2seq_rmsnorm_gqa": 6181.2,
    "yolo_odd_sizes": 4271.8,
}
