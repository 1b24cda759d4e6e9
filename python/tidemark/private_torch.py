"""What tidemark uses of torch that torch promises nobody, and how a change of it is noticed.

docs/private-torch.md is made of this table and of a search through the sources, which fails the tests
where the table lacks something: `python tests/checks/check_private_torch.py --write`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# How a change is noticed.
AT_LOAD = "at load"  # a sentence, before anything is tracked
AT_USE = "at use"  # a sentence or another way, when the program first needs it
AT_BUILD = "by the compiler"  # C++; another series of torch is refused, and a lost symbol told at load
NOWHERE = "not"  # an answer in torch's place: whether torch still asks cannot be seen from here


@dataclass(frozen=True)
class Private:
    """Names of one owner: a module or class of Python, a namespace or class of C++."""

    owner: str
    names: tuple[str, ...]
    noticed: str
    without: str  # what happens where torch has changed it
    parts: tuple[str, ...] = ()  # of tidemark, with which it is checked
    kind: type = object
    is_as_known: Callable[[Any], bool] | None = None  # of the thing itself, beyond its being there


def _row(owner: str, names: str, noticed: str, without: str, **more: Any) -> Private:
    return Private(owner, tuple(names.split()), noticed, without, **more)


def _is_called(name: str) -> Callable[[Any], bool]:
    return lambda function: bool(function.__code__.co_name == name)


def _wraps_steps(decorate: Any) -> bool:
    return bool(decorate(lambda *_: None).__code__.co_name == "wrapper")


_NOT_TRACKED = "nothing can be tracked: refused"
_REFUSED = "refused"
_NOT_FOLLOWED = "of models that FSDP2 shards nothing more is tracked, and it is said why"
_NOT_SHARDED = "a warning; memory of sharded parameters is not told from other memory"
_NOT_FLAT = "a warning; buffers of FullyShardedDataParallel are not told from other memory"
_NO_GPUS = "processes of multiprocessing have no virtual GPUs of their own"
_RECORDING = {"parts": ("recording",)}
_PROFILE = {"parts": ("memory_profiler",)}
_BOTH = {"parts": ("recording", "estimation")}
TABLE: tuple[Private, ...] = (
    # Python, looked up when the recorder is loaded.
    _row("torch.nn.modules.module",
         "_global_forward_pre_hooks _global_forward_hooks _global_forward_hooks_always_called",
         AT_LOAD, _NOT_TRACKED, kind=dict, **_RECORDING),
    _row("torch.optim.optimizer", "_global_optimizer_pre_hooks _global_optimizer_post_hooks",
         AT_LOAD, _NOT_TRACKED, kind=dict, **_RECORDING),
    _row("torch.nn.Module", "_call_impl", AT_LOAD,
         "a call that was interrupted would look as if it ran: refused",
         is_as_known=_is_called("_call_impl"), **_BOTH),
    _row("torch.optim.Optimizer", "profile_hook_step", AT_LOAD,
         "steps on the stack (frames called `wrapper`) could not be counted: refused",
         is_as_known=_wraps_steps, **_BOTH),
    _row("torch.nn.Module", "__setstate__", AT_LOAD,
         "copies of modules could not be noticed: refused", **_BOTH),
    _row("torch.nn.parameter.UninitializedTensorMixin", "materialize", AT_LOAD,
         "parameters of lazy modules could not be followed: refused", **_BOTH),
    _row("torch.UntypedStorage", "_cdata __init__ resize_", AT_LOAD, _REFUSED, **_BOTH),
    _row("torch.serialization", "_open_zipfile_writer", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch._C.PyTorchFileReader", "get_storage_from_record", AT_LOAD, _REFUSED, **_RECORDING),
    _row("torch.UntypedStorage", "_write_file _set_from_file", AT_LOAD, _REFUSED,
         parts=("estimation",)),
    _row("torch._C.PyTorchFileWriter", "write_record", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch.utils.data._utils.signal_handling", "_set_worker_signal_handlers", AT_LOAD, _REFUSED,
         parts=("estimation",)),
    _row("torch.Tensor", "_indices _values", AT_LOAD, _REFUSED, **_BOTH),
    _row("torch.utils._pytree", "tree_leaves", AT_LOAD, _REFUSED,
         parts=("recording", "memory_estimator")),
    _row("torch.utils._python_dispatch", "is_traceable_wrapper_subclass TorchDispatchMode", AT_LOAD,
         _REFUSED, **_BOTH),
    _row("torch._C._functorch", "is_functorch_wrapped_tensor get_unwrapped", AT_LOAD, _REFUSED, **_BOTH),
    _row("torch._C",
         "_set_default_tensor_type _jit_can_fuse_on_gpu _jit_override_can_fuse_on_gpu "
         "DisableTorchFunctionSubclass", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch.Tensor", "__new__ _cdata", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch.library.Library", "_impl_with_aoti_compile", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch._library.utils", "can_generate_trivial_fake_impl", AT_LOAD, _REFUSED,
         parts=("estimation",)),
    _row("torch._guards", "active_fake_mode", AT_LOAD, _REFUSED, **_RECORDING),
    _row("torch.cuda", "_lazy_call", AT_LOAD, _REFUSED, **_RECORDING),
    _row("torch._subclasses", "FakeTensor", AT_LOAD, _REFUSED, parts=("memory_estimator",)),
    _row("torch.utils._ordered_set", "OrderedSet", AT_LOAD, _REFUSED, parts=("memory_estimator",)),
    _row("torch._C._profiler",
         "_EventType _ExtraFields_Allocation _ProfilerEvent _TensorMetadata RecordScope", AT_LOAD,
         _REFUSED, **_PROFILE),
    _row("torch._C._profiler._EventType", "TorchOp", AT_LOAD, _REFUSED, **_PROFILE),
    _row("torch._C", "_jit_get_schemas_for_operator FunctionSchema", AT_LOAD, _REFUSED, **_PROFILE),
    _row("torch.profiler", "_memory_profiler", AT_LOAD, _REFUSED, **_PROFILE),
    # Python, looked up when the program has loaded it.
    _row("torch.distributed.fsdp._fully_shard._fsdp_param.FSDPParam",
         "to_sharded_dtensor reset_sharded_param to_sharded_post_forward "
         "to_accumulated_grad_if_needed", AT_USE, _NOT_SHARDED, parts=("sharded",)),
    _row("torch.distributed.fsdp._fully_shard._fsdp_param_group.FSDPParamGroup",
         "unshard wait_for_unshard pre_backward post_backward", AT_USE, _NOT_SHARDED, parts=("sharded",)),
    _row("torch.distributed.fsdp._fully_shard._fsdp_param_group", "foreach_all_gather foreach_reduce",
         AT_USE, _NOT_SHARDED, parts=("sharded",)),
    _row("torch.distributed.fsdp._fully_shard._fsdp_param.FSDPParam", "_unsharded_param _module_info",
         AT_USE, _NOT_FOLLOWED),
    _row("torch.distributed.fsdp._fully_shard._fsdp_param_group.FSDPParamGroup",
         "_all_gather_result _all_gather_comm _reduce_scatter_comm", AT_USE, _NOT_FOLLOWED),
    _row("torch.distributed.fsdp._fully_shard._fsdp_state.FSDPState",
         "_fsdp_param_group _fsdp_param_groups _pre_forward_hook_handle _post_forward_hook_handle",
         AT_USE, _NOT_FOLLOWED),
    _row("torch.distributed.fsdp.FSDPModule", "_get_fsdp_state", AT_USE, _NOT_FOLLOWED),
    _row("torch.distributed.tensor.DTensor", "_local_tensor", AT_USE, _NOT_FOLLOWED),
    _row("torch.nn.Module", "_parameters _forward_hooks _forward_pre_hooks", AT_USE, _NOT_FOLLOWED),
    _row("torch.distributed.fsdp._flat_param.FlatParamHandle",
         "_alloc_padded_unsharded_flat_param prepare_gradient_for_optim", AT_USE, _NOT_FLAT,
         parts=("flat",)),
    _row("torch.distributed.fsdp._runtime_utils", "_reduce_grad _get_reduce_scatter_tensors", AT_USE, _NOT_FLAT,
         parts=("flat",)),
    _row("torch._dynamo.eval_frame", "_is_in_optimized_module _in_optimized_module", AT_USE,
         "the tracker gives up at the first module call, and says why"),
    _row("torch.nn.Module", "_orig_mod _fsdp_wrapped_module _checkpoint_wrapped_module", AT_USE,
         "a wrapper is one more level in the names of modules"),
    _row("torch.distributed.Reducer", "_rebuild_buckets", AT_USE,
         "buckets of DistributedDataParallel are not told from other memory"),
    _row("torch.distributed.fsdp._fully_shard._fsdp_common", "_chunk_with_empty", AT_USE,
         "estimates of FSDP2 over many ranks take longer"),
    _row("torch.autograd.graph", "_engine_run_backward", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch", "_disable_dynamo", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch.optim.lbfgs", "_strong_wolfe", AT_LOAD, _REFUSED, parts=("estimation",)),
    _row("torch.optim.optimizer", "_use_grad_for_differentiable", AT_LOAD, _REFUSED,
         parts=("estimation",)),
    # Python's own.
    _row("multiprocessing.process.BaseProcess", "_bootstrap _target", NOWHERE, _NO_GPUS),
    _row("multiprocessing.popen_spawn_posix.Popen", "_launch", NOWHERE, _NO_GPUS),
    _row("torch.distributed.distributed_c10d", "_set_pg_timeout", NOWHERE,
         "a script that sets it ends with PyTorch's own message"),
    _row("torch.distributed.checkpoint.utils", "_DistWrapper", AT_USE,
         "a script that saves sharded checkpoints ends with PyTorch's own message"),
    _row("torch.distributed.checkpoint._state_dict_stager.StateDictStager", "_offload_tensor", AT_USE,
         "a script that saves in the background ends with PyTorch's own message"),
    _row("torch.distributed.optim.ZeroRedundancyOptimizer",
         "_sync_param_groups _partition_parameters", AT_USE,
         "a script that gathers the optimizer's state ends with PyTorch's own message"),
    _row("libtorch_python.so", "_ZN5torch5utils24set_requires_device_initEN3c1010DeviceTypeEb",
         AT_USE, "a warning; the next virtual GPUs of the same process may not be woken up"),
    # Python, put in place of torch's for the virtual GPUs.
    _row("torch._C",
         "_cuda_getCurrentRawStream _cuda_getDevice _cuda_getDeviceCount _cuda_setDevice "
         "_cuda_isCurrentStreamCapturing _cuda_synchronize _cuda_emptyCache "
         "_cuda_beginAllocateCurrentThreadToPool _cuda_beginAllocateToPool _cuda_endAllocateToPool "
         "_cuda_releasePool "
         "_cuda_clearCublasWorkspaces _cuda_isInBadFork _host_emptyCache _broadcast _broadcast_out "
         "_broadcast_coalesced _scatter _scatter_out _gather _gather_out _nccl_reduce "
         "_nccl_all_reduce", NOWHERE,
         "torch without CUDA says which name it lacks, in the script's own line"),
    _row("torch._C",
         "_can_use_flash_attention _can_use_mem_efficient_attention _can_use_cudnn_attention "
         "_is_flash_attention_available", NOWHERE,
         "attention of jagged tensors finds no kernel and ends with PyTorch's own message"),
    _row("torch.cuda",
         "_exchange_device _get_device_properties _is_compiled _is_in_bad_fork _lazy_init "
         "_maybe_exchange_device _compile_kernel", NOWHERE,
         "torch without CUDA says that it is not compiled with it, in the script's own line"),
    _row("torch.cuda.memory",
         "_dump_snapshot _record_memory_history _set_allocator_settings _snapshot", NOWHERE,
         "the same"),
    # C++: autograd.
    _row("torch::autograd",
         "Node Edge variable_list FunctionPreHook PostAccumulateGradHook AccumulateGrad get_current_node "
         "get_current_graph_task_id get_current_graph_task_exec_info "
         "get_current_graph_task_nodes_in_graph", AT_BUILD, _REFUSED),
    _row("torch::autograd::impl", "try_get_grad_accumulator post_acc_grad_hooks", AT_BUILD,
         "refused. Were hooks kept elsewhere, gradients would be labelled at no moment: the tests of "
         "tests/recording/test_gradient_hooks.py would fail"),
    _row("torch::autograd::Engine", "get_default_engine thread_pool_shared_ device_ready_queues_",
         AT_BUILD, _REFUSED),
    _row("torch::autograd::ReadyQueue", "ReadyQueue", AT_BUILD, _REFUSED),
    _row("torch::dynamo::autograd", "CompiledNodeArgs SwapSavedVariables", AT_BUILD, _REFUSED),
    _row("at::sequence_number", "peek", AT_BUILD,
         "refused. Were nodes numbered otherwise, steps would begin elsewhere and backwards would "
         "have no lines"),
    # C++: dispatch.
    _row("c10::impl", "ExcludeDispatchKeyGuard tls_is_dispatch_key_excluded "
         "tls_local_dispatch_key_set DeviceGuardImplInterface device_guard_impl_registry "
         "excluded_ included_", AT_BUILD,
         "refused. Did autograd no longer switch itself off around kernels, workspaces would count "
         "as results: the tests of tests/oracle_tracker would fail"),
    _row("c10::impl::TorchDispatchModeTLS", "any_modes_set get_mode", AT_BUILD, _REFUSED),
    _row("c10::impl::TorchDispatchModeKey", "FAKE", AT_BUILD, _REFUSED),
    _row("at::impl::PythonTorchFunctionTLS", "set_state get_state set_disabled_state", AT_BUILD,
         _REFUSED),
    _row("at::impl::TorchFunctionDisabledState", "ALL_DISABLED", AT_BUILD, _REFUSED),
    _row("torch::jit", "Stack push pop drop", AT_BUILD, _REFUSED),
    _row("at::detail", "getDefaultCPUGenerator computeStride", AT_BUILD, _REFUSED),
    _row("at::native", "DispatchStubImpl _fused_sdp_choice_stub", AT_BUILD, _REFUSED),
    _row("torch::profiler::impl", "ProfilerStubs ProfilerVoidEventStub cudaStubs registerCUDAMethods",
         AT_BUILD, _REFUSED),
    _row("c10d", "Timer TimerRegistry Work ProcessGroup FakeProcessGroup ReduceOp AllreduceOptions "
         "AllreduceCoalescedOptions AllgatherOptions AllToAllOptions BroadcastOptions GatherOptions "
         "ReduceOptions ReduceScatterOptions ScatterOptions resolve_process_group", AT_BUILD, _REFUSED),
    # C++: finished profiles, and what operators take.
    _row("torch::profiler::impl", "EventType ExtraFields Result", AT_BUILD, _REFUSED),
    _row("torch::jit", "getAllOperatorsFor", AT_BUILD, _REFUSED),
    # C++: tensors, and how Python holds them.
    _row("at::Tensor", "unsafeGetTensorImpl unsafeGetStorageImpl", AT_BUILD, _REFUSED),
    _row("c10::StorageImpl", "set_data_ptr_noswap _mutable_data_ptr_no_checks", AT_BUILD, _REFUSED),
    _row("c10::weak_intrusive_ptr", "_unsafe_get_target", AT_BUILD, _REFUSED),
    _row("THP", "THPVariable_Unpack THPVariable_Wrap THPVariable_CheckExact THPVariable_Check "
         "THPDevice_New THPDevice_Check THPDevice", AT_BUILD, _REFUSED),
    _row("torch.fx.Node", "_args _input_nodes", AT_USE,
         "a member that is none any more is asked for as any attribute; one that is gone raises"),
)


def check_private(part: str) -> list[str]:
    """What this part of tidemark needs, and this torch lacks or has otherwise."""
    return [f"{row.owner}.{name}" for row in TABLE if part in row.parts for name in row.names
            if not _is_there(row, name)]


def what_is_missing(*names: str) -> str:
    """One sentence, with the version of torch."""
    version = getattr(sys.modules.get("torch"), "__version__", "?")
    return (f"torch {version} has no {' and no '.join(names)} as tidemark knows it: "
            "install the torch that this tidemark was built for, or a newer tidemark")


def _is_there(row: Private, name: str) -> bool:
    try:
        thing = getattr(resolve(row.owner), name)
        return isinstance(thing, row.kind) and (row.is_as_known is None or row.is_as_known(thing))
    except (ImportError, AttributeError, TypeError):
        return False


def resolve(path: str) -> Any:
    """A module, or what is inside one, by its dotted name."""
    try:
        return importlib.import_module(path)
    except ImportError:
        owner, _, name = path.rpartition(".")
        if not owner:
            raise
        return getattr(resolve(owner), name)
