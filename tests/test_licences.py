"""What users install with the package may be passed on, by its own word; `make deny` asks the same of the crates."""

import re
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement

#: Licences that ask for no more than a notice, as SPDX, classifiers and free text call them.
PERMISSIVE = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT"}
PERMISSIVE |= {"MIT-CMU", "PSF-2.0", "Zlib", "Apache Software License", "BSD", "BSD License", "MIT License"}
PERMISSIVE |= {"3-Clause BSD License", "ISC License (ISCL)", "Python Software Foundation License"}


def licences(metadata):
    """All that a distribution names; of two to choose from one must be permissive, so alternatives count as one."""
    expression = metadata.get("License-Expression")
    classifiers = [one for one in metadata.get_all("Classifier") or [] if "License ::" in one]
    named = [one.split(" :: ")[-1] for one in classifiers if not one.endswith("OSI Approved")]
    stated = re.split(r" AND ", expression) if expression else named
    return stated or [(metadata.get("License") or "").strip()]


def permitted(licence):
    return licence in PERMISSIVE or any(
        one.strip(" ()") in PERMISSIVE for one in re.split(r" OR |/", licence)
    )


@pytest.mark.parametrize(
    "licence", ["GPL-3.0", "AGPL-3.0 OR LGPL-3.0", "GNU General Public License (GPL)", ""]
)
def test_other_licences_are_not_permitted(licence):
    assert not permitted(licence)


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
    needed("uqf", ["all", "gym", "onnx", "dask"], found)
    if len(found) < 10:
        pytest.skip("uqf is not installed with its extras here")
    wrong = {name: licences(one) for name, one in found.items() if not all(map(permitted, licences(one)))}
    assert not wrong
