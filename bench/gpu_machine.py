"""Which GPU, driver and torch a benchmark was measured with."""

from __future__ import annotations

import subprocess


def machine() -> dict[str, str]:
    import torch

    drivers = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                             capture_output=True, text=True, check=True).stdout.split()
    return {"gpu": torch.cuda.get_device_name(), "driver": drivers[0], "torch": torch.__version__}
