"""Extras of supple: what each is for, and which of its packages are here."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import NamedTuple

PURPOSES = {
    "control": "linear models as python-control's",
    "cluster": "sampling on a cluster (dask)",
    "casadi": "exported models in optimal control",
    "measurements": "universal files of modal tests (.uff)",
    "movies": "movies as .mp4",
    "pandas": "results as DataFrames",
    "xarray": "results as labelled arrays",
}
_FOR_DEVELOPERS = ("test", "dev", "bench", "docs")


class Extra(NamedTuple):
    """packages : name -> version, None if it is missing; install : the command that brings it."""

    name: str
    purpose: str
    packages: dict[str, str | None]
    install: str

    @property
    def missing(self) -> list[str]:
        return [name for name, number in self.packages.items() if number is None]


def extras() -> list[Extra]:
    """Those for users, in alphabetical order; none where supple is not installed but run from its source."""
    try:
        found = distribution("supple")
    except PackageNotFoundError:
        return []
    wanted: dict[str, dict[str, str | None]] = {}
    for text in found.requires or ():
        marker = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", text)
        name = re.match(r"[\w.-]+", text)
        if marker and name and marker[1] not in _FOR_DEVELOPERS and name[0] != "supple":
            wanted.setdefault(marker[1], {})[name[0]] = version_of(name[0])
    return [
        Extra(name, PURPOSES.get(name, ""), packages, f"pip install 'supple[{name}]'")
        for name, packages in sorted(wanted.items())
    ]


def version_of(package: str) -> str | None:
    """As installed; None if it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
