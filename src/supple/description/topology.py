"""Graph of bodies and joints: its spanning tree, its loops, and the Grübler count."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics.errors import fault_at


@dataclass(frozen=True)
class Topology:
    """Spanning tree and loops.

    order  : bodies, parents before children
    parent : body -> (parent body, tree joint)
    cut    : joints that close loops
    loops  : for each cut joint, all joints around its loop
    couplings : couplings between joints of the tree
    """

    order: tuple[str, ...]
    parent: dict[str, tuple[str, str]]
    cut: tuple[str, ...]
    loops: tuple[tuple[str, ...], ...]
    couplings: tuple[str, ...] = ()

    @property
    def closing_parts(self) -> tuple[str, ...]:
        """Names of the joints and couplings without which the mechanism is a tree."""
        return (*self.cut, *self.couplings)


def topology(mechanism: Mechanism) -> Topology:
    """Return the spanning tree, built from the ground outwards over the joints with the fewest freedoms first."""
    reached = {GROUND: 0}
    parent: dict[str, tuple[str, str]] = {}
    order: list[str] = []
    used: set[str] = set()
    at: dict[str, list[tuple[int, str, str]]] = {}
    for i, (name, joint) in enumerate(mechanism.joints.items()):
        first, second = joint.bodies
        at.setdefault(first, []).append((i, name, second))
        at.setdefault(second, []).append((i, name, first))
    # Breadth first keeps branches short; among equals the stiffest joint leaves the fewest unknowns.
    queue: list[tuple[int, int, int, str, str, str]] = []

    def queue_neighbours(body: str) -> None:
        for i, name, other in at.get(body, ()):
            if other not in reached:
                heappush(queue, (reached[body], -constraints(mechanism, name), i, name, body, other))

    queue_neighbours(GROUND)
    while queue:
        depth, _, _, name, base, child = heappop(queue)
        if child in reached:
            continue
        parent[child] = (base, name)
        reached[child] = depth + 1
        order.append(child)
        used.add(name)
        queue_neighbours(child)
    for body in mechanism.bodies:
        if body not in reached:
            raise fault_at(
                ("bodies", body),
                "no chain of joints connects it to the ground",
                "add a joint; a floating body needs a joint {free: [ground, " + body + "]}",
            )
    cut = tuple(name for name in mechanism.joints if name not in used)
    loops = tuple(_loop(mechanism, parent, reached, name) for name in cut)
    return Topology(tuple(order), parent, cut, loops, tuple(mechanism.couplings))


def constraints(mechanism: Mechanism, joint: str) -> int:
    """Return how many relative motions a joint constrains."""
    return len(mechanism.joints[joint].form(mechanism.plane).rows)


def gruebler_count(mechanism: Mechanism) -> int:
    """Return the Grübler count: freedoms of all bodies minus constraints of joints and couplings.

    Redundant constraints are counted twice.
    """
    freedoms = 3 if mechanism.planar else 6
    taken = sum(constraints(mechanism, name) for name in mechanism.joints)
    return freedoms * len(mechanism.bodies) - taken - len(mechanism.couplings)


def _loop(mechanism: Mechanism, parent: dict[str, tuple[str, str]], depth: dict[str, int], cut: str) -> tuple[str, ...]:
    """Return the joints of a loop: from the common body along the first branch, over the cut, back along the second."""
    first, second = mechanism.joints[cut].bodies
    out, back = [], []
    while first != second:
        if depth[first] >= depth[second]:
            first, joint = parent[first]
            out.append(joint)
        else:
            second, joint = parent[second]
            back.append(joint)
    return (*reversed(out), cut, *back)
