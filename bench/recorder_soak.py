"""Records ten million births and deaths into a file: none may be lost, and memory must stay flat.

    python bench/recorder_soak.py [--events 10000000] [--threads 2]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import threading
import time
from pathlib import Path

import torch

import tidemark


def make_storages(count: int) -> None:
    for _ in range(count):
        torch.empty(64)


def memory_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    each = options.events // 2 // options.threads
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.tape"
        tracking = tidemark.track(save=str(path))
        with tracking:
            make_storages(100_000)
            before, begin = memory_kib(), time.perf_counter()
            threads = [threading.Thread(target=make_storages, args=(each,))
                       for _ in range(options.threads)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            grown, seconds = memory_kib() - before, time.perf_counter() - begin
        written = tracking._tracker.events
        tracking._tracker.finish()
        expected = 2 * (100_000 + each * options.threads)
        print(f"{written} events in {seconds:.1f} s, {expected - written} lost, "
              f"{path.stat().st_size / written:.1f} bytes an event in the file, "
              f"memory grew by {grown} KiB, dropped by the ring: "
              f"{tidemark.recording.library._recorder.dropped()}")


if __name__ == "__main__":
    main()
