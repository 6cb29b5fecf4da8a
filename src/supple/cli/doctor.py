"""`supple doctor`: versions, hardware, missing programs and the cost of compiled kernels."""

from __future__ import annotations

import os
import platform
import re
import shutil
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import Any, NamedTuple

from supple.cli.answer import open_answer
from supple.cli.options import Json

_PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "h5py", "matplotlib", "control")
_CHROMIUM = ("chromium", "chromium-browser")
_SHOWN = 12  # number of purposes of kernels in the list, the most expensive ones


def doctor(as_json: Json = False) -> None:
    """Report versions, hardware and kernels, and how to install missing programs."""
    with open_answer(as_json) as answer:
        from supple.compilation import precompiled
        from supple.compilation.announcement import bytes_in, compilations
        from supple.compilation.kernel import cache_folder
        from supple.diagnostics.limits import LIMITS, most
        from supple.view.page.single_file import bundle_file

        cache = cache_folder()
        kernels = compilations(cache)
        found: dict[str, Any] = {
            "supple": installed_version("supple"),
            "python": platform.python_version(),
            "packages": {name: installed_version(name) for name in _PACKAGES},
            "processor": _processor(),
            "cores": os.cpu_count(),
            "blas": _blas(),
            "page": {
                "built": None if bundle_file() is None else str(bundle_file()),
                "npm": shutil.which("npm"),
                "chromium": next((path for name in _CHROMIUM if (path := shutil.which(name))), None),
                "ffmpeg": shutil.which("ffmpeg") or installed_version("imageio-ffmpeg"),
            },
            "extras": {
                one.name: {
                    "for": one.purpose,
                    "packages": one.packages,
                    "missing": one.missing_packages,
                    "install": one.install,
                }
                for one in extras()
            },
            "limits": {name: most(name) for name in LIMITS},
            "c_compiler": next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None),
            "precompiled": precompiled.description(),
            "cache": {
                "folder": str(cache),
                "writable": _writable(),
                "bytes": bytes_in(cache) if cache.is_dir() else 0,
                "processor_seconds": sum(kernel.seconds for kernel in kernels),
                "kernels": [kernel._asdict() for kernel in kernels],
            },
        }
        answer.give(found, lambda: _show(found))


def _show(found: dict[str, Any]) -> None:
    packages = ", ".join(f"{name} {number or 'absent'}" for name, number in found["packages"].items())
    print(f"supple {found['supple']}, Python {found['python']}; {packages}")
    print(f"processor    {found['processor']}, {found['cores']} cores")
    print(f"BLAS         {found['blas']}")
    print(f"C compiler   {found['c_compiler'] or 'none: exported C cannot be compiled on this machine'}")
    page = found["page"]
    print(f"page         {page['built'] or 'not built: in a clone run `make viewer`; `supple view` needs it'}")
    print(f"npm          {page['npm'] or 'none: needed to build the page; `make viewer` installs one'}")
    print(f"chromium     {page['chromium'] or 'none: tests of the page are skipped'}")
    print(f"ffmpeg       {page['ffmpeg'] or 'none: no movies as .mp4; pip install supple[movies]'}")
    print("extras" if found["extras"] else "extras       unknown: supple runs from its source and is not installed")
    for name, one in found["extras"].items():
        here = ", ".join(f"{package} {number or 'absent'}" for package, number in one["packages"].items())
        print(f"  {name:<14}{one['for']}: {here}" + (f"; {one['install']}" if one["missing"] else ""))
    limits = ", ".join(f"{name} {value:.3g}" for name, value in found["limits"].items())
    print(f"limits       {limits}; SUPPLE_LIMITS=NAME=VALUE,... changes them")
    carried = found["precompiled"]
    if not carried["kernels"]:
        print("precompiled  no kernels in this installation: they are compiled on first use and cached")
    elif carried["level"] is None:
        print(f"precompiled  {carried['kernels']} kernels, not used: {carried['reason']}")
    else:
        print(
            f"precompiled  {carried['kernels']} kernels for {carried['level']} (of {', '.join(carried['levels'])}), "
            f"Python {carried['python']}, numba {carried['numba']}"
        )
    cache = found["cache"]
    state = "" if cache["writable"] else " (not writable: kernels are compiled again in every run)"
    print(f"kernel cache {cache['folder']}{state}, {cache['bytes'] / 1e6:.0f} MB")
    kernels = cache["kernels"]
    if not kernels:
        if carried["level"] is None:
            print("  no kernel is compiled yet; short jobs run interpreted, `supple warmup` compiles all kernels")
        else:
            print("  no kernel was compiled on this machine")
        return
    print(f"  {len(kernels)} compilations took {cache['processor_seconds']:.0f} s of processor time, mainly:")
    for purpose, seconds in _seconds_by_purpose(kernels)[:_SHOWN]:
        print(f"  {seconds:7.1f} s  {purpose}")


def _seconds_by_purpose(kernels: list[dict[str, Any]]) -> list[tuple[str, float]]:
    """Return the processor time, s, of the kernels of each purpose, largest first."""
    total: dict[str, float] = {}
    for kernel in kernels:
        total[kernel["purpose"]] = total.get(kernel["purpose"], 0.0) + kernel["seconds"]
    return sorted(total.items(), key=lambda item: -item[1])


def _processor() -> str:
    import numba  # noqa: F401 - loads LLVM, which detects the processor
    from llvmlite import binding

    return f"{platform.machine()} ({binding.get_host_cpu_name()})"


def _blas() -> str:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    loaded = [
        f"{item['internal_api']} {item.get('version')} ({item.get('architecture')}, {item['num_threads']} threads)"
        for item in threadpool_info()
        if item["user_api"] == "blas"
    ]
    return "; ".join(loaded) or "unknown"


def _writable() -> bool:
    from supple.compilation.kernel import cache_folder

    folder = cache_folder()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


# Extras of supple: purpose and installed packages.


PURPOSES = {
    "control": "linear models for python-control",
    "cluster": "sampling on a cluster (dask)",
    "casadi": "exported models in optimal control",
    "measurements": "universal files of modal tests (.uff)",
    "movies": "movies as .mp4",
    "pandas": "results as DataFrames",
    "xarray": "results as labelled arrays",
}
_FOR_DEVELOPERS = ("test", "dev", "bench", "docs")


class Extra(NamedTuple):
    """An optional set of packages.

    packages : version by name, None if it is missing
    install  : command that installs the packages
    """

    name: str
    purpose: str
    packages: dict[str, str | None]
    install: str

    @property
    def missing_packages(self) -> list[str]:
        """Names of the packages that are not installed."""
        return [name for name, number in self.packages.items() if number is None]


def extras() -> list[Extra]:
    """Return the extras for users, sorted by name; none if supple is not installed."""
    try:
        found = distribution("supple")
    except PackageNotFoundError:
        return []
    wanted: dict[str, dict[str, str | None]] = {}
    for text in found.requires or ():
        marker = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", text)
        name = re.match(r"[\w.-]+", text)
        if marker and name and marker[1] not in _FOR_DEVELOPERS and name[0] != "supple":
            wanted.setdefault(marker[1], {})[name[0]] = installed_version(name[0])
    return [
        Extra(name, PURPOSES.get(name, ""), packages, f"pip install 'supple[{name}]'")
        for name, packages in sorted(wanted.items())
    ]


def installed_version(package: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
