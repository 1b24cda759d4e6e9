"""Every analysis on the tiny run of conftest.py, whose totals are written beside its events."""

import pytest

import tidemark
from tidemark import Category, LifeSpan, Phase, TimelineAxis


def leaking_run(steps: int) -> tidemark.Tape:
    """Each step leaves one kibibyte behind, and frees another."""
    builder = tidemark.TapeBuilder()
    for _ in range(steps):
        builder.begin_step()
        builder.alloc("cuda:0", 1024, "Other", source=("log.py", 7), op="aten::clone")
        builder.free(builder.alloc("cuda:0", 1024, "Temporary"))
    return builder.finish()


def test_peak_finds_the_moment_and_what_was_alive(tiny):
    (device,) = tiny.peak().devices
    assert (device.device, device.allocated_bytes, device.requested_bytes) == ("cuda:0", 5120, 5000)
    assert (device.at.event, device.at.step, device.at.phase) == (8, 1, Phase.Backward)
    assert (device.at.scope, device.at.op) == ("layers.0", "aten::mm_backward")
    assert device.categories == {
        Category.Parameter: 1024, Category.Activation: 3072, Category.Gradient: 1024,
    }
    assert device.alive_count == 3


def test_the_largest_storages_know_their_birth(tiny):
    largest = tiny.peak().devices[0].largest[0]
    assert (largest.storage, largest.allocated_bytes, largest.requested_bytes) == (1, 3072, 3000)
    assert (largest.category, largest.device) == (Category.Activation, "cuda:0")
    assert (largest.born.event, largest.born.op) == (4, "aten::mm")
    assert (largest.born.source, largest.born.phase) == ("train.py:12", Phase.Forward)


def test_top_limits_the_largest_storages(tiny):
    assert len(tiny.peak(top=2).devices[0].largest) == 2
    assert tiny.peak(top=0).devices[0].largest == []


def test_a_step_can_be_selected(tiny):
    assert tiny.peak(step=0).devices[0].allocated_bytes == 1024
    assert tiny.peak(device="cuda:0", step=1).devices[0].allocated_bytes == 5120


def test_scopes_have_bytes_before_after_and_inside(tiny):
    (scope,) = [s for s in tiny.scopes().scopes if s.path == "layers.0"]
    forward, backward = scope.phases
    assert (forward.phase, backward.phase) == (Phase.Forward, Phase.Backward)
    (inside,) = forward.devices
    assert (inside.before, inside.peak, inside.after, inside.grown) == (1024, 4096, 4096, 3072)
    (inside,) = backward.devices
    assert (inside.before, inside.peak, inside.after, inside.grown) == (4096, 5120, 2048, -2048)
    assert (inside.peak_event, sum(inside.peak_categories.values())) == (8, 5120)
    assert scope.calls == []


def test_scopes_can_list_each_call(tiny):
    (scope,) = [s for s in tiny.scopes(per_call=True).scopes if s.path == "layers.0"]
    assert [(call.phase, call.first_event, call.last_event) for call in scope.calls] == [
        (Phase.Forward, 3, 5), (Phase.Backward, 7, 10),
    ]


def test_depth_leaves_inner_scopes_out():
    tape = tidemark.read_text("tape 1\nbegin a\nbegin a.b\nalloc x 1\nend a.b\nend a\n")
    assert [scope.path for scope in tape.scopes(depth=1).scopes] == ["a"]
    assert [(s.path, s.depth) for s in tape.scopes().scopes] == [("a", 1), ("a.b", 2)]


def test_the_timeline_has_a_point_for_every_change(tiny):
    answer = tiny.timeline()
    assert (answer.axis, answer.first, answer.last) == (TimelineAxis.Events, 0, 14)
    (device,) = answer.devices
    assert [point.highest for point in device.points] == [1024, 4096, 5120, 2048, 4096, 3072]
    assert device.points[2].categories == tiny.peak().devices[0].categories
    assert (device.points[2].phase, device.points[2].step) == (Phase.Backward, 1)


