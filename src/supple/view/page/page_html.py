"""The html of the page, built from viewer/ and packed with supple."""

from __future__ import annotations

from pathlib import Path

from supple.diagnostics import InputError

PLACEHOLDER = "@SUPPLE-DATA@"  # stands once in it, where a mechanism's data go

_FILE = Path(__file__).parent / "bundle" / "page.html"


def bundle_file() -> Path | None:
    """Where it is; None where supple was installed without it."""
    return _FILE if _FILE.is_file() else None


def bundle() -> str:
    """Its text; an InputError says how to get it where it is missing."""
    if not _FILE.is_file():
        raise InputError(
            "it is not built",
            part="page in the browser",
            hint="in a clone of supple run `make viewer`, an install from source builds it if there is npm (Node.js); "
            "-o picture.png and -o movie.gif need no page",
        )
    html = _FILE.read_text(encoding="utf-8")
    if html.count(PLACEHOLDER) != 1:
        raise InputError("it has no place for data", part=f"file {_FILE}", hint="build it anew: `make viewer`")
    return html
