"""Devices and modules of a report, from the JSON of a tape's peak and scopes."""

from __future__ import annotations

from typing import Any


def device_facts(device: dict[str, Any], top: int) -> dict[str, Any]:
    return {
        "device": device["device"],
        "peak_allocated_bytes": device["allocated_bytes"],
        "peak_requested_bytes": device["requested_bytes"],
        "at": device["at"],
        "categories": device["categories"],
        "alive_count": device["alive_count"],
        "largest": device["largest"][:top],
        "owners": device["owners"],
    }


def module_facts(scopes: dict[str, Any]) -> list[dict[str, Any]]:
    """Each module's bytes, and its peak in each phase on each device."""
    return [
        {
            "module": scope["path"],
            "parameter_bytes": scope["parameter_bytes"],
            "buffer_bytes": scope["buffer_bytes"],
            "peaks": [
                {"phase": phase["phase"], "device": device["device"],
                 "calls": phase["calls"], "peak_bytes": device["peak"],
                 "categories": device["peak_categories"]}
                for phase in scope["phases"] for device in phase["devices"]
            ],
        }
        for scope in scopes["scopes"]
    ]
