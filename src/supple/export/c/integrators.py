"""C code of one fixed step with constant inputs: explicit Runge-Kutta, and a Rosenbrock method for stiff models.

The Rosenbrock method has order 3, is L-stable and stiffly accurate, and uses the exact Jacobian J with γ = ½:

    (1/(γh) - J) k_i = f(x + Σ_j a_ij k_j) + Σ_j (c_ij / h) k_j,    x ← x + 2 k₁ + k₃ + k₄

    a₃₁ = a₄₁ = 2, a₄₃ = 1;   c₂₁ = 4, c₃₁ = c₄₁ = 1, c₃₂ = c₄₂ = -1, c₄₃ = -8/3           [RODAS3, Sandu et al. 1997]

It has no iterations: every step takes the same operations. Of each system only the part of the rates is factorized,

    (g M - S_v - S_η/g) k_v = M r_v + S_η r_η / g,    k_η = (r_η + k_v)/g,    g = 1/(γh)
"""

from __future__ import annotations

from supple.export.c.equations import input_words
from supple.export.c.exact_parts import mass_words
from supple.export.c.generated_model import CModel
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.c", "integrators.c")


def integrators(model: CModel) -> str:
    """Return the C functions `<prefix>_step_explicit` and `<prefix>_step_implicit`."""
    words = {"prefix": model.prefix, "UPPER": model.upper, "states": f"{model.upper}_STATES"}
    return fill_template(PARTS["steps"], input_words(model) | mass_words(model) | words)
