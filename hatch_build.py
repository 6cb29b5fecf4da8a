"""What is built before supple is packed: the page in the browser, so that a wheel carries it.

An editable install leaves it to `make viewer`: whoever only wants to compute needs no npm. A wheel or a source archive
builds it where it is missing or old; without npm, or where that fails, they are packed without it and say so, and
`supple view` tells how to get it.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):
    """Builds the bundle of viewer/."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
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

    def _say(self, text: str) -> None:
        self.app.display_warning(f"supple: {text}")


def _loaded(script: Path) -> Any:
    spec = spec_from_file_location("make_bundle", script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
