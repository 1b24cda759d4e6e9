"""Reads a profiler's trace of 1 GB to a full report: MB/s and memory, beside Python's json.

The trace is a real one, recorded here, whose steps are repeated in time with totals that go on.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, schedule

TIME = re.compile(r'"ts": ([0-9.]+)')
TOTAL = re.compile(r'"Total Allocated": -?[0-9]+')
EVENT = re.compile(r"^  \{\n.*?^  \}", re.MULTILINE | re.DOTALL)


def record(path: Path) -> None:
    """A small transformer, trained for a few steps on the CPU."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(model.parameters())
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True,
                 with_stack=True, schedule=schedule(wait=0, warmup=2, active=3, repeat=1),
                 on_trace_ready=lambda done: done.export_chrome_trace(str(path))) as profiler:
        for _ in range(5):
            model(torch.randn(4, 16, 64)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()


class Repeated:
    """The events of a trace, to be written again and again with later times."""

    def __init__(self, text: str) -> None:
        self.head = text[: text.index("[", text.index('"traceEvents"')) + 1]
        events = [one for one in EVENT.findall(text) if TIME.search(one)]
        times = [float(TIME.search(one)[1]) for one in events]
        self.start, self.length = min(times), max(times) - min(times) + 1000
        self.pieces = []
        for one, at in zip(events, times, strict=True):
            before, after = TIME.split(one, maxsplit=1)[::2]
            change = json.loads(one).get("args", {}) if '"[memory]"' in one else None
            self.pieces.append((before + '"ts": ', at - self.start, after, change))
        # Memory events count in the order of time, wherever they stand in the file.
        self.in_time = sorted(range(len(events)), key=lambda i: times[i])
        self.live: dict[int, int] = {}
        self.total = 0

    def totals(self) -> dict[int, int]:
        """The running total behind each memory event that fits what is live by now."""
        found = {}
        for i in self.in_time:
            change = self.pieces[i][3]
            if change is None:
                continue
            address, size = change["Addr"], change["Bytes"]
            if (size > 0) == (address in self.live):
                continue
            if size > 0:
                self.live[address] = size
            else:
                size = -self.live.pop(address)
            self.total += size
            found[i] = self.total
        return found

    def texts(self, turn: int):
        totals = self.totals()
        for i, (before, at, after, change) in enumerate(self.pieces):
            if change is not None:
                if i not in totals:
                    continue
                after = TOTAL.sub(f'"Total Allocated": {totals[i]}', after)
            yield f"{before}{self.start + turn * self.length + at:.3f}{after}"


def write(source: Path, target: Path, size: int) -> tuple[int, int]:
    """Writes at least so many bytes; returns them, and how many events they are."""
    repeated = Repeated(source.read_text())
    events = turn = 0
    with target.open("w", buffering=1 << 20) as out:
        out.write(repeated.head)
        while out.tell() < size:
            texts = list(repeated.texts(turn))
            out.write(("," if turn else "") + "\n" + ",\n".join(texts))
            events += len(texts)
            turn += 1
        out.write('\n  ],\n  "traceName": "bench"\n}\n')
    return target.stat().st_size, events


# A process of its own, and a small one: a child's peak counts what its parent has at the fork.
MEASURE = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def ours(path: Path) -> tuple[float, float, int]:
    """Seconds and processor seconds of the best of three reports, and their peak memory."""
    beside_python = str(Path(sys.executable).with_name("tidemark"))
    command = [os.environ.get("TIDEMARK_BIN", beside_python), "report", str(path), "--json"]
    seconds, busy, memory = min(
        json.loads(subprocess.run([sys.executable, "-c", MEASURE, *command], check=True,
                                  capture_output=True, text=True).stdout) for _ in range(3))
    return seconds, busy, memory * 1024


def python_sums(path: Path) -> float:
    """Seconds in which Python's json reads the file and sums the same memory events."""
    start = time.perf_counter()
    events = json.loads(path.read_text())["traceEvents"]
    changes = [one for one in events if one.get("name") == "[memory]"]
    changes.sort(key=lambda one: one["ts"])
    now = peak = 0
    for one in changes:
        now += one["args"]["Bytes"]
        peak = max(peak, now)
    assert peak > 0
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--python-megabytes", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        source, target = Path(folder, "small.json"), Path(folder, "large.json")
        record(source)
        size, _ = write(source, target, asked.python_megabytes * 10**6)
        python_rate = size / 1e6 / python_sums(target)
        size, events = write(source, target, asked.megabytes * 10**6)
        seconds, busy, memory = ours(target)
        allowed = 300e6 + 60 * events
        print(f"{size / 1e6:.0f} MB, {events} events of a profiler's trace")
        print(f"tidemark report     {size / 1e6 / seconds:6.0f} MB/s  {seconds:.2f} s, of which the "
              f"processor {busy:.2f} s: {size / 1e6 / busy:.0f} MB/s; "
              f"peak memory {memory / 1e6:.0f} MB (300 MB + 60 B an event: {allowed / 1e6:.0f} MB)")
        print(f"Python's json, sums {python_rate:6.0f} MB/s")
        print(f"ratio               {size / 1e6 / seconds / python_rate:6.1f}")


if __name__ == "__main__":
    sys.exit(main())
