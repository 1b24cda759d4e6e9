# The types of the extension module; what each name does is in its docstring.
import enum
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any, ClassVar, Final, TypeAlias, TypedDict, Unpack, type_check_only

import numpy as np
from numpy.typing import NDArray

__version__: str
can_compress: bool

_Path: TypeAlias = str | os.PathLike[str]
_Nodes: TypeAlias = list[int] | NDArray[Any]
_CategoryWord: TypeAlias = Category | str
_PhaseWord: TypeAlias = Phase | str
_Frame: TypeAlias = tuple[str, int] | tuple[str, int, str]
_Source: TypeAlias = _Frame | list[_Frame] | list[tuple[str, int]] | list[tuple[str, int, str]]

# Where an event happens; an event that itself names its phase, its scope or its operator has no such
# argument.
@type_check_only
class _Anywhere(TypedDict, total=False):
    source: _Source | None
    stream: int | None

@type_check_only
class _PhasePlace(_Anywhere, total=False):
    op: str | None
    signature: str | None
    scope: str | None

@type_check_only
class _Place(_PhasePlace, total=False):
    phase: _PhaseWord | None

@type_check_only
class _ScopePlace(_Anywhere, total=False):
    op: str | None
    signature: str | None
    phase: _PhaseWord | None

@type_check_only
class _CallPlace(_Anywhere, total=False):
    scope: str | None
    phase: _PhaseWord | None

class Error(Exception):
    code: str
    message: str
    where: str
    hint: str

class Category(enum.IntEnum):
    Unknown = 0
    Parameter = 1
    Buffer = 2
    Gradient = 3
    Activation = 4
    Temporary = 5
    OptimizerState = 6
    Input = 7
    ShardedParameter = 8
    UnshardedParameter = 9
    ShardedGradient = 10
    UnshardedGradient = 11
    AllGather = 12
    ReduceScatter = 13
    AutogradDetail = 14
    Workspace = 15
    Other = 16
    Communication = 17

class Phase(enum.IntEnum):
    Other = 0
    Forward = 1
    Backward = 2
    Recompute = 3
    Optimizer = 4

class Kind(enum.IntEnum):
    Alloc = 0
    Free = 1
    Resize = 2
    Relabel = 3
    ScopeBegin = 4
    ScopeEnd = 5
    CallBegin = 6
    CallEnd = 7
    Phase = 8
    Step = 9
    Mark = 10
    Input = 11
    Output = 12
    SegmentMap = 13
    SegmentUnmap = 14
    Block = 15
    PoolUse = 16
    PoolRelease = 17
    CacheEmpty = 18

class Severity(enum.IntEnum):
    Note = 0
    Warning = 1
    Error = 2

class LifeSpan(enum.IntEnum):
    WithinPhase = 0
    WithinStep = 1
    AcrossSteps = 2
    ToTheEnd = 3

class TimelineAxis(enum.IntEnum):
    Events = 0
    Time = 1

# What answers and their parts can do: equal by their fields, copied and pickled whole.
@type_check_only
class _Value:
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]

# What every answer can do.
@type_check_only
class _Answer(_Value):
    def _repr_html_(self) -> str: ...
    def to_text(
        self, *, width: int | None = None, colour: bool = False, units: str = "auto", detail: str =
        "brief", tape: str = "",
    ) -> str: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

class Diagnostic(_Value):
    code: Final[str]
    severity: Final[Severity]
    count: Final[int]
    where: Final[str]
    message: Final[str]

class Diagnostics(_Answer):
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Diagnostic: ...
    def __iter__(self) -> Iterator[Diagnostic]: ...
    has_errors: Final[bool]
    def find(self, code: str) -> Diagnostic | None: ...

CUDA_GRANULARITY: int

class Device:
    name: Final[str]
    granularity: Final[int]
    def allocated_bytes(self, requested: int) -> int: ...

class Tables:
    devices: Final[list[Device]]
    streams: Final[list[int]]
    scopes: Final[list[str]]
    calls: Final[list[tuple[str, str]]]
    sources: Final[list[str]]
    def frames(self, stack: int) -> list[tuple[str, int, str]]: ...

