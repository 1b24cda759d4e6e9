"""Fits decision trees to what cuDNN took inside many convolutions, and writes them as a table for C++.

    python bench/truth/ask_convolutions.py --out more.jsonl.xz                  # where there is a GPU
    python bench/truth/fit_convolutions.py [more.jsonl.xz ...] [--check 0.15]   # numpy and scikit-learn

What a call takes is a sum of copies of its tensors, parts of a split sum, transformed tiles and the like; which
of them, cuDNN's heuristics choose. Each asked call is labelled with the amount that explains its bytes, and a tree
learns labels from shapes: one for each part of a convolution, for floats and halves, for planes and channels last.
`--check` leaves that share of the calls out, and tells how many of them come out right. The calls of known nets in
tests/phantom/workspace_answers.json are never learned: they are told of, too.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from itertools import product
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ASKED = HERE / "convolutions-h200.jsonl.xz"
OF_KNOWN_NETS = ROOT / "tests/phantom/workspace_answers.json"
TABLE = ROOT / "tidemark/libtorch/phantom/cuda/convolution_trees.inc"

PROCESSORS = 132  # of the H200 that was asked
NUMBERS = {"float32": 0, "float16": 1, "bfloat16": 2}
PARTS = ("Forward", "InputGradient", "WeightGradient")
FEATURES = ("number", "batch", "inputs", "outputs", "groups", "input_positions", "output_positions", "taps", "kernel",
            "least_kernel", "stride", "dilation", "padding", "sides", "least_input_side", "least_output_side", "sum",
            "columns", "input_by_output", "input_multiple", "output_multiple", "products", "sum_by_columns")
TILES = ((128, 128), (128, 64), (64, 128), (64, 64), (256, 64), (64, 256), (128, 256), (256, 128), (128, 32), (32, 128))
TIMES = (*range(1, 17), 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 54, 56, 60, 64, 66, 80, 96, 104, 112, 120, 126,
         128, 132, 256, 264)
MOST_LABELS, FEWEST_OF_A_LABEL, MOST_LEAVES, FEWEST_OF_A_LEAF = 70, 8, 700, 4
LARGE = 4e6  # bytes of a call's tensors: smaller calls count for less

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Amount:
    """Multiples of input, output and weight, their channels padded, and something else; as in C++."""

    inputs: int = 0
    outputs: int = 0
    weights: int = 0
    input_pad: int = 1
    output_pad: int = 1
    weight_pad: int = 1
    more: str = "None"
    a: int = 0
    b: int = 0
    c: int = 0


def amounts(is_of_weights: bool) -> list[Amount]:
    few = [(x, y, w) for x, y, w in product(range(3), repeat=3) if (x, y) != (2, 2)]
    found = [Amount(*each) for each in few]
    found += [Amount(*each) for each in ((4, 4, 0), (4, 0, 0), (0, 4, 0), (3, 0, 0), (4, 0, 1), (0, 4, 1))]
    for pad in (4, 8):
        found += [Amount(*each, pad, pad, pad) for each in few if each[:2] != (0, 0)]
        found += [Amount(x, 1, w, pad, 1, pad) for x, w in product((1, 2), range(3))]
        found += [Amount(1, 1, w, 1, pad, pad) for w in range(3)]
    for side in (16, 32, 64, 128, 256):
        found += [Amount(outputs=1, more="Frequencies", a=side, b=2), Amount(more="Frequencies", a=side, b=1),
                  Amount(more="Frequencies", a=side, b=1, c=1)]
    found += [Amount(more="Winograd", a=side) for side in (4, 2)]
    found += [Amount(more="Columns", a=all_images) for all_images in (0, 1)]
    return found + (split_sums() if is_of_weights else [])


def split_sums() -> list[Amount]:
    """What only gradients of weights take: a matrix of floats for each part of the sum."""
    found = []
    for times in TIMES:
        found += [Amount(x, y, w, more="Times", a=times) for x, y, w in ((0, 0, 0), (1, 1, 0), (1, 1, 1))]
        found += [Amount(x, y, more="Tiles", a=times) for x, y in ((0, 0), (1, 1))]
    sums = [("Split", 0, 0, 0), ("Batch", 1, 0, 0), ("Batch", 8, 0, 0), ("Times", 1, 0, 0), ("Times", 2, 0, 0),
            ("Times", 4, 0, 0), ("HalfOfTiles", 0, 0, 0)]
    sums += [("PartsOfTiles", waves, *tile) for waves in (1, 2) for tile in TILES]
    for each in sums:
        found += [Amount(x, y, w, more=each[0], a=each[1], b=each[2], c=each[3])
                  for x, y, w in ((0, 0, 0), (1, 1, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1), (0, 0, 1), (0, 2, 0))]
        for pad in (4, 8):
            found += [Amount(x, y, w, pad, of_output, pad, *each)
                      for x, y, w, of_output in ((1, 1, 0, pad), (1, 1, 0, 1), (2, 1, 0, 1), (2, 0, 0, 1), (1, 1, 1, pad))]
    found += [Amount(x, y, more="WholeTiles", a=waves, b=rows, c=columns)
              for waves in (1, 2) for rows, columns in TILES for x, y in ((0, 0), (1, 1))]
    return found


def asked_in(path: Path) -> Iterator[list[Any]]:
    if path.suffix == ".json":
        for x, w, stride, padding, dilation, *rest in json.loads(path.read_text())["convolutions"]:
            yield [x, w, *([one] * (len(x) - 2) for one in (stride, padding, dilation)), *rest]
    else:
        with lzma.open(path, "rt") as lines:
            yield from map(json.loads, lines)


def facts_of(row: list[Any], part: int) -> dict[str, Any]:
    """A transposed convolution is the input gradient of another, read backwards."""
    x, w, stride, padding, dilation, groups, dtype, channels_last, transposed, answer = row
    if transposed:
        made = [(i - 1) * s - 2 * p + d * (k - 1) + 1
                for i, k, s, p, d in zip(x[2:], w[2:], stride, padding, dilation, strict=True)]
        given, made, part_here = made, x[2:], (1, 0, 2)[part]
    else:
        given, made, part_here = x[2:], [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in zip(
            x[2:], w[2:], stride, padding, dilation, strict=True)], part
    return {"part": part_here, "channels_last": int(channels_last), "taken": answer[part], "number": NUMBERS[dtype],
            "batch": x[0], "inputs": w[1] * groups if transposed else x[1], "outputs": w[0], "groups": groups,
            "input_positions": prod(given), "output_positions": prod(made), "taps": prod(w[2:]),
            "kernel": max(w[2:]), "least_kernel": min(w[2:]), "stride": max(stride), "dilation": max(dilation),
            "padding": max(padding), "sides": len(given), "least_input_side": min(given), "least_output_side": min(made)}


def multiple(channels: Array) -> Array:
    """The largest power of two in a number, up to 64."""
    return np.minimum(channels.astype(np.int64) & -channels.astype(np.int64), 64).astype(float)


class Calls:
    """Columns of facts, and what follows from them."""

    def __init__(self, rows: list[list[Any]]) -> None:
        facts = [facts_of(row, part) for row in rows for part in range(3)]
        self.of = f = {name: np.array([one[name] for one in facts], float) for name in facts[0]}
        f["group_inputs"], f["group_outputs"] = f["inputs"] / f["groups"], f["outputs"] / f["groups"]
        f["sum"] = f["batch"] * f["output_positions"]
        f["columns"] = f["group_inputs"] * f["taps"]
        f["input_by_output"] = f["inputs"] * f["input_positions"] / (f["outputs"] * f["output_positions"])
        f["input_multiple"], f["output_multiple"] = multiple(f["inputs"]), multiple(f["outputs"])
        f["products"] = f["sum"] * f["columns"] * f["outputs"]
        f["sum_by_columns"] = f["sum"] / f["columns"]
        self.itemsize = np.where(f["number"] == 0, 4.0, 2.0)
        self.tensors = self.inputs(1) + self.outputs(1) + self.weights(1)
        self.held = self.tensors + f["taken"]

    def padded(self, channels: str, pad: int) -> Array:
        exact = self.of[channels]
        return np.where(self.of["groups"] > 1, exact, np.ceil(exact / pad) * pad)

    def inputs(self, pad: int) -> Array:
        return self.of["batch"] * self.padded("inputs", pad) * self.of["input_positions"] * self.itemsize

    def outputs(self, pad: int) -> Array:
        return self.of["batch"] * self.padded("outputs", pad) * self.of["output_positions"] * self.itemsize

    def weights(self, pad: int) -> Array:
        f = self.of
        return self.padded("outputs", pad) * (self.padded("inputs", pad) / f["groups"]) * f["taps"] * self.itemsize

    def tiles(self, rows: Any, columns: Any) -> Array:
        return np.ceil(self.of["group_outputs"] / rows) * np.ceil(self.of["columns"] / columns)

    def more(self, m: Amount) -> Array | int:
        f, matrix = self.of, 4 * self.of["outputs"] * self.of["columns"]
        if m.more == "Times":
            return m.a * matrix
        if m.more == "Tiles":
            return m.a * 4 * 128 * 128
        if m.more == "Batch":
            return m.a * f["batch"] * matrix
        if m.more == "HalfOfTiles":
            return PROCESSORS // 2 * 4 * 128 * 128
        if m.more == "PartsOfTiles":
            parts = np.floor(m.a * PROCESSORS / self.tiles(m.b, m.c))
            return np.where(parts < 2, 0, parts) * matrix
        if m.more == "WholeTiles":
            tiles = self.tiles(m.b, m.c)
            return np.maximum(np.floor(m.a * PROCESSORS / tiles), 1) * tiles * m.b * m.c * 4
        if m.more == "Split":
            tiles = self.tiles(128, np.where(f["group_outputs"] <= 64, 64, 128))
            is_product = f["taps"] == 1
            shortest = np.where(f["number"] == 0, np.where(is_product, 192, 896), np.where(is_product, 1280, 4096))
            parts = np.minimum(np.floor(PROCESSORS / tiles), np.floor(f["sum"] / shortest))
            return np.where(parts < 2, 0, parts) * matrix
        if m.more == "Frequencies":
            planes = f["batch"] * (f["inputs"] + f["outputs"]) + m.c * f["inputs"] * f["outputs"]
            return planes * m.b * m.a * (m.a // 2 + 1) * 8
        if m.more == "Winograd":
            tiles = f["batch"] * np.ceil(f["output_positions"] / (m.a * m.a))
            return 4 * (m.a + 2) ** 2 * (tiles * (f["inputs"] + f["outputs"]) + f["inputs"] * f["outputs"])
        if m.more == "Columns":
            images = f["batch"] if m.a else 1
            return images * f["groups"] * f["columns"] * f["output_positions"] * self.itemsize
        return 0

    def taken_by(self, m: Amount) -> Array:
        copies = (m.inputs * self.inputs(m.input_pad) + m.outputs * self.outputs(m.output_pad)
                  + m.weights * self.weights(m.weight_pad))
        return np.asarray(copies + self.more(m), np.float64)

    def features(self) -> Array:
        return np.stack([self.of[name] for name in FEATURES], 1).astype(np.float32)


def labels(errors: Array) -> tuple[list[int], Array]:
    """Few amounts that explain the calls, the most frequent first; and each call's among them."""
    explains = errors <= np.maximum(errors.min(1, keepdims=True) + 0.0003, 0.001)
    open_calls, used = np.ones(len(errors), bool), []
    chosen = np.zeros(len(errors), int)
    while open_calls.any() and len(used) < MOST_LABELS:
        counts = explains[open_calls].sum(0)
        best = int(counts.argmax())
        if counts[best] < FEWEST_OF_A_LABEL:
            break
        chosen[open_calls & explains[:, best]] = len(used)
        open_calls &= ~explains[:, best]
        used.append(best)
    chosen[open_calls] = errors[open_calls][:, used].argmin(1)
    return used, chosen


