"""Examples that are distributed with supple."""

from __future__ import annotations

from pathlib import Path

MECHANISM = "mechanism.yaml"


def example_folders() -> dict[str, Path]:
    """Return the folders of the bundled examples by name.

    An installed package contains them; a checkout has them at the root of the repository.
    """
    package = Path(__file__).resolve().parents[1]
    for home in (package / "examples", package.parents[1] / "examples"):
        found = {folder.name: folder for folder in sorted(home.glob("*")) if (folder / MECHANISM).is_file()}
        if found:
            return found
    return {}


def example_file(path: str | Path) -> Path | None:
    """Return the mechanism file of a bundled example; None if a file of that name exists or no example has it."""
    known = example_folders()
    if str(path) not in known or Path(path).exists():  # the name of an example is valid on every system
        return None
    return known[str(path)] / MECHANISM
