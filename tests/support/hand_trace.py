"""Small traces of PyTorch's profiler, written by hand."""

import json


def memory(at, address, size, total, *, device=(1, 0), thread=1, **more):
    """An allocation, or a free where the size is negative; `total` is allocated afterwards."""
    args = {"Total Reserved": 0, "Total Allocated": total, "Bytes": size, "Device Id": device[1],
            "Device Type": device[0], "Addr": address, **more}
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1,
            "tid": thread, "ts": at, "args": args}


def out_of_memory(at, size, total):
    args = {"Total Reserved": 0, "Total Allocated": total, "Bytes": size, "Device Id": 0,
            "Device Type": 1}
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[OutOfMemory]", "pid": 1,
            "tid": 1, "ts": at, "args": args}


def span(category, name, begin, end, *, thread=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin,
            "dur": end - begin, "args": args}


def operator(name, begin, end, **more):
    return span("cpu_op", name, begin, end, **more)


def module(name, begin, end, **more):
    return span("python_function", f"nn.Module: {name}", begin, end, **more)


def region(name, begin, end, **more):
    return span("user_annotation", name, begin, end, **more)


def trace(*events, **head):
    return json.dumps({"schemaVersion": 1, **head, "traceEvents": list(events)})
