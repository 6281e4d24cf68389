"""What is published fits together: one version, a lock that pins by hash, workflows that only call make."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import uqf

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CRATE = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
LOCKS = {"requirements-dev.lock": ["dev", "docs", "release"], "requirements-bench.lock": ["bench"]}


def pinned(lock):
    """(requirement, its hashes) of every entry of a lock file."""
    text = (ROOT / lock).read_text().replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            requirement, *hashes = re.split(r"\s+--hash=", line.strip())
            yield Requirement(requirement), hashes


def asked(extras):
    """What the package and these extras of it ask for, `uqf[…]` followed."""
    for line in PROJECT["dependencies"] + [
        line for extra in extras for line in PROJECT["optional-dependencies"][extra]
    ]:
        requirement = Requirement(line)
        if requirement.name == "uqf":
            yield from asked(requirement.extras)
        else:
            yield requirement


def test_the_version_stands_in_one_place():
    assert uqf.__version__ == CRATE["version"]
    assert "version" in PROJECT["dynamic"] and "version" not in PROJECT
    elsewhere = [ROOT / "CITATION.cff", ROOT / "python" / "uqf" / "__init__.py", ROOT / "mkdocs.yml"]
    assert not [path.name for path in elsewhere if CRATE["version"] in path.read_text()]
    assert f"## {CRATE['version']} (" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_of_a_lock_is_pinned_by_hash(lock):
    entries = list(pinned(lock))
    assert len(entries) > 5
    for requirement, hashes in entries:
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), requirement
    assert "://" not in (ROOT / lock).read_text(), "the address of a registry"


@pytest.mark.parametrize(("lock", "extras"), LOCKS.items())
def test_a_lock_has_what_the_project_asks_for(lock, extras):
    environment = default_environment()
    here = {
        canonicalize_name(one.name): next(iter(one.specifier)).version
        for one, _ in pinned(lock)
        if one.marker is None or one.marker.evaluate(environment)
    }
    for requirement in asked(extras):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            version = here.get(canonicalize_name(requirement.name))
            assert version, f"{requirement} is not in {lock}: make lock"
            assert requirement.specifier.contains(version, prereleases=True), (
                f"{requirement}, but {lock} has {version}: make lock"
            )


def test_workflows_only_call_make():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for workflow in workflows:
        text = workflow.read_text()
        commands = re.findall(r"^\s*(?:- )?run: (.*)$", text, re.MULTILINE)
        for choices in re.findall(r"^\s*target: \[(.*)\]$", text, re.MULTILINE):
            commands += ["make " + one.strip(' "') for one in choices.split(",")]
        commands = [command for command in commands if "${{" not in command]
        assert commands
        for program, target, *settings in map(str.split, commands):
            assert program == "make" and target in targets, (workflow.name, target)
            assert all("=" in setting for setting in settings)


def test_the_metadata_says_who_and_where():
    assert PROJECT["authors"] and {"Source", "Documentation", "Issues", "Changelog"} <= set(PROJECT["urls"])
