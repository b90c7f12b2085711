"""Devices: which are chosen, what is refused, and real processes of a pool on the processor."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError, JobCancelledError, SystemLoadError
from analysis.paths import Cache
from analysis.systems import cross_encoder, devices, encoding
from analysis.systems.encoders import load
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench
from tests.systems import tiny_models
from tests.systems.conftest import WORDS

ROOT = Path(__file__).resolve().parents[2]
LOCAL = {"backend": "sentence-transformers", "dimension": 32, "prompts": {"query": "", "document": ""}}
TEXTS = [" ".join(WORDS.split()[: 1 + number % 15]) + f" {number}" for number in range(40)]


@pytest.mark.parametrize(
    ("here", "text", "expected"),
    [
        (["cuda:0", "cuda:1", "cpu"], "auto", ("cuda:0",)),
        (["mps", "cpu"], "auto", ("mps",)),
        (["cpu"], "auto", ("cpu",)),
        (["cuda:0", "cuda:1", "cpu"], "cuda, cuda:1", ("cuda:0", "cuda:1")),
        (["cpu"], "cpu,cpu", ("cpu", "cpu")),
    ],
)
def test_what_a_name_stands_for(monkeypatch, here, text, expected):
    monkeypatch.setattr(devices, "_here", lambda: here)
    assert devices.chosen(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cuda:1", "device 'cuda:1': this machine has cuda:0, cpu"),
        ("cuda,mps", "device 'mps': this machine has cuda:0, cpu"),
        ("cuda:0,cuda", "cuda:0 is named twice"),
        ("gpu", "device 'gpu': expected auto, cpu, cuda, cuda:N or mps"),
        ("", "device '': expected auto"),
    ],
)
def test_a_device_that_is_not_there_is_refused_before_anything_is_loaded(monkeypatch, text, message):
    monkeypatch.setattr(devices, "_here", lambda: ["cuda:0", "cpu"])
    with pytest.raises(InputError, match=message):
        LoadOptions(device=text)


def test_the_command_line_says_so_too(tmp_path, capsys):
    for command in ("run --systems bm25", "diagnose", "map", "what-if rrf --system a --system b"):
        flags = ["--benchmark", "b", "--device", "cuda:7", "--cache", str(tmp_path)]
        assert main([*command.split(), *flags]) == 1
        assert "babelscope: device 'cuda:7': this machine has" in capsys.readouterr().err
    assert main(["run", "--systems", "bm25", "--benchmark", "b", "--threads", "0", "--cache", str(tmp_path)]) == 1
    assert "threads 0: expected 1 or more" in capsys.readouterr().err


@pytest.fixture
def tiny(extend_catalogue, tiny_model):
    return extend_catalogue("tiny", **LOCAL, folder=tiny_model(), pooling="mean")


def test_two_processes_give_the_vectors_of_one_in_order_and_end_when_the_job_is_cancelled(tiny, tmp_path, monkeypatch):
    """Cancelled after a part; what the processes have encoded is not encoded again by one."""
    monkeypatch.setattr(encoding, "MOST_TEXTS", 4)
    alone = Workbench(Cache(tmp_path / "alone"), options=LoadOptions(device="cpu"))
    expected = alone.vectors(tiny, TEXTS, role="document")
    assert (alone.encoded(tiny).device, alone.encoded(tiny).texts) == ("cpu", 40)
    seen, worked = [], []

    def progress(step, done, total):
        seen.append((step, done))
        worked.append(len(multiprocessing.active_children()))
        if step == "encode tiny" and done >= 32:
            raise JobCancelledError("cancelled")

    both = Workbench(Cache(tmp_path / "both"), options=LoadOptions(device="cpu,cpu"), progress=progress)
    with pytest.raises(JobCancelledError):
        both.vectors(tiny, TEXTS, role="document")
    assert multiprocessing.active_children() == []
    assert max(worked) == 2
    assert ("start processes on cpu,cpu", 1) in seen
    assert [done for step, done in seen if step == "encode tiny"][-3:] == [0, 16, 32]  # four passes of four at a time
    assert (both.encoded(tiny).device, both.encoded(tiny).texts) == ("cpu,cpu", 32)
    rest = Workbench(Cache(tmp_path / "both"), options=LoadOptions(device="cpu"))
    assert rest.vectors(tiny, TEXTS, role="document") == pytest.approx(expected, abs=1e-6)
    assert rest.encoded(tiny).texts == 8


def test_a_process_of_its_own_scores_pairs_and_its_end_from_outside_is_one_sentence(
    extend_catalogue, tmp_path, monkeypatch
):
    tiny_models.backbone(tmp_path / "pairs", architecture="pairs", dimension=32, positions=200)
    system = extend_catalogue("pairs", kind="cross-encoder", paradigm="two-stage", folder=tmp_path / "pairs")
    scorer = cross_encoder.load(system, LoadOptions(device="cpu", offline=True))
    pairs = [(text, "knee pain"[: 1 + number % 9]) for number, text in enumerate(TEXTS)]
    expected = scorer.score(pairs)
    scorer._crew.devices = ("cpu",)
    (tmp_path / "script.py").write_text("raise RuntimeError")
    script = ModuleType("__main__")  # the script of a page, say, which no new process is to run
    script.__file__ = str(tmp_path / "script.py")
    monkeypatch.setitem(sys.modules, "__main__", script)
    scorer._crew._start()
    assert sys.modules["__main__"] is script
    try:
        assert scorer.passes == devices.PASSES
        assert scorer.score(pairs) == pytest.approx(expected, abs=1e-6)
        (process,) = multiprocessing.active_children()
        os.kill(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal reaches every process
        assert scorer.score(pairs[:5]) == pytest.approx(expected[:5], abs=1e-6)
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(SystemLoadError, match="pairs: a process on one of the devices cpu was ended from outside"):
            scorer.score(pairs)
    finally:
        scorer._crew._stop()
    assert multiprocessing.active_children() == []
    assert scorer.score(pairs).tolist() == expected.tolist()


CHILD = """
import os, time
from analysis.systems.devices import outlive_none
outlive_none({parent})
print(os.getpid(), flush=True)
time.sleep(60)
"""
PARENT = f"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {CHILD!r}.format(parent=os.getpid())])
time.sleep(60)
"""


