"""C source file of a reduced model: tables, then functions from the location of the box to the equations."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE
from supple.export.c import (
    division,
    equations,
    evaluation,
    exact_parts,
    inertia_rates,
    integrators,
    location,
    observation_code,
    output_code,
    outputs,
    setting,
    state_derivative,
)
from supple.export.c.fitted_function import polynomial_places, polynomial_rows, polynomial_table
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
    seen = outputs.outputs(model) if model.layout.observation is None else observation_code.write_observation(model)
    rest = integrators.integrators(model) + seen + output_code.measurement_functions(model) + division.division(model)
    return equations_of(model, rest)


def number_tables(model: CModel) -> str:
    """Return sizes and all tables of numbers."""
    fitted, n_s = model.fitted, model.sizes
    places, _, sizes = location.location(fitted, model.grid)
    enum = {
        "SIZE": n_s[0], "AXES": n_s[1], "INPUTS": n_s[2], "OUTPUTS": n_s[3], "FRICTION": n_s[4],
        "COLUMNS": max(1, len(model.stored)), **sizes, "NOWHERE": NOWHERE,
    }  # fmt: skip
    if model.bent:
        enum["SLOPED"] = model.layout.slope_rows
    family = model.family
    enum |= {} if family is None else setting.family_sizes(family)
    more, tables = evaluation.evaluation_tables(model)
    text = "enum { " + ", ".join(f"{name} = {value}" for name, value in (enum | more).items()) + " };\n"
    text += (polynomial_rows(model.polynomials) if family is None else "") + places + tables
    text += polynomial_places(fitted, model.polynomials, first=family is None)
    for item in model.coefficients.values():
        if item.columns is None:
            text += c_table(
                "double", f"constant_{item.name}", np.ravel(model.layout.constants[item.name]).astype(float)
            )
    numbers = (
        polynomial_table(model.polynomials.coefficients) if family is None else setting.family_tables(model, family)
    )
    text += numbers + exact_parts.exact_type(model)
    return text + inertia_rates.deformation_derivatives(model) + _standard(model)


def equations_of(model: CModel, rest: str = "") -> str:
    """Return the functions from the evaluation of a box to the state derivative and its Jacobians, and the rest."""
    text = fill_template(equations.PARTS["solve"], exact_parts.mass_words(model))
    text += inertia_rates.PARTS["deformed"] if model.bent else ""
    text += inertia_rates.PARTS["curved"] if "mass_curvature" in model.coefficients else ""
    if "friction_map" in model.coefficients:
        text += fill_template(equations.PARTS["friction"], {"prefix": model.prefix})
    text += equations.columns(model) + equations.coefficient_functions(model)
    text += equations.dynamics(model) + state_derivative.state_space_functions(model) + rest
    return evaluation.evaluation_functions(model, text) + equations.PARTS["symmetric"] + text


def _standard(model: CModel) -> str:
    """Return the default parameters, which are those of the model."""
    friction = ", ".join(c_number(value) for value in model.layout.dry_forces.values())
    values = f"1.0, {{{friction}}}, {model.upper}_SLIP_RATE" if friction else "1.0"
    if model.family is None:
        return f"static const {model.prefix}_parameters standard = {{{values}}};\n"
    values += f",\n    {setting.standard_members(model, model.family)}"
    return f"static const {model.prefix}_parameters standard {model.upper}_TABLES = {{{values}}};\n"


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
    made = model.polynomials
    place += 4 * len(model.stored) + 4 * len(arrays.leaves_i) * (len(made.shapes) > 1)
    numbers = made.coefficients.size if model.family is None else model.family.table(model.stored).coefficients.size
    return place + size * (arrays.leaves_f.size + numbers + constants)
