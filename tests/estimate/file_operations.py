"""Does random things to files and prints what it sees: python file_operations.py SEED COUNT, in a folder.

The same seed does the same things. Under the library that holds files back it must see the same.
"""

from __future__ import annotations

import errno
import glob
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

NAMES = ["a", "b", "c", "one", "two", "one/a", "one/b", "one/deep", "one/deep/a", "two/a", "two/deep/b",
         "link", "link/a"]


def write(name: str, _: str) -> None:
    Path(name).write_text(f"written as {name}")


def append(name: str, _: str) -> None:
    with open(name, "a") as file:
        file.write("+")


def change_in_place(name: str, _: str) -> None:
    with open(name, "r+") as file:
        file.write("X")


def create(name: str, _: str) -> None:
    with open(name, "x") as file:
        file.write("new")


def write_through_a_temporary(name: str, _: str) -> None:
    Path(name + ".tmp").write_text("by a temporary name")
    os.replace(name + ".tmp", name)


def remove_tree(name: str, _: str) -> None:
    shutil.rmtree(name)


def copy_tree(name: str, other: str) -> None:
    shutil.copytree(name, other)


def list_folder(name: str, _: str) -> None:
    print(sorted(os.listdir(name)), sorted(glob.glob(name + "/**", recursive=True)))


def open_folder(name: str, _: str) -> None:
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
    try:
        print(sorted(os.listdir(folder)), os.stat("a", dir_fd=folder).st_size)
    finally:
        os.close(folder)


OPERATIONS: list[Callable[[str, str], object]] = [
    write, write, append, change_in_place, create, write_through_a_temporary, write_through_a_temporary,
    remove_tree, copy_tree, list_folder, open_folder, os.rename, os.replace, shutil.move, shutil.copy2,
    os.symlink,
    lambda name, _: os.remove(name), lambda name, _: Path(name).unlink(),
    lambda name, _: os.mkdir(name), lambda name, _: os.makedirs(name, exist_ok=True),
    lambda name, _: os.rmdir(name), lambda name, _: os.truncate(name, 3),
    lambda name, _: print(os.path.realpath(name)[len(os.getcwd()):], os.path.islink(name)),
    lambda name, _: Path(name).touch(),
]


# Where two names are wrong, the file system chooses what it complains of.
WITH_TWO_NAMES = [copy_tree, os.rename, os.replace, shutil.move, shutil.copy2, os.symlink]


def what_failed(operation: object, error: OSError) -> str:
    if operation in WITH_TWO_NAMES:
        return "failed"
    if isinstance(error, (FileNotFoundError, NotADirectoryError)) or error.errno == errno.ELOOP:
        return "not there"
    return "there already" if isinstance(error, FileExistsError) else "failed"


def everything() -> list[str]:
    """Every name below this folder with what it is."""
    seen = []
    for folder, folders, files in os.walk("."):
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                seen.append(f"{path} -> {os.readlink(path)}")
            elif os.path.isdir(path):
                seen.append(path + "/")
            else:
                seen.append(f"{path} = {Path(path).read_text()} ({os.stat(path).st_size})")
    return sorted(seen)


def main() -> None:
    chance = random.Random(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        operation = chance.choice(OPERATIONS)
        name, other = chance.choice(NAMES), chance.choice(NAMES)
        try:
            operation(name, other)
            outcome = "done"
        except OSError as error:
            outcome = what_failed(operation, error)
        number = OPERATIONS.index(operation)
        print(number, getattr(operation, "__name__", ""), name, other, outcome, everything())


if __name__ == "__main__":
    main()
