"""The drop-ins as names of tidemark.compat, loaded when they are asked for."""

import importlib
import subprocess
import sys

import pytest

from tidemark import compat

pytest.importorskip("torch")


@pytest.mark.parametrize("module", ["mem_tracker", "mod_tracker", "memory_estimator"])
def test_each_drop_in_can_be_had_from_the_package(module):
    home = importlib.import_module(f"tidemark.compat.{module}")
    own = [name for name, value in vars(home).items()
           if not name.startswith("_") and getattr(value, "__module__", None) == home.__name__]
    assert own
    for name in own:
        assert getattr(compat, name) is getattr(home, name) and name in dir(compat)


def test_nothing_is_loaded_before_it_is_asked_for():
    program = ("import sys, tidemark.compat\n"
               "assert 'torch' not in sys.modules\n"
               "from tidemark.compat import MemTracker\n"
               "assert MemTracker.__module__ == 'tidemark.compat.mem_tracker'\n")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stderr


def test_other_names_are_refused_as_python_does():
    with pytest.raises(AttributeError, match="Memtracker"):
        compat.Memtracker
