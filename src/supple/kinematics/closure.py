"""Assembling: from rest along the straight segment to θ, for one or many θ, or poses of a place."""

from __future__ import annotations

from typing import Literal

import numpy as np

from supple.description.mechanism import Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.closing import close_all, dead_point
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.posture_coordinates import out_of_reach, postured
from supple.kinematics.rest import rest


def assemble(mechanism: Mechanism, at: At = None, *, failures: Literal["raise", "mark"] = "raise") -> Configuration:
    """The mechanism assembled at θ: the configuration reached along the segment from rest.

    at       : a configuration's name, {coordinate: value}, {place: position or pose}, {"place.x": value, ...}, numbers
               in the order of θ, or (N, s); values by name may be (N,), positions (N, 3); rest if left out
    failures : "raise" an error that names the dead point, or the distance from the nearest reachable point of a place,
               or "mark" in a batch (see `Configuration.assembled`)
    """
    require_arguments(assemble, locals())
    position = rest(mechanism)
    theta, posed = postured(mechanism, at)
    if at is None or theta.shape[-1] == 0:
        ones = np.ones(theta.shape[:-1])
        return Configuration(position, theta, position.X.copy(), position.w.copy(), ones)
    if posed is not None and failures == "raise" and not (posed.reached >= 1.0).all():
        raise out_of_reach(mechanism, at, posed)
    batch = np.ascontiguousarray(np.atleast_2d(theta))
    X, w, reached = close_all(position, batch) if posed is None else (posed.X, posed.w, posed.reached)
    if failures == "raise" and not (reached >= 1.0).all():
        n = int(np.flatnonzero(reached < 1.0)[0])
        raise dead_point(Configuration(position, batch[n], X[n], w[n], reached[n]))
    if theta.ndim == 1:
        return Configuration(position, theta, X[0], w[0], reached[0])
    return Configuration(position, theta, X, w, reached)
