"""What a reduced model, or a law of control, can be exported to: one record a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ExportTarget:
    """A form in which a reduced model leaves supple.

    name  : as in `export(rom, folder, to=name)`
    says  : what it is, one line of help
    files : of a `ReducedModel` and a prefix for all names, the name and content of each file
    laws  : the same of an `AffineLaw`, or of a `ComputedTorque` with its model; None where it knows no controllers
    linear : the same of a `LinearModel`; None where it knows none
    families : whether it writes a whole family, its parameters to be set where it runs; others are given the model at
               its own values, and that is said
    options : names of what both take beside, by keyword, as in `export(rom, folder, to=name, precision="single")`
    """

    name: str
    says: str
    files: Callable[..., Mapping[str, str | bytes]]
    laws: Callable[..., Mapping[str, str | bytes]] | None = None
    options: tuple[str, ...] = ()
    linear: Callable[..., Mapping[str, str | bytes]] | None = None
    families: bool = False
