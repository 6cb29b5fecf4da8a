"""Files that a wheel contains beside the source: the page in the browser, and precompiled kernels.

An editable install leaves the page to `make viewer`, since computing needs no npm. A wheel or a source archive builds
it if it is missing or old; without npm, or if that fails, they are packed without it and report that. Kernels are
compiled by `packaging/precompile.py` before the wheel is packed, see `make wheel`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackageHook(BuildHookInterface):
    """Build the bundle of viewer/, and include precompiled kernels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if self.target_name == "wheel":
            self._include_kernels(build_data)
        script = Path(self.root) / "viewer" / "make_bundle.py"
        bundle = Path(self.root) / "src" / "supple" / "view" / "page" / "bundle" / "page.html"
        if not script.is_file():  # packed from something that is no clone and no source archive
            self._say(
                f"viewer/ is not here: packed {'with the page as it is' if bundle.is_file() else 'without a page'}"
            )
            return
        builder = _loaded(script)
        if builder.up_to_date():
            return
        try:
            self._say("building the page in the browser (viewer/) ...")
            builder.make_bundle()
        except (builder.NotPossibleError, OSError, subprocess.CalledProcessError) as error:
            left = "the page as it was before" if bundle.is_file() else "no page: `supple view` will tell how to get it"
            self._say(f"the page could not be built ({error}); packed with {left}")

    def _include_kernels(self, build_data: dict[str, Any]) -> None:
        """Tag a wheel with precompiled kernels, and require the numba minor that they were compiled with.

        `packaging/precompile.py` makes them. A wheel without them is for every platform and compiles on first use.
        """
        folder, package = Path(self.root) / "build" / "precompiled", Path(self.root) / "src" / "supple"
        try:
            index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            self._say("no precompiled kernels: the wheel compiles them on first use (`make wheel` includes them)")
            return
        if index["source"] != _source_digest(package):
            self._say("the precompiled kernels are of another source and left out; run `make wheel`")
            return
        python = index["Python"].replace("cpython-", "cp")
        # The code needs the C library that numba's own wheels need, and nothing else.
        build_data["tag"] = f"{python}-{python}-manylinux_2_28_{index['architecture']}"
        build_data["pure_python"] = False
        build_data["dependencies"] = [*build_data.get("dependencies", ()), f"numba=={index['numba']}.*"]
        files = ["index.json", *(f"{level}.kernels" for level in index["levels"])]
        build_data["force_include"].update(
            {str(folder / name): f"supple/compilation/precompiled/{name}" for name in files}
        )

    def _say(self, text: str) -> None:
        self.app.display_warning(f"supple: {text}")


def _source_digest(package: Path) -> str:
    """Name the source as `supple.compilation.precompiled.source_digest` does, which cannot be imported here."""
    sha = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        sha.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return sha.hexdigest()


def _loaded(script: Path) -> Any:
    spec = spec_from_file_location("make_bundle", script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
