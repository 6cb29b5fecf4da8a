"""The iteration matrix of superelements: mass at q, damping and stiffness of the coordinates.

          Rᵀẍ     ω̇      q̈
    [   m I    -s̃        C        ]
    [           J        H        ]                                       (docs/theory/superelements-in-motion.md, 9)
    [ sym.              M + γ'/β' D + K/β' ]

Forces that depend on velocities are left out: they are small against M over a step.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.superelements.superelement_forces import across, column_of
from supple.formulations.absolute.superelements.superelement_inertia import deformation, held_into, moments_into
from supple.geometry.vectors import cross


@kernel
def superelement_tangents(elements, column, X, factors, work):
    """Adds M + damping_factor D + stiffness_factor K of all superelements to work.matrix; factors : those two."""
    A_, d = work.matrix, column.shape[0]
    bent = deformation(elements.stiffness.shape[1])
    for e in range(elements.frame.shape[0]):
        n, places = elements.coordinates[e], elements.places[e]
        held_into(X, d, elements.first[e], n, bent.q)
        moments_into(elements, e, d, bent)
        frame_block(elements, e, column, bent, A_)
        C, H, M, K, D = (
            elements.momentum[e], bent.spin, elements.modal_mass[e], elements.stiffness[e], elements.damping[e]
        )  # fmt: skip
        for i in range(n):
            push, turn = column_of(C, i), column_of(H, i)
            for c in range(d):
                k = column[c]
                A_[places[c, d + i]] += push[k] if k < 3 else turn[k - 3]
            for j in range(i, n):
                A_[places[d + i, d + j]] += M[i, j] + factors[0] * D[i, j] + factors[1] * K[i, j]


@kernel
def frame_block(elements, e, column, bent, A_):
    """The part of the floating frame's own velocities."""
    d, m, J, places = column.shape[0], elements.mass[e], bent.inertia, elements.places[e]
    s = across(elements.momentum[e], bent.q, elements.coordinates[e])
    for c in range(d):
        k = column[c]
        if k < 3:
            A_[places[c, c]] += m
        for o in range(c, d):
            turn = column[o] - 3
            if turn < 0:
                continue
            if k >= 3:
                A_[places[c, o]] += J[k - 3, turn]
            else:  # e_k·(e_turn × s)
                axis = (1.0 if turn == 0 else 0.0, 1.0 if turn == 1 else 0.0, 1.0 if turn == 2 else 0.0)
                A_[places[c, o]] += cross(axis, s)[k]
