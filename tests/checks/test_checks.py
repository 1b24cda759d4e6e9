"""Runs every check on the house, and tests the checks on small made-up trees."""

from pathlib import Path

import check_docs_links
import check_first_lines
import check_layers
import check_map
import check_private_torch
import check_sizes
import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKS = [check_layers, check_map, check_sizes, check_first_lines, check_docs_links,
          check_private_torch]


@pytest.fixture
def tree(tmp_path):
    """Writes files into a made-up tree and returns its root."""

    def write(**files: str) -> Path:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_house_passes(check):
    assert check.find_problems(ROOT) == []


# Layers

# The table of a small house.
LAYERS = """## Who may include whom

| folder | of ours it may reach | from outside | must not |
|---|---|---|---|
| `tidemark/engine/base` | nothing | the standard library | know of tapes |
| `tidemark/engine/tape` | `tidemark/engine/base` | the standard library | |
| `tidemark/engine/answers` | `tidemark/engine/base` | the standard library | |
| `tidemark/engine/reports` | `tidemark/engine/answers`, `tidemark/engine/base` | the standard library | |
| `tidemark/readers` | `tidemark/engine/tape`, `tidemark/engine/base` | libraries | ask analyses |
| `tidemark/libtorch` | `tidemark/engine` | torch | |
| `python` | `tidemark` | torch | |

## Recipes
"""
HOUSE = {
    "ARCHITECTURE_dot_md": LAYERS,
    "tidemark__engine__base__ids_dot_h": "",
    "tidemark__engine__tape__tape_dot_h": '#include "tidemark/engine/base/ids.h"\n',
    "tidemark__engine__answers__peak_dot_h": '#include "tidemark/engine/base/ids.h"\n',
    "tidemark__libtorch__note_dot_h": "",
}


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("tidemark__engine__base__a_dot_h", '"tidemark/engine/tape/tape.h"'),
        ("tidemark__engine__reports__a_dot_cpp", '"tidemark/engine/tape/tape.h"'),
        ("tidemark__engine__tape__a_dot_h", '"tidemark/libtorch/note.h"'),
        ("tidemark__engine__tape__a_dot_h", '"tidemark/tape/tape.h"'),  # no such file
        ("tidemark__engine__tape__a_dot_h", "<tidemark/tape/tape.h>"),
        ("tidemark__engine__tape__a_dot_h", "<torch/torch.h>"),
        ("tidemark__engine__tape__a_dot_h", "<pybind11/pybind11.h>"),
        ("tidemark__engine__reports__a_dot_cpp", "<fmt/format.h>"),
        ("tidemark__engine__tape__a_dot_cpp", "<zstd.h>"),
        ("tidemark__engine__tape__a_dot_cpp", "<unistd.h>"),
        ("tidemark__engine__tape__a_dot_cpp", "<iostream>"),
        ("tidemark__engine__tape__a_dot_cpp", '"tape.h"'),
        ("tidemark__readers__zstd__a_dot_cpp", '"tidemark/engine/answers/peak.h"'),
        ("tidemark__readers__zstd__a_dot_cpp", "<ATen/ATen.h>"),
        ("tidemark__libtorch__a_dot_cpp", "<CLI/CLI.hpp>"),
    ],
)
def test_a_forbidden_include_is_found(tree, file, include):
    problems = check_layers.find_problems(
        tree(**HOUSE, **{file: f"// x.\n  #  include {include}\n"})
    )
    assert len(problems) == 1
    assert ":2:" in problems[0]


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("tidemark__engine__base__a_dot_h", "<vector>"),
        ("tidemark__engine__base__a_dot_h", '"tidemark/engine/base/ids.h"'),
        ("tidemark__engine__reports__a_dot_cpp", '"tidemark/engine/answers/peak.h"'),
        ("tidemark__readers__zstd__a_dot_cpp", "<zstd.h>"),
        ("python__src__a_dot_cpp", "<pybind11/pybind11.h>"),
        ("tidemark__libtorch__a_dot_cpp", "<torch/torch.h>"),
        ("tidemark__engine__base__notes_dot_md", "<torch/torch.h>"),
    ],
)
def test_an_allowed_include_is_not_found(tree, file, include):
    assert check_layers.find_problems(tree(**HOUSE, **{file: f"#include {include}\n"})) == []


