"""All kinds of joints, by name: supple's own, and those that are registered."""

from __future__ import annotations

from supple.description.joints.cylindrical import CYLINDRICAL
from supple.description.joints.free import FREE
from supple.description.joints.joint_kind import JointKind
from supple.description.joints.planar import PLANAR
from supple.description.joints.prismatic import PRISMATIC
from supple.description.joints.revolute import REVOLUTE
from supple.description.joints.screw import SCREW
from supple.description.joints.spherical import SPHERICAL
from supple.description.joints.translation import TRANSLATION
from supple.description.joints.universal import UNIVERSAL
from supple.description.joints.weld import WELD
from supple.kinds.registry import Registry

JOINT_KINDS = Registry(
    "joint kind", JointKind,
    REVOLUTE, PRISMATIC, CYLINDRICAL, SCREW, UNIVERSAL, SPHERICAL, PLANAR, TRANSLATION, WELD, FREE,
)  # fmt: skip
