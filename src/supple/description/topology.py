"""The graph of bodies and joints: its spanning tree, its loops, and the Grübler count."""

from __future__ import annotations

from dataclasses import dataclass

from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.parts import part_name


@dataclass(frozen=True)
class Topology:
    """Spanning tree and loops.

    order  : bodies, parents before children
    parent : body -> (parent body, tree joint)
    cut    : joints that close loops
    loops  : for each of them, all joints on the way round
    couplings : what ties joints of the tree together beside them
    """

    order: tuple[str, ...]
    parent: dict[str, tuple[str, str]]
    cut: tuple[str, ...]
    loops: tuple[tuple[str, ...], ...]
    couplings: tuple[str, ...] = ()

    @property
    def closing(self) -> tuple[str, ...]:
        """What keeps the mechanism from being a tree."""
        return (*self.cut, *self.couplings)


def topology(mechanism: Mechanism) -> Topology:
    """Walk from the ground outwards, over the joints with the fewest freedoms first."""
    reached = {GROUND: 0}
    parent: dict[str, tuple[str, str]] = {}
    order: list[str] = []
    used: set[str] = set()
    rank = {name: (constraints(mechanism, name), -i) for i, name in enumerate(mechanism.joints)}
    while True:
        # Breadth first keeps branches short; among equals the stiffest joint leaves the fewest unknowns.
        best = None
        for name, joint in mechanism.joints.items():
            inside = [body for body in joint.bodies if body in reached]
            if len(inside) != 1 or name in used:
                continue
            key = (-reached[inside[0]], *rank[name])
            if best is None or key > best[0]:
                best = (key, name, inside[0])
        if best is None:
            break
        _, name, base = best
        first, second = mechanism.joints[name].bodies
        child = second if base == first else first
        parent[child] = (base, name)
        reached[child] = reached[base] + 1
        order.append(child)
        used.add(name)
    for body in mechanism.bodies:
        if body not in reached:
            raise InputError(
                "no chain of joints connects it to the ground",
                part=part_name(("bodies", body)),
                path=("bodies", body),
                hint="add a joint; a body that floats needs a joint {free: [ground, " + body + "]}",
            )
    cut = tuple(name for name in mechanism.joints if name not in used)
    loops = tuple(_loop(mechanism, parent, name) for name in cut)
    return Topology(tuple(order), parent, cut, loops, tuple(mechanism.couplings))


def constraints(mechanism: Mechanism, joint: str) -> int:
    """How many relative motions a joint takes away."""
    return len(mechanism.joints[joint].form(mechanism.plane).rows)


def gruebler_count(mechanism: Mechanism) -> int:
    """Freedoms of all bodies less the motions joints and couplings take away; redundant constraints counted twice."""
    freedoms = 3 if mechanism.planar else 6
    taken = sum(constraints(mechanism, name) for name in mechanism.joints)
    return freedoms * len(mechanism.bodies) - taken - len(mechanism.couplings)


def _loop(mechanism: Mechanism, parent: dict[str, tuple[str, str]], cut: str) -> tuple[str, ...]:
    def to_ground(body: str) -> list[tuple[str, str]]:
        way = []
        while body != GROUND:
            base, joint = parent[body]
            way.append((body, joint))
            body = base
        return way

    first, second = (to_ground(body) for body in mechanism.joints[cut].bodies)
    shared = {joint for _, joint in first} & {joint for _, joint in second}
    out = [joint for _, joint in first if joint not in shared]
    back = [joint for _, joint in second if joint not in shared]
    return (*reversed(out), cut, *back)
