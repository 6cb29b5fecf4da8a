"""C source file of a reduced model: tables, then functions from the location of the box to the equations."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE
from supple.export.c import (
    basis_rates,
    division,
    equations,
    exact_parts,
    inertia_rates,
    integrators,
    location,
    observation_code,
    output_code,
    outputs,
    polynomial,
    setting,
    state_derivative,
)
from supple.export.c.fitted_function import coefficient_table, leaf_tables, row_macro
from supple.export.c.generated_model import CModel
from supple.export.c.source_text import BYTES, c_number, c_table, comment
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.c", "model_source.c")


def c_source(model: CModel) -> str:
    """Return the text of `<prefix>.c`."""
    text = fill_template(PARTS["head"], {"name": comment(model.rom.name), "prefix": model.prefix})
    text += PARTS["finite"] + number_tables(model)
    family, bounds = model.family, model.fitted.arrays.roots_f
    text += location.location(model.fitted, model.grid, "AXES" if family is None else "PLACES")[1]
    if family is None:
        return text + location.location_function(bounds, model.upper, family=False) + _functions(model)
    place = location.location_function(bounds[:, :, : family.theta], model.upper, family=True)
    text += setting.add_parameter_argument(place + _functions(model), model)
    return text + setting.set_parameters(model, family)


def _functions(model: CModel) -> str:
    """Return all functions except the location of the box."""
    text = equations_of(model) + integrators.integrators(model)
    seen = outputs.outputs(model) if model.layout.observation is None else observation_code.write_observation(model)
    return text + seen + output_code.measurement_functions(model) + division.division(model)


def number_tables(model: CModel) -> str:
    """Return sizes and all tables of numbers."""
    fitted, n_s = model.fitted, model.sizes
    places, _, sizes = location.location(fitted, model.grid)
    enum = {
        "SIZE": n_s[0], "AXES": n_s[1], "INPUTS": n_s[2], "OUTPUTS": n_s[3], "FRICTION": n_s[4],
        "COLUMNS": fitted.outputs, "TERMS": polynomial.term_counts(fitted)[-1], **sizes, "NOWHERE": NOWHERE,
    }  # fmt: skip
    if model.bent:
        enum["SLOPED"] = model.layout.slope_rows
    family = model.family
    enum |= {} if family is None else setting.family_sizes(family)
    text = "enum { " + ", ".join(f"{name} = {value}" for name, value in enum.items()) + " };\n"
    text += (row_macro(fitted) if family is None else "") + places
    text += leaf_tables(fitted, first=family is None) + basis_rates.term_table(fitted)
    for item in model.coefficients.values():
        if item.columns is None:
            text += c_table(
                "double", f"constant_{item.name}", np.ravel(model.layout.constants[item.name]).astype(float)
            )
    numbers = coefficient_table(fitted) if family is None else setting.family_tables(model, family)
    text += equations.zero_constants(model) + numbers + exact_parts.exact_type(model)
    return text + inertia_rates.deformation_derivatives(model) + _standard(model)


def equations_of(model: CModel) -> str:
    """Return the functions from the location of the box to the state derivative and its Jacobians."""
    fitted = model.fitted
    text = "".join(polynomial.basis_function(fitted, slopes=slopes) for slopes in _list_variants(model))
    text += basis_rates.basis_curved(fitted) + (
        "" if model.layout.observation is None else basis_rates.basis_along(fitted)
    )
    text += "".join(polynomial.combine_function(fitted, width) for width in sorted(_widths(model)))
    text += equations.PARTS["symmetric"] + exact_parts.exact_functions(model)
    text += fill_template(equations.PARTS["solve"], exact_parts.mass_words(model))
    text += inertia_rates.PARTS["deformed"] if model.bent else ""
    text += inertia_rates.PARTS["curved"] if "mass_curvature" in model.coefficients else ""
    if "friction_map" in model.coefficients:
        text += fill_template(equations.PARTS["friction"], {"prefix": model.prefix})
    text += equations.columns(model) + equations.coefficient_functions(model) + equations.resistance(model)
    return text + equations.dynamics(model) + state_derivative.state_space_functions(model)


def _standard(model: CModel) -> str:
    """Return the default parameters, which are those of the model."""
    friction = ", ".join(c_number(value) for value in model.layout.dry_forces.values())
    values = f"1.0, {{{friction}}}, {model.upper}_SLIP_RATE" if friction else "1.0"
    if model.family is None:
        return f"static const {model.prefix}_parameters standard = {{{values}}};\n"
    values += f",\n    {setting.standard_members(model, model.family)}"
    return f"static const {model.prefix}_parameters standard {model.upper}_TABLES = {{{values}}};\n"


def _list_variants(model: CModel) -> list[bool]:
    """Return the variants of the product function that are needed: [without slopes, with slopes]."""
    plain = model.layout.observation is None and "outputs" in model.coefficients
    return [False, *([True] if equations.needs_slopes(model) or plain else [])]


def _widths(model: CModel) -> set[int]:
    """Return the numbers of columns that functions sum at once."""
    known = model.coefficients
    ranges = [(0, model.fitted.outputs), model.elastic_force_columns, model.stiffness_columns]
    ranges += [(0, model.force_columns)] if model.force_columns else []
    ranges += model.inertia_columns
    ranges += [known["potential"].columns] if model.potential_gives_force else []
    made: tuple[str, ...] = () if model.layout.observation is None else ("efforts", "friction_map")
    made += ("input_map",) if division.can_divide(model) else ()
    ranges += [known[name].columns for name in ("outputs", "output_modes", *made) if name in known]
    return {stop - first for first, stop in (item for item in ranges if item is not None)}


def table_bytes(model: CModel) -> int:
    """Return the size of the constant tables in bytes, with 4 for an integer and 8 or 4 for a number, unaligned."""
    arrays, size = model.fitted.arrays, BYTES[model.precision]
    arrays = arrays if model.family is None else model.family.whole.arrays
    if model.grid is None:
        place = size * arrays.roots_f.size + 4 * arrays.roots_i.size + (size + 16) * arrays.nodes_f.size
    else:
        place = sum(size * edge.size + 16 for edge in model.grid.edges)
    constants = sum(np.size(values) for values in model.layout.constants.values())
    if model.family is not None:
        place += setting.family_bytes(model, model.family, size)
    elif model.exact:
        place += size * exact_parts.constant_rest(model).size
    place += 8 * len(arrays.leaves_i) + 12 * polynomial.term_counts(model.fitted)[-1]
    return place + size * (arrays.leaves_f.size + arrays.coefficients.size + constants)
