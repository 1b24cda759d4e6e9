"""The rules of PyTorch's caching allocator in plain Python: what one would write without C++.

Default settings, one device, no limit: enough to compare the speed of the engine's model with.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field

MIB = 1 << 20


@dataclass(eq=False)
class Block:
    stream: int
    is_small: bool
    address: int
    size: int
    is_allocated: bool = False
    previous: "Block | None" = None
    next: "Block | None" = None


def block_size(requested: int) -> int:
    return max(512, (requested + 511) // 512 * 512)


def segment_size(size: int) -> int:
    if size <= MIB:
        return 2 * MIB
    return 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)


@dataclass
class PlainAllocator:
    allocated: int = 0
    reserved: int = 0
    reserved_peak: int = 0
    next_address: int = 0
    # By stream and pool: sizes and addresses in order, and the block at each address.
    free_keys: dict[tuple[int, bool], list[tuple[int, int]]] = field(default_factory=dict)
    free_blocks: dict[int, Block] = field(default_factory=dict)

    def malloc(self, requested: int, stream: int = 0) -> Block:
        size = block_size(requested)
        is_small = size <= MIB
        keys = self.free_keys.setdefault((stream, is_small), [])
        at = bisect_left(keys, (size, -1))
        if at < len(keys):
            block = self.free_blocks.pop(keys.pop(at)[1])
        else:
            block = self.new_segment(segment_size(size), stream, is_small)
        rest = block.size - size
        if rest >= 512 if is_small else rest > MIB:
            block = self.split(block, size)
        block.is_allocated = True
        self.allocated += block.size
        return block

    def new_segment(self, size: int, stream: int, is_small: bool) -> Block:
        block = Block(stream, is_small, self.next_address, size)
        self.next_address += size
        self.reserved += size
        self.reserved_peak = max(self.reserved_peak, self.reserved)
        return block

    def split(self, block: Block, size: int) -> Block:
        front = Block(block.stream, block.is_small, block.address, size, previous=block.previous,
                      next=block)
        if front.previous is not None:
            front.previous.next = front
        block.previous = front
        block.address += size
        block.size -= size
        self.put_free(block)
        return front

    def put_free(self, block: Block) -> None:
        insort(self.free_keys[block.stream, block.is_small], (block.size, block.address))
        self.free_blocks[block.address] = block

    def take_free(self, block: Block) -> None:
        keys = self.free_keys[block.stream, block.is_small]
        del keys[bisect_left(keys, (block.size, block.address))]
        del self.free_blocks[block.address]

    def free(self, block: Block) -> None:
        block.is_allocated = False
        self.allocated -= block.size
        before, after = block.previous, block.next
        if before is not None and not before.is_allocated:
            self.take_free(before)
            block.address = before.address
            block.size += before.size
            block.previous = before.previous
            if block.previous is not None:
                block.previous.next = block
        if after is not None and not after.is_allocated:
            self.take_free(after)
            block.size += after.size
            block.next = after.next
            if block.next is not None:
                block.next.previous = block
        self.put_free(block)
