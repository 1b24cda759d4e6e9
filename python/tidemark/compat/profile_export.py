"""Files of a profile's memory over time: rows by category, raw events, named series, a page."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import torch

from tidemark.compat.profile_keys import _CATEGORY_TO_COLORS

if TYPE_CHECKING:
    from tidemark.compat.memory_profiler import MemoryProfile

_NAMES = tuple("UNKNOWN" if c is None else c.name for c in _CATEGORY_TO_COLORS)
_COLORS = tuple(_CATEGORY_TO_COLORS.values())
_PIXELS_PER_INCH = 80
_MOST_POINTS = 4000  # of a plot: more than it has pixels


class MemoryProfileTimeline:
    """What `prof.export_memory_timeline` writes."""

    def __init__(self, memory_profile: MemoryProfile) -> None:
        self._memory_profile = memory_profile
        self._profile = memory_profile._profile

    @property
    def timeline(self) -> Any:
        return self._memory_profile.timeline

    @property
    def categories(self) -> Any:
        return self._memory_profile._categories

    def _coalesce_timeline(self, device_str: str) -> tuple[list[int], list[list[int]]]:
        """Times in microseconds, and for each a zero and the bytes by category."""
        return self._profile.coalesced(str(torch.device(device_str)))

    def export_memory_timeline(self, path: str, device_str: str) -> None:
        """[times, rows]; raw events where the path ends with .raw.json."""
        if str(path).endswith(".raw.json"):
            return self.export_memory_timeline_raw(path, device_str)
        _write_json(path, self._coalesce_timeline(device_str))

    def export_memory_timeline_raw(self, path: str, device_str: str) -> None:
        """A list of [time in ns, action, bytes more or less, category in the order of export]."""
        _write_json(path, self._profile.raw(str(torch.device(device_str))))

    def export_memory_timeline_named(self, path: str, device_str: str) -> None:
        """An object with the bytes of each category by its name, and their maxima."""
        times, rows = self._coalesce_timeline(device_str)
        series = {name: [row[at + 1] for row in rows] for at, name in enumerate(_NAMES)}
        totals = [sum(row) for row in rows]
        peak = max(range(len(rows)), key=totals.__getitem__, default=None)
        answer: dict[str, Any] = {
            "device": str(torch.device(device_str)),
            "times_us": times,
            "categories": series,
            "maxima": {name: max(values, default=0) for name, values in series.items()},
            "peak": None,
        }
        if peak is not None:
            at_peak = {name: values[peak] for name, values in series.items()}
            answer["peak"] = {
                "time_us": times[peak], "bytes": totals[peak], "categories": at_peak,
            }
        _write_json(path, answer)

    def export_memory_timeline_html(
        self,
        path: str,
        device_str: str,
        figsize: tuple[float, float] = (20, 12),
        title: str | None = None,
    ) -> None:
        """One page with a plot in it; it needs nothing else."""
        times, rows = self._coalesce_timeline(device_str)
        device = torch.device(device_str)
        lines = [title] if title else []
        cuda: Any = torch.cuda  # torch does not type it
        counts = device.type == "cuda" and cuda.is_initialized()
        for what in ("allocated", "reserved"):
            most = getattr(torch.cuda, f"max_memory_{what}")(device) if counts else 0
            lines.append(f"Max memory {what}: {most / 1024**3:.2f} GiB")
        with open(path, "w", encoding="utf-8") as file:
            file.write(_page(device, lines, _plot(times, rows, figsize)))


def _write_json(path: str, value: Any) -> None:
    with open(path, "w") as file:
        file.write(json.dumps(value))


def _page(device: torch.device, lines: list[str], plot: str) -> str:
    head = "".join(f"<p>{html.escape(line)}</p>\n" for line in lines)
    names = "".join(
        f'<span style="color:{color}">&#9632;</span> {name}\n'
        for name, color in zip(_NAMES, _COLORS)
    )
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
        f"<title>Memory of {device} over time</title></head>\n"
        f'<body style="font-family:sans-serif">\n{head}<p>{names}</p>\n{plot}\n</body></html>\n'
    )


def _plot(times: list[int], rows: list[list[int]], figsize: tuple[float, float]) -> str:
    """Stacked areas, categories in the order of export from below."""
    if not rows:
        return "<p>Nothing was allocated on this device.</p>"
    width, height = (inches * _PIXELS_PER_INCH for inches in figsize)
    span = max(times[-1] - times[0], 1)
    most = max(max(map(sum, rows)), 1)
    some = range(0, len(rows), -(-len(rows) // _MOST_POINTS))
    xs = [(times[i] - times[0]) / span * width for i in some]
    below = [0] * len(some)
    areas = []
    for at, (name, color) in enumerate(zip(_NAMES, _COLORS)):
        above = [low + rows[i][at + 1] for low, i in zip(below, some)]
        edge = [
            *zip(xs, above),
            *reversed(list(zip(xs, below))),
        ]
        points = " ".join(f"{x:.1f},{height - y / most * height:.1f}" for x, y in edge)
        areas.append(
            f'<polygon points="{points}" fill="{color}" fill-opacity="0.7">'
            f"<title>{name}</title></polygon>"
        )
        below = above
    return (
        f"<p>0 to {most / 1024**3:.3f} GiB over {span / 1e3:.3f} ms</p>\n"
        f'<svg width="{width:.0f}" height="{height:.0f}">\n' + "\n".join(areas) + "\n</svg>"
    )
