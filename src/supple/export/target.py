"""The record of an export target, and the sentence about parameters that are fixed in the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from supple.export.c.source_text import comment
from supple.reduced.family import FIXED


@dataclass(frozen=True)
class ExportTarget:
    r"""A format that `export` can write; `register` adds further ones.

    Attributes
    ----------
    name : str
        Name of the target, as in ``export(rom, directory, to=name)``.
    description : str
        One-line description for the help text.
    files : callable
        ``files(rom, prefix, **options)`` returns {file name: content} for a `ReducedModel`; `prefix` starts all names.
    laws : callable or None
        The same for a `control.AffineLaw` or a `control.ComputedTorque` with its model; None if the target does not
        support controllers.
    options : tuple of str
        Names of the keyword options that these functions accept, such as ``("precision",)``.
    linear : callable or None
        The same for a `LinearModel`; None if the target does not support linear models.
    motions : callable or None
        The same for a reference motion, planned motion or trajectory; None if the target does not support motions.
    controllers : callable or None
        The same for a `control.AffineController` with its motion; None if the target writes its law alone, by `laws`.
    families : bool
        True if the target writes parameters of a family so that they can be set at run time. Other targets are given
        the model at its own parameter values, and `export` issues a `SuppleNote`.

    Examples
    --------
    >>> import supple
    >>> names = supple.ExportTarget(
    ...     "names", "a text file with the coordinate names",
    ...     lambda rom, prefix: {f"{prefix}.txt": "\n".join(rom.layout.coordinates)},
    ... )
    >>> supple.register(names)  # doctest: +SKIP
    """

    name: str
    description: str
    files: Callable[..., Mapping[str, str | bytes]]
    laws: Callable[..., Mapping[str, str | bytes]] | None = None
    options: tuple[str, ...] = ()
    linear: Callable[..., Mapping[str, str | bytes]] | None = None
    motions: Callable[..., Mapping[str, str | bytes]] | None = None
    controllers: Callable[..., Mapping[str, str | bytes]] | None = None
    families: bool = False


# The sentence in the exported files about parameters that are fixed in them.


def fixed_values_text(rom: Any) -> str:
    """`written for payload = 12 kg; not settable at run time`, or "" for a model without parameters."""
    texts = getattr(rom, "provenance", {}).get(FIXED, ())
    return f"written for {', '.join(texts)}; not settable at run time" if texts else ""


def fixed_lines(rom: Any) -> list[str]:
    """Return `fixed_values_text` as lines for an ASCII comment: one line or none."""
    text = fixed_values_text(rom)
    return [comment(text[:1].upper() + text[1:], 400) + "."] if text else []
