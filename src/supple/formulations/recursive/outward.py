"""Outward recursion from the ground: poses, velocities, accelerations, and the required forces of each body.

    V_k = V_p + S_k q̇_k,   A_k = A_p + Ψ̇_k q̇_k + S_k q̈_k,   A_ground = -g       (docs/theory/recursive.md, eqs. 6-9)

`nodes` : (axes + 1, SLOTS W), one row per axis (memory.py); the last is the ground.
"""

from __future__ import annotations

from supple.compilation import kernel
from supple.formulations.recursive.memory import (
    ACCELERATION,
    AT_INPUT,
    AXIS,
    AXIS_RATE,
    BALL,
    BEFORE,
    BODY,
    CARRIES_ORIGIN,
    CENTER,
    FIRST,
    FORCE,
    INTEGERS,
    KIND,
    MASS,
    MOMENT,
    MOMENTUM,
    NUMBERS,
    PARENT,
    PITCH,
    PLACE_POSITION,
    PLACE_ROTATION,
    POSITION,
    ROTATION,
    SCREW,
    SECOND,
    SECOND_MOMENT,
    SLIDE,
    SLOTS,
    SPREAD,
    TURN,
    VELOCITY,
    cut,
    lane_count,
)
from supple.formulations.recursive.spatial import (
    both,
    force_cross,
    inertia_times,
    matrix_at,
    motion_cross,
    number_at,
    put_matrix,
    put_spatial,
    put_vector,
    scale_spatial,
    spatial_at,
    vector_at,
)
from supple.geometry.vectors import (
    apply_matrix,
    cross,
    crossed_columns,
    dot,
    matrix_product,
    matrix_sum,
    outer,
    plus,
    rotation_of_quaternion,
    skew,
    symmetric,
    times,
    trace_less,
    turn_about_z,
)


@kernel
def outward(side, blocks, tree, memory):
    """Compute kinematics of every axis, and moments, momenta and forces of its own body."""
    W, nodes = len(side), memory.nodes
    ground(side, tree.gravity, cut(nodes, tree.n, SLOTS * W))
    for k in range(tree.n):
        row, numbers = cut(tree.axes_i, k, INTEGERS), cut(tree.axes_f, k, NUMBERS)
        parent, node = cut(nodes, row[PARENT], SLOTS * W), cut(nodes, k, SLOTS * W)
        given = memory.configuration[row[AT_INPUT] * W :]
        if row[KIND] == TURN:
            turn_joint(side, blocks, numbers, parent, given, node)
        elif row[KIND] == SLIDE:
            slid(side, blocks, numbers, row[CARRIES_ORIGIN], parent, given, node)
        elif row[KIND] == SCREW:
            screw_joint(side, blocks, numbers, parent, given, node)
        elif row[FIRST] == k:
            float_joint(side, blocks, numbers, row[KIND], row[CARRIES_ORIGIN], parent, given, node)
        else:
            fixed_axis(side, blocks, row[KIND], k - row[FIRST], parent, node)
        before = cut(nodes, row[BEFORE], SLOTS * W)
        move_joint(side, blocks, parent, before, cut(memory.rates, k, W), cut(memory.accelerations, k, W), node)
        if row[BODY] == 1:
            body(side, blocks, numbers, node)
        else:
            for i in range(MOMENT * W, (FORCE + 6) * W):
                node[i] = 0.0


