"""A reduced model as functions of CasADi; needs only this file, CasADi and NumPy.

    M(theta, delta) a + Gamma[v, v] + D v + K eta = p + B u,   eta = (theta, delta),   v, a its rates and accelerations

    found = functions(data, columns, ...)           data as `supple export --to json` writes it
    found["dynamics"](x, u)                         dx/dt of the state x = (eta, v), for an integrator or a collocation
    found["forward"](eta, v, u), found["inverse"](eta, v, a), found["outputs"](x, u), found["coefficients"](eta)

columns is y(theta) = (f, df/dtheta); dynamics and inverse are the complete functions. All three are compiled C, called
through casadi.external. Without a compiler, columns is conditional_columns(data), and the others are expressions of it.
For a family, whose parameters can be set, all functions take the parameters as last argument:
found["dynamics"](x, u, mu), with mu in the order of data["family"]["parameters"]. They can be differentiated by mu, and
columns is y(theta, mu). First and second derivatives of all functions are exact inside a box; between boxes they jump
by the fit error. Outside the region the polynomials of the nearest box are extrapolated.
"""

import casadi as ca
import numpy as np

MOST_BOXES = 100  # limit for a conditional function


def conditional_columns(data):
    """Return y(theta) as a CasADi function that selects the polynomials of a box; for a limited number of boxes."""
    whole = data.get("family", data)
    s, size, count = data["theta"], len(whole["degrees"][0]), len(whole["boxes"]["leaves"]["first"])
    if count > MOST_BOXES:
        raise ValueError(f"the model has {count} boxes (at most {MOST_BOXES} without a C compiler): install one")
    theta = ca.SX.sym("theta", size)
    leaves = []
    for leaf in range(count):
        f = _polynomials(whole, leaf, theta)
        y = ca.vertcat(f, *(ca.jacobian(f, theta[j]) for j in range(s)))
        leaves.append(ca.Function(f"leaf{leaf}", [theta], [y]))
    if count == 1:
        return leaves[0]
    point = ca.MX.sym("theta", size)
    choice = ca.Function.conditional("columns_of", leaves[1:], leaves[0])
    where = ca.Function("leaf", [theta], [_leaf(whole, theta)])
    return ca.Function("columns", [point], [choice(where(point) - 1, point)])


def _polynomials(data, leaf, theta):
    """Return f of one box."""
    leaves = data["boxes"]["leaves"]
    first, terms = leaves["first"][leaf], leaves["terms"][leaf]
    top = max(1, max(max(row) for row in data["degrees"][:terms]))
    tables = []
    for i, (center, scale) in enumerate(zip(leaves["center"][leaf], leaves["scale"][leaf], strict=True)):
        x = (theta[i] - center) * scale
        table = [ca.SX(1), x]
        for k in range(2, top + 1):
            table.append(2 * x * table[k - 1] - table[k - 2])
        tables.append(table)
    basis = []
    for degrees in data["degrees"][:terms]:
        product = ca.SX(1)
        for table, degree in zip(tables, degrees, strict=True):
            product = product * table[degree] if degree else product
        basis.append(product)
    rows = np.array(data["polynomials"][first : first + terms], dtype=float)
    return ca.mtimes(ca.DM(rows).T, ca.vertcat(*basis))


def _leaf(data, theta):
    """Return the index of the box of theta, or of the nearest one, as an expression."""
    boxes = data["boxes"]
    nodes = boxes["nodes"]

    def below(child, x):
        if child < 0:
            return ca.SX(max(0, -2 - child))
        axis, cut = nodes["axis"][child], nodes["cut"][child]
        low, high = nodes["children"][child]
        return ca.if_else(x[axis] >= cut, below(high, x), below(low, x))

    found, least = None, None
    for (lower, upper), child in zip(boxes["roots"]["bounds"], boxes["roots"]["child"], strict=True):
        x = ca.fmin(ca.fmax(theta, ca.DM(lower)), ca.DM(upper))
        far = ca.sum1(ca.fabs(theta - x))
        here = below(child, x)
        found = here if found is None else ca.if_else(far < least, here, found)
        least = far if least is None else ca.fmin(least, far)
    return found


