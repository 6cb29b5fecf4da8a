"""`supple.run_time_forms`: forms of a reduced model for run time, within budgets of memory and operations."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.compilation.threads import single_blas_thread
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleNote
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quote
from supple.diagnostics.limits import bytes_of
from supple.formats.mechanism_text import to_yaml
from supple.formats.model_description import restore_mechanism
from supple.reduced.family import FIXED, model_at_parameters
from supple.reduced.model import ReducedModel
from supple.run_time.cost import still_columns
from supple.run_time.form_choice import FormChoice
from supple.run_time.processor import processor_of
from supple.run_time.trade_off import RunTimeForms

_CONSTANT = ("damping", "input_map", "outputs", "output_modes", "friction_map")  # coefficients that may be constants


def run_time_forms(
    model: ReducedModel,
    *,
    memory: float | str | None = None,
    operations: int | None = None,
    tolerance: float | None = None,
    target: str = "host",
    smooth: bool = False,
    checks: int | None = None,
    seed: int = 0,
) -> RunTimeForms:
    """Fit cheaper forms of a reduced model for run time, and choose one within budgets of memory and operations.

    The model is the surrogate: its evaluations cost nothing compared with those of the mechanism. A form has a regular
    grid of boxes with few terms in each. It is in energy form: M and the potential are fitted, with their slopes, and
    Γ and forces are their gradients. The chosen form is compared with the mechanism.

    Parameters
    ----------
    model : ReducedModel
        Model to fit; its error should be at most half the tolerance.
    memory : float or str, optional
        Largest size of the tables that `inverse` and `forward` read, in bytes or as text ("64kB"). Default: no limit.

        Of all forms within the limit, the one with the fewest operations is chosen.
    operations : int, optional
        Largest number of multiply-adds of `inverse`. Default: no limit.

        Without `memory`, the form with the least memory is chosen.
    tolerance : float, optional
        Largest stated relative error against the mechanism, of every coefficient family, as in `reduce`. Default: twice
        the largest stated error of the model.
    target : str, optional
        Processor: "host", "cortex-m4f", "cortex-m7" or "cortex-m33". Default: "host".

        It determines the size of a number: 8 bytes for "host", 4 bytes for the others.
    smooth : bool, optional
        Use cubic splines on the grid, without jumps of forces between boxes, in place of separate polynomials.
        Default: False.
    checks : int, optional
        Number of random points at which the chosen form is compared with the mechanism. Default: as in `reduce`.
    seed : int, optional
        Random seed for the check points. Default: 0.

    Returns
    -------
    RunTimeForms
        The chosen form as a `ReducedModel` in `model`, and the trade-off between error, operations, memory, jumps at
        faces of boxes and energy drift.

    Raises
    ------
    InputError
        If no form meets the tolerance within the budgets, if the model leaves nothing of the tolerance, or if its
        region or its fit is not supported.

    Warns
    -----
    SuppleNote
        If the model has varied parameters: the form is made at their present values.

    See Also
    --------
    reduce : Reduce a mechanism to the model.
    export : Write the chosen form as C code, FMU or for CasADi.

    Notes
    -----
    A form within (ε - ε_s) / 1.05 of the model, with the error ε_s of the model, is within ε of the mechanism
    (docs/theory/run-time-forms.md).

    Examples
    --------
    >>> import supple
    >>> rom = supple.reduce(supple.load("orthoglide"), progress=False)  # doctest: +SKIP
    >>> forms = supple.run_time_forms(rom, memory="64kB", tolerance=5e-3, target="cortex-m7")  # doctest: +SKIP
    >>> supple.export(forms.model, "build", precision="single")  # doctest: +SKIP
    """
    require_arguments(run_time_forms, locals())
    limit = _memory_limit(model, memory)
    if limit is None and operations is None:
        raise InputError(
            "a run-time form needs a budget", part="memory", hint="give memory, operations, or both",
        )  # fmt: skip
    if operations is not None and operations < 1:
        raise InputError(f"must be positive (got {operations})", part="operations", hint="give multiply-adds of a call")
    if checks is not None and checks < 1:
        raise InputError(f"must be positive (got {checks})", part="checks", hint="give at least one check point")
    processor = processor_of(target)
    _require_energy_form(model)
    mechanism = restore_mechanism(model)
    surrogate = with_constants(_of_one_machine(model, mechanism))
    with single_blas_thread():
        choice = FormChoice(surrogate, mechanism, processor, tolerance, limit, operations, checks, seed)
        return choice.run(smooth=smooth)


def _memory_limit(model: ReducedModel, memory: float | str | None) -> float | None:
    if memory is None:
        return None
    size = bytes_of(memory) if isinstance(memory, str) else float(memory)
    if not size > 0.0:
        raise InputError(f"{quote(memory)} is not a size", part="memory", hint="write for example 64kB, or bytes")
    return size


def _require_energy_form(model: ReducedModel) -> None:
    """Refuse a fit whose Γ or force do not follow from M and the potential."""
    layout = model.layout
    if "christoffel" in layout.columns:
        raise InputError(
            "its Christoffel symbols are fitted separately from M, and a run-time form needs them as gradients of M",
            part=f'model "{model.name}"', hint='reduce with the fit "auto" or "chebyshev"',
        )  # fmt: skip


def _of_one_machine(model: ReducedModel, mechanism: Mechanism) -> ReducedModel:
    """Return a model without a family, at the present values of its parameters, with a note."""
    if model.family is None:
        return model
    one = model_at_parameters(model)
    named = ", ".join(one.provenance[FIXED])
    warnings.warn(
        SuppleNote(f"the run-time form is made for {named}; its parameters cannot be set at run time"), stacklevel=4
    )
    return replace(one, provenance={**one.provenance, "description": to_yaml(mechanism)})


def with_constants(model: ReducedModel) -> ReducedModel:
    """Return a model whose coefficients that are the same everywhere are constants instead of columns."""
    layout, arrays = model.layout, model.fitted.arrays
    still = still_columns(layout, model.fitted)
    moved = [name for name in _CONSTANT if name in layout.columns and still[slice(*layout.columns[name])].all()]
    kept = {name: span for name, span in layout.columns.items() if name not in moved}
    if not moved or not kept:
        return model
    here = model.fitted.evaluate(model.fitted.leaves[0].center)
    constants = {**layout.constants, **{name: here[slice(*layout.columns[name])] for name in moved}}
    taken = [column for span in kept.values() for column in range(*span)]
    ends = np.cumsum([stop - first for first, stop in kept.values()]).tolist()
    columns = {name: (end - layout.widths[name], end) for name, end in zip(kept, ends, strict=True)}
    fitted = Piecewise(arrays._replace(coefficients=np.ascontiguousarray(arrays.coefficients[:, taken])))
    return replace(model, layout=replace(layout, columns=columns, constants=constants), fitted=fitted)
