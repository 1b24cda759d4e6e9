"""Where values are known, assumed or unknown, and what a program sees of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.usefixtures("gpus")

IDS = torch.tensor([[5, 3, 0, 2], [1, 0, 0, 4]])


def certainty(tensor: torch.Tensor) -> str:
    from tidemark.virtual_cuda import library

    return str(library().certainty(tensor.untyped_storage()._cdata))


def unknown(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*sizes, dtype=dtype, device="cuda")


def assumed(values: torch.Tensor) -> torch.Tensor:
    """These values, but derived from a phantom that has none."""
    return unknown(*values.shape, dtype=values.dtype).cpu().copy_(values).cuda()


def diagnostics() -> list[dict[str, Any]]:
    from tidemark.virtual_cuda import library

    return list(library().diagnostics())


@pytest.mark.parametrize(
    "make",
    [
        lambda: IDS.to("cuda"),
        lambda: torch.empty_like(IDS, device="cuda").copy_(IDS),
        lambda: IDS.pin_memory().cuda(non_blocking=True),
        lambda: torch.tensor(IDS.tolist(), device="cuda"),
        lambda: IDS.cuda(0).to("cuda:1"),
        lambda: torch.stack([IDS.cuda()[0], IDS.cuda()[1]]),
    ],
)
def test_ids_stay_known_however_they_get_there(make: Callable[[], torch.Tensor]) -> None:
    ids = make()
    assert ids.is_cuda and certainty(ids) == "known"
    assert ids.tolist() == IDS.tolist()


def test_factories_are_known() -> None:
    assert torch.arange(5, device="cuda").tolist() == [0, 1, 2, 3, 4]
    assert torch.zeros(2, dtype=torch.long, device="cuda").tolist() == [0, 0]
    assert torch.ones(2, device="cuda").tolist() == [1.0, 1.0]
    assert torch.full((2,), 7, device="cuda").tolist() == [7, 7]
    assert torch.eye(2, dtype=torch.long, device="cuda").tolist() == [[1, 0], [0, 1]]
    assert certainty(torch.linspace(0, 1, 3, device="cuda")) == "known"


def test_large_floats_are_not_kept_and_large_ids_are() -> None:
    assert certainty(torch.zeros(1 << 20, device="cuda")) == "unknown"
    assert certainty(torch.zeros(1 << 20, dtype=torch.long, device="cuda")) == "known"


def test_views_see_writes_through_each_other() -> None:
    ids = IDS.cuda()
    row, column = ids[1], ids[:, 0]
    row[0] = 9
    column += 1
    assert ids.tolist() == [[6, 3, 0, 2], [10, 0, 0, 4]]
    ids.t()[3].zero_()
    assert row.tolist() == [10, 0, 0, 0]


def test_a_write_of_unknown_data_makes_unknown() -> None:
    ids = IDS.cuda()
    ids[0] = unknown(4, dtype=torch.long)
    assert certainty(ids) == "unknown"


def test_a_write_over_everything_makes_known_again() -> None:
    ids = unknown(2, 4, dtype=torch.long)
    assert certainty(ids) == "unknown"
    ids.copy_(IDS)
    assert ids.tolist() == IDS.tolist() and certainty(ids) == "known"
    guessed = assumed(IDS)
    guessed.fill_(3)
    assert certainty(guessed) == "known"


def test_a_write_over_a_part_does_not_make_known() -> None:
    ids = unknown(4, dtype=torch.long)
    ids[:2] = 1
    assert certainty(ids) == "unknown"
    guessed = assumed(IDS)
    guessed[0] = 1
    assert certainty(guessed) == "assumed"


def test_assumed_taints_what_follows() -> None:
    ids = assumed(IDS)
    assert certainty(ids) == "assumed"
    assert certainty(ids + 1) == "assumed"
    assert certainty(ids[0].clone()) == "assumed"
    assert certainty(torch.cat([ids, IDS.cuda()])) == "assumed"
    into = torch.zeros_like(IDS, device="cuda")
    into += ids
    assert certainty(into) == "assumed"
    assert certainty(torch.zeros_like(ids)) == "known"


def test_assumed_stays_assumed_over_the_cpu() -> None:
    ids = assumed(IDS)
    assert certainty(ids.cpu().cuda()) == "assumed"
    host = torch.zeros_like(IDS)
    host.copy_(ids)
    assert certainty(host.cuda()) == "assumed"
    assert certainty(unknown(3).cpu().cuda()) == "assumed"


def test_what_was_never_written_is_not_known() -> None:
    assert certainty(torch.empty(3, dtype=torch.long, device="cuda")) == "unknown"
    assert certainty(torch.zeros(2, dtype=torch.long, device="cuda").resize_(4)) == "unknown"


def test_resizing_within_the_storage_and_views_in_place_keep_values() -> None:
    ids = IDS.cuda()
    assert ids.resize_(2, 2).tolist() == [[5, 3], [0, 2]]
    assert ids.unsqueeze_(0).squeeze_(0).t_().tolist() == [[5, 0], [3, 2]]
    assert certainty(ids) == "known"


def test_random_numbers_are_assumed_and_in_range() -> None:
    ids = torch.randint(10, 20, (1000,), device="cuda")
    assert certainty(ids) == "assumed"
    values = ids.tolist()
    assert min(values) == 10 and max(values) == 19
    assert certainty(torch.randperm(10, device="cuda")) == "assumed"
    assert certainty(torch.zeros(3, device="cuda").normal_()) == "assumed"
    assert certainty(torch.bernoulli(torch.ones(3, device="cuda"))) == "assumed"


def test_random_numbers_of_the_gpu_do_not_move_those_of_the_cpu() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3).tolist()
    torch.manual_seed(1)
    torch.randint(0, 9, (5,), device="cuda")
    torch.randn(5, device="cuda")
    torch.randperm(5, device="cuda")
    torch.nn.functional.dropout(torch.ones(5, device="cuda"))
    assert torch.rand(3).tolist() == expected


def test_running_statistics_are_not_known_after_unknown_batches() -> None:
    norm = torch.nn.BatchNorm2d(3).cuda()
    assert certainty(norm.running_mean) == "known"
    norm(unknown(2, 3, 4, 4))
    assert certainty(norm.running_mean) == "unknown"
    assert norm.num_batches_tracked.item() == 1
    mean = torch.zeros(3, device="cuda")
    torch.native_batch_norm(unknown(2, 3, 4), None, None, mean, mean + 1, True, 0.1, 1e-5)
    assert certainty(mean) == "unknown"


# Real shapes from known values. Worked out by hand from IDS: five values are not 0.


def test_shapes_that_follow_from_values_are_the_real_ones() -> None:
    ids = IDS.cuda()
    mask = ids != 0
    assert mask.sum().item() == 5
    assert ids.nonzero().tolist() == [[0, 0], [0, 1], [0, 3], [1, 0], [1, 3]]
    assert ids.nonzero().stride() == (1, 5)
    assert ids[mask].tolist() == [5, 3, 2, 1, 4]
    assert torch.masked_select(ids, mask).shape == (5,)
    assert [w.tolist() for w in torch.where(mask)] == [[0, 0, 0, 1, 1], [0, 1, 3, 0, 3]]
    assert unknown(2, 4, 7)[mask].shape == (5, 7)
    assert ids.unique().tolist() == [0, 1, 2, 3, 4, 5]
    assert torch.repeat_interleave(mask.sum(1)).tolist() == [0, 0, 0, 1, 1]
    assert unknown(2, 7).repeat_interleave(mask.sum(1), dim=0).shape == (5, 7)
    assert torch.bincount(ids.flatten()).tolist() == [3, 1, 1, 1, 1, 1]
    assert [part.shape[0] for part in unknown(5).split(mask.sum(1).tolist())] == [3, 2]
    assert torch.nn.functional.one_hot(ids).shape == (2, 4, 6)
    assert ids.max().item() == 5 and ids.argmax().item() == 0


def test_out_of_a_question_gets_the_real_shape_too() -> None:
    ids = IDS.cuda()
    out = torch.empty(0, dtype=torch.long, device="cuda")
    assert torch.nonzero(ids, out=out) is out and out.shape == (5, 2)
    chosen = torch.empty(0, dtype=torch.long, device="cuda")
    torch.masked_select(ids, ids != 0, out=chosen)
    assert chosen.tolist() == [5, 3, 2, 1, 4]


def test_known_values_cross_to_numpy_and_lists() -> None:
    assert IDS.cuda().cpu().numpy().tolist() == IDS.tolist()
    assert IDS.cuda().to("cpu", torch.float64).tolist() == IDS.double().tolist()
    image = torch.arange(16.0).reshape(1, 2, 2, 4).cuda()
    last = image.to("cpu", memory_format=torch.channels_last)
    assert last.is_contiguous(memory_format=torch.channels_last)
    assert last.tolist() == image.tolist()


def test_tensors_print() -> None:
    assert repr(IDS.cuda()) == repr(IDS)[:-1] + ", device='cuda:0')"
    assert "device='cuda:0'" in repr(unknown(2, 2))
    assert float(f"{unknown(1).mean():.3f}") >= 0
    assert "device='cuda:0'" in f"{unknown(3)}"
    assert "..." in repr(unknown(100, 100))


def test_nan_checks_pass() -> None:
    loss = unknown(8, 8).mean()
    assert not torch.isnan(loss) and not torch.isinf(loss).any() and torch.isfinite(loss)
    assert not unknown(8).isnan().any() and torch.isfinite(unknown(8)).all()
    assert loss.item() == loss.item()
    total = torch.nn.utils.clip_grad_norm_([torch.nn.Parameter(unknown(3))], 1.0)
    assert not torch.isnan(total)


def test_chosen_indices_are_in_range_and_spread() -> None:
    scores = unknown(64, 8)
    indices = scores.topk(2, dim=1).indices
    assert certainty(indices) == "assumed"
    chosen = indices.flatten().tolist()
    assert set(chosen) == set(range(8))
    counts = torch.bincount(indices.flatten().cpu(), minlength=8)
    assert counts.min() >= 8 and counts.max() <= 24  # 128 choices of 8: 16 each if even
    assert all(a != b for a, b in indices.tolist())
    assert set(scores.argmax(1).tolist()) <= set(range(8))
    assert sorted(scores.sort(1).indices[0].tolist()) == list(range(8))
    assert set(torch.multinomial(scores.softmax(-1), 3).flatten().tolist()) <= set(range(8))


def uses(indices: torch.Tensor) -> list[int]:
    return torch.bincount(indices.flatten().cpu(), minlength=8).tolist()


def test_choices_differ_from_call_to_call_as_those_of_a_router_do() -> None:
    """Of 4 096 tokens with two of eight experts each 1 024 are an expert's, give or take five times
    sqrt(8192 * 1/8 * 7/8) = 30."""
    scores = unknown(4096, 8)
    calls = [uses(scores.topk(2).indices) for _ in range(4)]
    assert all(abs(count - 1024) < 150 for counts in calls for count in counts)
    assert len(set(map(tuple, calls))) == 4 and all(len(set(counts)) > 1 for counts in calls)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_rows_of_choices_are_distinct_along_their_dimension(dim: int) -> None:
    scores = unknown(9, 10, 14)
    for indices in (scores.topk(5, dim=dim).indices, scores.argsort(dim=dim)):
        rows = indices.cpu().movedim(dim, -1).flatten(0, 1)
        assert all(len(set(row)) == len(row) for row in rows.tolist())
        assert 0 <= int(rows.min()) and int(rows.max()) < scores.shape[dim]
    assert scores.argmax(dim).shape == scores.sum(dim).shape
    assert 0 <= int(scores.argmax().cpu()) < scores.numel()


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_what_is_computed_again_makes_the_same_choices(use_reentrant: bool) -> None:
    """PyTorch compares the shapes of both times, and refuses others."""
    from torch.utils.checkpoint import checkpoint

    router, expert = torch.nn.Linear(16, 8).cuda(), torch.nn.Linear(16, 16).cuda()
    seen: list[list[int]] = []

    def routed(x: torch.Tensor) -> torch.Tensor:
        indices = router(x).topk(2).indices
        seen.append(uses(indices))
        rows = torch.where(indices == 3)[0]
        return x.index_add(0, rows, expert(x[rows]))

    x = unknown(512, 16).requires_grad_()
    y = checkpoint(routed, checkpoint(routed, x, use_reentrant=use_reentrant), use_reentrant=use_reentrant)
    y.sum().backward()
    assert len(seen) == 4 and all(counts == seen[0] for counts in seen)
    assert x.grad is not None and x.grad.shape == x.shape


def test_loops_that_ask_for_ever_end_with_a_diagnostic() -> None:
    rounds = 0
    while not (unknown(4) > 0.5).all():
        rounds += 1
        assert rounds < 1000
    rounds = 0
    while (unknown(4) > 0.5).any() or rounds == 0:
        rounds += 1
        assert rounds < 1000
    torch.nn.init.trunc_normal_(unknown(40, 40))
    while not unknown(1, dtype=torch.bool).item():
        rounds += 1
        assert rounds < 1000
    notes = [note for note in diagnostics() if note["code"] == "ended-loop"]
    assert notes and "test_known_values.py" in notes[0]["where"]


def test_asking_once_a_step_is_no_endless_loop() -> None:
    parameter = torch.nn.Parameter(unknown(4))
    from tidemark.virtual_cuda import library

    for _ in range(450):
        loss = (parameter * 2).sum()
        assert loss.item() == 1.0
        loss.backward()
        library().enter_optimizer()
        library().leave_optimizer()
    assert not [note for note in diagnostics() if note["code"] == "ended-loop"]