def test_what_a_header_hands_on_counts_as_included(tree):
    root = tree(**HOUSE, tidemark__engine__reports__a_dot_cpp='#include "tidemark/engine/answers/all.h"\n',
                tidemark__engine__answers__all_dot_h='#include "tidemark/engine/tape/tape.h"\n')
    assert check_layers.find_problems(root) == [
        "tidemark/engine/answers/all.h:1: tidemark/engine/answers must not include "
        "tidemark/engine/tape/tape.h",
        "tidemark/engine/reports/a.cpp:1: tidemark/engine/reports must not include "
        "tidemark/engine/tape/tape.h, which it reaches through tidemark/engine/answers/all.h",
    ]


def test_headers_that_include_each_other_end_the_walk(tree):
    root = tree(**HOUSE, tidemark__engine__base__a_dot_h='#include "tidemark/engine/base/b.h"\n',
                tidemark__engine__base__b_dot_h='#include "tidemark/engine/base/a.h"\n')
    assert check_layers.find_problems(root) == []


def test_a_folder_without_a_row_is_found(tree):
    problems = check_layers.find_problems(tree(**HOUSE, tidemark__newcomer__a_dot_cpp=""))
    assert problems == [
        "tidemark/newcomer/a.cpp: no row of ARCHITECTURE.md says what it may include"
    ]


# The map


def test_a_path_that_does_not_exist_is_found(tree):
    root = tree(ARCHITECTURE_dot_md="`engine` and `engine/none`\n", engine__a_dot_h="// a.\n")
    assert check_map.find_problems(root) == [
        "ARCHITECTURE.md names engine/none, which does not exist"
    ]


def test_a_folder_that_is_not_named_is_found(tree):
    root = tree(ARCHITECTURE_dot_md="`engine`\n", engine__a_dot_h="", attic__b_dot_h="")
    assert check_map.find_problems(root) == ["ARCHITECTURE.md does not name the folder attic"]


def test_a_drawn_tree_is_read_by_its_indentation(tree):
    text = "```\nengine/  all\n  base/  ids\n  gone/  nothing\n```\n"
    root = tree(ARCHITECTURE_dot_md=text, engine__base__a_dot_h="")
    assert check_map.find_problems(root) == [
        "ARCHITECTURE.md names engine/gone, which does not exist"
    ]


def test_commands_and_code_are_not_paths(tree):
    text = "`engine` `make test/x` `--flag/x` `std::a/b` `find_peak` `tidemark/…`\n"
    assert check_map.find_problems(tree(ARCHITECTURE_dot_md=text, engine__a="")) == []


def test_a_missing_map_is_found(tree):
    assert check_map.find_problems(tree(engine__a="")) == ["ARCHITECTURE.md is missing"]


# Sizes


def cpp_function(lines: int) -> str:
    return "int f(int a) {\n" + "  a += '{';  // }\n" * (lines - 2) + "}\n"


def test_a_long_function_is_found_and_one_at_the_limit_is_not(tree):
    assert check_sizes.find_problems(tree(a_dot_cpp=cpp_function(80))) == []
    assert check_sizes.find_problems(tree(a_dot_cpp=cpp_function(81))) == [
        "a.cpp:1: a function of 81 lines"
    ]


def test_a_method_inside_classes_and_namespaces_is_a_function_of_its_own(tree):
    code = "namespace a {\nclass B {\n" + cpp_function(90) + "};\n}\n"
    assert check_sizes.find_problems(tree(a_dot_h=code)) == ["a.h:3: a function of 90 lines"]


def test_many_short_functions_are_no_long_one(tree):
    assert check_sizes.find_problems(tree(a_dot_cpp=cpp_function(30) * 20)) == []


def test_a_long_python_function_is_found(tree):
    code = "def f():\n" + "    pass\n" * 80
    assert check_sizes.find_problems(tree(a_dot_py=code)) == ["a.py:1: a function of 81 lines"]


def test_a_long_file_is_found(tree):
    root = tree(a_dot_h="//\n" * 401, b_dot_cpp="//\n" * 800, c_dot_cpp="//\n" * 801)
    assert check_sizes.find_problems(root) == [
        "a.h: 401 lines, more than 400",
        "c.cpp: 801 lines, more than 800",
    ]


