"""Where a phantom may differ from the real device, and why: everything else is a defect of ours.

A difference is told by its kind: "strides", "conjugate" (a bit on a view instead of a copy), "out"
(only with out=), or "refuses" (the phantom raises, the device does not).
"""

from __future__ import annotations

from dataclasses import replace

import torch
from calls import Call, Outcome, TensorFacts

# Both are right: PyTorch chooses among strides that tie otherwise in Python than in C++.
_TIE = "sizes, dtype and bytes agree; PyTorch's meta kernel breaks a tie of strides otherwise"

TOLERATED: dict[str, tuple[str, str]] = {
    "div_floor_rounding": ("strides", _TIE),
    "heaviside": ("strides", _TIE),
    "_native_batch_norm_legit": ("out", "the meta kernel leaves an empty out= of a statistic empty"),
    "sort": ("strides", "of results written to out="),
    "svd_lowrank": ("conjugate", "PyTorch 2.13 and 2.11 (the recorded one) differ in Python code"),
    "pca_lowrank": ("conjugate", "it is made of svd_lowrank"),
    "addbmm": ("refuses", "in place, the real kernels let a smaller tensor grow; nobody needs it"),
    "torch__scaled_mm": ("refuses", "the CPU takes layouts that CUDA refuses too"),
    "tensor_split": ("refuses", "CUDA too refuses indices that are not on the CPU"),
}

# Where only the CPU was asked: without Intel's library (on arm64) it lays out results of Fourier
# transforms in its own way. The virtual GPU's way is cuFFT's, on every machine.
FOURIER = ("fft_", "stft", "istft")


def say_cpus_strides(call: Call) -> bool:
    """Whether the strides of the CPU's results are those that a GPU's would have."""
    return torch.backends.mkl.is_available() or not call.operator.startswith(FOURIER)


# Values decide what these return, so an unknown argument may change it.
ASK_FOR_VALUES = {
    "allclose", "argwhere", "bincount", "equal", "histc", "item", "masked_select", "narrow",
    "nn_functional_one_hot", "nonzero", "nonzero_static", "repeat_interleave", "unique",
    "unique_consecutive", "_segment_reduce_lengths", "_segment_reduce_offsets", "tensor_split",
    # These check their arguments, or take another way for a matrix without full rank.
    "istft", "linalg_lstsq", "linalg_lstsq_grad_oriented", "nn_functional_gaussian_nll_loss",
}


def difference(call: Call, real: Outcome, phantom: Outcome, strides: bool = True) -> str:
    """Nothing where the phantom is as the device, or may differ as it does; with strides or not."""
    kind, _ = TOLERATED.get(call.operator, ("" if strides else "strides", ""))
    if kind == "out" and "out" in call.how:
        return ""
    if phantom.error:
        return "" if kind == "refuses" else f"raises {phantom.error}"
    real, phantom = _comparable(real, call, kind), _comparable(phantom, call, kind)
    if real.results != phantom.results:
        return f"returns {phantom.results}\n    instead of {real.results}"
    if real.arguments != phantom.arguments:
        return f"leaves {phantom.arguments}\n    instead of {real.arguments}"
    return ""


def _comparable(outcome: Outcome, call: Call, kind: str) -> Outcome:
    def reduce(facts: object) -> object:
        if not isinstance(facts, TensorFacts):
            return facts
        # Without elements strides mean nothing. What a kernel makes of an out= of another layout
        # takes the same memory either way.
        if kind == "strides" or 0 in facts.sizes or "out" in call.how:
            facts = replace(facts, strides=())
        if facts.strides:  # of a dimension of one element any stride will do
            strides = (b if a > 1 else 0 for a, b in zip(facts.sizes, facts.strides))
            facts = replace(facts, strides=tuple(strides))
        if 0 in facts.sizes:
            facts = replace(facts, offset=0)
        return replace(facts, is_conj=False) if kind == "conjugate" else facts

    return Outcome(
        tuple(reduce(facts) for facts in outcome.results),
        tuple(reduce(facts) for facts in outcome.arguments),
    )