class Event:
    index: Final[int]
    kind: Final[Kind]
    time_ns: Final[int]
    bytes: Final[int]
    category: Final[Category]
    phase: Final[Phase]
    step: Final[int]
    device: Final[str]
    stream: Final[int | None]
    storage: Final[int | None]
    segment: Final[int | None]
    pool: Final[int | None]
    text: Final[str]
    scope: Final[str]
    op: Final[str]
    signature: Final[str]
    source: Final[str]

class EventIterator:
    def __iter__(self) -> EventIterator: ...
    def __next__(self) -> Event: ...

class EventColumns:
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Event: ...
    def __iter__(self) -> EventIterator: ...
    columns: Final[dict[str, NDArray[Any]]]
    time_ns: Final[NDArray[np.int64]]
    bytes: Final[NDArray[np.int64]]
    subject: Final[NDArray[np.uint32]]
    scope: Final[NDArray[np.uint32]]
    stack: Final[NDArray[np.uint32]]
    call: Final[NDArray[np.uint32]]
    stream: Final[NDArray[np.uint16]]
    kind: Final[NDArray[np.uint8]]
    category: Final[NDArray[np.uint8]]
    phase: Final[NDArray[np.uint8]]
    device: Final[NDArray[np.uint8]]

class Tape:
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Event: ...
    def __iter__(self) -> EventIterator: ...
    events: Final[EventColumns]
    columns: Final[EventColumns]
    tables: Final[Tables]
    devices: Final[list[str]]
    steps: Final[int]
    meta: Final[dict[str, str]]
    diagnostics: Final[Diagnostics]
    def step_at(self, event: int) -> int: ...
    def verify(self) -> Diagnostics: ...
    def save(self, path: _Path, *, compressed: bool | None = None) -> None: ...
    def to_text(self) -> str: ...
    def peak(
        self, *, top: int = 10, depth: int = 3, device: str | None = None, step: int | None = None,
        allocator_settings: str | None = None,
    ) -> PeakAnswer: ...
    def scopes(
        self, *, depth: int = 0, per_call: bool = False, device: str | None = None, step: int | None
        = None,
    ) -> ScopesAnswer: ...
    def timeline(
        self, *, columns: int = 0, by: TimelineAxis | str = "events", device: str | None = None,
        step: int | None = None,
    ) -> TimelineAnswer: ...
    def lifetimes(
        self, *, top: int = 10, device: str | None = None, step: int | None = None
    ) -> LifetimesAnswer: ...
    def alloc(
        self, *, settings: list[str] = ..., memory_bytes: int | None = None, device: str | None =
        None, step: int | None = None,
    ) -> AllocAnswer: ...
    def leaks(self, *, top: int = 10, device: str | None = None) -> LeaksAnswer: ...
    def diff(
        self, after: Tape, *, top: int = 10, device: str | None = None, step: int | None = None
    ) -> DiffAnswer: ...
    def report(
        self, *, top: int = 10, depth: int = 3, columns: int = 240, device: str | None = None, step:
        int | None = None, gpu: GpuFacts | None = None,
    ) -> Overview: ...
    def verdict(self, *, gpu: GpuFacts | None = None) -> VerdictAnswer: ...

class Region:
    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback:
        TracebackType | None, /,
    ) -> None: ...

