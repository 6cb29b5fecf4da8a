"""What a process computes with: bits are the same only where all of it is."""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

_PACKAGES = ("numpy", "scipy", "numba", "llvmlite")


class Installation(NamedTuple):
    """versions : of supple and of what its numbers depend on
    source    : a digest of supple's files, which tells two checkouts of one version apart
    processor : for which kind of processor linear algebra is chosen
    """

    versions: tuple[tuple[str, str], ...]
    source: str
    processor: str

    def difference(self, other: Installation) -> str | None:
        """Why the same work gives other numbers there: what is here, what is there; None if it does not."""
        for (name, here), (_, there) in zip(self.versions, other.versions, strict=True):
            if here != there:
                return f"{name} is {there} there and {here} here"
        if self.source != other.source:
            return f"supple's files differ ({other.source[:8]} there, {self.source[:8]} here)"
        return None


@cache
def installation() -> Installation:
    """Of this process."""
    found = [(name, _version(name)) for name in ("supple", *_PACKAGES)]
    found += [("Python", platform.python_version()), ("the machine", f"{platform.machine()} {sys.byteorder}")]
    return Installation(tuple(found), _source(), _processor())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # run from its source
        return "unknown"


def _source() -> str:
    root = Path(__file__).parents[1]
    total = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _processor() -> str:
    """As numpy's and scipy's OpenBLAS name it, which has other kernels, and other last digits, for each kind. Other
    packages may have loaded libraries of their own, which compute nothing here."""
    import numpy.linalg  # noqa: F401 - so that its library is loaded
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    algebra = [item for item in threadpool_info() if item["user_api"] == "blas"]
    ours = [item for item in algebra if any(name in item["filepath"] for name in ("numpy", "scipy"))] or algebra
    known = {item.get("architecture", "unknown") for item in ours}
    return ", ".join(sorted(known)) or "unknown"
