"""Which parameters are parts of others, and which were put together: as FSDP2 has them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from torch import nn
from torch.utils.weak import WeakIdKeyDictionary

SHARDED, UNSHARDED = "Sharded", "Unsharded"

_kinds: Any = WeakIdKeyDictionary()


def kind_of(parameter: Any) -> str:
    """Sharded, Unsharded or nothing: to be put before Parameter or Gradient."""
    return _kinds.get(parameter, "") if _kinds else ""


def remember(parameter: Any, kind: str) -> bool:
    """Whether that is news."""
    if _kinds.get(parameter) == kind:
        return False
    _kinds[parameter] = kind
    return True


def fsdp_loaded() -> Any:
    """The package, if the program has loaded it: we do not."""
    return sys.modules.get("torch.distributed.fsdp")


def groups_of(module: nn.Module) -> list[Any]:
    """Parameters that FSDP2 gathers together. One PyTorch has a list of them, an older one a single
    group or none."""
    fsdp = fsdp_loaded()
    if fsdp is None or not isinstance(module, fsdp.FSDPModule):
        return []
    state = module._get_fsdp_state()
    groups = getattr(state, "_fsdp_param_groups", None)
    if groups is None:
        groups = [state._fsdp_param_group] if state._fsdp_param_group else []
    return list(groups)


def sharded_parameters(root: nn.Module) -> Iterator[Any]:
    """FSDP2's own records of the parameters of a module and of all below."""
    for module in root.modules():
        for group in groups_of(module):
            yield from group.fsdp_params


def remember_parameters(root: nn.Module) -> list[Any]:
    """Learns the kinds of a module's parameters; returns those that were put together."""
    unsharded = []
    for one in sharded_parameters(root):
        put_together = getattr(one, "_unsharded_param", None)
        if put_together is not None:
            remember(put_together, UNSHARDED)
            unsharded.append(put_together)
        remember(one.sharded_param, SHARDED)
        # The program may have given the module another one since, as to_empty() does.
        there = one._module_info.module._parameters.get(one._module_info.param_name)
        if there is not None and there is not put_together:
            remember(there, SHARDED)
    return unsharded


def by_kind(parameters: list[nn.Parameter]) -> list[tuple[str, list[nn.Parameter]]]:
    """Each kind that is among them, with its parameters."""
    if not _kinds:
        return [("", parameters)]
    found: dict[str, list[nn.Parameter]] = {}
    for parameter in parameters:
        found.setdefault(kind_of(parameter), []).append(parameter)
    return list(found.items())
