"""Every verb on tapes small enough to work out by hand."""

import json

import pytest

# Live bytes after each event that changes them, on a device that rounds nothing:
#
#   event  0 alloc w   1000     event 14 alloc m   4000
#   event  5 alloc x   1300     event 17 free g    3000
#   event 10 alloc g   2300     event 18 alloc y   4500
#   event 11 free x    2000
TWO_STEPS = """\
tape 1
meta run tiny
device cpu
alloc w 1000 Parameter
step
phase forward
begin net
  begin net.a
    alloc x 300 Activation op=aten::mm at=net.py:7
  end net.a
end net
phase backward
begin net
  alloc g 1000 Gradient op=aten::mm
  free x
end net
phase optimizer
alloc m 2000 OptimizerState op=aten::zeros_like
step
phase other
free g
alloc y 1500 Activation op=aten::add at=net.py:9
"""

# Steps 1 to 5 each leave a storage of 100 bytes behind at one place; the last is not finished.
LEAKING = "tape 1\ndevice cpu\n" + "".join(
    f"step\nalloc kept{i} 100 Other op=aten::cat at=train.py:8\nalloc t{i} 50\nfree t{i}\n"
    for i in range(1, 6))


@pytest.fixture
def two_steps(write):
    return write(TWO_STEPS)


@pytest.fixture
def answer(tidemark):
    """What a verb says in JSON."""

    def ask(*words):
        result = tidemark(*words, "--json")
        assert result.returncode in (0, 1), result.stderr
        return json.loads(result.stdout)

    return ask


def test_peak_tells_how_much_when_and_what(two_steps, answer):
    [device] = answer("peak", two_steps)["devices"]
    assert device["allocated_bytes"] == 4500
    assert (device["at"]["step"], device["at"]["event"]) == (2, 18)
    assert (device["at"]["op"], device["at"]["source"]) == ("aten::add", "net.py:9")
    assert device["categories"] == {"Parameter": 1000, "OptimizerState": 2000, "Activation": 1500}
    assert [s["allocated_bytes"] for s in device["largest"]] == [2000, 1500, 1000]


def test_peak_of_one_step_is_the_highest_moment_inside_it(two_steps, answer):
    [device] = answer("peak", two_steps, "--step", "1")["devices"]
    assert (device["allocated_bytes"], device["at"]["event"]) == (4000, 14)


def test_peak_lists_as_many_storages_as_asked(two_steps, answer):
    [device] = answer("peak", two_steps, "--top", "1")["devices"]
    assert [s["category"] for s in device["largest"]] == ["OptimizerState"]


def test_peak_of_one_device_leaves_the_other_out(write, answer):
    path = write("tape 1\ndevice cpu\nalloc a 10\ndevice cuda:0\nalloc b 513\n")
    devices = answer("peak", path, "--device", "cuda:0")["devices"]
    # 513 bytes take two blocks of 512 on a GPU.
    assert [(d["device"], d["allocated_bytes"]) for d in devices] == [("cuda:0", 1024)]


def test_scopes_give_before_after_and_peak_of_each_module(two_steps, answer):
    scopes = {s["path"]: s for s in answer("scopes", two_steps)["scopes"]}
    forward, backward = scopes["net"]["phases"]
    assert (forward["phase"], backward["phase"]) == ("forward", "backward")
    facts = lambda phase: tuple(phase["devices"][0][k] for k in ("before", "after", "peak"))
    assert facts(forward) == (1000, 1300, 1300)
    assert facts(backward) == (1300, 2000, 2300)
    assert facts(scopes["net.a"]["phases"][0]) == (1000, 1300, 1300)


def test_scopes_stop_at_the_depth_asked_for(two_steps, answer):
    assert [s["path"] for s in answer("scopes", two_steps, "--depth", "1")["scopes"]] == ["net"]


def test_scopes_list_single_calls_only_when_asked(two_steps, answer):
    calls = lambda *flags: len(answer("scopes", two_steps, *flags)["scopes"][0]["calls"])
    assert calls() == 0
    assert calls("--calls") == 2  # one forward, one backward


def test_timeline_with_no_columns_has_every_change(two_steps, answer):
    [device] = answer("timeline", two_steps, "--columns", "0")["devices"]
    levels = [point["highest"] for point in device["points"]]
    changes = [b for a, b in zip([None, *levels], levels) if a != b]
    assert changes == [1000, 1300, 2300, 2000, 4000, 3000, 4500]


