"""Saving and loading: a tensor without values is a hole in its file, and large files are mapped."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import serialization

from tidemark.virtual_cuda.library import library
from tidemark.virtual_cuda.patches import Patches
from tidemark.virtual_cuda.storages import bytes_of, is_phantom

# Files from this size on are mapped by torch.load: what nobody reads takes no memory.
LARGE_FILE_BYTES = 1 << 20
ZIP_BEGINS = b"PK\x03\x04"

_saving = threading.local()  # `depth`: how many of this thread's files are being written


def patch_saved_tensors(patches: Patches) -> None:
    patch_holes(patches)
    patch_mapping(patches)
    patch_streams_of_bytes(patches)


def patch_holes(patches: Patches) -> None:
    """torch.save moves a storage to the CPU and writes its bytes. One without values stays where it
    is, and its file gets room for it."""
    open_writer: Any = serialization._open_zipfile_writer
    cpu: Any = torch.UntypedStorage.cpu

    @contextmanager
    def open_with_holes(name_or_buffer: Any) -> Iterator[Any]:
        with open_writer(name_or_buffer) as writer:
            if not can_have_holes(name_or_buffer):
                yield writer
                return
            _saving.depth = getattr(_saving, "depth", 0) + 1
            try:
                yield _WriterOfHoles(writer)
            finally:
                _saving.depth -= 1

    def to_cpu(self: Any) -> Any:
        return self if getattr(_saving, "depth", 0) and has_no_values(self) else cpu(self)

    patches.set(serialization, "_open_zipfile_writer", open_with_holes)
    patches.set(torch.UntypedStorage, "cpu", to_cpu)


def can_have_holes(name_or_buffer: Any) -> bool:
    """A hole is a step forward in the file."""
    return isinstance(name_or_buffer, (str, os.PathLike)) or hasattr(name_or_buffer, "seek")


def has_no_values(storage: torch.UntypedStorage) -> bool:
    return is_phantom(storage) and bool(library().certainty(storage._cdata) == "unknown")


class _WriterOfHoles:
    """torch's writer of zip files, but for storages without values."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write_record(self, name: str, data: Any, size: int) -> None:
        if isinstance(data, torch.UntypedStorage) and has_no_values(data):
            self._writer.write_record_metadata(name, size)
        else:
            self._writer.write_record(name, data, size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


def patch_mapping(patches: Patches) -> None:
    load = serialization.load

    @functools.wraps(load)
    def load_mapped(f: Any, *args: Any, mmap: bool | None = None, **kwargs: Any) -> Any:
        if mmap is None and can_be_mapped(f):
            mmap = True
        return load(f, *args, mmap=mmap, **kwargs)

    patches.set(serialization, "load", load_mapped)
    patches.set(torch, "load", load_mapped)


def can_be_mapped(f: Any) -> bool:
    if not isinstance(f, (str, os.PathLike)):
        return False
    try:
        with open(f, "rb") as file:
            return file.read(4) == ZIP_BEGINS and os.fstat(file.fileno()).st_size >= LARGE_FILE_BYTES
    except OSError:
        return False  # torch says why


def patch_streams_of_bytes(patches: Patches) -> None:
    """What pickles and the old form of files are made of."""
    write: Any = torch.UntypedStorage._write_file
    read: Any = torch.UntypedStorage._set_from_file

    def write_file(self: Any, file: Any, is_real: bool, with_size: bool, item_bytes: int) -> None:
        write(on_cpu(self) if is_phantom(self) else self, file, is_real, with_size, item_bytes)

    def set_from_file(self: Any, file: Any, offset: Any, is_real: bool, item_bytes: int) -> Any:
        if not is_phantom(self):
            return read(self, file, offset, is_real, item_bytes)
        values = torch.empty(self.nbytes(), dtype=torch.uint8, device="cpu").untyped_storage()
        read(values, file, offset, is_real, item_bytes)
        self.copy_(values)
        return self

    patches.set_all(torch.UntypedStorage, _write_file=write_file, _set_from_file=set_from_file)


def on_cpu(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    return bytes_of(storage).cpu().untyped_storage()