class TapeBuilder:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    phase: Final[Phase]
    innermost_scope: Final[str]
    def alloc(
        self, device: str, bytes: int, category: _CategoryWord = "Unknown", **place: Unpack[_Place]
    ) -> int: ...
    def alloc_as(
        self, storage: int, device: str, bytes: int, category: _CategoryWord = "Unknown", **place:
        Unpack[_Place],
    ) -> None: ...
    def new_storage(self) -> int: ...
    def free(self, storage: int, **place: Unpack[_Place]) -> None: ...
    def resize(self, storage: int, bytes: int, **place: Unpack[_Place]) -> None: ...
    def block(self, storage: int, bytes: int, **place: Unpack[_Place]) -> None: ...
    def relabel(self, storage: int, category: _CategoryWord, **place: Unpack[_Place]) -> None: ...
    def input(self, storage: int, **place: Unpack[_Place]) -> None: ...
    def output(self, storage: int, **place: Unpack[_Place]) -> None: ...
    def begin_scope(self, scope: str, **place: Unpack[_ScopePlace]) -> None: ...
    def end_scope(self, scope: str, **place: Unpack[_ScopePlace]) -> None: ...
    def begin_call(self, op: str, signature: str = "", **place: Unpack[_CallPlace]) -> None: ...
    def end_call(self, op: str, signature: str = "", **place: Unpack[_CallPlace]) -> None: ...
    def set_phase(self, phase: _PhaseWord, **place: Unpack[_PhasePlace]) -> None: ...
    def begin_step(self, **place: Unpack[_Place]) -> None: ...
    def mark(self, text: str, **place: Unpack[_Place]) -> None: ...
    def map_segment(
        self, device: str, segment: int, bytes: int, **place: Unpack[_Place]
    ) -> None: ...
    def unmap_segment(
        self, device: str, segment: int, bytes: int, **place: Unpack[_Place]
    ) -> None: ...
    def use_pool(self, device: str, pool: int, **place: Unpack[_Place]) -> None: ...
    def release_pool(self, device: str, pool: int, **place: Unpack[_Place]) -> None: ...
    def empty_cache(self, device: str, pool: int = 0, **place: Unpack[_Place]) -> None: ...
    def region(self, name: str) -> Region: ...
    def set_time(self, time_ns: int) -> None: ...
    def set_meta(self, key: str, value: str) -> None: ...
    def diagnose(
        self, code: str, severity: Severity | str, where: str, message: str, count: int = 1
    ) -> None: ...
    def spill_to(
        self, path: _Path, *, keep: bool = True, compressed: bool | None = None
    ) -> None: ...
    def flush(self) -> None: ...
    def finish(self) -> Tape: ...

class When(_Value):
    event: Final[int]
    time_ns: Final[int]
    step: Final[int]
    phase: Final[Phase]
    scope: Final[str]
    op: Final[str]
    source: Final[str]

class StorageFact(_Value):
    storage: Final[int]
    allocated_bytes: Final[int]
    requested_bytes: Final[int]
    category: Final[Category]
    device: Final[str]
    born: Final[When]

class ScopeShare(_Value):
    scope: Final[str]
    allocated_bytes: Final[int]
    categories: Final[dict[Category, int]]

class SiteShare(_Value):
    count: Final[int]
    each_bytes: Final[int]
    allocated_bytes: Final[int]
    category: Final[Category]
    shape: Final[str]
    op: Final[str]
    source: Final[str]
    scope: Final[str]

class LineShare(_Value):
    source: Final[str]
    count: Final[int]
    allocated_bytes: Final[int]
    categories: Final[dict[Category, int]]

class DevicePeak(_Value):
    device: Final[str]
    allocated_bytes: Final[int]
    requested_bytes: Final[int]
    at: Final[When]
    categories: Final[dict[Category, int]]
    alive_count: Final[int]
    largest: Final[list[StorageFact]]
    owners: Final[list[ScopeShare]]
    modules: Final[list[ScopeShare]]
    sites: Final[list[SiteShare]]
    lines: Final[list[LineShare]]
    allocator: Final[AllocatorPeak | None]

class PeakAnswer(_Answer):
    devices: Final[list[DevicePeak]]
    events: Final[int]
    steps: Final[int]
    diagnostics: Final[Diagnostics]

class PeakAccumulator:
    def __init__(
        self, builder: TapeBuilder, *, top: int = 10, depth: int = 3, device: str | None = None,
        step: int | None = None,
    ) -> None: ...
    def answer(self) -> PeakAnswer: ...

class ScopeBytes(_Value):
    device: Final[str]
    before: Final[int]
    after: Final[int]
    peak: Final[int]
    grown: Final[int]
    peak_categories: Final[dict[Category, int]]
    peak_event: Final[int]

class ScopeCalls(_Value):
    phase: Final[Phase]
    calls: Final[int]
    first_call: Final[int]
    first_event: Final[int]
    last_event: Final[int]
    input_bytes: Final[int]
    output_bytes: Final[int]
    devices: Final[list[ScopeBytes]]