@pytest.mark.parametrize("axis", ["events", "time"])
def test_timeline_in_few_columns_keeps_the_peak(two_steps, answer, axis):
    timeline = answer("timeline", two_steps, "--by", axis, "--columns", "3")
    [device] = timeline["devices"]
    assert timeline["axis"] == axis
    assert len(device["points"]) <= 3
    assert max(point["highest"] for point in device["points"]) == 4500


def test_lifetimes_tell_how_far_each_storage_lives(two_steps, answer):
    lifetimes = answer("lifetimes", two_steps)
    assert lifetimes["storages"] == 5
    spans = {(g["category"], g["allocated_bytes"]): g["span"] for g in lifetimes["groups"]}
    assert spans == {
        ("Parameter", 1000): "to-the-end",
        ("OptimizerState", 2000): "to-the-end",
        ("Activation", 1500): "to-the-end",
        ("Gradient", 1000): "across-steps",
        ("Activation", 300): "within-step",
    }
    # 1000 bytes over 18 events outweigh 2000 over 4.
    heaviest = lifetimes["heaviest"][0]
    assert (heaviest["storage"]["category"], heaviest["events"]) == ("Parameter", 18)


def test_leaks_name_the_place_that_keeps_growing(write, answer):
    leaks = answer("leaks", write(LEAKING))
    assert leaks["enough_steps"]
    [site] = leaks["sites"]
    assert (site["op"], site["source"]) == ("aten::cat", "train.py:8")
    # Step 1 is warm-up and step 5 has not ended: steps 2, 3 and 4 are left.
    assert (site["count"], site["allocated_bytes"], site["bytes_per_step"]) == (3, 300, 100)


GROWING = "tape 1\ndevice cuda:0\nalloc a 30MiB\nfree a\nalloc b 40MiB\nfree b\nalloc c 50MiB\n"


def test_alloc_names_the_setting_that_is_worth_it(write, answer):
    [device] = answer("alloc", write(GROWING))["devices"]
    # 30 + 40 + 50 MiB, or three pages of 20.
    reserved = {one["settings"]: one["allocator"]["reserved_peak_bytes"] >> 20 for one in device["outcomes"]}
    assert reserved[""] == 120 and reserved["expandable_segments:True"] == 60
    assert device["best"] == "expandable_segments:True" and device["saved_bytes"] == 60 << 20


def test_alloc_counts_retries_on_a_smaller_gpu(write, answer):
    # 643 MiB are CUDA's context: 100 MiB are left, and 30 + 40 + 50 are too many.
    told = answer("alloc", write(GROWING), "--memory", "743MiB", "--alloc-conf", "expandable_segments:True")
    assert told["room_bytes"] == 100 << 20
    assert [one["retries"] for one in told["devices"][0]["outcomes"]] == [1, 0]


def test_a_peak_can_be_that_of_the_allocators_blocks(write, answer):
    [peak] = answer("peak", write(GROWING), "--alloc-conf", "max_split_size_mb:128")["devices"]
    assert peak["allocator"]["reserved_peak_bytes"] == 120 << 20
    assert peak["allocator"]["fragmented_bytes"] == 70 << 20


def test_leaks_say_when_the_tape_is_too_short(two_steps, tidemark):
    result = tidemark("leaks", two_steps)
    assert result.returncode == 0
    assert "three finished steps" in result.stdout


def test_diff_of_a_tape_with_itself_finds_nothing(two_steps, tidemark):
    result = tidemark("diff", two_steps, two_steps)
    assert (result.returncode, result.stderr) == (0, "")


def test_diff_says_what_grew_and_exits_with_1(two_steps, write, tidemark):
    other = write(TWO_STEPS.replace("y 1500", "y 1700"), "other.txt")
    result = tidemark("diff", two_steps, other, "--json")
    assert result.returncode == 1
    [device] = json.loads(result.stdout)["devices"]
    assert (device["peak"]["before"], device["peak"]["after"]) == (4500, 4700)
    assert device["ops"] == [{"name": "aten::add", "before": 1500, "after": 1700}]


def test_report_has_peak_modules_and_timeline_together(two_steps, answer):
    report = answer("report", two_steps)
    assert report["meta"] == {"run": "tiny"}
    assert (report["events"], report["steps"]) == (19, 2)
    assert report["peak"]["devices"][0]["allocated_bytes"] == 4500
    assert [s["path"] for s in report["scopes"]["scopes"]] == ["net", "net.a"]
    assert max(p["highest"] for p in report["timeline"]["devices"][0]["points"]) == 4500


