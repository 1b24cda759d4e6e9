"""The sweep's results in words: one line of numbers, and the table of docs/models.md."""

from __future__ import annotations

import datetime
from typing import Any

Result = dict[str, Any]


def counts(result: Result) -> bool:
    """Does the small configuration train on plain CPU tensors?"""
    return "error" not in result["cpu"]


def passes(result: Result) -> bool:
    return "error" not in result.get("phantom", {"error": ""})


def good_enough(results: list[Result]) -> bool:
    """Nearly all that count pass, and none ends in a crash or a hang."""
    counted = [result for result in results if counts(result)]
    passed = [result for result in counted if passes(result)]
    broken = any(result.get("phantom", {}).get("ended") for result in counted)
    return not broken and len(passed) >= 0.97 * len(counted)


def summary(results: list[Result]) -> str:
    counted = [result for result in results if counts(result)]
    passed = [result for result in counted if passes(result)]
    share = 100 * len(passed) / max(len(counted), 1)
    broken = [r for r in counted if r.get("phantom", {}).get("ended")]
    return (
        f"{len(results)} types, {len(counted)} train on the CPU, {len(passed)} of them on a "
        f"virtual GPU ({share:.1f} %), {len(broken)} crashes or hangs"
    )


def markdown_table(results: list[Result]) -> str:
    import torch
    import transformers

    today = datetime.date.today().isoformat()
    lines = [
        "# Model types that train on virtual GPUs",
        "",
        f"Made by `make test-models` on {today} with torch {torch.__version__.split('+')[0]} and "
        f"transformers {transformers.__version__}.",
        "",
        "Each type's configuration is made small, and the model trains two AdamW steps: first on "
        "plain CPU tensors (does the type count?), then on `cuda` with tidemark's virtual GPUs. "
        "Types with several kinds of input train on text alone where images or sounds would need "
        "a processor; their image and sound parts are types of their own.",
        "",
        f"**{summary(results)}.**",
        "",
    ]
    lines += section("Failures on the virtual GPU", failures(results))
    lines += section("Passed", passed_rows(results))
    lines += section("Not counted: does not train on the CPU in this set-up", uncounted(results))
    return "\n".join(lines)


def section(title: str, rows: list[str]) -> list[str]:
    return [f"## {title} ({max(len(rows) - 2, 0)})", "", *(rows or ["None."]), ""]


def table(header: str, rows: list[str]) -> list[str]:
    return [header, "|" + "---|" * (header.count("|") - 1), *rows] if rows else []


def clean(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def failures(results: list[Result]) -> list[str]:
    return table("| type | class | reason |", [
        f"| {r['type']} | {r['cpu']['class']} | {clean(r['phantom']['error'])} |"
        for r in results
        if counts(r) and not passes(r) and "phantom" in r
    ])


def passed_rows(results: list[Result]) -> list[str]:
    return table("| type | class | parameters | peak on the virtual GPU |", [
        f"| {r['type']} | {r['cpu']['class']} | {r['phantom']['elements']:,} "
        f"| {r['phantom']['peak']:,} B |"
        for r in results
        if counts(r) and passes(r)
    ])


def uncounted(results: list[Result]) -> list[str]:
    return table("| type | reason |", [
        f"| {r['type']} | {clean(r['cpu']['error'])} |" for r in results if not counts(r)
    ])
