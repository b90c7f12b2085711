"""A Python function as an encoder: nothing of it runs unasked, and what it returns is checked."""

import sys

import pytest

from analysis.cli import main
from analysis.errors import InputError, SystemLoadError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.paths import Cache
from analysis.systems import catalogue, encoders
from analysis.systems.assemble import build
from analysis.systems.readiness import readiness
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench

LETTERS = """
import pathlib
import numpy as np

(pathlib.Path(__file__).parent / "it ran").touch()

def encode(texts, role):
    counts = np.array([[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])
    return np.hstack([counts, [[len(text), role == "query"] for text in texts]])
"""


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Writes a module of its own name, adds its function as a system, and returns the entry."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)

    def add(code=LETTERS, *, module="own_letters", function="encode", dimension=28):
        (tmp_path / "code").mkdir(exist_ok=True)
        (tmp_path / "code" / f"{module.replace('.', '/')}.py").write_text(code, encoding="utf-8")
        told = NewSystem("mine", function=f"{module}:{function}", folder=tmp_path / "code", dimension=dimension)
        return own_systems.add(told)

    yield add
    for name in set(sys.modules) - known:
        if name.startswith("own_"):
            del sys.modules[name]


ALLOWED = LoadOptions(allow_code=True)


def test_nothing_runs_until_it_is_allowed(added, tmp_path):
    system = added()
    assert readiness(system).missing == "mine is code of your own (own_letters:encode), which runs only if you allow it"
    assert readiness(system).command.endswith("--systems mine --allow-code")
    assert "mine" not in catalogue.available_names()
    catalogue.fingerprint(system)
    with pytest.raises(
        SystemLoadError, match=r"code of your own \(own_letters:encode\); read it, then pass --allow-code"
    ):
        encoders.load(system, LoadOptions())
    assert not (tmp_path / "code" / "it ran").exists()
    encoders.load(system, ALLOWED)
    assert (tmp_path / "code" / "it ran").exists()


def test_a_package_is_found_without_running_it(added, tmp_path):
    (tmp_path / "code" / "own_package").mkdir(parents=True)
    (tmp_path / "code" / "own_package" / "__init__.py").write_text("raise RuntimeError", encoding="utf-8")
    system = added(module="own_package.deep")
    assert readiness(system).by_run
    with pytest.raises(SystemLoadError, match=r"importing own_package\.deep raised RuntimeError$"):
        encoders.load(system, ALLOWED)


def test_it_ranks_and_gets_the_role(added, small_task, tmp_path):
    added()
    corpus, questions = small_task
    bench = Workbench(Cache(tmp_path / "cache"), options=ALLOWED)
    found = bench.rank(build("mine"), corpus, questions, depth=3)
    assert [corpus.ids[position] for position in found.document[found.query == 0][:2]] == ["f", "c"]
    asked = bench.vectors(catalogue.entry("mine"), questions.texts, role="query")
    assert (asked[:, -1] > 0).all()
    assert (bench.vectors(catalogue.entry("mine"), corpus.texts, role="document")[:, -1] == 0).all()


def test_changed_code_is_another_system(added, tmp_path):
    before = catalogue.fingerprint(added())
    (tmp_path / "code" / "own_letters.py").write_text(LETTERS + "\n", encoding="utf-8")
    assert catalogue.fingerprint(catalogue.entry("mine")) != before


START = "import numpy as np\ndef encode(texts, role):\n    "
FAULTS = {
    r"its function raised ValueError: too long$": START + "raise ValueError('too long\\nmuch')",
    r"returned the shape \(3,\): expected \(16, 28\) numbers": START + "return np.zeros(3)",
    r"returned the shape \(16, 2\): expected \(16, 28\)": START + "return np.zeros((len(texts), 2))",
    r"returned <U1 values": START + "return [['x'] * 28] * len(texts)",
    r"is not finite": START + "return np.full((len(texts), 28), np.nan)",
    r"every text gets the same vector": START + "return np.ones((len(texts), 28))",
    r"the same text got two different vectors": START + "return np.random.default_rng().normal(size=(len(texts), 28))",
    r"has no function encode": "encode = 3",
    r"importing own_fault\d+ raised SyntaxError": "def",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence(added, fault):
    system = added(FAULTS[fault], module=f"own_fault{list(FAULTS).index(fault)}")
    with pytest.raises(SystemLoadError, match=fault) as error:
        encoders.load(system, ALLOWED)
    assert "\n" not in str(error.value)


def test_a_name_that_another_module_has_is_refused(added):
    with pytest.raises(SystemLoadError, match=r"json is .*, not .*json\.py; expected a name of its own"):
        encoders.load(added(module="json"), ALLOWED)


def test_what_is_no_function_is_refused(added, tmp_path, capsys):
    with pytest.raises(InputError, match=r"function = 'own_letters:': expected module:function"):
        added(function="")
    with pytest.raises(InputError, match="expected --dimension"):
        own_systems.add(NewSystem("x", function="a:b"))
    gone = own_systems.add(NewSystem("gone", function="own_nowhere:b", dimension=3))
    assert readiness(gone).missing == "no module own_nowhere is found in what Python searches"
    assert main(["add-system", "x", "--function", "a:b", "--dimension", "3", "--pooling", "cls"]) == 1
    assert "--pooling does not go with --function" in capsys.readouterr().err