@kernel
def ground(side, gravity, node):
    """Set the ground node: at rest, and accelerated against gravity."""
    W = len(side)
    for i in range(SLOTS * W):
        node[i] = 0.0
    for lane in range(W):
        put_matrix(node, ROTATION, W, lane, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
        put_vector(node, ACCELERATION, W, lane, times(-1.0, vector_at(gravity, 0, 1, 0)))


@kernel(inline=True)
def place_joint(parent, place, W, lane):
    """Return R_p R_place and r_p + R_p r_place, eq. 6."""
    R = matrix_at(parent, ROTATION, W, lane)
    return (matrix_product(R, place[0]), plus(vector_at(parent, POSITION, W, lane), apply_matrix(R, place[1])))


@kernel(inline=True)
def z_of(R):
    """Return the last column of R."""
    return (R[0][2], R[1][2], R[2][2])


@kernel
def turn_joint(side, blocks, numbers, parent, given, node):
    """Compute R = R_p R_place R_z(q), S = (r × z, z);  given : sine, cosine."""
    W, lanes = len(side), lane_count(side, blocks)
    place = (matrix_at(numbers, PLACE_ROTATION, 1, 0), vector_at(numbers, PLACE_POSITION, 1, 0))
    for lane in range(lanes):
        R, r = place_joint(parent, place, W, lane)
        z = z_of(R)
        sine, cosine = number_at(given, 0, W, lane), number_at(given, 1, W, lane)
        put_matrix(node, ROTATION, W, lane, turn_about_z(R, sine, cosine))
        put_vector(node, POSITION, W, lane, r)
        put_spatial(node, AXIS, W, lane, (cross(r, z), z))


@kernel
def slid(side, blocks, numbers, carries_origin, parent, given, node):
    """Compute r = r_p + R_p r_place + z q, S = (z, 0);  given : q. An axis that moves the origin keeps r."""
    W, lanes = len(side), lane_count(side, blocks)
    place = (matrix_at(numbers, PLACE_ROTATION, 1, 0), vector_at(numbers, PLACE_POSITION, 1, 0))
    carried = 0.0 if carries_origin == 1 else 1.0
    for lane in range(lanes):
        R, r = place_joint(parent, place, W, lane)
        z = z_of(R)
        put_matrix(node, ROTATION, W, lane, R)
        put_vector(node, POSITION, W, lane, plus(r, times(carried * number_at(given, 0, W, lane), z)))
        put_spatial(node, AXIS, W, lane, (z, (0.0, 0.0, 0.0)))


@kernel
def screw_joint(side, blocks, numbers, parent, given, node):
    """Compute R as in `turned`, r = r_p + R_p r_place + h q z, S = (r × z + h z, z), h the pitch.

    given : sine, cosine, q
    """
    W, lanes, pitch = len(side), lane_count(side, blocks), numbers[PITCH]
    turn_joint(side, blocks, numbers, parent, given, node)
    for lane in range(lanes):
        S = spatial_at(node, AXIS, W, lane)
        along = times(pitch * number_at(given, 2, W, lane), S[1])  # r × z does not change along z
        put_vector(node, POSITION, W, lane, plus(vector_at(node, POSITION, W, lane), along))
        put_vector(node, AXIS, W, lane, plus(S[0], times(pitch, S[1])))


@kernel
def float_joint(side, blocks, numbers, kind, carries_origin, parent, given, node):
    """Compute the first axis of a spherical or free joint: R = R_p R_place R(quaternion), r = ... + R_p R_place x.

    given : unit quaternion x, y, z, w, followed by the displacement of a free joint
    """
    W, lanes = len(side), lane_count(side, blocks)
    place = (matrix_at(numbers, PLACE_ROTATION, 1, 0), vector_at(numbers, PLACE_POSITION, 1, 0))
    displaced = kind != BALL and carries_origin == 0
    for lane in range(lanes):
        R, r = place_joint(parent, place, W, lane)
        x, y, z = vector_at(given, 0, W, lane)
        turn = rotation_of_quaternion(x, y, z, number_at(given, 3, W, lane))
        put_matrix(node, ROTATION, W, lane, matrix_product(R, turn))
        if displaced:
            r = plus(r, apply_matrix(R, vector_at(given, 4, W, lane)))
        put_vector(node, POSITION, W, lane, r)
    own_axis(side, blocks, kind, 0, node)


@kernel
def fixed_axis(side, blocks, kind, number, parent, node):
    """Copy the frame of the first axis to another axis of a spherical or free joint."""
    W = len(side)
    for at in range(ROTATION * W, (POSITION + 3) * W):
        node[at] = parent[at]
    own_axis(side, blocks, kind, number, node)


@kernel
def own_axis(side, blocks, kind, number, node):
    """Compute S of axis `number` of a joint whose axes are those of its own frame: translations first."""
    W, lanes = len(side), lane_count(side, blocks)
    slides, column = kind != BALL and number < 3, number % 3
    for lane in range(lanes):
        e = (
            number_at(node, ROTATION + column, W, lane),
            number_at(node, ROTATION + 3 + column, W, lane),
            number_at(node, ROTATION + 6 + column, W, lane),
        )
        r = vector_at(node, POSITION, W, lane)
        put_spatial(node, AXIS, W, lane, (e, (0.0, 0.0, 0.0)) if slides else (cross(r, e), e))


@kernel
def move_joint(side, blocks, parent, before, rate, acceleration, node):
    """Compute Ψ̇ = V_before × S, V = V_p + S q̇, A = A_p + Ψ̇ q̇ + S q̈."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
        S = spatial_at(node, AXIS, W, lane)
        turn = motion_cross(spatial_at(before, VELOCITY, W, lane), S)
        v, a = number_at(rate, 0, W, lane), number_at(acceleration, 0, W, lane)
        put_spatial(node, AXIS_RATE, W, lane, turn)
        put_spatial(node, VELOCITY, W, lane, both(spatial_at(parent, VELOCITY, W, lane), scale_spatial(v, S)))
        own = both(scale_spatial(v, turn), scale_spatial(a, S))
        put_spatial(node, ACCELERATION, W, lane, both(spatial_at(parent, ACCELERATION, W, lane), own))


@kernel
def body(side, blocks, numbers, node):
    """Compute m c, Σ, momentum p, W = v (m c)ᵀ + ω̃ Σ and force I A + V ×* (I V) of the body on this axis (eqs. 3-5)."""
    W, lanes = len(side), lane_count(side, blocks)
    m, center = numbers[MASS], vector_at(numbers, CENTER, 1, 0)
    own = symmetric(spatial_at(numbers, SECOND_MOMENT, 1, 0))
    for lane in range(lanes):
        R, V = matrix_at(node, ROTATION, W, lane), spatial_at(node, VELOCITY, W, lane)
        c = plus(vector_at(node, POSITION, W, lane), apply_matrix(R, center))
        mc = times(m, c)
        second = second_moment(matrix_product(R, own), R, mc, c)
        full = symmetric(second)
        p = plus(times(m, V[0]), cross(V[1], mc))
        spread = matrix_sum(outer(V[0], mc), crossed_columns(V[1], full))
        put_vector(node, MOMENT, W, lane, mc)
        put_spatial(node, SECOND, W, lane, second)
        put_vector(node, MOMENTUM, W, lane, p)
        put_matrix(node, SPREAD, W, lane, spread)
        IA = inertia_times(m, mc, trace_less(full), spatial_at(node, ACCELERATION, W, lane))
        put_spatial(node, FORCE, W, lane, both(IA, force_cross(V, (p, skew(spread)))))


@kernel(inline=True)
def second_moment(B, R, mc, c):
    """Return the upper half of Σ = B Rᵀ + m c cᵀ, B = R Σ_c."""
    lower = (dot(B[1], R[1]) + mc[1] * c[1], dot(B[1], R[2]) + mc[1] * c[2], dot(B[2], R[2]) + mc[2] * c[2])
    return (plus(apply_matrix(R, B[0]), times(mc[0], c)), lower)
