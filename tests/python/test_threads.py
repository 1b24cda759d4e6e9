"""A tape may be analysed by several threads, and does not hold up the others."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import tidemark


def long_tape(events: int) -> tidemark.Tape:
    pairs = (f"alloc s{i} {i % 4096}\nfree s{i}\n" for i in range(events // 2))
    return tidemark.read_text("tape 1\n" + "".join(pairs))


def test_two_threads_get_the_same_answers():
    tape = long_tape(20_000)
    with ThreadPoolExecutor(max_workers=2) as pool:
        peaks = list(pool.map(lambda _: tape.peak().to_json(), range(8)))
        lives = list(pool.map(lambda _: tape.lifetimes().to_json(), range(8)))
    assert len(set(peaks)) == 1 and len(set(lives)) == 1


def test_python_runs_while_the_engine_reads():
    """With forced switches off, only a released lock lets us see the analysis under way."""
    tape = long_tape(200_000)
    stage = "waiting"

    def analyse() -> None:
        nonlocal stage
        stage = "running"
        tape.lifetimes()
        stage = "done"

    def seen_running() -> bool:
        nonlocal stage
        stage = "waiting"
        worker = Thread(target=analyse)
        worker.start()
        seen = False
        while worker.is_alive():
            seen = seen or stage == "running"
            time.sleep(0.0001)
        return seen

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        assert any(seen_running() for _ in range(20))
    finally:
        sys.setswitchinterval(interval)