class ScopeFacts(_Value):
    path: Final[str]
    depth: Final[int]
    parameter_bytes: Final[int]
    buffer_bytes: Final[int]
    phases: Final[list[ScopeCalls]]
    calls: Final[list[ScopeCalls]]

class ScopesAnswer(_Answer):
    scopes: Final[list[ScopeFacts]]
    diagnostics: Final[Diagnostics]

class ScopesAccumulator:
    def __init__(
        self, builder: TapeBuilder, *, depth: int = 0, per_call: bool = False, device: str | None =
        None, step: int | None = None,
    ) -> None: ...
    def answer(self) -> ScopesAnswer: ...

class TimelinePoint(_Value):
    event: Final[int]
    time_ns: Final[int]
    step: Final[int]
    phase: Final[Phase]
    lowest: Final[int]
    highest: Final[int]
    categories: Final[dict[Category, int]]

class DeviceTimeline(_Value):
    device: Final[str]
    points: Final[list[TimelinePoint]]
    columns: Final[dict[str, NDArray[np.int64]]]

class TimelineAnswer(_Answer):
    axis: Final[TimelineAxis]
    first: Final[int]
    last: Final[int]
    devices: Final[list[DeviceTimeline]]
    diagnostics: Final[Diagnostics]

class TimelineAccumulator:
    def __init__(
        self, builder: TapeBuilder, *, columns: int = 0, by: TimelineAxis | str = "events", device:
        str | None = None, step: int | None = None,
    ) -> None: ...
    def answer(self) -> TimelineAnswer: ...

class Lifetime(_Value):
    storage: Final[StorageFact]
    died: Final[When | None]
    events: Final[int]
    time_ns: Final[int]
    span: Final[LifeSpan]

class LifetimeGroup(_Value):
    category: Final[Category]
    span: Final[LifeSpan]
    count: Final[int]
    allocated_bytes: Final[int]
    largest_bytes: Final[int]
    mean_events: Final[int]

class LifetimesAnswer(_Answer):
    storages: Final[int]
    groups: Final[list[LifetimeGroup]]
    heaviest: Final[list[Lifetime]]
    diagnostics: Final[Diagnostics]

class LifetimesAccumulator:
    def __init__(
        self, builder: TapeBuilder, *, top: int = 10, device: str | None = None, step: int | None =
        None,
    ) -> None: ...
    def answer(self) -> LifetimesAnswer: ...

class AllocatorPeak(_Value):
    allocated_bytes: Final[int]
    active_bytes: Final[int]
    reserved_bytes: Final[int]
    fragmented_bytes: Final[int]
    reserved_peak_bytes: Final[int]
    reserved_at: Final[When]

class SettingOutcome(_Value):
    settings: Final[str]
    peak: Final[AllocatorPeak]
    retries: Final[int | None]
    failures: Final[int | None]

class DeviceSettings(_Value):
    device: Final[str]
    outcomes: Final[list[SettingOutcome]]
    best: Final[str]
    saved_bytes: Final[int]

class AllocAnswer(_Answer):
    devices: Final[list[DeviceSettings]]
    room_bytes: Final[int | None]
    diagnostics: Final[Diagnostics]

class LeakSite(_Value):
    device: Final[str]
    scope: Final[str]
    op: Final[str]
    source: Final[str]
    category: Final[Category]
    count: Final[int]
    allocated_bytes: Final[int]
    steps: Final[int]
    bytes_per_step: Final[int]
    first_step: Final[int]
    last_step: Final[int]

class StepLevel(_Value):
    device: Final[str]
    step: Final[int]
    allocated_bytes: Final[int]

class LeaksAnswer(_Answer):
    enough_steps: Final[bool]
    finished_steps: Final[int]
    leaked_bytes: Final[int]
    sites: Final[list[LeakSite]]
    levels: Final[list[StepLevel]]
    diagnostics: Final[Diagnostics]

class LeaksAccumulator:
    def __init__(
        self, builder: TapeBuilder, *, top: int = 10, device: str | None = None
    ) -> None: ...
    def answer(self) -> LeaksAnswer: ...

