"""torch.cuda answers as on a machine with GPUs, and refuses clearly what a phantom cannot do."""

from __future__ import annotations

import warnings

import pytest
import torch

pytestmark = pytest.mark.usefixtures("gpus")


def test_devices() -> None:
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name(1) == "NVIDIA H100 80GB HBM3"
    assert torch.cuda.get_device_capability() == (9, 0)
    properties = torch.cuda.get_device_properties("cuda:0")
    assert (properties.major, properties.multi_processor_count) == (9, 132)
    assert properties.total_memory == torch.cuda.mem_get_info()[1]
    assert torch.cuda.is_bf16_supported()
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == 2
    with pytest.raises(AssertionError):
        torch.cuda.get_device_properties(2)
    with pytest.raises((AssertionError, RuntimeError)):
        torch.zeros(1, device="cuda:2")


def test_the_current_device_is_where_things_are_made() -> None:
    torch.cuda.set_device("cuda:1")
    assert torch.zeros(1, device="cuda").device.index == 1
    assert torch.zeros(1).cuda().device.index == 1
    with torch.cuda.device(0):
        assert torch.zeros(1, device="cuda").device.index == 0
    with torch.cuda.device_of(torch.zeros(1, device="cuda:0")):
        assert torch.cuda.current_device() == 0
    assert torch.cuda.current_device() == 1
    with torch.device("cuda:0"):
        assert torch.zeros(1).device.index == 0


def test_streams_and_events() -> None:
    stream = torch.cuda.Stream()
    assert stream != torch.cuda.default_stream() and stream.device == torch.device("cuda:0")
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        start.record()
        result = torch.ones(3, device="cuda") * 2
        result.record_stream(stream)
        end.record(stream)
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.current_stream().wait_stream(stream)
    stream.wait_event(end)
    end.synchronize()
    stream.synchronize()
    torch.cuda.synchronize()
    assert end.query() and stream.query() and start.elapsed_time(end) > 0
    assert isinstance(stream, torch.cuda.Stream) and isinstance(end, torch.cuda.Event)
    assert torch.cuda.current_stream(1).device == torch.device("cuda:1")
    with torch.cuda.stream(None):
        pass
    assert not torch.cuda.is_current_stream_capturing()


def test_generators_and_seeds() -> None:
    generator = torch.Generator("cuda").manual_seed(7)
    assert generator.initial_seed() == 7 and generator.device.type == "cuda"
    assert torch.randn(3, generator=generator, device="cuda").shape == (3,)
    torch.cuda.manual_seed_all(5)
    assert torch.cuda.initial_seed() == 5
    torch.manual_seed(11)
    assert torch.cuda.initial_seed() == 11
    state = torch.cuda.get_rng_state()
    torch.cuda.manual_seed(1)
    torch.cuda.set_rng_state(state)
    assert torch.cuda.initial_seed() == 11
    assert len(torch.cuda.get_rng_state_all()) == 2
    with torch.random.fork_rng(devices=[0, 1]):
        torch.manual_seed(1)
    assert torch.cuda.initial_seed() == 11


def test_pinned_memory() -> None:
    host = torch.arange(4).pin_memory()
    assert host.is_pinned() and host.tolist() == [0, 1, 2, 3]
    assert not torch.arange(4).is_pinned()
    assert torch.empty(4, pin_memory=True).is_pinned()
    assert host.to("cuda", non_blocking=True).tolist() == [0, 1, 2, 3]


def test_old_tensor_types() -> None:
    assert torch.cuda.FloatTensor(2, 3).shape == (2, 3)
    assert torch.cuda.FloatTensor(2, 3).dtype == torch.float32
    assert torch.cuda.LongTensor([1, 2]).tolist() == [1, 2]
    assert isinstance(torch.zeros(1, device="cuda"), torch.cuda.FloatTensor)
    assert not isinstance(torch.zeros(1), torch.cuda.FloatTensor)
    assert torch.zeros(1, device="cuda").type() == "torch.cuda.FloatTensor"
    assert torch.zeros(1).type("torch.cuda.HalfTensor").dtype == torch.float16
    assert torch.zeros(2, device="cuda").new(3).is_cuda


def test_mixed_precision_with_a_scaler() -> None:
    model = torch.nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(3):
        with torch.autocast("cuda", dtype=torch.float16):
            output = model(torch.empty(4, 8, device="cuda"))
            assert output.dtype == torch.float16
            loss = output.float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    assert scaler.get_scale() == 65536.0  # no overflow was seen in three steps


def test_tensors_survive_copies_and_pickles(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import copy

    model = torch.nn.Linear(4, 2).cuda()
    twin = copy.deepcopy(model)
    assert twin.weight.is_cuda and twin.weight.data_ptr() != model.weight.data_ptr()
    assert copy.copy(model.weight).is_cuda
    torch.save(model.state_dict(), tmp_path / "model.pt")
    loaded = torch.load(tmp_path / "model.pt", map_location="cpu")
    assert loaded["weight"].shape == (2, 4) and not loaded["weight"].is_cuda
    model.load_state_dict(torch.load(tmp_path / "model.pt"))
    assert torch.load(tmp_path / "model.pt")["weight"].is_cuda


def test_storages_say_where_they_are() -> None:
    tensor = torch.ones(4, device="cuda:1")
    assert tensor.untyped_storage().device == torch.device("cuda:1")
    assert tensor.untyped_storage().nbytes() == 16
    other = torch.ones(4, device="cuda")
    assert tensor.data_ptr() != other.data_ptr() != 0
    assert tensor[1:].data_ptr() == tensor.data_ptr() + 4


def test_compiling_falls_back_to_eager_and_says_so() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = torch.compile(torch.nn.Linear(4, 4).cuda())
        twice = torch.compile(lambda x: x * 2, mode="max-autotune")

        @torch.compile
        def thrice(x: torch.Tensor) -> torch.Tensor:
            return x * 3

        @torch.compile(fullgraph=True)
        def plus(x: torch.Tensor) -> torch.Tensor:
            return x + 1

    assert any("torch.compile" in str(warning.message) for warning in seen)
    assert model(torch.ones(2, 4, device="cuda")).shape == (2, 4)
    assert plus(thrice(twice(torch.ones(1, device="cuda")))).item() == 7
    module = torch.nn.Linear(4, 4).cuda()
    module.compile()
    assert module(torch.ones(2, 4, device="cuda")).shape == (2, 4)


def test_large_and_many_devices_of_tensors_do_not_mix() -> None:
    zero, one = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
    with pytest.raises(RuntimeError, match="same device"):
        zero + one
    assert (zero + one.to(0)).device.index == 0
    assert torch.ones(2, device="cuda:1").copy_(zero).tolist() == [1, 1]