def kinds_of_copies(used: list[Amount]) -> Array:
    """The same number for amounts that differ in the parts of a sum alone."""
    of_sums = {"None", "Times", "Tiles", "HalfOfTiles", "PartsOfTiles", "WholeTiles", "Split"}
    kinds = [(*astuple(one)[:6], "" if one.more in of_sums else one.more) for one in used]
    return np.array([kinds.index(kind) for kind in kinds])


@dataclass
class Tree:
    name: str
    nodes: list[tuple[int, int, float]]  # a feature, or -1; the right child, or the amount; the limit
    used: list[Amount]

    def amounts_of(self, features: Array) -> Array:
        """Positions in `used`."""
        found = np.zeros(len(features), int)
        below = [(0, np.arange(len(features)))]
        while below:
            at, rows = below.pop()
            feature, next_node, limit = self.nodes[at]
            if feature < 0:
                found[rows] = next_node
                continue
            goes_left = features[rows, feature] <= np.float32(limit)
            below += [(at + 1, rows[goes_left]), (next_node, rows[~goes_left])]
        return found


def fitted(name: str, calls: Calls, of: Array, choices: list[Amount]) -> Tree:
    from sklearn.tree import DecisionTreeClassifier

    taken = np.stack([calls.taken_by(one)[of] for one in choices], 1)
    errors = np.abs(taken - calls.of["taken"][of][:, None]) / calls.held[of][:, None]
    used, chosen = labels(errors)
    features = calls.features()[of]
    tree = DecisionTreeClassifier(max_leaf_nodes=MOST_LEAVES, min_samples_leaf=FEWEST_OF_A_LEAF, random_state=0)
    # What is copied matters more than how a sum is split.
    copies = kinds_of_copies([choices[i] for i in used])[chosen]
    tree.fit(features, np.stack([copies, copies, chosen], 1),
             sample_weight=np.where(calls.tensors[of] > LARGE, 1.0, 0.3))
    # A leaf says what costs its calls least, and a wrong amount costs what it is wrong by.
    cost = np.minimum(errors[:, used], 3) + 0.05 * (errors[:, used] > 0.004) + 0.05 * (errors[:, used] > 0.03)
    sums = np.zeros((tree.tree_.node_count, len(used)))
    np.add.at(sums, tree.apply(features), cost)
    made: list[tuple[int, int, float]] = []

    def add(node: int) -> None:
        at, t = len(made), tree.tree_
        if t.children_left[node] < 0:
            made.append((-1, int(sums[node].argmin()), 0.0))
            return
        limit = float(f"{t.threshold[node]:.7g}")
        made.append((int(t.feature[node]), 0, limit))
        add(t.children_left[node])
        made[at] = (made[at][0], len(made), limit)
        add(t.children_right[node])

    add(0)
    return Tree(name, pruned(made), [choices[i] for i in used])


