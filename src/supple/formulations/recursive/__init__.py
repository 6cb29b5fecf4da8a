"""Trees of rigid bodies: recursive dynamics and their exact derivatives (docs/theory/recursive.md)."""

from supple.formulations.recursive.dynamics import (
    ForwardVariation,
    InverseVariation,
    LinearizedMotion,
    forward_dynamics,
    forward_variation,
    inverse_dynamics,
    inverse_variation,
    mass_matrix,
    state_space,
)
from supple.formulations.recursive.linearizer import BatchLinearizer, StateLinearizer
from supple.formulations.recursive.tree import AppliedLoad, Distance, TreeArrays
from supple.formulations.recursive.tree_of_mechanism import rigid_tree

__all__ = [
    "AppliedLoad",
    "BatchLinearizer",
    "Distance",
    "ForwardVariation",
    "InverseVariation",
    "LinearizedMotion",
    "StateLinearizer",
    "TreeArrays",
    "forward_dynamics",
    "forward_variation",
    "inverse_dynamics",
    "inverse_variation",
    "mass_matrix",
    "rigid_tree",
    "state_space",
]
