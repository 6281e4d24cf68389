"""What the package is built from and runs with may be passed on: crates and distributions, by their own word.

Known vulnerabilities are not looked up: the data bases of advisories are only to be had online.
"""

import json
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent

#: Licences that ask for no more than a notice.
PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-CMU",
    "PSF-2.0",
    "Unicode-3.0",
    "Zlib",
}

#: What classifiers and free text say, in the words of SPDX.
SPELLINGS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}


def permitted(expression):
    """Whether an SPDX expression can be met with permissive licences; exceptions only add permissions."""
    plain = re.sub(r"\s+WITH\s+[\w.-]+", "", expression.replace("/", " OR "))
    if inner := re.search(r"\(([^()]*)\)", plain):
        verdict = "MIT" if permitted(inner[1]) else "unknown"
        return permitted(plain[: inner.start()] + verdict + plain[inner.end() :])
    return all(any(one.strip() in PERMISSIVE for one in part.split(" OR ")) for part in plain.split(" AND "))


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0 OR MIT", True),
        ("GPL-3.0 AND MIT", False),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("AGPL-3.0", False),
        ("", False),
    ],
)
def test_expressions_are_understood(expression, verdict):
    assert permitted(expression) is verdict


def test_every_crate_is_permissive_and_from_the_registry():
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        pytest.skip(f"the crates are not all on this machine: {run.stderr[-200:]}")
    packages = json.loads(run.stdout)["packages"]
    assert len(packages) > 10
    wrong = {one["name"]: one["license"] for one in packages if not permitted(one["license"] or "")}
    assert not wrong
    foreign = [one["name"] for one in packages if one["source"] is None and one["name"] != "uqf"]
    assert not foreign, "a dependency by path would not be there for others"


def test_cargo_deny_allows_the_same_licences():
    allowed = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"]
    assert allowed
    assert all(map(permitted, allowed))


def licence(metadata):
    """An SPDX expression, made of classifiers or of a short free text where there is no other."""
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [
        one.split(" :: ")[-1] for one in metadata.get_all("Classifier") or [] if "License ::" in one
    ]
    named = [SPELLINGS.get(one, one) for one in classifiers if one != "OSI Approved"]
    return " AND ".join(named) or (metadata.get("License") or "").strip()


def needed(name, extras, found):
    """Adds the distribution and all that it needs, as far as it is installed here."""
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return
    if name in found:
        return
    found[name] = metadata
    for line in metadata.get_all("Requires-Dist") or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ["", *extras]):
            needed(requirement.name, requirement.extras, found)


def test_every_distribution_that_users_install_is_permissive():
    found = {}
    needed("uqf", ["gym", "dask", "plot"], found)
    if len(found) < 10:
        pytest.skip("uqf is not installed with its extras here")
    wrong = {name: licence(metadata) for name, metadata in found.items() if not permitted(licence(metadata))}
    assert not wrong