def test_a_decimated_timeline_keeps_the_peak(tiny):
    (device,) = tiny.timeline(columns=2, by="time").devices
    assert len(device.points) <= 2
    assert max(point.highest for point in device.points) == 5120


def test_the_axis_may_be_said_as_an_enum(tiny):
    assert tiny.timeline(by=TimelineAxis.Time).axis == TimelineAxis.Time


def test_lifetimes_tell_who_lives_how_long(tiny):
    answer = tiny.lifetimes()
    assert answer.storages == 4
    spans = {life.storage.storage: life.span for life in answer.heaviest}
    assert spans == {
        0: LifeSpan.ToTheEnd, 1: LifeSpan.WithinStep, 2: LifeSpan.WithinStep, 3: LifeSpan.ToTheEnd,
    }
    (activation,) = [life for life in answer.heaviest if life.storage.storage == 1]
    assert activation.died is not None
    assert (activation.died.event, activation.events) == (9, 9 - 4)
    assert sum(group.count for group in answer.groups) == 4


def test_leaks_are_what_grows_after_the_first_step():
    answer = leaking_run(steps=5).leaks()
    assert answer.enough_steps and answer.finished_steps == 4
    (site,) = answer.sites
    assert (site.source, site.op, site.category) == ("log.py:7", "aten::clone", Category.Other)
    # The first step is warm-up and the fifth is not finished: steps 2, 3 and 4 count.
    assert (site.first_step, site.last_step, site.steps, site.count) == (2, 4, 3, 3)
    assert (site.allocated_bytes, site.bytes_per_step) == (3 * 1024, 1024)
    assert answer.leaked_bytes == 3 * 1024


def test_two_steps_cannot_show_a_leak():
    answer = leaking_run(steps=2).leaks()
    assert not answer.enough_steps and answer.sites == []


def test_diff_tells_what_grew(tiny):
    larger = tidemark.read_text(tiny.to_text().replace(" 3000 ", " 7000 "))
    answer = tiny.diff(larger)
    (device,) = answer.devices
    assert not answer.same
    # 7000 bytes are 14 blocks of 512: 7168 instead of 3072.
    assert (device.peak.before, device.peak.after) == (5120, 5120 - 3072 + 7168)
    grown = {row.name: row.after - row.before for row in device.categories}
    assert grown["Activation"] == 4096 and grown["Parameter"] == 0
    assert {row.name: row.after - row.before for row in device.ops}["aten::mm"] == 4096


def test_a_tape_does_not_differ_from_itself(tiny):
    assert tiny.diff(tiny).same


def test_the_report_is_peak_scopes_and_timeline_together(tiny):
    report = tiny.report(columns=10)
    assert (report.meta, report.events, report.steps) == ({"model": "tiny"}, 15, 2)
    assert report.peak.devices[0].allocated_bytes == 5120
    assert "layers.0" in [scope.path for scope in report.scopes.scopes]
    assert len(report.timeline.devices[0].points) <= 10


@pytest.mark.parametrize("name", ["peak", "scopes", "timeline", "lifetimes", "leaks"])
def test_each_analysis_is_a_function_as_well(tiny, name):
    function = getattr(tidemark, f"find_{name}")
    assert function(tiny).to_json() == getattr(tiny, name)().to_json()


def test_diff_and_report_are_functions_as_well(tiny):
    assert tidemark.find_diff(tiny, tiny).to_json() == tiny.diff(tiny).to_json()
    assert tidemark.find_overview(tiny).to_json() == tiny.report().to_json()


def test_odd_data_is_reported_with_the_answer():
    answer = tidemark.read_text("tape 1\nalloc a 512\nfree a\nfree a\n").peak()
    assert answer.devices[0].allocated_bytes == 512
    assert [problem.code for problem in answer.diagnostics] == ["double-free"]
