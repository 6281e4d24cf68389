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

#: A Python module may import only from layers above its own, and from its own. A room is a folder or a file of
#: `python/uqf`; rooms with a dot are folders within folders that have a layer of their own.
LAYERS = [
    {
        "_core",
        "curves",
        "errors",
        "estimator",
        "files",
        "printable",
        "types",
        "_reference",
        "_reference_beliefs",
        "_reference_filters",
        "_reference_summaries",
        "page",
    },
    {"coding"},
    {"episodes"},
    {"logs"},
    {"reading"},
    {"policies", "worlds"},
    {"worlds.gymnasium"},
    {"evaluate", "frames"},
    {"learn.memory"},
    {"learn.improve"},
    {"learn.plan"},
    {"storage"},
    {"agent", "mixing"},
    {"learn.spectral"},
    {"learn"},
    {"learn.choose"},
    {"playing", "strings"},
    {"baselines"},
    {"ope"},
    {"reports"},
    {"paper"},
    {"cli", "__main__"},
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


@pytest.mark.parametrize("path", rust_files(), ids=lambda path: str(path.relative_to(RUST)))
def test_the_core_imports_only_from_the_lowest_layer(path):
    assert set(re.findall(r'import\("uqf\.(\w+)', path.read_text())) <= LAYERS[0]


def layer_of(name):
    (layer,) = [index for index, names in enumerate(LAYERS) if name in names]
    return layer


def named_by(node):
    """Everything of the package that a node of the syntax tree imports, by statement or by string."""
    match node:
        case ast.Import():
            names = [alias.name for alias in node.names]
        case ast.ImportFrom():
            assert node.level == 0, "write imports in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(module)), *_]
        ):
            names = [module] if name in ("import_module", "__import__") else []
        case _:
            names = []
    return [name for name in names if name == "uqf" or name.startswith("uqf.")]


ROOMS = set().union(*LAYERS)


def room_of(parts):
    """The room of a module below `uqf`, given as a list of names; "" is the package itself."""
    inner = ".".join(parts[:2])
    return inner if inner in ROOMS else (*parts, "")[0]


def imported_modules(path):
    """The rooms of everything that a file imports from the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        yield from (room_of(name.split(".")[1:]) for name in named_by(node))


def python_files():
    return [path for path in sorted(PYTHON.rglob("*.py")) if path != PYTHON / "__init__.py"]


def own_name(path):
    return room_of(path.relative_to(PYTHON).with_suffix("").parts)


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PYTHON)))
def test_a_python_module_imports_only_from_its_own_layer_and_above(path):
    own = own_name(path)
    for name in imported_modules(path):
        known = any(name in names for names in LAYERS)
        if known:
            assert layer_of(name) <= layer_of(own), f"{own} imports {name}"
        else:
            # A name of the package itself: only the topmost layers may use the public surface.
            assert layer_of(own) >= layer_of("paper"), f"{own} imports uqf.{name}"


def test_every_module_has_its_layer():
    found = {own_name(path) for path in python_files()} | {"_core"}
    assert found == set().union(*LAYERS)
    assert sum(map(len, LAYERS)) == len(found), "no module is in two layers"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import uqf", ["uqf"]),
        ("import uqf.learn.choose.fit, numpy", ["uqf.learn.choose.fit"]),
        ("from uqf.episodes import sums", ["uqf.episodes.sums"]),
        ("def f():\n    from uqf.cli import watch", ["uqf.cli.watch"]),
        ("import_module('uqf.cli.commands')", ["uqf.cli.commands"]),
        ("importlib.import_module('uqf.ope')", ["uqf.ope"]),
        ("__import__('uqf.learn')", ["uqf.learn"]),
        ("import_module(name); import_module('numpy'); print('uqf.learn')", []),
    ],
)
def test_imports_are_seen_however_they_are_written(code, names):
    assert [name for node in ast.walk(ast.parse(code)) for name in named_by(node)] == names


def without_cycle(graph):
    """Takes out what needs nothing that is left, until nothing changes; what remains is in a cycle or above one."""
    while free := {name for name, needs in graph.items() if not needs & graph.keys() - {name}}:
        graph = {name: needs for name, needs in graph.items() if name not in free}
    return graph


def test_python_modules_have_no_import_cycle():
    graph = {}
    for path in python_files():
        graph.setdefault(own_name(path), set()).update(imported_modules(path))
    assert not without_cycle(graph), f"these modules need each other: {sorted(without_cycle(graph))}"


def loaded_with(body):
    """Nodes that run when a module is imported: those in functions wait, those for type checkers never run."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from loaded_with(ast.iter_child_nodes(node))


def test_files_have_no_cycle_among_what_is_loaded_with_them():
    paths = {
        ".".join(("uqf", *path.relative_to(PYTHON).with_suffix("").parts)): path for path in python_files()
    }
    files = {name.removesuffix(".__init__"): path for name, path in paths.items()}

    def file_of(name):
        """The file that an imported name lies in."""
        return name if name in files else name.rpartition(".")[0]

    graph = {
        name: {
            file_of(imported)
            for node in loaded_with(ast.parse(path.read_text()).body)
            for imported in named_by(node)
        }
        for name, path in files.items()
    }
    assert any(name.startswith("uqf.logs.") for name in graph)
    assert not without_cycle(graph), f"these files need each other: {sorted(without_cycle(graph))}"


def test_importing_the_package_is_light():
    heavy = ["matplotlib", "pyarrow", "gymnasium", "minari", "dask", "distributed", "pandas", "typer", "rich"]
    heavy += ["sklearn", "scipy", "numpy", "typing", "uqf._core"]
    code = f"import sys, uqf; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_names_on_request_are_listed_and_unknown_ones_refused():
    import uqf

    assert {"gymnasium_env", "from_gymnasium", "gymnasium_vector_env", "rollout"} <= set(dir(uqf))
    with pytest.raises(AttributeError):
        uqf.rollouts  # noqa: B018


def test_names_on_request_are_the_real_ones():
    import uqf
    import uqf.learn.uqf
    import uqf.ope as ope

    assert uqf.UQF is uqf.learn.uqf.UQF
    assert uqf.ope is ope
    assert uqf.baselines.TPSR.__module__ == "uqf.baselines.tpsr"
    for name in dir(uqf):
        assert getattr(uqf, name) is not None


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['gymnasium'] = None; import uqf; uqf.gymnasium_env"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode != 0
    assert "ImportError: uqf.gymnasium_env needs gymnasium: pip install 'uqf[gym]'" in run.stderr
