"""Writes .tape files byte by byte, as docs/formats/tape.md defines them; also impossible ones."""

import struct

MAGIC = b"\x93TAPE\r\n\x1a"
TABLES, EVENTS, DIAGNOSTICS, END = 1, 2, 3, 4
ALLOC, FREE, SCOPE_BEGIN, SCOPE_END = 0, 1, 4, 5
NONE32, NONE16 = 0xFFFFFFFF, 0xFFFF
MASK = (1 << 64) - 1
PRIME = 0x9E3779B97F4A7C15


def mix(x):
    x ^= x >> 32
    x = x * PRIME & MASK
    return x ^ (x >> 29)


def checksum(data):
    sums, paths = [0] * 8, [0] * 8
    # Always at least one byte of padding: a whole last block is followed by zeros.
    padded = data + bytes(64 - len(data) % 64)
    for at in range(0, len(padded), 64):
        for lane, word in enumerate(struct.unpack_from("<8Q", padded, at)):
            sums[lane] = sums[lane] + word & MASK
            paths[lane] = (paths[lane] << 29 | paths[lane] >> 35) + sums[lane] & MASK
    total = mix(len(data))
    for lane in range(8):
        total = mix(mix(total ^ sums[lane]) ^ paths[lane])
    return total


def header(version=4):
    return MAGIC + struct.pack("<II", version, 0)


def block(kind, raw):
    head = struct.pack("<IIQQ", kind, 0, len(raw), len(raw))
    return head + struct.pack("<Q", checksum(head + raw)) + raw


def text(value):
    return struct.pack("<I", len(value)) + value


def tables(strings=(), devices=(b"cpu",), scopes=()):
    """Scopes are (number of the path's string, number of the parent scope)."""
    parts = [struct.pack("<I", len(strings)), *map(text, strings)]
    parts += [struct.pack("<I", len(devices)), *map(text, devices)]
    parts += [struct.pack("<I", 0)]  # streams
    parts += [struct.pack("<I", len(scopes)), *(struct.pack("<II", *scope) for scope in scopes)]
    parts += [struct.pack("<III", 0, 0, 0)]  # stacks, calls, meta
    return block(TABLES, b"".join(parts))


def events(*rows):
    """Rows are (kind, storage, bytes, scope); everything happens on the first device."""
    count = len(rows)
    kinds, storages, sizes, scopes = zip(*rows)
    return block(EVENTS, b"".join([
        struct.pack(f"<{count}q", *range(count)),
        struct.pack(f"<{count}q", *sizes),
        struct.pack(f"<{count}I", *storages),
        struct.pack(f"<{count}I", *scopes),
        struct.pack(f"<{2 * count}I", *[NONE32] * 2 * count),  # stacks and calls
        struct.pack(f"<{count}H", *[NONE16] * count),  # streams
        bytes(kinds),
        bytes(count), bytes(count), bytes(count),  # category, phase, device
    ]))


def end(count):
    return block(END, struct.pack("<Q", count))


def tape(*rows, **table_rows):
    return header() + tables(**table_rows) + events(*rows) + end(len(rows))


def alloc(storage, size):
    return (ALLOC, storage, size, NONE32)


def free(storage, size):
    return (FREE, storage, size, NONE32)


def begin(scope):
    return (SCOPE_BEGIN, NONE32, 0, scope)


def finish(scope):
    return (SCOPE_END, NONE32, 0, scope)
