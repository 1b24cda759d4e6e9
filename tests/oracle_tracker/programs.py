"""Small training programs that both trackers watch; each makes everything anew, from one seed.

Each of the modules that are only imported lists its own in PROGRAMS.
"""

from __future__ import annotations

import checkpoint_programs  # noqa: F401
import net_programs  # noqa: F401
import storage_programs  # noqa: F401
from program_kit import PROGRAMS, Program, training

__all__ = ["PROGRAMS", "Program", "training"]
