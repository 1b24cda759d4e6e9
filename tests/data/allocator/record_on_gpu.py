"""Records what a real GPU's caching allocator does, for tests/unit/allocator_recordings_test.cpp.

    python tests/data/allocator/record_on_gpu.py FOLDER [NAME]

Each program runs in a process of its own, since settings are read once. torch is all it needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PAGE = 2 << 20
LETTERS = {"segment_alloc": "S", "segment_map": "M", "segment_free": "F", "segment_unmap": "U"}
FAMILIES = ("allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes",
            "inactive_split_bytes", "allocation", "active", "segment", "inactive_split")


class Writer:
    """Turns the allocator's history into words, and checks it against the profiler's totals."""

    def __init__(self, history: list[dict[str, Any]], totals: list[dict[str, int]],
                 segments: list[dict[str, Any]], is_limited: bool) -> None:
        self.history, self.totals, self.is_limited = history, iter(totals), is_limited
        streams = sorted({0} | {entry["stream"] for entry in history if "stream" in entry})
        self.streams = {stream: number for number, stream in enumerate(streams)}
        self.segments = segments
        self.pools = sorted({tuple(one["segment_pool_id"]) for one in segments} | {(0, 0)})
        self.lowest = min(entry["addr"] for entry in history if entry["action"] in LETTERS)
        self.freed_last = {entry["addr"]: turn for turn, entry in enumerate(history)
                           if entry["action"] == "segment_free"}
        self.words: list[str] = []
        self.alive: dict[int, tuple[int, int]] = {}
        self.waiting: dict[int, int] = {}
        self.requests = self.allocated = self.reserved = self.places = 0

    def write(self) -> list[str]:
        for turn, entry in enumerate(self.history):
            action = entry["action"]
            if action in LETTERS:
                self.segment(turn, entry)
            elif action in ("alloc", "free_requested", "free_completed", "oom"):
                getattr(self, action)(turn, entry)
        return self.words

    def on(self, entry: dict[str, Any]) -> str:
        number = self.streams[entry["stream"]]
        return f"@{number}" if number else ""

    def follower(self, turn: int) -> dict[str, Any]:
        return self.history[turn + 1] if turn + 1 < len(self.history) else {"action": ""}

    def check(self, entry: dict[str, Any], signed: int) -> int:
        """The block's bytes, as the profiler has them."""
        told = next(self.totals)
        assert told["Addr"] == entry["addr"] and told["Bytes"] * signed > 0, (entry, told)
        self.allocated += told["Bytes"]
        assert told["Total Allocated"] == self.allocated, (entry, told)
        assert told["Total Reserved"] == self.reserved, (entry, told)
        return abs(told["Bytes"])

    def segment(self, turn: int, entry: dict[str, Any]) -> None:
        letter, size = LETTERS[entry["action"]], entry["size"]
        self.words.append(f"{letter}{(entry['addr'] - self.lowest) // PAGE}:{size // PAGE}{self.on(entry)}")
        is_back = letter in "FU"
        self.reserved += -size if is_back else size
        # Without a limit only an emptied cache gives memory back.
        if is_back and not self.is_limited and LETTERS.get(self.follower(turn)["action"], "") not in ("F", "U"):
            self.words.append("E")

    def pool_of(self, turn: int, address: int) -> int:
        for one in self.segments:
            if 0 <= address - one["address"] < one["total_size"]:
                is_same = turn > self.freed_last.get(one["address"], -1)
                return self.pools.index(tuple(one["segment_pool_id"])) if is_same else 0
        return 0

    def alloc(self, turn: int, entry: dict[str, Any]) -> None:
        size = self.check(entry, +1)
        self.requests += 1
        self.alive[entry["addr"]] = self.requests, size
        pool = self.pool_of(turn, entry["addr"])
        usual = max(512, (entry["size"] + 511) // 512 * 512)
        self.words.append(f"+{entry['size']}" + (f"={size // 512}" if size != usual else "") +
                          self.on(entry) + (f"/{pool}" if pool else ""))
        self.places += self.requests * ((entry["addr"] - self.lowest) // 512)

    def free_requested(self, turn: int, entry: dict[str, Any]) -> None:
        request, size = self.alive.pop(entry["addr"])
        assert size == self.check(entry, -1)
        after = self.follower(turn)
        is_at_once = after["action"] == "free_completed" and after["addr"] == entry["addr"]
        self.words.append(f"{'-' if is_at_once else '~'}{self.requests - request}")
        if not is_at_once:
            self.waiting[entry["addr"]] = request

    def free_completed(self, turn: int, entry: dict[str, Any]) -> None:
        if entry["addr"] in self.waiting:
            self.words.append(f"!{self.requests - self.waiting.pop(entry['addr'])}")

    def oom(self, turn: int, entry: dict[str, Any]) -> None:
        self.words.append(f"O{entry['size']}{self.on(entry)}")


def record(name: str, folder: Path) -> None:
    import torch

    from programs import PROGRAMS

    torch.cuda.init()
    torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=2_000_000)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                profile_memory=True) as profile:
        PROGRAMS[name][1]()
        torch.cuda.synchronize()
        stats = torch.cuda.memory_stats()
    snapshot = torch.cuda.memory._snapshot()
    with tempfile.TemporaryDirectory() as scratch:
        profile.export_chrome_trace(f"{scratch}/trace.json")
        trace = json.loads(Path(scratch, "trace.json").read_text())["traceEvents"]
    memory = [one for one in trace if one.get("name") == "[memory]" and one["args"]["Device Type"] == 1]
    totals = [one["args"] for one in sorted(memory, key=lambda one: one["ts"])]
    limit = torch.cuda.get_per_process_memory_fraction()
    writer = Writer(snapshot["device_traces"][0], totals, snapshot["segments"], limit < 1)
    words = writer.write()
    gpu = torch.cuda.get_device_properties(0)
    head = [f"settings {PROGRAMS[name][0]}".strip(),
            f"made with torch {torch.__version__} on an {gpu.name}", f"device {gpu.total_memory}"]
    if limit < 1:
        head.append(f"limit {int(limit * gpu.total_memory)}")
    for family in FAMILIES:
        kinds = (stats[f"{family}.all.{kind}"] for kind in ("current", "peak", "allocated", "freed"))
        head.append(f"final {family} {' '.join(map(str, kinds))}")
    counts = (f"final retries {stats['num_alloc_retries']} ooms {stats['num_ooms']} "
              f"device_allocs {stats['num_device_alloc']} device_frees {stats['num_device_free']}")
    # A cache that was emptied and had nothing leaves no trace: then they cannot be counted.
    if "E" not in words:
        counts += f" synchronisations {stats['num_sync_all_streams']}"
    head += [counts, f"places {writer.places % 2**64}", "events"]
    (folder / f"{name}.txt").write_text("\n".join(head + lines_of(words)) + "\n")


def lines_of(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > 98:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 2:
        return record(sys.argv[2], folder)
    from programs import PROGRAMS

    for name, (settings, _) in PROGRAMS.items():
        subprocess.run([sys.executable, __file__, folder, name], check=True,
                       env=os.environ | {"PYTORCH_CUDA_ALLOC_CONF": settings})


if __name__ == "__main__":
    main()
