"""Every public name is documented in the sections of numpydoc, and its examples run."""

import doctest
import inspect
from operator import attrgetter
from pathlib import Path

import pytest

import uqf

NAMES = dir(uqf)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

every_name = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def stubs():
    """The package as the site reads it: sources, and stubs of what is compiled."""
    griffe = pytest.importorskip(
        "griffe", reason="griffe, which reads docstrings for the site, is not installed"
    )
    loader = griffe.GriffeLoader(search_paths=[Path(uqf.__file__).parents[1]])
    package = loader.load("uqf")
    loader.resolve_aliases(implicit=True, external=False)
    return package


def sections(documented):
    """The sections of a docstring, by the names of numpydoc."""
    parsed = documented.docstring.parse("numpy", warnings=False) if documented.docstring else []
    return {section.kind.value: section.value for section in parsed}


def described(sections, kind):
    return {name.lstrip("*") for one in sections.get(kind, []) for name in one.name.split(", ")}


def asked_for(public):
    """What a caller may give: nothing to protocols, and to most errors only a message."""
    plain_error = inspect.isclass(public) and issubclass(public, Exception) and "__init__" not in vars(public)
    if plain_error or getattr(public, "_is_protocol", False):
        return set()
    return set(inspect.signature(public).parameters)


def test_all_public_names_are_listed():
    assert {"fit", "UQF", "rollout", "ope", "baselines", "from_minari"} <= set(NAMES)
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(NAMES)


@every_name
def test_parameters_returns_and_examples_are_described(name, stubs):
    documented = stubs[name]
    if documented.is_module:
        assert documented.docstring
        return
    documented = documented.final_target
    found = sections(documented)
    assert "examples" in found, f"uqf.{name} has no example"
    known = described(found, "parameters") | described(found, "attributes")
    if documented.is_class:
        # Fields of dataclasses may say in the body what they are.
        known |= {member for member, one in documented.all_members.items() if one.has_docstring}
    else:
        assert "returns" in found or str(documented.returns) == "None", f"uqf.{name} says not what it returns"
    missing = asked_for(getattr(uqf, name)) - known
    assert not missing, f"uqf.{name} does not describe {missing}"


def names_in(folder):
    """What a folder of other names holds."""
    return [f"{folder}.{name}" for name, public in vars(getattr(uqf, folder)).items() if callable(public)]


@pytest.mark.parametrize("name", [*NAMES, *names_in("ope"), *names_in("baselines"), *names_in("strings")])
def test_nothing_is_described_that_cannot_be_given(name, stubs):
    public = attrgetter(name)(uqf)
    if inspect.ismodule(public):
        return
    place = f"{public.__module__}.{public.__qualname__}".removeprefix("uqf.")
    found = described(sections(stubs[place]), "parameters")
    assert not found or found <= set(inspect.signature(public).parameters)


#: What `evaluate` and `compare` return is shown in their examples; models of plans and of data come from planners.
WITHOUT_EXAMPLES = {
    *(
        "ope.Answer",
        "ope.Comparison",
        "ope.Doubt",
        "ope.Estimate",
        "ope.Ranking",
        "ope.ReturnDistribution",
        "baselines.BeliefModel",
        "baselines.PlanPolicy",
    ),
    *("baselines.PSR", "baselines.MemorylessQ", "baselines.RandomPolicy"),
}
WITH_EXAMPLES = {*names_in("ope"), *names_in("baselines"), *names_in("strings")} - WITHOUT_EXAMPLES


@pytest.mark.parametrize("name", [*NAMES, *sorted(WITH_EXAMPLES)])
def test_examples_run(name, tmp_path, monkeypatch):
    public = attrgetter(name)(uqf)
    if inspect.ismodule(public):
        return
    monkeypatch.chdir(tmp_path)
    (test,) = [
        one for one in doctest.DocTestFinder(recurse=False).find(public, name, module=False, globs={}) if one
    ]
    assert test.examples, f"uqf.{name} has no example"
    outcome = doctest.DocTestRunner(optionflags=OPTIONS).run(test, clear_globs=False)
    assert outcome.failed == 0