def functions(data, columns, dynamics=None, inverse=None):
    """Return all functions by name: coefficients, forward, inverse, dynamics, outputs."""
    n, s = len(data["coordinates"]), data["theta"]
    inputs, d = len(data["inputs"]), n - s
    eta, v, a, u = (ca.MX.sym(name, size) for name, size in (("eta", n), ("v", n), ("a", n), ("u", inputs)))
    state = ca.MX.sym("x", 2 * n)
    mu = [ca.MX.sym("mu", len(data["family"]["parameters"]))] if "family" in data else []  # an optional last argument
    name = ["mu"] * len(mu)
    constant, matrix = _row_map(data)
    row = constant + ca.mtimes(matrix, columns(ca.vertcat(eta[:s], *mu)))
    inner = _inner(data, n, s, inputs)
    at = [inner["M"](row, eta), row]
    found = {"coefficients": ca.Function("coefficients", [eta, *mu], at, ["eta", *name], ["M", "row"])}
    moved = inner["forward"](row, eta, v, u) if dynamics is None else dynamics(ca.vertcat(eta, v), u)[n:]
    found["forward"] = ca.Function("forward", [eta, v, u, *mu], [moved], ["eta", "v", "u", *name], ["a"])
    if inverse is None:
        needed = inner["inverse"](row, eta, v, a)
        inverse = ca.Function("inverse", [eta, v, a, *mu], [needed], ["eta", "v", "a", *name], ["tau"])
    if dynamics is None:
        whole = ca.vertcat(state[n:], found["forward"](state[:n], state[n:], u, *mu))
        dynamics = ca.Function("dynamics", [state, u, *mu], [whole], ["x", "u", *name], ["dx"])
    found |= {"inverse": inverse, "dynamics": dynamics}
    seen = _compute_outputs(data, columns, state, dynamics(state, u, *mu)[n:], d, mu)
    if seen is not None:
        found["outputs"] = ca.Function("outputs", [state, u, *mu], [seen], ["x", "u", *name], ["y"])
    return found


def _row_map(data):
    """Return constant and matrix of the map row = constant + matrix y."""
    row, t, s = data["row"], len(data["polynomials"][0]), data["theta"]
    width = len(row["template"])
    constant = np.array([0.0 if x is None else x for x in row["template"]])
    matrix = np.zeros((width, t * (1 + s)))
    matrix[row["values"]["to"], row["values"]["from"]] = 1.0
    for to, sources, factors in zip(row["slopes"]["to"], row["slopes"]["from"], row["slopes"]["factor"], strict=True):
        for source, factor in zip(sources, factors, strict=True):
            matrix[to, t + source] += factor
    for source, to in zip(row["copies"]["from"], row["copies"]["to"], strict=True):
        matrix[to], constant[to] = matrix[source], constant[source]
    constant[row["values"]["to"]] = 0.0
    constant[row["slopes"]["to"]] = 0.0
    constant[row["copies"]["to"]] = constant[row["copies"]["from"]]
    return ca.DM(constant), ca.sparsify(ca.DM(matrix))


