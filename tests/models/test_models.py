"""Forty model types of transformers train on virtual GPUs as they do on the CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent

# One of each kind: decoders, encoders, both, experts, state spaces, pictures, sound, pairs.
FORTY = (
    "llama mistral qwen2 qwen3 gemma2 phi3 gpt2 gpt_neox opt bloom falcon olmo2 "
    "mixtral deepseek_v3 gpt_oss qwen3_moe granitemoe "
    "mamba rwkv recurrent_gemma "
    "bert roberta deberta-v2 albert electra modernbert big_bird longformer "
    "t5 bart marian led "
    "vit convnext resnet dinov2 "
    "whisper wav2vec2 hiera idefics3_vision"
).split()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One sweep over all forty: torch is imported once, each type trains in a fork."""
    answers = tmp_path_factory.mktemp("models") / "forty.json"
    command = [sys.executable, str(HERE / "sweep.py"), "--types", ",".join(FORTY),
               "--json", str(answers), "--timeout", "120"]
    subprocess.run(command, check=True, timeout=900)
    return {result["type"]: result for result in json.loads(answers.read_text())}


def test_the_list_has_forty_different_types() -> None:
    assert len(set(FORTY)) == len(FORTY) == 40


@pytest.mark.parametrize("model_type", FORTY)
def test_a_type_that_trains_on_the_cpu_trains_on_a_virtual_gpu(
    model_type: str, results: dict[str, dict[str, Any]]
) -> None:
    result = results[model_type]
    assert "error" not in result["cpu"], "it does not count: " + result["cpu"]["error"]
    assert "error" not in result["phantom"], result["phantom"]["error"]
    assert result["phantom"]["elements"] == result["cpu"]["elements"]
