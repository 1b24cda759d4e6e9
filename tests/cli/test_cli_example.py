"""The example tape: made by its script, sound, and as large as the shapes say."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "make_transformer_tape.py"
EXAMPLE = ROOT / "examples" / "transformer.tape.txt"

LAYERS, WIDTH, VOCABULARY, LENGTH, TOKENS = 4, 256, 4096, 128, 8 * 128

# Weights and biases of one layer: four linear maps, two norms.
LAYER_PARAMETERS = (3 * WIDTH * (WIDTH + 1) + WIDTH * (WIDTH + 1) + 4 * WIDTH * (WIDTH + 1)
                    + WIDTH * (4 * WIDTH + 1) + 2 * 2 * WIDTH)
PARAMETER_BYTES = 4 * (LAYERS * LAYER_PARAMETERS + 2 * VOCABULARY * WIDTH + LENGTH * WIDTH
                       + 2 * WIDTH)
LOGITS_BYTES = 4 * TOKENS * VOCABULARY


def peak_of_step(tidemark, step):
    answer = json.loads(tidemark("peak", EXAMPLE, "--step", str(step), "--json").stdout)
    return answer["devices"][0]


def test_the_script_makes_the_file_that_is_shipped():
    made = subprocess.run([sys.executable, SCRIPT], capture_output=True, timeout=60, check=True)
    assert made.stdout == EXAMPLE.read_bytes()


def test_it_is_sound(tidemark):
    result = tidemark("verify", EXAMPLE)
    assert (result.returncode, result.stderr) == (0, "")


def test_parameters_and_moments_are_what_the_shapes_say(tidemark):
    # Every tensor is a whole number of 512-byte blocks, so that rounding adds nothing.
    peak = peak_of_step(tidemark, 2)
    assert peak["categories"]["Parameter"] == PARAMETER_BYTES
    assert peak["categories"]["OptimizerState"] == 2 * PARAMETER_BYTES
    assert peak["categories"]["Buffer"] == LAYERS * LENGTH * LENGTH


def test_the_peak_is_where_the_loss_goes_backward(tidemark):
    peak = peak_of_step(tidemark, 2)
    assert (peak["at"]["phase"], peak["at"]["op"]) == ("backward",
                                                       "aten::_log_softmax_backward_data")
    # Logits, their logarithms, and the first gradient are the three largest.
    assert [s["allocated_bytes"] for s in peak["largest"][:3]] == [LOGITS_BYTES] * 3


def test_activations_at_the_peak_are_what_forward_keeps(tidemark):
    hidden = 4 * TOKENS * WIDTH  # 1 MiB
    # norm1, qkv (3), softmax (2: 4 heads of 128 columns a token), merged, middle, norm2,
    # up (4), gelu (4), output.
    per_layer = (1 + 3 + 2 + 1 + 1 + 1 + 4 + 4 + 1) * hidden
    kept = LAYERS * per_layer + hidden + hidden  # and the embedding, and the last norm
    loss = 512  # one number, in the smallest block
    assert peak_of_step(tidemark, 2)["categories"]["Activation"] == kept + 2 * LOGITS_BYTES + loss


def test_the_second_step_is_higher_by_the_moments_only(tidemark):
    first, second = (peak_of_step(tidemark, step)["allocated_bytes"] for step in (1, 2))
    assert second - first == 2 * PARAMETER_BYTES
