"""The same mechanism written differently: turned, reordered, seen from the other body, in space, by frames."""

from __future__ import annotations

import copy

import numpy as np
from drawn_parts import COORDINATES, turn
from random_parts import Parts, listed, written
from world_axes import WorldAxes


def kind_of(joint):
    return next(key for key in COORDINATES if key in joint)


def turned(parts: Parts, R, shift) -> Parts:
    """The drawing turned by R and moved by shift: places, axes, gravity, forces, inertias, frames."""
    new = copy.deepcopy(parts)

    def place(value):
        return value if isinstance(value, str) else listed(R @ value + shift)

    def vector(value):
        return listed(R @ value)

    def axes(rotation):
        return written(R @ turn(np.array(rotation["about"]) * rotation["angle"]))

    new["points"] = {name: place(value) for name, value in parts["points"].items()}
    new["gravity"] = vector(parts["gravity"])
    for body in new["bodies"].values():
        if "rod" in body:
            continue
        body["center"] = place(body["center"])
        if "rotation" in body:
            body |= {"at": place(body["at"]), "rotation": axes(body["rotation"])}
        else:  # its axes are those of the drawing
            old = body["inertia"]
            J = R @ np.array([[old[min(a, b) + max(a, b)] for a in "xyz"] for b in "xyz"]) @ R.T
            body["inertia"] = {key: float(J["xyz".index(key[0]), "xyz".index(key[1])]) for key in old}
    for frame in new["frames"].values():
        frame["at"] = place(frame["at"])
        if "rotation" in frame:
            frame["rotation"] = axes(frame["rotation"])
    for joint in new["joints"].values():
        if "frames" in joint:
            continue  # axes are those of the frames
        if "at" in joint:
            joint["at"] = place(joint["at"])
        for key in ("axis", "axes"):
            if key in joint:
                joint[key] = vector(joint[key]) if key == "axis" else [vector(axis) for axis in joint[key]]
    for force in new["forces"].values():
        for key in ("force", "moment"):
            if "at" in force and key in force and not force.get("follower"):
                force[key] = vector(force[key])
    for sensor in new["sensors"].values():
        if "axis" in sensor:
            sensor["axis"] = vector(sensor["axis"])
    return new


def shuffled(parts: Parts, rng) -> Parts:
    """Every section listed in another order; θ keeps its own."""
    new = dict(parts)
    for section, listing in parts.items():
        if isinstance(listing, dict) and section not in ("actuators", "sensors"):
            names = list(listing)
            new[section] = {names[i]: listing[names[i]] for i in rng.permutation(len(names))}
    return new


def swapped(parts: Parts, rng):
    """Joints seen from their second body, half of them: parts, and the sign of each coordinate of θ.

    The axes of a universal joint then change places, and with them its coordinates.
    """
    new = copy.deepcopy(parts)
    renamed, sign = {}, {}
    for name, joint in new["joints"].items():
        kind = kind_of(joint)
        if kind in ("planar", "free") or rng.random() < 0.3:
            continue
        joint[kind] = joint[kind][::-1]
        for field in ("axes", "frames"):
            if field in joint:
                joint[field] = joint[field][::-1]
        exchange = {"first": "second", "second": "first"} if kind == "universal" else {}
        single = len(COORDINATES[kind]) == 1
        for coordinate in (*COORDINATES[kind], *(parts.get("plane") or "")):
            old = name if single else f"{name}.{coordinate}"
            renamed[old] = name if single else f"{name}.{exchange.get(coordinate, coordinate)}"
            sign[old] = -1.0
        for field in ("viscous", "dry", "motor"):
            if isinstance(joint.get(field), dict) and "inertia" not in joint[field]:
                joint[field] = {exchange.get(key, key): value for key, value in joint[field].items()}
    for section in ("springs", "dampers", "forces", "actuators", "sensors"):
        for part in new[section].values():
            old = part.get("joint")
            if old in renamed:
                part["joint"] = renamed[old]
                for key in {"springs": ("rest",), "forces": ("force",)}.get(section, ()):
                    part[key] = -part[key]
    new["coordinates"] = [renamed.get(name, name) for name in parts["coordinates"]]
    return new, np.array([sign.get(name, 1.0) for name in parts["coordinates"]])


def in_another_plane(parts: Parts, plane: str) -> Parts:
    """The same drawing on other axes; coordinates are called by the plane's letters."""
    letters = dict(zip(parts["plane"], plane, strict=True))
    new = copy.deepcopy(parts) | {"plane": plane}

    def renamed(reference):
        joint, dot, coordinate = reference.partition(".")
        return joint + dot + letters.get(coordinate, coordinate)

    for joint in new["joints"].values():
        for field in ("viscous", "dry", "motor"):
            if isinstance(joint.get(field), dict):
                joint[field] = {letters.get(key, key): value for key, value in joint[field].items()}
    for section in ("springs", "dampers", "forces", "actuators", "sensors"):
        for part in new[section].values():
            if "joint" in part:
                part["joint"] = renamed(part["joint"])
    new["coordinates"] = [renamed(name) for name in parts["coordinates"]]
    return new


