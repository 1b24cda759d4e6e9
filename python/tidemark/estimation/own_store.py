"""The store of a job of which one rank runs: it knows what this rank has put there."""

from __future__ import annotations

from typing import Any


def make_own_store() -> Any:
    """Torch is loaded when virtual GPUs are there, so the class is made then."""
    from torch.distributed import Store

    class OwnStore(Store):  # type: ignore[misc]
        """Nobody waits: what another rank would have put there is not there."""

        def __init__(self) -> None:
            super().__init__()
            self._values: dict[str, bytes] = {}

        def set(self, key: str, value: Any) -> None:
            self._values[key] = value if isinstance(value, bytes) else str(value).encode()

        def get(self, key: str) -> bytes:
            if key not in self._values:
                raise RuntimeError(f"the key {key!r} is another rank's to set, and other ranks are not run")
            return self._values[key]

        def add(self, key: str, amount: int) -> int:
            value = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(value).encode()
            return value

        def compare_set(self, key: str, expected: Any, desired: Any) -> bytes:
            wanted = expected if isinstance(expected, bytes) else str(expected).encode()
            if self._values.get(key, b"") == wanted:
                self.set(key, desired)
            return self._values.get(key, wanted)

        def check(self, keys: list[str]) -> bool:
            return all(key in self._values for key in keys)

        def wait(self, keys: list[str], timeout: Any = None) -> None:
            """They come from other ranks, or are there."""

        def delete_key(self, key: str) -> bool:
            return self._values.pop(key, None) is not None

        def num_keys(self) -> int:
            return len(self._values)

    return OwnStore()
