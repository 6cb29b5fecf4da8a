"""Kernels of the reduced equations of motion: `supple.equations.forces` at many states, or at one in place."""

from __future__ import annotations

import numpy as np

from supple.approximation.piecewise.packing import NOWHERE
from supple.compilation import kernel
from supple.compilation.bundle import copy_row
from supple.equations.deformation import deform
from supple.equations.forces import add_mass, energies, forces, observe, solve_mass
from supple.reduced.arrays import NUMBERS, coefficient_row, friction_of, row_width
from supple.reduced.kernels import INSIDE, OUTSIDE, row_at, single_scratch

INDEFINITE = 2  # the mass matrix is not positive definite
UNKNOWN = 3  # a value is not finite


@kernel(purpose="evaluating reduced models, deformed")
def deform_batch(Z, eta, rows):
    """Change rows (N, width) at θ to those at η (N, n)."""
    for p in range(eta.shape[0]):
        deform(coefficient_row(Z, rows[p]), eta[p])


@kernel(purpose="forward dynamics of reduced models")
def forward_batch(Z, F, speed, eta, rates, u, accelerations, status):
    """Compute η̈ = M⁻¹ f for many states (N, n) and inputs (N, a)."""
    c, friction = coefficient_row(Z, np.empty(row_width(Z))), friction_of(Z, F, speed)
    leaf, L = NOWHERE, np.empty((c.n, c.n))
    work, theta = np.empty(single_scratch(Z)), np.empty(c.s)
    for p in range(eta.shape[0]):
        copy_row(eta[p], theta)
        leaf = row_at(Z, F, theta, work, 0, c.values, leaf)
        status[p] = OUTSIDE if leaf == NOWHERE else INSIDE
        if status[p] == INSIDE:
            deform(c, eta[p])
            forces(c, friction, eta[p], rates[p], u[p], accelerations[p])
            if not solve_mass(c, L, accelerations[p]):
                status[p] = INDEFINITE


@kernel
def invert_dynamics(c, friction, eta, rates, accelerations, idle, f):
    """Compute M η̈ - f(η, η̇, 0) into f (n,); idle : (inputs,) zeros."""
    forces(c, friction, eta, rates, idle, f)
    for i in range(c.n):
        f[i] = -f[i]
    add_mass(c, 1.0, accelerations, f)


@kernel(purpose="inverse dynamics of reduced models")
def inverse_batch(Z, F, speed, eta, rates, accelerations, forces_out, status):
    """Compute M η̈ - f(η, η̇, 0) for many states: the generalized forces that inputs must supply."""
    c, friction = coefficient_row(Z, np.empty(row_width(Z))), friction_of(Z, F, speed)
    leaf, idle = NOWHERE, np.zeros(c.inputs)
    work, theta = np.empty(single_scratch(Z)), np.empty(c.s)
    for p in range(eta.shape[0]):
        copy_row(eta[p], theta)
        leaf = row_at(Z, F, theta, work, 0, c.values, leaf)
        status[p] = OUTSIDE if leaf == NOWHERE else INSIDE
        if status[p] == INSIDE:
            deform(c, eta[p])
            invert_dynamics(c, friction, eta[p], rates[p], accelerations[p], idle, forces_out[p])


@kernel(purpose="outputs and energy of reduced models")
def observe_batch(Z, F, eta, rates, outputs, energy, status):
    """Compute outputs y = ρ_o + Ψ_o δ (N, o) and energies (N, 2), kinetic and potential, of many states."""
    c = coefficient_row(Z, np.empty(row_width(Z)))
    leaf, work, theta = NOWHERE, np.empty(single_scratch(Z)), np.empty(c.s)
    for p in range(eta.shape[0]):
        copy_row(eta[p], theta)
        leaf = row_at(Z, F, theta, work, 0, c.values, leaf)
        status[p] = OUTSIDE if leaf == NOWHERE else INSIDE
        deform(c, eta[p])
        energy[p, 0], energy[p, 1] = energies(c, eta[p], rates[p])
        observe(c, eta[p], outputs[p])


@kernel
def state_size(Z):
    """Return the size of the state array of `forward_in_place` and `inverse_in_place`.

    It holds the result, the arguments and workspace.
    """
    c = coefficient_row(Z, np.empty(0))
    return 3 * c.n + max(c.n, c.inputs) + row_width(Z) + max(c.n * c.n, c.inputs) + single_scratch(Z)


@kernel(purpose="forward dynamics of reduced models, single calls")
def forward_in_place(memory, speed, state):
    """Compute η̈ (n,) of one state; return INSIDE, or the reason why it does not exist.

    memory : `one_array` of the model
    state  : (state_size,): η̈, η, η̇ (n each), u, then workspace
    """
    Z = memory.view(np.int64)
    F, width = memory[Z[NUMBERS] :], row_width(Z)
    c = coefficient_row(Z, state[:0])
    n, inputs = c.n, c.inputs
    if not np.isfinite(state[n : 3 * n + inputs]).all():
        return UNKNOWN
    found, eta, rates, u = state[:n], state[n : 2 * n], state[2 * n : 3 * n], state[3 * n : 3 * n + inputs]
    first = 3 * n + max(n, inputs)
    spare = first + width
    c = coefficient_row(Z, state[first:spare])
    if row_at(Z, F, eta, state, spare + max(n * n, inputs), c.values, NOWHERE) == NOWHERE:
        return OUTSIDE
    deform(c, eta)
    forces(c, friction_of(Z, F, speed), eta, rates, u, found)
    return INSIDE if solve_mass(c, state[spare : spare + n * n].reshape(n, n), found) else INDEFINITE


@kernel(purpose="inverse dynamics of reduced models, single calls")
def inverse_in_place(memory, speed, state):
    """Compute M η̈ - f(η, η̇, 0) of one state; return the same status as `forward_in_place`.

    state : (state_size,): the forces, η, η̇ and η̈ (n each), then workspace
    """
    Z = memory.view(np.int64)
    F, width = memory[Z[NUMBERS] :], row_width(Z)
    c = coefficient_row(Z, state[:0])
    n, inputs = c.n, c.inputs
    if not np.isfinite(state[n : 4 * n]).all():
        return UNKNOWN
    eta, rates, accelerations = state[n : 2 * n], state[2 * n : 3 * n], state[3 * n : 4 * n]
    first = 3 * n + max(n, inputs)
    spare = first + width
    c = coefficient_row(Z, state[first:spare])
    if row_at(Z, F, eta, state, spare + max(n * n, inputs), c.values, NOWHERE) == NOWHERE:
        return OUTSIDE
    idle = state[spare : spare + inputs]
    idle[:] = 0.0
    deform(c, eta)
    invert_dynamics(c, friction_of(Z, F, speed), eta, rates, accelerations, idle, state[:n])
    return INSIDE
