"""Hears when PyTorch compiles: it tries programs out on meta storages, which are none of theirs."""

from __future__ import annotations

import sys
from typing import Any

from tidemark.recording.library import _recorder

_handler: Any = None


def hear_compiler() -> None:
    """Where the compiler is loaded; we do not load it."""
    global _handler
    compiler = sys.modules.get("torch._dynamo.callback")
    if _handler is not None or compiler is None:
        return
    _handler = compiler.callback_handler
    _handler.register_start_callback(lambda *_: _recorder.set_compiling(True))
    _handler.register_end_callback(lambda *_: _recorder.set_compiling(False))
