"""Two sessions on one server: what is opened once, what waits for what, and what leaves."""

import threading
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import pytest

from analysis.probe import seats
from analysis.probe.seats import Seats
from analysis.systems import catalogue, encoders

LONG = 30  # seconds after which a test that waits has failed


class Gate:
    """Something that takes as long as the test says."""

    def __init__(self):
        self.entered, self.let_go = threading.Event(), threading.Event()

    def pass_through(self):
        self.entered.set()
        assert self.let_go.wait(LONG)


class Opened:
    """A system opened on a corpus, as far as the seats look at it."""

    def __init__(self, nbytes):
        self.nbytes = nbytes


@pytest.fixture
def opening(monkeypatch):
    """Systems opened so far by name, in the place of real ones; those with a gate wait there."""
    gates, opened = {}, []

    def open_live(system, corpus, *, workbench):
        opened.append(system.entry.name)
        if system.entry.name in gates:
            gates[system.entry.name].pass_through()
        return Opened(nbytes=100)

    monkeypatch.setattr(seats, "open_live", open_live)
    return gates, opened


@pytest.fixture
def task(example_store):
    return example_store.tasks(example_store.benchmark("example").benchmark_id)[0]


@pytest.fixture
def pool():
    with ThreadPoolExecutor(3) as pool:
        yield pool


def test_who_asks_an_open_system_does_not_wait_for_one_that_is_being_opened(example_store, task, opening, pool):
    gates, opened = opening
    everyone = Seats()
    first = everyone.take(example_store, task, "bm25")
    gate = gates["bm25-cjk"] = Gate()
    slow = pool.submit(everyone.take, example_store, task, "bm25-cjk")
    assert gate.entered.wait(LONG)
    assert pool.submit(everyone.take, example_store, task, "bm25").result(LONG) is first
    other = pool.submit(everyone.take, example_store, task, "use-multilingual-v3").result(LONG)
    assert other.content is first.content  # the corpus is read once
    assert not slow.done()
    gate.let_go.set()
    assert slow.result(LONG) is everyone.take(example_store, task, "bm25-cjk")
    assert opened == ["bm25", "bm25-cjk", "use-multilingual-v3"]


def test_two_who_ask_for_the_same_system_open_it_once(example_store, task, opening, pool):
    gates, opened = opening
    everyone = Seats()
    gate = gates["bm25"] = Gate()
    first = pool.submit(everyone.take, example_store, task, "bm25")
    assert gate.entered.wait(LONG)
    second = pool.submit(everyone.take, example_store, task, "bm25")
    gate.let_go.set()
    assert first.result(LONG) is second.result(LONG)
    assert opened == ["bm25"]


@pytest.mark.parametrize("limit", [{"kept": 2}, {"kept_bytes": 250}])
def test_the_least_recently_asked_leaves(example_store, task, opening, limit):
    everyone = Seats(**limit)
    for name in ("bm25", "bm25-cjk", "bm25", "use-multilingual-v3", "bm25", "bm25-cjk"):
        everyone.take(example_store, task, name)
    assert opening[1] == ["bm25", "bm25-cjk", "use-multilingual-v3", "bm25-cjk"]


def test_a_system_larger_than_the_limit_stays_until_the_next_one(example_store, task, opening):
    everyone = Seats(kept_bytes=50)
    seat = everyone.take(example_store, task, "bm25")
    assert everyone.take(example_store, task, "bm25") is seat
    everyone.take(example_store, task, "bm25-cjk")
    assert everyone.take(example_store, task, "bm25") is not seat


class Slow:
    """An encoder that takes as long as its gate says."""

    def __init__(self, gate):
        self.gate = gate


def test_encoders_are_loaded_once_one_at_a_time_and_leave_with_those_who_hold_them(example_store, monkeypatch, pool):
    gates = {"all-minilm-l6-v2": Gate(), "use-multilingual-v3": Gate()}
    loaded = []

    def load(system, options):
        loaded.append(system.name)
        gates[system.name].pass_through()
        return Slow(gates[system.name])

    monkeypatch.setattr(encoders, "load", load)
    bench = Seats().bench(example_store)
    minilm, use = (catalogue.entry(name) for name in gates)
    first, again = (pool.submit(bench.encoder, minilm) for _ in range(2))
    assert gates["all-minilm-l6-v2"].entered.wait(LONG)
    other = pool.submit(bench.encoder, use)
    gates["all-minilm-l6-v2"].let_go.set()
    held = first.result(LONG)
    assert again.result(LONG) is held
    assert gates["use-multilingual-v3"].entered.wait(LONG)
    assert bench.encoder(minilm) is held  # asked while another one is being loaded
    assert not other.done()
    gates["use-multilingual-v3"].let_go.set()
    other.result(LONG)
    assert loaded == ["all-minilm-l6-v2", "use-multilingual-v3"]
    gone = ref(held)
    del held, first, again
    assert gone() is None
