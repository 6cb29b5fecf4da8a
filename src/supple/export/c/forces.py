"""C code of the forces of a model, written from its stored columns.

The Lagrangian is linear in the fitted columns, L = w(δ, η̇)ᵀ f(θ). With momentum P = M η̇,

    M η̈ + h = B u,   h = Ṁ η̇ - ∂L/∂η + D η̇ + friction,   ∂L/∂θ_k = wᵀ ∂f/∂θ_k        (docs/theory/reduction.md)

so that slopes of columns are summed with weights before they become forces: Ṁ needs ∂f/∂θ along θ̇ only, and ∂L/∂θ one
sum for each θ_k. Models of fitted Γ and p sum these instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from supple.export.c.columns import force_names, pairs, windows_of
from supple.export.c.generated_model import CModel
from supple.export.c.horner import LANES
from supple.export.template import fill_template, template_parts
from supple.reduced.layout import curvature_places, slope_pairs

PARTS = template_parts("supple.export.c", "forces.c")


class Columns:
    """Expressions of the packed numbers of each coefficient: a stored column, a constant, or nothing for zero."""

    def __init__(self, model: CModel, *, constants: bool):
        self.constants = constants
        self.places = {(c.coefficient, c.number): k for k, c in enumerate(model.stored)}
        self.sloped = {key: k for key, k in self.places.items() if model.stored[k].order}
        self.model = model

    def value(self, name: str, index: int) -> str:
        """Return the expression of a number; "" if it is zero."""
        item = self.model.coefficients.get(name)
        if item is None:
            return ""
        if item.columns is None:
            known = self.constants and self.model.layout.constants[name].ravel()[index]
            return f"{item.source}[{index}]" if known else ""
        place = self.places.get((name, index))
        return "" if place is None else f"g[{place}]"

    def slope(self, name: str, index: int) -> int | None:
        """Return the stored column of a number whose slopes are used."""
        return self.sloped.get((name, index))


def product(*factors: str) -> str:
    """Return a product without factors of one; "" if one of them is empty."""
    return "" if not all(factors) else " * ".join(f for f in factors if f != "1.0") or "1.0"


def total(terms: list[str]) -> str:
    """Return a sum without empty terms; 0.0 if there are none."""
    return " + ".join(term for term in terms if term) or "0.0"


def forces_function(model: CModel, *, change: bool = False) -> str:
    """Return the C function `forces`; or `change`, which is linear in the columns: no constants, no dry friction."""
    known = Columns(model, constants=not change)
    head, lines = _forces(model, known)
    names = {name for name, _, _ in model.members()}
    body = "".join(f"    {line}\n" for line in [*_mass(model, known), *lines])
    if "friction_map" in names and not change:
        body += _friction(model, known)
    given = {"p": "p->", "g": "g[", "dg": "dg[", model.state: f"{model.state}[", "rates": "rates["}
    if not any(c.order for c in model.stored):
        given.pop("dg")
    unused = "".join(f"    (void){name};\n" for name, mark in given.items() if mark not in body)
    return fill_template(PARTS["forces"], {
        "prefix": model.prefix, "real": model.real, "state": model.state, "change": change,
        "name": "change" if change else "forces",
        "slopes": f"{model.real} dg[AXES][WIDE], " if any(c.order for c in model.stored) else "",
        "body": "".join(f"    {line}\n" for line in head) + unused + body,
    })  # fmt: skip


def _weights(model: CModel, known: Columns) -> dict[int, str]:
    """Return the factor w of each stored column in L, as far as its slopes are used."""
    n, s, x = model.layout.size, model.layout.theta, model.state
    found: dict[int, str] = {}

    def pair(i: int, j: int) -> str:
        return f"0.5 * rates[{i}] * rates[{j}]" if i == j else f"rates[{i}] * rates[{j}]"

    for index, (i, j) in enumerate(pairs(n)):
        place = known.slope("M", index)
        if place is not None:
            found[place] = pair(i, j)
        place = known.slope("K", index)
        if place is not None and i >= s:
            found[place] = ("-0.5" if i == j else "-1.0") + f" * {x}[{i}] * {x}[{j}]"
    if (place := known.slope("potential", 0)) is not None:
        found[place] = "-1.0"
    for a in range(s, n):
        if (place := known.slope("force", a)) is not None:
            found[place] = f"{x}[{a}]"
    for index, (i, j, a) in enumerate(_slopes(model)):
        if (place := known.slope("mass_slope", index)) is not None:
            found[place] = f"{pair(i, j)} * {x}[{a}]"
    for index, (i, j, a, b) in enumerate(_curvatures(model)):
        if (place := known.slope("mass_curvature", index)) is not None:
            half = "0.5 * " if a == b else ""
            found[place] = f"{half}{pair(i, j)} * {x}[{a}] * {x}[{b}]"
    return found


def _slopes(model: CModel) -> list[tuple[int, int, int]]:
    """Return i, j and the coordinate δ of each number of ∂M/∂δ."""
    layout = model.layout
    if not model.bent:
        return []
    return [(i, j, a) for i, j in slope_pairs(layout.size, layout.slope_rows) for a in range(layout.theta, layout.size)]


def _curvatures(model: CModel) -> list[tuple[int, int, int, int]]:
    """Return i, j and two coordinates δ of each number of ∂²M/∂δ²."""
    if "mass_curvature" not in model.coefficients:
        return []
    n, s = model.layout.size, model.layout.theta
    return [(i, j, s + a, s + b) for i, j, a, b in curvature_places(n, s)]


def _mass(model: CModel, known: Columns) -> list[str]:
    """Return the lines of M(θ, δ)."""
    n, x = model.layout.size, model.state
    terms: dict[tuple[int, int], list[str]] = defaultdict(list)
    for index, ij in enumerate(pairs(n)):
        terms[ij].append(known.value("M", index))
    for index, (i, j, a) in enumerate(_slopes(model)):
        terms[i, j].append(product(known.value("mass_slope", index), f"{x}[{a}]"))
    for index, (i, j, a, b) in enumerate(_curvatures(model)):
        factors = ("0.5" if a == b else "1.0", known.value("mass_curvature", index), f"{x}[{a}]", f"{x}[{b}]")
        terms[i, j].append(product(*factors))
    lines = []
    for i, j in pairs(n):
        mirror = f"M[{j}][{i}] = " if i != j else ""
        lines.append(f"{mirror}M[{i}][{j}] = {total(terms[i, j])};")
    return lines


def _forces(model: CModel, known: Columns) -> tuple[list[str], list[str]]:
    """Return the declarations and the lines of all forces but dry friction."""
    n, s = model.layout.size, model.layout.theta
    x, real = model.state, model.real
    weights = _weights(model, known)
    head, lines = [], []
    sums: dict[int, list[str]] = defaultdict(list)
    inertia = {place for (name, _), place in known.sloped.items() if name in ("M", "mass_slope", "mass_curvature")}
    # Sums over adjacent columns, eight at a time; columns beyond those of the window have no slopes.
    reached = max((w.first + w.width for w in windows_of(model, force_names(model), 0) if w.order), default=0)

    def padded(places: Iterable[int]) -> int:
        return min(-(-(max(places) + 1) // LANES) * LANES, reached)

    if weights:
        count = padded(weights)
        width = min(LANES, count)
        head += [f"{real} w[{count}], part[{width}];", "int i, o;"]
        lines += [f"w[{k}] = {weights.get(k, '0.0')};" for k in range(count)]
    if inertia:
        most = padded(inertia)
        head += [f"{real} rate[{most}];"]
        along = " + ".join(f"dg[{k}][o] * rates[{k}]" for k in range(s))
        lines += [f"for (o = 0; o < {most}; ++o) rate[o] = {along};"]
    if weights:
        lanes = " + ".join(
            f"(part[{k}] + part[{k + 1}])" if k + 1 < width else f"part[{k}]" for k in range(0, width, 2)
        )
        lines += [
            "for (i = 0; i < AXES; ++i) {",
            f"    for (o = 0; o < {width}; ++o) part[o] = w[o] * dg[i][o];",
            *[
                f"    for (o = 0; o < {min(LANES, count - first)}; ++o) part[o] += w[{first} + o] * dg[i][{first} + o];"
                for first in range(LANES, count, LANES)
            ],
            f"    sum[i] = -({lanes});",
            "}",
        ]
    lines += [f"for (i = {s if weights else 0}; i < SIZE; ++i) sum[i] = 0.0;"] if s < n or not weights else []
    if not weights:
        head += ["int i;"]
    _add_momentum(model, known, sums)
    for index, (i, j) in enumerate(pairs(n)):
        for row, column in dict.fromkeys([(i, j), (j, i)]):
            sums[row].append(product(known.value("K", index), f"{x}[{column}]"))
            sums[row].append(product("p->damping", known.value("damping", index), f"rates[{column}]"))
    for i in range(n):
        given = i < s and model.layout.force == "from-potential"
        term = "" if given else known.value("force", i)
        sums[i].append(product("-1.0", term))
    _add_christoffel(model, known, sums)
    for i in range(n):
        terms = [term for term in sums[i] if term]
        if terms:
            lines.append(f"sum[{i}] += {total(terms)};")
    return head, lines


def _add_momentum(model: CModel, known: Columns, sums: dict[int, list[str]]) -> None:
    """Add Ṁ η̇ - ∂T/∂δ."""
    n, x = model.layout.size, model.state

    def add(i: int, j: int, value: str) -> None:
        for row, column in dict.fromkeys([(i, j), (j, i)]):
            sums[row].append(product(value, f"rates[{column}]"))

    def pair(i: int, j: int) -> str:
        return f"-0.5 * rates[{i}] * rates[{j}]" if i == j else f"-1.0 * rates[{i}] * rates[{j}]"

    for index, (i, j) in enumerate(pairs(n)):
        if (place := known.slope("M", index)) is not None:
            add(i, j, f"rate[{place}]")
    for index, (i, j, a) in enumerate(_slopes(model)):
        value = known.value("mass_slope", index)
        if (place := known.slope("mass_slope", index)) is not None:
            add(i, j, f"rate[{place}] * {x}[{a}]")
        add(i, j, product(value, f"rates[{a}]"))
        sums[a].append(product(pair(i, j), value))
    for index, (i, j, a, b) in enumerate(_curvatures(model)):
        value = known.value("mass_curvature", index)
        half = "0.5 * " if a == b else ""
        if (place := known.slope("mass_curvature", index)) is not None:
            add(i, j, f"{half}rate[{place}] * {x}[{a}] * {x}[{b}]")
        for p, q in dict.fromkeys([(a, b), (b, a)]):
            add(i, j, product(value, f"{x}[{p}]", f"rates[{q}]"))
            sums[q].append(product(pair(i, j), value, f"{x}[{p}]"))


def _add_christoffel(model: CModel, known: Columns, sums: dict[int, list[str]]) -> None:
    """Add fitted or constant Γ[η̇, η̇]; the part of θ alone only if it does not follow from M."""
    if "christoffel" not in model.coefficients or model.bent:
        return
    n, s, count = model.layout.size, model.layout.theta, len(pairs(model.layout.size))
    for i in range(n):
        for index, (j, k) in enumerate(pairs(n)):
            if model.layout.christoffel == "from-mass" and max(i, j, k) < s:
                continue
            twice = "1.0" if j == k else "2.0"
            value = known.value("christoffel", i * count + index)
            sums[i].append(product(twice, value, f"rates[{j}]", f"rates[{k}]"))


def _friction(model: CModel, known: Columns) -> str:
    """Return the lines of dry friction."""
    n = model.layout.size
    text = ""
    for f in range(len(model.layout.dry_forces)):
        maps = [known.value("friction_map", f * n + i) for i in range(n)]
        slip = total([product(value, f"rates[{i}]") for i, value in enumerate(maps)])
        text += "    {\n        double slope;\n"
        text += f"        const double drag = p->friction[{f}] * direction(p, (double)({slip}), &slope);\n"
        text += "".join(f"        sum[{i}] += {value} * drag;\n" for i, value in enumerate(maps) if value)
        text += "    }\n"
    return text
