"""Tree and identities found from times, threads and addresses alone are those that torch recorded.

Two defects of torch's are told apart. D29: a storage at the address of one whose death nobody
recorded is taken for it. And tensors that begin without memory, as results that are made with no
size and then resized do, share the address 0: torch takes all of them for one tensor.
"""

import pytest
from profile_comparing import profiled
from profile_programs import PROGRAMS

from tidemark import _profile


def storages(found: _profile.Profile) -> list[tuple[object, ...]]:
    """By allocation: its place in time, address and device."""
    rows = sorted((allocation, address, device) for _, allocation, address, device in found.keys())
    return [(at, address, device) for at, (_, address, device) in enumerate(rows)]


def tensors(found: _profile.Profile) -> set[frozenset[int]]:
    """The sets of storages that are one tensor's."""
    places = {a: at for at, a in enumerate(sorted(allocation for _, allocation, *_ in found.keys()))}
    sets: dict[int, set[int]] = {}
    for tensor, allocation, *_ in found.keys():
        sets.setdefault(tensor, set()).add(places[allocation])
    return {frozenset(one) for one in sets.values()}


def flow(found: _profile.Profile) -> list[object]:
    return [
        (found.node_event(n).start_time_ns, found.edges(n)) for n in range(found.node_count())
    ]


def both_ways(name: str) -> tuple[_profile.Profile, _profile.Profile]:
    result = profiled(PROGRAMS[name]()).profiler.kineto_results
    return _profile.analyse(result), _profile.analyse(result, find_identity=True, find_tree=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_torch_recorded_is_found_again(name: str) -> None:
    recorded, found = both_ways(name)
    if any(code == "reused-address" for code, *_ in recorded.problems()):
        assert len(found.keys()) > len(recorded.keys())
        return
    assert storages(found) == storages(recorded)
    assert {at for one in tensors(found) for at in one} == set(range(len(found.keys())))
    if found.keys() == recorded.keys():  # otherwise torch has numbered the address 0
        assert flow(found) == flow(recorded)
        assert found.snapshot() == recorded.snapshot()
    else:
        assert all(any(ours <= torchs for torchs in tensors(recorded)) for ours in tensors(found))


def test_most_programs_have_no_tensor_without_memory() -> None:
    recorded, found = both_ways("plain_steps")
    assert found.keys() == recorded.keys()


def test_tensors_that_begin_without_memory_are_not_one() -> None:
    import torch

    def body() -> list[torch.Tensor]:
        results = [torch.empty(0), torch.empty(0)]
        for result in results:
            torch.add(torch.ones(5), 1, out=result)
        return [result * 2 for result in results]

    result = profiled(body).profiler.kineto_results
    recorded, found = _profile.analyse(result), _profile.analyse(result, find_identity=True)
    assert max(map(len, tensors(recorded))) == 2
    assert max(map(len, tensors(found))) == 1
