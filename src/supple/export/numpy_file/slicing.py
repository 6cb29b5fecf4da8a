"""Data of one model of a family at given parameter values; needs only NumPy."""

import numpy as np


def slice_family(data, values):
    """Return the data of a family at other values of its parameters, {name: value}; the others keep their values."""
    family, s = data["family"], data["theta"]
    parameters = family["parameters"]
    known = {item["name"]: item for item in parameters}
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"unknown parameter {name}; the parameters are {', '.join(known)}")
        if not known[name]["lower"] <= value <= known[name]["upper"]:
            raise ValueError(f"{name} = {value} lies outside {known[name]['lower']} to {known[name]['upper']}")
    now = [dict(item, value=float(values.get(item["name"], item["value"]))) for item in parameters]
    mu = np.array([item["value"] for item in now])
    boxes, degrees = family["boxes"], np.array(family["degrees"], dtype=int)
    nodes, leaves, polynomials = boxes["nodes"], boxes["leaves"], np.array(family["polynomials"], dtype=float)
    terms, places = np.unique(degrees[:, :s], axis=0, return_inverse=True)
    order = np.array([np.flatnonzero(places.ravel() == k)[0] for k in range(len(terms))])
    rank = np.empty(len(terms), dtype=int)
    rank[np.argsort(order)] = np.arange(len(terms))  # terms in order of first appearance
    places = rank[places.ravel()]
    axis, cut, children, rows = list[int](), list[float](), list[list[int]](), list[np.ndarray]()
    found = {name: list[object]() for name in ("first", "terms", "center", "scale")}

    def below(child):
        while child >= 0 and nodes["axis"][child] >= s:
            child = nodes["children"][child][int(mu[nodes["axis"][child] - s] >= nodes["cut"][child])]
        if child == -1:
            return -1
        if child < 0:
            leaf = -2 - child
            first, count = leaves["first"][leaf], leaves["terms"][leaf]
            center, scale = np.array(leaves["center"][leaf]), np.array(leaves["scale"][leaf])
            angle = np.arccos(np.clip((mu - center[s:]) * scale[s:], -1.0, 1.0))
            weights = np.prod(np.cos(degrees[:count, s:] * angle), axis=1)  # T_n(cos t) = cos n t
            summed = np.zeros((places[:count].max() + 1, polynomials.shape[1]))
            np.add.at(summed, places[:count], weights[:, None] * polynomials[first : first + count])
            found["first"].append(len(rows))
            found["terms"].append(len(summed))
            found["center"].append(center[:s])
            found["scale"].append(scale[:s])
            rows.extend(summed)
            return -1 - len(found["first"])
        at = len(axis)
        axis.append(nodes["axis"][child])
        cut.append(nodes["cut"][child])
        children.append([-1, -1])
        children[at] = [below(item) for item in nodes["children"][child]]
        return at

    bounds, roots = [], []
    for (lower, upper), child in zip(boxes["roots"]["bounds"], boxes["roots"]["child"], strict=True):
        if all(a <= x <= b for a, x, b in zip(lower[s:], mu, upper[s:], strict=True)):
            bounds.append([lower[:s], upper[:s]])
            roots.append(below(child))
    tree = {"roots": {"bounds": bounds, "child": roots}, "nodes": {"axis": axis, "cut": cut, "children": children}}
    kept = degrees[np.sort(order), :s]
    return data | {
        "boxes": tree | {"leaves": found}, "degrees": kept, "polynomials": np.array(rows),
        "family": family | {"parameters": now},
    }  # fmt: skip