class Difference(_Value):
    name: Final[str]
    before: Final[int]
    after: Final[int]

class DeviceDiff(_Value):
    device: Final[str]
    peak: Final[Difference]
    categories: Final[list[Difference]]
    scopes: Final[list[Difference]]
    ops: Final[list[Difference]]

class DiffAnswer(_Answer):
    same: Final[bool]
    devices: Final[list[DeviceDiff]]
    diagnostics: Final[Diagnostics]

class RankPeak(_Value):
    name: Final[str]
    rank: Final[int]
    device: Final[str]
    allocated_bytes: Final[int]
    at: Final[When]
    categories: Final[dict[Category, int]]

class Spread(_Value):
    name: Final[str]
    least: Final[int]
    most: Final[int]
    least_rank: Final[int]
    most_rank: Final[int]

class RanksAnswer(_Answer):
    ranks: Final[list[RankPeak]]
    worst: Final[int]
    categories: Final[list[Spread]]
    scopes: Final[list[Spread]]
    ops: Final[list[Spread]]
    diagnostics: Final[Diagnostics]

class GpuFacts(_Value):
    name: Final[str]
    memory_bytes: Final[int]
    capability: Final[str]
    def __init__(self, name: str, memory_bytes: int, capability: str = "") -> None: ...

class OutOfMemory(_Value):
    device: Final[str]
    wanted_bytes: Final[int]
    allocated_bytes: Final[int]
    at: Final[When]

class RunFacts(_Value):
    kind: Final[str]
    ended: Final[str]
    failure: Final[str]
    steps: Final[int | None]
    ops: Final[int]
    wall_seconds: Final[float]
    torch_version: Final[str]
    allocator_settings: Final[str]
    rank: Final[int]
    world_size: Final[int]
    ranks_alike: Final[str]
    gpu: Final[GpuFacts]
    calibrated_on: Final[str]
    nccl_groups: Final[int]
    used_matmul: Final[bool]
    is_uncompiled: Final[bool]
    optimizers: Final[int]
    further_seconds: Final[float]
    later_failure: Final[str]
    out_of_memory: Final[OutOfMemory | None]

class BudgetItem(_Value):
    name: Final[str]
    bytes: Final[int]
    evidence: Final[str]
    reason: Final[str]

class VerdictAnswer(_Answer):
    verdict: Final[str]
    fits: Final[bool | None]
    reason: Final[str]
    gpu: Final[GpuFacts]
    device: Final[str]
    tensor_bytes: Final[int]
    max_allocated_bytes: Final[int]
    max_reserved_bytes: Final[int]
    budget_bytes: Final[int]
    budget_error_bytes: Final[int]
    budget: Final[list[BudgetItem]]
    is_uncompiled: Final[bool]
    is_partial: Final[bool]
    rank: Final[int]
    world_size: Final[int]
    ranks_alike: Final[str]
    diagnostics: Final[Diagnostics]

class VerdictsAnswer(_Answer):
    verdicts: Final[list[VerdictAnswer]]
    diagnostics: Final[Diagnostics]
    def __init__(self, verdicts: list[VerdictAnswer]) -> None: ...

class Overview(_Answer):
    run: Final[RunFacts]
    verdict: Final[VerdictAnswer | None]
    not_covered: Final[list[str]]
    meta: Final[dict[str, str]]
    events: Final[int]
    steps: Final[int]
    peak: Final[PeakAnswer]
    scopes: Final[ScopesAnswer]
    timeline: Final[TimelineAnswer]
    diagnostics: Final[Diagnostics]

