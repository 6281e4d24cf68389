"""Dependence goes one way: in the crate in the order of lib.rs, in the package in the order below."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RUST = ROOT / "rust"
PYTHON = ROOT / "python" / "uqf"

#: A Python module may import only from layers above its own, and from its own.
LAYERS = [
    {"_core", "errors", "_reference", "files", "vocabulary"},
    {"trajectories", "environments", "policies", "batches", "sum_policy_tensors"},
    {"pomdp_file", "model_file", "model_header", "evaluate"},
    {"learn"},
    {"plan"},
    {"baselines"},
    {"ope"},
    {"experiments", "terminal"},
    {"adapters"},
    {"cli", "log_report", "report_tables", "watch", "__main__"},
]

crate_modules = re.findall(r"^(?:pub )?mod (\w+);", (RUST / "lib.rs").read_text(), re.MULTILINE)


def rust_files():
    return [path for path in sorted(RUST.rglob("*.rs")) if path.name != "lib.rs"]


def module_of(path):
    return path.relative_to(RUST).parts[0].removesuffix(".rs")


@pytest.mark.parametrize("path", rust_files(), ids=lambda path: str(path.relative_to(RUST)))
def test_a_crate_module_uses_only_modules_declared_above_it(path):
    own = crate_modules.index(module_of(path))
    text = path.read_text()
    used = set(re.findall(r"\bcrate::(\w+)", text))
    for group in re.findall(r"\bcrate::\{([^;]*)\};", text):
        used |= set(re.findall(r"(?:^|,)\s*(\w+)", group))
    below = {name for name in used & set(crate_modules) if crate_modules.index(name) > own}
    assert not below, f"{path.name} uses {below}, declared below {crate_modules[own]}"


def test_every_rust_file_belongs_to_a_declared_module():
    assert {module_of(path) for path in rust_files()} == set(crate_modules)
    assert crate_modules[-1] == "bindings"


@pytest.mark.parametrize("path", rust_files(), ids=lambda path: str(path.relative_to(RUST)))
def test_only_the_bindings_know_python(path):
    if module_of(path) != "bindings":
        assert not re.search(r"pyo3|numpy::|\bPy[A-Z]\w+", path.read_text())


def layer_of(name):
    (layer,) = [index for index, names in enumerate(LAYERS) if name in names]
    return layer


def imported_modules(path):
    """First component below `uqf` of everything that a file imports from the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("uqf."))


def python_files():
    return [path for path in sorted(PYTHON.rglob("*.py")) if path != PYTHON / "__init__.py"]


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PYTHON)))
def test_a_python_module_imports_only_from_its_own_layer_and_above(path):
    own = path.relative_to(PYTHON).parts[0].removesuffix(".py")
    for name in imported_modules(path):
        known = any(name in names for names in LAYERS)
        if known:
            assert layer_of(name) <= layer_of(own), f"{own} imports {name}"
        else:
            # A name of the package itself: only the topmost layers may use the public surface.
            assert layer_of(own) >= layer_of("experiments"), f"{own} imports uqf.{name}"


def test_python_modules_have_no_import_cycle():
    graph = {}
    for path in python_files():
        own = path.relative_to(PYTHON).parts[0].removesuffix(".py")
        graph.setdefault(own, set()).update(set(imported_modules(path)) - {own})
    while free := {name for name, needs in graph.items() if not needs & graph.keys()}:
        graph = {name: needs for name, needs in graph.items() if name not in free}
    assert not graph, f"these modules need each other: {sorted(graph)}"


def test_importing_the_package_is_light():
    heavy = ["matplotlib", "pyarrow", "gymnasium", "minari", "dask", "distributed", "pandas", "typer", "rich"]
    heavy += ["sklearn", "scipy"]
    code = f"import sys, uqf; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_names_on_request_are_listed_and_unknown_ones_refused():
    import uqf

    assert {"gymnasium_env", "from_gymnasium", "gymnasium_vector_env", "rollout"} <= set(dir(uqf))
    with pytest.raises(AttributeError, match="no attribute 'rollouts'"):
        uqf.rollouts  # noqa: B018


def test_names_on_request_are_the_real_ones():
    import uqf.learn.estimator

    import uqf
    import uqf.ope as ope

    assert uqf.UQF is uqf.learn.estimator.UQF
    assert uqf.ope is ope
    assert uqf.baselines.TPSR.__module__ == "uqf.baselines.tpsr"
    for name in set(uqf._ON_REQUEST) - {"from_minari"}:  # Minari is not among the tests' packages
        assert getattr(uqf, name) is not None


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['gymnasium'] = None; import uqf; uqf.gymnasium_env"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode != 0
    assert "ImportError: uqf.gymnasium_env needs gymnasium: pip install 'uqf[gym]'" in run.stderr
