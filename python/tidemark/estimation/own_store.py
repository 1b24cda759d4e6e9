"""The store of a job of which one rank runs: it knows what this rank has put there."""

from __future__ import annotations

from typing import Any


def make_own_store() -> Any:
    """Torch is loaded when virtual GPUs are there, so the class is made then."""
    from torch import distributed

    typed: Any = distributed  # its types do not have the store

    class OwnStore(typed.Store):  # type: ignore[misc]
        """Nobody waits: what another rank would have put there is not there."""

        def __init__(self) -> None:
            super().__init__()
            self._kept: dict[str, bytes] = {}

        def set(self, key: str, value: Any) -> None:
            self._kept[key] = value if isinstance(value, bytes) else str(value).encode()

        def get(self, key: str) -> bytes:
            if key not in self._kept:
                raise RuntimeError(f"the key {key!r} is another rank's to set, and other ranks are not run")
            return self._kept[key]

        def add(self, key: str, amount: int) -> int:
            value = int(self._kept.get(key, b"0")) + amount
            self._kept[key] = str(value).encode()
            return value

        def compare_set(self, key: str, expected: Any, desired: Any) -> bytes:
            wanted = expected if isinstance(expected, bytes) else str(expected).encode()
            if self._kept.get(key, b"") == wanted:
                self.set(key, desired)
            return self._kept.get(key, wanted)

        def check(self, keys: list[str]) -> bool:
            return all(key in self._kept for key in keys)

        def wait(self, keys: list[str], timeout: Any = None) -> None:
            """They come from other ranks, or are there."""

        def delete_key(self, key: str) -> bool:
            return self._kept.pop(key, None) is not None

        def num_keys(self) -> int:
            return len(self._kept)

    return OwnStore()
