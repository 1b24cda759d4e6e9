"""Files that are no tapes: each is recognised, and the answer says what it is and what to do."""

import io
import json
import pickle
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

MODEL = Path(__file__).resolve().parents[1] / "fuzz" / "pt2_seeds" / "small.pt2"

SEGMENT = {"device": 0, "address": 1 << 46, "total_size": 2 << 20, "segment_type": "large"}
SNAPSHOT = {"segments": [SEGMENT], "device_traces": [[]], "allocator_settings": {}}
HEAD = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()


class Trap:
    """Whoever unpickles it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def zipped(**members):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        for name, content in members.items():
            writer.writestr("x/" + name.replace("__", "/").replace("_", "."), content)
    return archive.getvalue()


SCRIPT = "tidemark estimate {path}"
RECORD = "reading those is not there yet; tidemark record SCRIPT"
EXPORT = "torch.export.save"

OTHERS = {
    "a script": ("train.py", b"import torch\n", "a Python script", SCRIPT),
    "a script that begins like a tape": ("a.py", b"tape = 1\n", "a Python script", SCRIPT),
    "a script by its first line": ("train", b"#!/usr/bin/env python3\n", "a Python script", SCRIPT),
    "a snapshot": ("s.pickle", pickle.dumps(SNAPSHOT, 4), "a PyTorch memory snapshot", RECORD),
    "a snapshot of C++": ("s", pickle.dumps(SNAPSHOT, 2), "a PyTorch memory snapshot", RECORD),
    "an old snapshot": ("s", pickle.dumps([SEGMENT]), "a PyTorch memory snapshot", RECORD),
    "a packed snapshot": ("s.zip", zipped(s_pickle=pickle.dumps(SNAPSHOT)),
                          "a PyTorch memory snapshot", RECORD),
    "a snapshot of torch.save": ("s.pt", zipped(data_pkl=pickle.dumps(SNAPSHOT, 2)),
                                 "a PyTorch memory snapshot", RECORD),
    "a checkpoint": ("c.pt", zipped(data_pkl=pickle.dumps({"segments.weight": 1}, 2), version="3"),
                     "a checkpoint of torch.save", "tidemark estimate SCRIPT"),
    "an old checkpoint": ("c.pt", pickle.dumps(0x1950A86A20F9469CFC6C, 2) + b"\x80\x02}.",
                          "a checkpoint of torch.save", "tidemark estimate SCRIPT"),
    "a TorchScript model": ("m.pt", zipped(data_pkl="", constants_pkl="", code__m_py=""),
                            "a TorchScript model", EXPORT),
    "a compiled model": ("m.pt2", zipped(data__aotinductor__model__m_so="", archive_format=""),
                         "compiled by AOTInductor", EXPORT),
    "safetensors": ("w.safetensors", struct.pack("<Q", len(HEAD)) + HEAD + bytes(4),
                    "a safetensors file", "tidemark estimate SCRIPT"),
    "ONNX": ("m.onnx", b"\x08\x08\x12\x07pytorch\x1a\x032.0:", "an ONNX model", EXPORT),
    "a pickle": ("p.pkl", pickle.dumps([1, 2, 3]), "a pickle", "it is not opened"),
    "a zip archive": ("z.zip", zipped(readme="hello"), "a zip archive without", EXPORT),
    "a damaged archive": ("m.pt2", MODEL.read_bytes()[:500], "or a damaged one", EXPORT),
    "an archive without members": ("z.zip", zipped(), "a zip archive without", EXPORT),
    "something packed": ("run.tape.gz", b"\x1f\x8b\x08\0", "packed with gzip", "gunzip {path}"),
    "other JSON": ("x.json", b'{"answer": 42}', "JSON, but none", "tidemark record"),
    "other text": ("notes.txt", b"buy milk\n", "text, but not a tape", "tape 1"),
    "other bytes": ("x.bin", b"\x7fELF\0\0\0\0", "not a kind of file", ".pt2"),
}


@pytest.mark.parametrize("case", OTHERS)
@pytest.mark.parametrize("verb", ["report", "convert"])
def test_a_file_of_another_kind_is_named_and_explained(write, tmp_path, tidemark, case, verb):
    name, content, kind, hint = OTHERS[case]
    path = write(content, name)
    done = tidemark(verb, path, *([tmp_path / "out.tape"] if verb == "convert" else []))
    first, second = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert first.startswith(f"tidemark: {path}: this is ") and kind in first
    assert second.startswith("  hint: ") and hint.format(path=path) in second
    assert not (tmp_path / "out.tape").exists()


def test_nothing_is_ever_unpickled(write, tmp_path, tidemark):
    trap = tmp_path / "unpickled"
    content = pickle.dumps({"segments": [Trap(str(trap))]})
    for path in (write(content, "s.pickle"), write(zipped(data_pkl=content), "s.pt")):
        assert "snapshot" in tidemark("report", path).stderr
    assert not trap.exists()


@pytest.mark.parametrize("verb", ["report", "verify"])
def test_a_long_comment_before_a_tape_is_part_of_it(write, tidemark, verb):
    path = write("# why\n" * 5000 + "\n \ntape 1\ndevice cpu\nalloc a 1KiB\n")
    assert tidemark(verb, path).returncode == 0


def test_a_pipe_is_refused_and_a_redirected_model_is_read(binary):
    piped = subprocess.run(f"cat '{MODEL}' | '{binary}' peak /dev/stdin", shell=True,
                           capture_output=True, text=True, timeout=60)
    assert piped.returncode == 2
    assert "not a regular file" in piped.stderr and "save it to a file first" in piped.stderr
    with MODEL.open("rb") as file:
        whole = subprocess.run([binary, "peak", "/dev/stdin", "--json"], stdin=file,
                               capture_output=True, text=True, timeout=60)
    assert whole.returncode == 0, whole.stderr
