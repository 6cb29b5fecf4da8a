"""The record of an export target, and models of a family with parameters fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise, sliced_fit
from supple.export.c.source_text import comment
from supple.reduced.family import Family
from supple.reduced.model import ReducedModel


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


# A model of a family with parameters fixed, and the sentence about it in the exported files.


_KEY = "written_for"


def model_at_parameters(
    rom: ReducedModel, values: Mapping[str, float] | None = None, *, others: bool = False
) -> ReducedModel:
    """Fix parameters of a family at values (default: the model's own) and record them in the provenance.

    others : True to keep parameters that are not named as parameters of the family
    """
    at = rom.at(**(values or {}))
    assert at.family is not None
    fixed = [i for i, name in enumerate(at.family.names) if not others or name in (values or {})]
    texts = [
        f"{item.name} = {value:.6g} {item.unit}".rstrip()
        for item, value in ((at.family.parameters[i], at.family.values[i]) for i in fixed)
    ]
    family = _without(at.family, fixed, at.layout.theta) if len(fixed) < len(at.family.names) else None
    return replace(at, family=family, provenance={**at.provenance, _KEY: texts})


def _without(family: Family, fixed: list[int], theta: int) -> Family:
    """Return the family in the remaining parameters; the fixed ones stay at the values of the family."""
    kept = [i for i in range(len(family.names)) if i not in fixed]
    order = np.array([*range(theta), *(theta + i for i in (*kept, *fixed))])
    arrays = family.fitted.arrays
    nodes = arrays.nodes_i.copy()
    nodes[:, 0] = np.argsort(order)[nodes[:, 0]]
    permuted = arrays._replace(
        roots_f=arrays.roots_f[:, :, order], nodes_i=nodes, leaves_f=arrays.leaves_f[:, :, order],
        indices=arrays.indices[:, order],
    )  # fmt: skip
    values = [family.values[i] for i in fixed]
    return Family(
        tuple(family.parameters[i] for i in kept), tuple(family.values[i] for i in kept),
        sliced_fit(Piecewise(permuted), np.array(values)),
    )  # fmt: skip


def fixed_values_text(rom: Any) -> str:
    """`written for payload = 12 kg; not settable at run time`, or "" for a model without parameters."""
    texts = getattr(rom, "provenance", {}).get(_KEY, ())
    return f"written for {', '.join(texts)}; not settable at run time" if texts else ""


def fixed_lines(rom: Any) -> list[str]:
    """Return `fixed_values_text` as lines for an ASCII comment: one line or none."""
    text = fixed_values_text(rom)
    return [comment(text[:1].upper() + text[1:], 400) + "."] if text else []
