"""Columns are numpy views of the tape's own memory."""

import gc

import numpy as np
import pytest

import tidemark
from tidemark import Category, Kind

WIDTHS = {
    "time_ns": "int64", "bytes": "int64", "subject": "uint32", "scope": "uint32",
    "stack": "uint32", "call": "uint32", "stream": "uint16", "kind": "uint8",
    "category": "uint8", "phase": "uint8", "device": "uint8",
}


def test_every_column_has_its_type_and_one_value_an_event(tiny):
    columns = tiny.events.columns
    assert {name: str(column.dtype) for name, column in columns.items()} == WIDTHS
    assert {len(column) for column in columns.values()} == {15}
    assert sum(column.itemsize for column in columns.values()) <= 40


def test_attributes_and_dictionary_share_one_memory(tiny):
    for name, column in tiny.events.columns.items():
        assert np.shares_memory(column, getattr(tiny.columns, name)), name


def test_columns_hold_the_events(tiny):
    is_alloc = tiny.columns.kind == Kind.Alloc
    assert tiny.columns.bytes[is_alloc].tolist() == [1000, 3000, 1000, 2000]
    assert tiny.columns.category[is_alloc].tolist() == [
        Category.Parameter, Category.Activation, Category.Gradient, Category.OptimizerState,
    ]


def test_nobody_can_write_through_a_column(tiny):
    column = tiny.columns.bytes
    with pytest.raises(ValueError):
        column[0] = 1
    with pytest.raises(ValueError):
        column.flags.writeable = True


def test_a_column_keeps_its_tape_alive():
    column = tidemark.read_text("tape 1\nalloc a 123\n").columns.bytes
    gc.collect()
    noise = [tidemark.read_text("tape 1\nalloc a 9\n") for _ in range(100)]
    assert column.tolist() == [123] and len(noise) == 100


def test_an_empty_tape_has_empty_columns():
    columns = tidemark.read_text("tape 1\n").columns
    assert len(columns) == 0
    assert all(len(column) == 0 for column in columns.columns.values())


def test_the_view_is_a_sequence_of_events(tiny):
    assert [event.index for event in tiny.events] == list(range(15))
    assert tiny.events[-2].kind == Kind.Free
    assert repr(tiny.events) == "<EventColumns: 15 events>"


def test_timeline_fields_are_views_as_well(tiny):
    (device,) = tiny.timeline().devices
    columns = device.columns
    assert columns["highest"].tolist() == [1024, 4096, 5120, 2048, 4096, 3072]
    assert columns["event"].tolist() == [0, 4, 8, 9, 12, 13]
    assert columns["categories"].shape == (6, len(Category))
    assert (columns["categories"].sum(axis=1) == columns["highest"]).all()
    assert np.shares_memory(columns["highest"], device.columns["highest"])
    with pytest.raises(ValueError):
        columns["highest"][0] = 1


def test_timeline_fields_outlive_their_answer(tiny):
    highest = tiny.timeline().devices[0].columns["highest"]
    gc.collect()
    assert highest.max() == 5120
