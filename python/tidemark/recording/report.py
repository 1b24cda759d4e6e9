"""What a recorded run tells: facts for programs, text for people, in the form of an estimate's."""

from __future__ import annotations

import json
from typing import Any

import tidemark
from tidemark.reporting.device_part import device_part, notes, wrapped
from tidemark.reporting.module_tables import modules_part
from tidemark.reporting.tape_facts import device_facts, module_facts

SCHEMA_VERSION = 1
LARGEST = 10


def facts_of(tape: tidemark.Tape, steps: int, depth: int) -> dict[str, Any]:
    """Peak and modules of a run, down to a depth of modules; 0 is all."""
    peak = json.loads(tape.peak(top=LARGEST).to_json())
    scopes = json.loads(tape.scopes(depth=depth).to_json())
    return {
        "schema_version": SCHEMA_VERSION,
        "report": "record",
        "steps": steps,
        "events": peak["events"],
        "devices": [device_facts(device, LARGEST) for device in peak["devices"]],
        "depth": depth,
        "modules": module_facts(scopes),
        "diagnostics": peak["diagnostics"] + scopes["diagnostics"],
    }


def text_report(facts: dict[str, Any], width: int = 80) -> str:
    parts = [device_part(device, facts["depth"], width) for device in facts["devices"]]
    if not parts:
        parts.append("No memory was allocated.")
    parts.append(modules_part(facts["modules"], width))
    steps = f"{facts['steps']} step{'' if facts['steps'] == 1 else 's'}, {facts['events']} events"
    parts.append(wrapped("\n".join([steps, *notes(facts["diagnostics"])]), width))
    return "\n\n".join(part for part in parts if part) + "\n"
