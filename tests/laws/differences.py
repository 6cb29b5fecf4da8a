"""Derivatives by differences, for comparing with exact ones.

Six values at ±1, ±2, ±3 steps make an error of order step⁶. On mechanisms of about a metre that stay a tenth of a
radian away from singularities, a step of 1e-3 leaves some 1e-9 of the scale of the function, half of it rounding.
"""

import numpy as np

STEP = 1e-3
_PLACES = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
_WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0

CLOSE = 1e-7
"""Of the largest entry: what a derivative by differences may be off, with two digits to spare."""


def along(function, theta, direction):
    """Derivative of a function of a batch (N, s) -> (N, ...) at one θ along one direction."""
    values = function(theta + STEP * _PLACES[:, None] * np.asarray(direction))
    return np.tensordot(_WEIGHTS, np.asarray(values), 1) / STEP


def gradient(function, theta):
    """∂f/∂θ_k of a function of a batch: (..., s), the derivative index last."""
    s = len(theta)
    points = theta + STEP * (_PLACES[:, None, None] * np.eye(s)).reshape(-1, s)
    values = np.asarray(function(points))
    values = values.reshape(6, s, *values.shape[1:])
    return np.moveaxis(np.tensordot(_WEIGHTS, values, 1) / STEP, 0, -1)


def largest(*arrays):
    return max(float(np.abs(a).max(initial=0.0)) for a in arrays)