def pruned(nodes: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Without branches both of whose leaves say the same."""

    def rebuilt(at: int) -> list[tuple[int, int, float]]:
        feature, right, limit = nodes[at]
        if feature < 0:
            return [nodes[at]]
        left_part, right_part = rebuilt(at + 1), rebuilt(right)
        if len(left_part) == len(right_part) == 1 and left_part == right_part:
            return left_part
        return [(feature, -1, limit), *left_part, *right_part]

    made = rebuilt(0)

    def linked(at: int) -> int:
        if made[at][0] < 0:
            return at + 1
        right = linked(at + 1)
        made[at] = (made[at][0], right, made[at][2])
        return linked(right)

    linked(0)
    return made


def written(trees: list[Tree]) -> str:
    every = sorted({one for tree in trees for one in tree.used}, key=astuple)
    lines = ["// Written by bench/truth/fit_convolutions.py from calls that an H200 was asked: trees, and their amounts."]
    lines += ["constexpr Amount kAmounts[] = {"]
    lines += ["    {%d, %d, %d, %d, %d, %d, More::k%s, %d, %d, %d}," % astuple(one) for one in every]
    lines += ["};"]
    for tree in trees:
        places = [every.index(one) for one in tree.used]
        lines.append(f"constexpr Node k{tree.name}[] = {{")
        row = "   "
        for feature, following, limit in tree.nodes:
            text = f" {{{places[following]}}}," if feature < 0 else f" {{{following}, {feature}, {limit:.7g}f}},"
            if feature >= 0 and "." not in text and "e" not in text:
                text = text.replace("f}", ".f}")
            if len(row) + len(text) > 116:
                lines.append(row)
                row = "   "
            row += text
        lines += [row, "};"]
    return "\n".join(lines) + "\n"


def groups(calls: Calls) -> Iterator[tuple[str, Array, bool]]:
    for part, number, order in product(range(3), range(2), range(2)):
        of = ((calls.of["part"] == part) & ((calls.of["number"] > 0) == bool(number))
              & (calls.of["channels_last"] == order))
        yield (f"{PARTS[part]}{('Float', 'Half')[number]}{('Planes', 'ChannelsLast')[order]}", of, part == 2)


def told(tree: Tree, calls: Calls, of: Array, which: str) -> str:
    """How many of the calls come out right; nothing where there are none."""
    if not of.any():
        return ""
    taken = np.stack([calls.taken_by(one)[of] for one in tree.used], 1)
    answers = taken[np.arange(of.sum()), tree.amounts_of(calls.features()[of])]
    errors = np.abs(answers - calls.of["taken"][of])
    return (f"{tree.name:32} {of.sum():6} {which + ',':15} right {100 * (errors < 0.03 * calls.held[of]).mean():5.1f} %, "
            f"bytes wrong {100 * errors.sum() / calls.held[of].sum():5.2f} %")


def in_children(work: Callable[[Any], Any], of: list[Any], jobs: int) -> Iterator[Any]:
    """Answers in order, from forks that share what is there already."""
    global _work
    _work = work
    with get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        yield from pool.imap(call_work, of, chunksize=1)


def call_work(of: Any) -> Any:
    return _work(of)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("more", nargs="*", type=Path, help="further files of ask_convolutions.py")
    parser.add_argument("--check", type=float, default=0.0, metavar="SHARE", help="of all calls, left out and told of")
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--jobs", type=int, default=2, help="trees that learn at a time, 2 by default")
    arguments = parser.parse_args()
    rows = [row for path in (ASKED, *arguments.more) for row in asked_in(path)]
    known = list(asked_in(OF_KNOWN_NETS))
    calls = Calls(rows + known)
    count = len(rows) + len(known)
    is_known = np.repeat(np.arange(count) >= len(rows), 3)
    is_left_out = np.repeat(np.random.default_rng(0).random(count) < arguments.check, 3) & ~is_known

    def learned(group: tuple[str, Array, bool]) -> tuple[Tree, str]:
        name, of, is_of_weights = group
        tree = fitted(name, calls, of & ~is_left_out & ~is_known, amounts(is_of_weights))
        return tree, "\n".join(filter(None, (
            told(tree, calls, of & ~is_left_out & ~is_known, "learned"), told(tree, calls, of & is_left_out, "left out"),
            told(tree, calls, of & is_known, "of known nets"))))

    trees = []
    for tree, lines in in_children(learned, list(groups(calls)), arguments.jobs):
        print(lines, flush=True)
        trees.append(tree)
    if not arguments.check:
        arguments.out.write_text(written(trees), encoding="utf-8")
        print(f"{arguments.out}: {len(trees)} trees, {sum(len(tree.nodes) for tree in trees)} nodes")


if __name__ == "__main__":
    main()