def _open_file(
    path: _Path, *, execution_trace: _Path | None = None, salvage: bool = False
) -> Tape: ...
def read_bytes(data: bytes, name: str = "bytes") -> Tape: ...
def read_text(text: str, name: str = "text") -> Tape: ...
def format_bytes(bytes: int) -> str: ...
def verify(tape: Tape) -> Diagnostics: ...
def find_verdict(tape: Tape, *, gpu: GpuFacts | None = None) -> VerdictAnswer: ...
def find_peak(
    tape: Tape, *, top: int = 10, depth: int = 3, device: str | None = None, step: int | None =
    None, allocator_settings: str | None = None,
) -> PeakAnswer: ...
def find_scopes(
    tape: Tape, *, depth: int = 0, per_call: bool = False, device: str | None = None, step: int
    | None = None,
) -> ScopesAnswer: ...
def find_timeline(
    tape: Tape, *, columns: int = 0, by: TimelineAxis | str = "events", device: str | None =
    None, step: int | None = None,
) -> TimelineAnswer: ...
def find_lifetimes(
    tape: Tape, *, top: int = 10, device: str | None = None, step: int | None = None
) -> LifetimesAnswer: ...
def find_alloc(
    tape: Tape, *, settings: list[str] = ..., memory_bytes: int | None = None, device: str |
    None = None, step: int | None = None,
) -> AllocAnswer: ...
def find_leaks(tape: Tape, *, top: int = 10, device: str | None = None) -> LeaksAnswer: ...
def find_diff(
    before: Tape, after: Tape, *, top: int = 10, device: str | None = None, step: int | None = None
) -> DiffAnswer: ...
def find_ranks(
    tapes: list[Tape], names: list[str] = ..., *, top: int = 10, device: str | None = None,
    step: int | None = None,
) -> RanksAnswer: ...
def find_overview(
    tape: Tape, *, top: int = 10, depth: int = 3, columns: int = 240, device: str | None = None,
    step: int | None = None, gpu: GpuFacts | None = None,
) -> Overview: ...
def read_pt2(path: _Path) -> Graph: ...

class AliveStorage:
    storage: int
    bytes: int
    born_at: int | None
    dies_at: int | None

class GraphPeak:
    bytes: int
    position: int
    node: int | None
    alive: list[AliveStorage]

class Graph:
    node_count: int
    storage_count: int
    devices: list[str]
    dimensions: dict[str, int | None]
    diagnostics: Diagnostics
    def accounts(
        self, *, granularity: int = 1, free_unused: bool = False, hold_collective_inputs: bool =
        False, reuse_inputs: bool = False, donated: list[int] = ..., releasable: list[bool] = ...,
        devices: list[str] = ..., dimensions: dict[str, int] = ...,
    ) -> GraphAccounts: ...
    def inputs(self, node: int) -> NDArray[np.uint32]: ...
    def outputs(self, node: int) -> NDArray[np.uint32]: ...
    def name(self, node: int) -> str: ...
    def find(self, name: str) -> int | None: ...
    def compute_nodes(self) -> NDArray[np.uint32]: ...

class GraphAccounts:
    def profile(self, order: _Nodes | None = None) -> NDArray[np.int64]: ...
    def peak(self, order: _Nodes | None = None) -> GraphPeak: ...
    def tape(self, order: _Nodes | None = None) -> Tape: ...
    def schedule(self) -> Schedule: ...
    def order(self, order: _Nodes | None = None) -> Order: ...

class Schedule:
    bytes: int
    peak: int
    nodes: NDArray[np.uint32]
    def schedule(self, node: int) -> tuple[int, int]: ...
    def schedule_all(self, nodes: _Nodes) -> NDArray[np.int64]: ...
    def what_if(self, node: int) -> tuple[int, int]: ...
    def undo(self) -> None: ...
    def is_ready(self, node: int) -> bool: ...

class Order:
    peak: int
    peak_node: int | None
    nodes: NDArray[np.uint32]
    def swap(self, a: int, b: int) -> None: ...
    def move_before(self, node: int, place: int) -> None: ...
    def move_after(self, node: int, place: int) -> None: ...
    def can_swap(self, a: int, b: int) -> bool: ...
    def can_move_before(self, node: int, place: int) -> bool: ...
    def can_move_after(self, node: int, place: int) -> bool: ...
    def level_at(self, node: int) -> int: ...
    def level_after(self, node: int) -> int: ...
    def last_input(self, node: int) -> int | None: ...
    def first_user(self, node: int) -> int | None: ...

def _plain_state_tensors(states: dict[Any, Any], tensor: type) -> list[Any] | None: ...
def _without_optimized(tensors: list[Any], parameters: list[Any]) -> list[Any]: ...