def _inner(data, n, s, inputs):
    """Return the function from a row to M, accelerations and forces, without branches."""
    d = n - s
    row = ca.SX.sym("row", len(data["row"]["template"]))
    eta, v, a, u = (ca.SX.sym(name, size) for name, size in (("eta", n), ("v", n), ("a", n), ("u", inputs)))
    parts, start = {}, 0
    for name, shape in data["row"]["shapes"].items():
        width = int(np.prod(shape))
        parts[name] = (row[start : start + width], shape)
        start += width

    def at(name, *place):
        values, shape = parts[name]
        return values[int(np.ravel_multi_index(place, shape))]

    def matrix(rows, columns, entry):
        return ca.vertcat(*(ca.horzcat(*(entry(i, j) for j in range(columns))) for i in range(rows)))

    delta = eta[s:]
    M = matrix(n, n, lambda i, j: at("M", i, j))
    change = []  # dM/deta_k
    if data["bent"]:
        sloped = parts["mass_slope"][1][0]

        def whole(i, j, k, name, *before):
            if i < sloped:
                return at(name, *before, i, j, k)
            return at(name, *before, j, i, k) if j < sloped else ca.SX(0)

        slope = [matrix(n, n, lambda i, j, k=k: whole(i, j, k, "mass_slope")) for k in range(d)]
        gradient = [matrix(n, n, lambda i, j, k=k: at("mass_gradient", k, i, j)) for k in range(s)]
        for b in range(d):
            M = M + slope[b] * delta[b]
            for k in range(s):
                more = matrix(n, n, lambda i, j, k=k, b=b: whole(i, j, b, "mass_slope_gradient", k))
                gradient[k] = gradient[k] + more * delta[b]
        if data["curved"]:

            def pick_curvature(i, j, b, c, name, *before):
                return at(name, *before, i, j, b, c) if i < s and j < s else ca.SX(0)

            for b in range(d):
                for c in range(d):
                    bent = matrix(n, n, lambda i, j, b=b, c=c: pick_curvature(i, j, b, c, "mass_curvature"))
                    M = M + 0.5 * bent * delta[b] * delta[c]
                    slope[b] = slope[b] + bent * delta[c]
                    for k in range(s):
                        more = matrix(
                            n, n, lambda i, j, k=k, b=b, c=c: pick_curvature(i, j, b, c, "mass_curvature_gradient", k)
                        )
                        gradient[k] = gradient[k] + 0.5 * more * delta[b] * delta[c]
        change = gradient + slope
    force = ca.vertcat(*(at("force", i) for i in range(n)))
    f = force - ca.mtimes(matrix(n, n, lambda i, j: at("damping", i, j)), v)
    f = f - ca.mtimes(matrix(n, n, lambda i, j: at("K", i, j)), eta)
    if data["bent"]:
        for k in range(n):
            f = f - ca.mtimes(change[k], v) * v[k]
            f[k] = f[k] + 0.5 * ca.mtimes(v.T, ca.mtimes(change[k], v))
    else:
        for i in range(n):
            f[i] = f[i] - ca.mtimes(v.T, ca.mtimes(matrix(n, n, lambda j, k, i=i: at("christoffel", i, j, k)), v))
    for k in range(s if d else 0):
        for b in range(d):
            pull = at("force_slope", k, b)
            for c in range(d):
                pull = pull - 0.5 * at("stiffness_slope", k, b, c) * delta[c]
            f[k] = f[k] + pull * delta[b]
    speed = max(data["friction"]["speed"], 1e-300)
    for j, limit in enumerate(data["friction"]["forces"]):
        J = ca.vertcat(*(at("friction_map", j, i) for i in range(n)))
        f = f - J * limit * ca.tanh(ca.dot(J, v) / speed)
    pushed = f + ca.mtimes(matrix(n, inputs, lambda i, j: at("input_map", i, j)), u) if inputs else f
    return {
        "M": ca.Function("M", [row, eta], [M]),
        "forward": ca.Function("forward", [row, eta, v, u], [_solve_cholesky(M, pushed, n)]),
        "inverse": ca.Function("inverse", [row, eta, v, a], [ca.mtimes(M, a) - f]),
    }


def _solve_cholesky(M, f, n):
    """Solve M x = f by Cholesky factorization."""
    L = [[ca.SX(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            total = M[i, j] - sum(L[i][k] * L[j][k] for k in range(j))
            L[i][j] = ca.sqrt(total) if i == j else total / L[j][j]
    y, x = [ca.SX(0)] * n, [ca.SX(0)] * n
    for i in range(n):
        y[i] = (f[i] - sum(L[i][k] * y[k] for k in range(i))) / L[i][i]
    for i in reversed(range(n)):
        x[i] = (y[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))) / L[i][i]
    return ca.vertcat(*x)


def _compute_outputs(data, columns, state, moved, d, mu):
    """Return outputs for a state with accelerations `moved`; None if there are internal forces among them."""
    seen = data["observation"]
    if seen["efforts"]:
        return None
    n, s, k = len(data["coordinates"]), data["theta"], len(seen["measures"])
    eta, v = state[:n], state[n:]
    theta = ca.MX.sym("theta", s)
    t = len(data["polynomials"][0])
    f = columns(ca.vertcat(theta, *mu))[:t]

    def part(name, fitted, width):
        given = data["measures"][name]
        if not width:
            return ca.MX(0, 1)
        return f[given[0] : given[1]] if fitted else ca.MX(ca.DM(given))

    rho = part("values", data["measures"]["fitted"][0], k)
    modes = part("modes", data["measures"]["fitted"][1], k * d)
    whole = ca.MX.sym("eta", n)
    value = rho + ca.mtimes(ca.reshape(modes, d, k).T, whole[s:]) if d else rho
    at = ca.Function("measures", [whole, *mu], [ca.substitute([value], [theta], [whole[:s]])[0]])
    point, rates, seconds = ca.MX.sym("eta", n), ca.MX.sym("v", n), ca.MX.sym("a", n)
    here = at(point, *mu)
    first = ca.jtimes(here, point, rates)
    second = ca.jtimes(first, point, rates) + ca.jtimes(here, point, seconds)
    rated = ca.Function("rated", [point, rates, seconds, *mu], [here, first, second])
    x = rated(eta, v, moved, *mu)
    found = []
    for form in seen["outputs"].values():
        total = ca.MX(0)
        for weight, *factors in form:
            product = ca.MX(weight)
            for number, order in factors:
                product = product * x[order][number]
            total = total + product
        found.append(total)
    return ca.vertcat(*found) if found else None
