"""Forces and moments in the sections at both ends of every beam element.

They are what the nodes do to the ends, with gravity and inertia of the element's own length in the balance, so that
they pass from element to element without a jump where nothing acts on the node, and end in the reaction.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.absolute.beams.element_work import ENDS, STRAIN_ENERGY, element_work
from supple.formulations.absolute.beams.planar_element import planar_element
from supple.formulations.absolute.beams.space_element import space_element

NORMAL, SHEAR_Y, SHEAR_Z, TWIST, BEND_Y, BEND_Z = range(6)


@kernel
def section_forces(beams, gravity, X, V, acceleration, Q, out, strain):
    """Into out (e, 2, 6): (N, Q_y, Q_z, M_x, M_y, M_z) on the section that faces along the element, in its axes; strain
    energies into strain (e,).

    In the plane y lies across the element in the plane and z is its normal. Q : (frames, d) is overwritten.
    """
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    d = width // 2
    work = element_work(X)
    for n in range(count):
        if d == 3:
            planar_element(beams, n, gravity, X, V, acceleration, work, Q)
        else:
            space_element(beams, n, gravity, X, V, acceleration, work, Q)
        strain[n] = work[STRAIN_ENERGY]
        for end in range(2):
            for c in range(6):
                out[n, end, c] = 0.0
            for c in range(d):
                place = BEND_Z if d == 3 and c == 2 else c
                out[n, end, place] = (2.0 * end - 1.0) * work[ENDS + end * d + c]