# First lines


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_dot_h", "#pragma once\n"),
        ("a_dot_cpp", "\n// Comes too late.\n"),
        ("a_dot_cpp", "// Helpers\n"),
        ("a_dot_py", "import os\n"),
        ("CMakeLists_dot_txt", "project(x)\n"),
        ("a_dot_sh", "#!/bin/sh\nset -e\n"),
    ],
)
def test_a_file_that_does_not_say_what_it_is_is_found(tree, name, text):
    assert len(check_first_lines.find_problems(tree(**{name: text}))) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_dot_h", "// Ids of things.\n"),
        ("a_dot_cpp", "// A sentence that goes on\n// in the next line.\nint x;\n"),
        ("a_dot_py", '"""What it is."""\n'),
        ("a_dot_py", '#!/usr/bin/env python3\n"""What it is."""\n'),
        ("a_dot_sh", "#!/bin/sh\n# Runs the thing.\n"),
        ("empty_dot_py", ""),
        ("a_dot_json", "{}"),
    ],
)
def test_a_file_that_says_what_it_is_is_not_found(tree, name, text):
    assert check_first_lines.find_problems(tree(**{name: text})) == []


# Links


def test_a_broken_link_is_found_with_its_line(tree):
    root = tree(docs__a_dot_md="# A\n\nsee [b](b.md) and [c](../c.md)\n", c_dot_md="# C\n")
    assert check_docs_links.find_problems(root) == [
        "docs/a.md:3: links to b.md, which does not exist"
    ]


def test_a_heading_that_does_not_exist_is_found(tree):
    root = tree(a_dot_md="[x](b.md#the-end) [y](b.md#no-end) [z](#here)\n", b_dot_md="# The end!\n")
    assert check_docs_links.find_problems(root) == [
        "a.md:1: links to b.md#no-end, but there is no such heading",
        "a.md:1: links to #here, but there is no such heading",
    ]


def test_links_elsewhere_and_in_code_are_left_alone(tree):
    text = "[w](https://x.org/y) [m](mailto:a@b.c) `[i](none.md)`\n```\n[f](none.md)\n```\n"
    assert check_docs_links.find_problems(tree(a_dot_md=text)) == []


def test_a_missing_picture_is_found(tree):
    assert len(check_docs_links.find_problems(tree(a_dot_md="![p](none.png)\n"))) == 1


# Private things of torch

TABLE = """
from dataclasses import dataclass

@dataclass
class Row:
    owner: str
    names: tuple
    noticed: str = "not"
    without: str = ""

TABLE = (Row("torch._C", ("_known",)), Row("torch::autograd", ("Node",)))
"""
USES = {
    "python__tidemark__a_dot_py": "import torch\ntorch._C._known()\n",
    "tidemark__libtorch__a_dot_cpp": "// Has torch::autograd::Comment.\ntorch::autograd::Node* n;\n",
    "python__tidemark__private_torch_dot_py": TABLE,
}


def private_problems(tree, **more):
    root = tree(**USES | more)
    page = root / check_private_torch.PAGE
    page.parent.mkdir()
    uses = check_private_torch.find_uses(root)
    page.write_text(check_private_torch.page(check_private_torch.load_table(root), uses))
    return check_private_torch.find_problems(root)


def test_private_things_that_are_listed_are_not_found(tree):
    assert private_problems(tree) == []


@pytest.mark.parametrize("name, code, found", [
    ("python__tidemark__b_dot_py", "import torch.nn as nn\nnn._hidden\n", "_hidden"),
    ("python__tidemark__b_dot_py", "from torch._inner import tool\n", "tool"),
    ("python__tidemark__b_dot_py", "def f(x):\n    return x._slot\n", "_slot"),
    ("python__tidemark__b_dot_py", "import torch\nput(torch.cuda, '_lazy', 1)\n", "_lazy"),
    ("python__tidemark__b_dot_py", "import torch\nset_all(torch.cuda, _lazy=1)\n", "_lazy"),
    ("python__tidemark__b_dot_py", "look_up(lib, '_ZN5torch1xEv')\n", "_ZN5torch1xEv"),
    ("python__record__b_dot_cpp", "c10::impl::secret();\n", "secret"),
    ("python__record__b_dot_cpp", "THPVariable_New(x);\n", "THPVariable_New"),
])
def test_a_private_thing_that_is_not_listed_is_found(tree, name, code, found):
    [problem] = private_problems(tree, **{name: code})
    assert f"uses torch's {found}, which" in problem


def test_what_is_listed_and_not_used_is_found(tree):
    [problem] = private_problems(tree, python__tidemark__a_dot_py='"""Nothing."""\n')
    assert "lists _known, which no source uses" in problem


def test_a_page_that_differs_is_found(tree):
    assert "--write" in check_private_torch.find_problems(tree(**USES))[0]
