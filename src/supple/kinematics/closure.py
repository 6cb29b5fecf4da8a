"""`supple.assemble`: close the loops of a mechanism at given coordinates θ or poses of a point."""

from __future__ import annotations

from typing import Literal

import numpy as np

from supple.description.mechanism import Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.closing import close_all, dead_point_error
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.posture_coordinates import out_of_reach_error, resolve_posture
from supple.kinematics.rest import rest


def assemble(mechanism: Mechanism, at: At = None, *, failures: Literal["raise", "mark"] = "raise") -> Configuration:
    """Assemble a mechanism at given coordinates, or with a point at a given pose.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to assemble.
    at : str, mapping or array_like, optional
        Posture: name of a configuration, {coordinate: value}, {point: position or pose}, or values of θ. Default: rest.

        Positions and angles may also be given by component, {"tool.x": value, "tool.y": value}; omitted components and
        coordinates keep their values at rest. Values are in SI units or strings with units. For a batch of N postures,
        give an array (N, s), values (N,) by name, or positions (N, 3).
    failures : {"raise", "mark"}, optional
        Handling of postures that cannot be reached: raise an error, or mark them in `Configuration.assembled`.
        Default: "raise".

    Returns
    -------
    Configuration
        Assembled configuration, or a batch of N.

    Raises
    ------
    InputError
        If the posture is unknown or out of reach, or if the path from rest meets a dead point. The error states the
        singular coordinates, or the distance to the nearest reachable point.
    NumericalError
        If the closure stops at a configuration that is not singular.

    See Also
    --------
    branches : All assemblies at given coordinates.
    motion : Velocities and accelerations of bodies and frames.

    Notes
    -----
    Newton's method follows the straight segment from rest to θ and stays on the branch of the rest configuration.
    A pose of a point is reached in the same way, with its components as coordinates.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("four-bar")
    >>> supple.assemble(arm, {"crank": 0.2}).frame("E").position.round(3)
    array([0.647, 0.   , 0.597])
    >>> supple.assemble(arm, [[0.2], [2.0]], failures="mark").assembled
    array([ True, False])
    """
    require_arguments(assemble, locals())
    position = rest(mechanism)
    theta, posed = resolve_posture(mechanism, at)
    if at is None or theta.shape[-1] == 0:
        ones = np.ones(theta.shape[:-1])
        return Configuration(position, theta, position.X.copy(), position.w.copy(), ones)
    if posed is not None and failures == "raise" and not (posed.reached >= 1.0).all():
        raise out_of_reach_error(mechanism, at, posed)
    batch = np.ascontiguousarray(np.atleast_2d(theta))
    X, w, reached = close_all(position, batch) if posed is None else (posed.X, posed.w, posed.reached)
    if failures == "raise" and not (reached >= 1.0).all():
        n = int(np.flatnonzero(reached < 1.0)[0])
        raise dead_point_error(Configuration(position, batch[n], X[n], w[n], reached[n]))
    if theta.ndim == 1:
        return Configuration(position, theta, X[0], w[0], reached[0])
    return Configuration(position, theta, X, w, reached)