def in_space(parts: Parts) -> Parts:
    """A planar linkage of hinges and slides with all hinge axes along the plane's normal."""
    first, second = (np.eye(3)["xyz".index(letter)] for letter in parts["plane"])
    P = np.column_stack([first, second, np.cross(first, second)])
    normal = listed(P[:, 2])
    drawn = WorldAxes(parts)
    new = copy.deepcopy(parts)
    del new["plane"]

    def embed(value):
        return value if isinstance(value, str) else listed(P[:, :2] @ value)

    new["points"] = {name: embed(value) for name, value in parts["points"].items()}
    new["gravity"] = embed(parts["gravity"])
    for body in new["bodies"].values():
        if "inertia" in body:
            J = body["inertia"]
            # any other moments will do: a rod's yy and zz both, for the roll of its axes is not told
            body["inertia"] = [0.4 * J, J, J] if "rod" in body else listed(np.where(np.abs(P[:, 2]) > 0.5, J, 0.7 * J))
        if "rod" not in body:
            body["center"] = embed(body["center"])
    for frame in new["frames"].values():
        frame["at"] = embed(frame["at"])
        if "rotation" in frame:
            frame["rotation"] = {"about": normal, "angle": frame["rotation"]["angle"]}
    for name, joint in new["joints"].items():
        joint["at"] = embed(joint["at"])
        if "revolute" in joint:
            joint["axis"] = normal
            joint["rest"] = float(drawn.joint_coordinate(drawn.drawn, name, "angle")[0])
        else:
            joint["axis"] = embed(joint["axis"])
    for force in new["forces"].values():
        if "at" in force and "force" in force:
            force["force"] = embed(force["force"])
        if "moment" in force:
            force["moment"] = listed(P[:, 2] * force["moment"])
    for sensor in new["sensors"].values():
        if "axis" in sensor:
            sensor["axis"] = embed(sensor["axis"])
    return new


def scaled(parts: Parts, size: float):
    """Every length times `size`, gravity too: parts with masses and gravity only, and the factors of θ."""
    new = copy.deepcopy(parts)

    def longer(value):
        return value if isinstance(value, str) else listed(size * np.array(value))

    new["points"] = {name: longer(value) for name, value in parts["points"].items()}
    new["gravity"] = longer(parts["gravity"])
    for section in ("springs", "dampers", "forces", "sensors"):
        new[section] = {}
    for body in new["bodies"].values():
        for key in ("at", "length", "center"):
            if key in body:
                body[key] = size * body[key] if isinstance(body[key], float) else longer(body[key])
        if "line_mass" in body:
            body["line_mass"] /= size
        if "inertia" in body:
            J = body["inertia"]
            body["inertia"] = {k: size**2 * v for k, v in J.items()} if isinstance(J, dict) else size**2 * J
    for mass in new["point_masses"].values():
        mass["inertia"] = size**2 * mass.get("inertia", 0.0)
    for frame in new["frames"].values():
        frame["at"] = longer(frame["at"])
    factors = []
    for joint in new["joints"].values():
        joint.pop("motor", None)
        if "at" in joint:
            joint["at"] = longer(joint["at"])
    oracle = WorldAxes(parts)
    for name in parts["coordinates"]:
        factors.append(1.0 if oracle.is_angle(name) else size)
    return new, np.array(factors)


def by_frames(parts: Parts, poses=None) -> Parts:
    """A mechanism with every place told in the axes of its body, drawn at the poses given.

    Joints are then frames on bodies, and their coordinates are zero where the frames coincide, so that the
    drawing may show any position without a change of θ.
    """
    oracle = WorldAxes(parts)
    poses = oracle.drawn if poses is None else poses
    new = copy.deepcopy(parts)
    size = 2 if oracle.planar else 3

    def vector(value):
        return listed(value[:size])

    def rotation(R):
        return {"angle": float(np.arctan2(R[1, 0], R[0, 0]))} if oracle.planar else written(R)

    def frame(spot):
        return {"on": spot.body, "local": vector(spot.p), "rotation": rotation(spot.E)}

    for name, (m, c, J) in oracle.mass.items():
        pose = poses[name]
        moments = {a + b: float(J["xyz".index(a), "xyz".index(b)]) for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
        new["bodies"][name] = {
            "mass": m,
            "center": vector(pose.of(c)),
            "inertia": moments["zz"] if oracle.planar else moments,
            "at": vector(pose.x),
            "rotation": rotation(pose.R),
        }
    new["point_masses"] = {}  # they are part of the bodies now
    new["frames"] = {name: frame(spot) for name, spot in oracle.spots.items()}
    for name, actuator in new["actuators"].items():
        for i, reference in enumerate(actuator.get("between", ())):
            if reference not in new["frames"]:  # body.point
                new["frames"][f"{name}_end{i}"] = frame(oracle.spot(reference))
                actuator["between"][i] = f"{name}_end{i}"
    for name, joint in new["joints"].items():
        kind, *sides = oracle.joints[name]
        for key in ("at", "axis", "axes"):
            joint.pop(key, None)
        joint["frames"] = [f"{name}_at_a", f"{name}_at_b"]
        new["frames"] |= dict(zip(joint["frames"], map(frame, sides), strict=True))
        if kind == "universal":
            joint["axes"] = ["z", "x"]
        elif oracle.planar and kind == "prismatic":
            joint["axis"] = parts["plane"][0]
        elif not oracle.planar and kind in ("revolute", "prismatic", "cylindrical", "planar"):
            joint["axis"] = "z"
    return new
