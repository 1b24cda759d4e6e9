"""Prints the snapshots of a MemTracker, in the layout PyTorch's has."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

_TOTAL = "Total"
_DIVISORS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def _get_mem_divisor(units: str) -> int:
    if units not in _DIVISORS:
        raise ValueError(f"Unsupported unit: {units}. Supported units are: {', '.join(_DIVISORS)}")
    return _DIVISORS[units]


def _rounding_fn(value: int, divisor: int, precision: int) -> float | int:
    return value if divisor == 1 else round(value / divisor, precision)


def natural_order(name: str) -> list[int | str]:
    """Sorts layer 2 before layer 10, and regardless of case."""
    return [int(part) if part.isdigit() else part.lower() for part in re.split("([0-9]+)", name)]


def _text(key: Any) -> str:
    return str(key.value) if isinstance(key, Enum) else str(key)


def _shown(snapshot: Any, units: str) -> Any:
    """The devices that have something, with their values as text."""
    divisor = _get_mem_divisor(units)
    for device, row in snapshot.items():
        if _rounding_fn(row[_TOTAL], divisor, 2) > 0:
            yield device, {_text(k): f"{_rounding_fn(v, divisor, 2)} {units}" for k, v in row.items()}


def _table() -> Any:
    try:
        from tabulate import tabulate  # type: ignore[import-untyped]
    except ImportError as problem:
        raise ImportError("Please install tabulate to use the tabulate option.") from problem
    return tabulate


def _print_snapshot(snapshot: Any, units: str) -> None:
    if not snapshot:
        print("No memory tracked.")
        return
    for device, row in _shown(snapshot, units):
        print(f"Device: {device}", *(f"\t{key}: {value}" for key, value in row.items()), sep="\n")


def _print_snapshot_tabular(snapshot: Any, units: str) -> None:
    if not snapshot:
        print("No memory tracked.")
        return
    table = _table()
    headers = ["Device", *(_text(key) for key in next(iter(snapshot.values())))]
    rows = [[str(device), *row.values()] for device, row in _shown(snapshot, units)]
    print(table(rows, headers=headers, tablefmt="rst"))


def _print_state_snapshots(snapshots: Any, units: str) -> None:
    for state, calls in snapshots.items():
        print(_text(state))
        for call, snapshot in enumerate(calls, start=1):
            print(f"# {call}:")
            _print_snapshot(snapshot, units)
    print()


def _print_state_snapshots_tabular(snapshots: Any, units: str) -> None:
    table = _table()
    rows: list[dict[str, str]] = []
    last = None
    for state, calls in snapshots.items():
        for call, snapshot in enumerate(calls, start=1):
            title = f"{_text(state)} # {call}"
            for device, row in _shown(snapshot, units):
                rows.append(
                    {"State & Call": "" if title == last else title, "Device": str(device), **row}
                )
                last = title
    print(table(rows, headers="keys", tablefmt="rst"))