def test_a_process_ends_soon_after_the_one_that_started_it_was_killed():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    assert _lives(child)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while _lives(child):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _lives(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_fewer_bits_are_near_and_are_kept_apart(tiny, tmp_path, dtype):
    cache = Cache(tmp_path / "cache")
    single, rounded = Workbench(cache), Workbench(cache, options=LoadOptions(dtype=dtype))
    expected, found = (bench.vectors(tiny, TEXTS, role="document") for bench in (single, rounded))
    assert not np.array_equal(found, expected)
    assert found == pytest.approx(expected, abs=0.02)
    assert (found * expected).sum(axis=1).min() > 0.999
    assert rounded.encoded(tiny).dtype == dtype
    assert rounded.encoded(tiny).texts == len(TEXTS)  # those of single precision did not serve
    import torch

    assert {p.dtype for p in rounded.encoder(tiny)._model.parameters()} == {getattr(torch, dtype)}


def test_a_model_that_does_not_bear_a_precision_is_refused(tiny, extend_catalogue, tiny_model):
    system = extend_catalogue("narrow", **LOCAL, folder=tiny_model(), dtypes=["float32", "bfloat16"])
    assert load(system, LoadOptions(dtype="bfloat16")).entry.dtype == "bfloat16"
    with pytest.raises(InputError, match="system 'narrow': dtype float16 is not for it, float32 or bfloat16 is"):
        load(system, LoadOptions(dtype="float16"))
