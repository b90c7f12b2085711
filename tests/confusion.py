"""A store with task 2 over invented UMLS: three encoders of the reader's own vote, two other systems run."""

import sys

import pytest

from analysis.cli import main

ENCODERS = """
import hashlib
import numpy as np

def grams(texts, n, shift=0.0):
    out = np.full((len(texts), 257), shift)
    for row, text in enumerate(texts):
        for at in range(len(text) - n + 1):
            out[row, int(hashlib.md5(text[at:at + n].lower().encode()).hexdigest()[:6], 16) % 256] += 1
    out[:, 256] = 0.01
    return out / np.linalg.norm(out, axis=1, keepdims=True)

def letters(texts, role):
    return grams(texts, 1)

def pairs(texts, role):
    return grams(texts, 2, 0.05)

def triples(texts, role):
    return grams(texts, 3, 0.03)
"""
VALIDATORS = ("letters", "pairs", "triples")
BENCHMARK = "mmed-bench-ir-invented"


def build(folder):
    """Invented sources, systems and the benchmark in a folder; what the systems are is in its cache folder."""
    told(folder, "generate-sources", "umls", folder / "umls", "--seed", "3", "--concepts", "200")
    (folder / "code").mkdir()
    (folder / "code" / "own_grams.py").write_text(ENCODERS, encoding="utf-8")
    with at_home(folder):
        for name in VALIDATORS:
            flags = ("--function", f"own_grams:{name}", "--folder", folder / "code", "--dimension", "257")
            told(folder, "add-system", name, *flags)
        told(folder, *command(folder), "--run", "bm25,bm25-cjk,letters")


class at_home:  # noqa: N801 (reads as a statement)
    """The cache folder in force is that of ``folder``, and what was imported from there is forgotten afterwards."""

    def __init__(self, folder):
        self._patch = pytest.MonkeyPatch()
        self._folder = folder

    def __enter__(self):
        self._patch.setenv("BABELSCOPE_CACHE", str(self._folder / "cache"))
        self._patch.setattr(sys, "path", [*sys.path])

    def __exit__(self, *error):
        self._patch.undo()
        sys.modules.pop("own_grams", None)


def command(folder, *more):
    """What builds the benchmark."""
    flags = ("--umls", folder / "umls", "--validators", ",".join(VALIDATORS), "--sets", "50", "--allow-code")
    return ("build", "mmed-task2", *flags, *more)


def told(folder, *arguments):
    """A command that ends well, over the folder's cache."""
    where = () if arguments[0] == "generate-sources" else ("--cache", folder / "cache")
    assert main([*map(str, arguments), *map(str, where)]) == 0
