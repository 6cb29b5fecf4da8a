"""Work arrays of a time step, created once and filled in every iteration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.formulations.absolute.frozen_motion import MassDampingWork, mass_damping_work
from supple.kinematics.row_arrays import row_sizes

# Places in the account: power of the actuators, power lost in laws, friction and elements, kinetic energy of inertia
# along measures, power of loads without potential, strain energy of elements and elastic joints, and the largest local
# rotation of an element (rad).
ACTUATED, LOST, ROTORS, FOLLOWING, STRAIN, BENT = range(6)
KEPT_STEP, KEPT_AGE, KEPT_LIFE, KEPT_STEADY = 0, 1, 2, 3  # places in `kept`


class StepWork(NamedTuple):
    """Work arrays of one iteration.

    gradients  : (terms, 2, d) of the terms of rows and measures, on their two frames
    own        : the same, with displacements in frame axes
    values     : (multipliers,) of joint and prescribed rows, relative to their targets
    forces     : (frames, d) Q; account : (6,) powers and energies, above
    stiffness, damping, inertia : (measures,) -f', c and m of all force models along each
    matrix, L, D, solving, filled : the iteration matrix and its factor
    mass       : values of the matrix for steps of length zero, which filter errors
    scale      : (frames, d) scale of a direction in M̂, which defines ε of the rows
    kept       : (4,) step length of the factor, s, 0 for none; numbers of steps used and allowed; steadiness of the
                 accelerations
    right_side : (n,) -(r_q, r_c), then the correction; filtered : (n,) the error of a step
    last       : (frames, d) displacement of the step before, divided by its length
    move       : (frames, d) displacement of the step; twist (6,) : of one frame
    term, twists, scratch, second : for gradient and second rate of one term
    mass_damping : work arrays of mass-proportional damping; None without it
    """

    gradients: Array
    own: Array
    values: Array
    forces: Array
    account: Array
    stiffness: Array
    damping: Array
    inertia: Array
    matrix: Array
    mass: Array
    scale: Array
    kept: Array
    L: Array
    D: Array
    solving: Array
    filled: Integers
    right_side: Array
    filtered: Array
    last: Array
    move: Array
    twist: Array
    term: Array
    twists: Array
    scratch: Array
    second: Array
    mass_damping: MassDampingWork | None


@kernel
def step_work(system, pattern):
    """Return reusable work arrays for steps."""
    sizes = row_sizes(system.rows)
    nb, d, measures = sizes.bodies, sizes.width, sizes.rows - sizes.joint_rows
    multipliers = sizes.joint_rows + system.driven.shape[0]
    n = nb * d + multipliers
    return StepWork(
        np.empty((system.rows.rows_i.shape[0], 2, d)),
        np.zeros((system.rows.rows_i.shape[0], 2, d)),
        np.empty(multipliers),
        np.empty((nb, d)),
        np.zeros(6),
        np.zeros(measures),
        np.zeros(measures),
        np.zeros(measures),
        np.empty(pattern.entries.shape[0]),
        np.empty(pattern.entries.shape[0]),
        np.empty((nb, d)),
        np.array([0.0, 0.0, np.inf, 0.0]),
        np.empty(pattern.below_index.shape[0]),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.zeros((nb, d)),
        np.empty((nb, d)),
        np.zeros(6),
        np.empty(13),
        np.zeros((nb + 1, 1, 6)),
        np.empty((2, 13)),
        np.empty((1, 1)),
        mass_damping_work(system.mass_damping, nb),
    )
