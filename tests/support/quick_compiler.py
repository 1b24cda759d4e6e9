"""The C++ compiler of tests that compile: clang where it is, which takes half of g++'s time."""

from __future__ import annotations

import shutil

QUICK_COMPILER = "clang++" if shutil.which("clang++") else "c++"