@pytest.mark.parametrize("verb", ["report", "peak", "scopes", "timeline", "lifetimes", "leaks", "alloc"])
def test_text_and_json_both_succeed_in_silence_on_stderr(two_steps, tidemark, verb):
    for flags in ([], ["--json"]):
        result = tidemark(verb, two_steps, *flags)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.endswith("\n")


@pytest.mark.parametrize(("units", "shown"), [("B", "4500 B"), ("KiB", "4.39 KiB"),
                                              ("auto", "4.39 KiB"), ("MiB", "0.00 MiB")])
def test_units_are_those_asked_for(two_steps, tidemark, units, shown):
    # 4500 / 1024 = 4.394...
    assert shown in tidemark("peak", two_steps, "--units", units).stdout.splitlines()[0]


def test_text_and_json_tell_the_same_peak(two_steps, tidemark, answer):
    text = tidemark("peak", two_steps, "--units", "B").stdout
    [device] = answer("peak", two_steps)["devices"]
    assert f"peak {device['allocated_bytes']} B" in text


def test_the_last_of_two_equal_flags_counts(two_steps, answer):
    [device] = answer("peak", two_steps, "--top", "3", "--top", "1")["devices"]
    assert len(device["largest"]) == 1


def test_verify_of_a_sound_tape_finds_nothing(two_steps, tidemark):
    result = tidemark("verify", two_steps)
    assert (result.returncode, result.stderr) == (0, "")


def test_notes_alone_are_no_violations(write, tidemark):
    path = write('tape 1\ndiagnostic dropped note 3 "event 1" "three were dropped"\nalloc a 1\n')
    result = tidemark("verify", path)
    assert result.returncode == 0
    assert "No problems were found." in result.stdout
    assert "note: three were dropped" in result.stdout
    result = tidemark("verify", path, "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["problems"] == 0


def test_version_is_one_line(tidemark):
    result = tidemark("--version")
    assert (result.returncode, result.stdout) == (0, "tidemark 0.1.0\n")


VERBS = ["report", "peak", "scopes", "timeline", "lifetimes", "leaks", "alloc", "diff", "convert", "verify"]


def test_help_lists_every_verb_in_one_line(tidemark):
    result = tidemark("--help")
    assert result.returncode == 0
    listed = [line.split()[0] for line in result.stdout.split("Verbs:\n")[1].split("\n\n")[0]
              .splitlines()]
    assert listed == ["estimate", "record", "calibrate", *VERBS]


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_teaches_by_example(tidemark, verb):
    result = tidemark(verb, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    examples = result.stdout.split("Examples:\n")[1].strip().splitlines()
    assert len(examples) >= 2
    assert all(line.strip().startswith(f"tidemark {verb} ") for line in examples)
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_estimate_is_handed_to_the_python_that_is_named(tidemark, tmp_path):
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$@"\n')
    python.chmod(0o755)
    result = tidemark("estimate", "--gpu", "l4", "train.py", "--lr", "1",
                      env={"TIDEMARK_PYTHON": str(python)})
    assert (result.returncode, result.stdout) == (0, "-m tidemark estimate --gpu l4 train.py --lr 1\n")


def test_estimate_without_a_python_says_what_is_missing(tidemark, tmp_path):
    result = tidemark("estimate", "train.py", env={"TIDEMARK_PYTHON": str(tmp_path / "no-python")})
    assert result.returncode == 2
    assert "cannot start" in result.stderr and "TIDEMARK_PYTHON" in result.stderr


@pytest.mark.parametrize("verb", ["peak", "diff", "estimate", "record"])
def test_help_and_a_verb_is_the_help_of_the_verb(tidemark, verb):
    asked, flagged = tidemark("help", verb), tidemark(verb, "--help")
    assert (asked.returncode, asked.stdout) == (0, flagged.stdout)
    assert f"tidemark {verb}" in asked.stdout


def test_help_alone_is_the_help_of_the_command(tidemark):
    asked = tidemark("help")
    assert (asked.returncode, asked.stdout) == (0, tidemark("--help").stdout)


def test_help_with_what_is_no_verb_suggests_one(tidemark):
    asked = tidemark("help", "paek")
    assert asked.returncode == 2 and "did you mean peak?" in asked.stderr
