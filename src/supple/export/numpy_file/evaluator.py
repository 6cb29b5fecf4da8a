"""A reduced model without dependencies; needs only this file and NumPy.

    M(theta, delta) a + Gamma[v, v] + D v + K eta = p + B u,   eta = (theta, delta),   v, a its rates and accelerations

    model = Model(DATA)
    model.coefficients(theta)["M"]                  mass matrix; also K, damping, force, input_map, potential, ...
    model.forward(theta, v, u)                      accelerations
    model.inverse(theta, v, a)                      generalized forces that the inputs must supply
    model.outputs(theta, v, a, u)                   sensor outputs, in the order of model.output_names
    model.derivative(x, u), model.step(x, u, h)     derivative of the state x = (eta, v), and one Runge-Kutta step

theta is (s,) or a batch (N, s); delta, v, a, u are zero by default. Units are SI and radians. Outside the region of
the model the functions raise ValueError.
"""

import numpy as np


def whole_slope(rows):
    """Return dM/ddelta (..., n, n, d) from its first rows; the others follow by symmetry."""
    s, n, d = rows.shape[-3:]
    found = np.zeros((*rows.shape[:-3], n, n, d))
    found[..., :s, :, :] = rows
    found[..., s:, :s, :] = np.swapaxes(rows[..., s:, :], -3, -2)
    return found


def product(first, second):
    """Return the product of two functions of time, each given by value, rate and second rate."""
    (a, da, dda), (b, db, ddb) = first, second
    return a * b, da * b + a * db, dda * b + 2.0 * da * db + a * ddb


class Model:
    """Equations of motion, from data in the format of `supple export --to json`."""

    def __init__(self, data):
        self.name, self.s = data["name"], data["theta"]
        self.coordinate_names, self.input_names = tuple(data["coordinates"]), tuple(data["inputs"])
        self.output_names, self.units = tuple(data["outputs"]), data["units"]
        self.n = len(self.coordinate_names)
        self.friction_forces = np.array(data["friction"]["forces"], dtype=float)
        self.friction_speed = data["friction"]["speed"]
        self.bent, self.curved, self.error = data["bent"], data["curved"], data["error"]
        boxes = data["boxes"]
        self.roots = np.array(boxes["roots"]["bounds"], dtype=float), boxes["roots"]["child"]
        self.nodes = tuple(zip(boxes["nodes"]["axis"], boxes["nodes"]["cut"], boxes["nodes"]["children"], strict=True))
        leaves = boxes["leaves"]
        self.leaves = tuple(zip(leaves["first"], leaves["terms"], strict=True))
        self.centers, self.scales = np.array(leaves["center"], dtype=float), np.array(leaves["scale"], dtype=float)
        self.degrees = np.array(data["degrees"], dtype=int)
        self.polynomials = np.array(data["polynomials"], dtype=float)
        row = data["row"]
        self.shapes = {name: tuple(shape) for name, shape in row["shapes"].items()}
        self.template = np.array([np.nan if x is None else x for x in row["template"]], dtype=float)
        self.values, self.copies = (tuple(np.array(row[key][e], dtype=int) for e in ("from", "to"))
                                    for key in ("values", "copies"))  # fmt: skip
        slopes = row["slopes"]
        self.slopes = (np.array(slopes["from"], dtype=int).reshape(-1, 3), np.array(slopes["to"], dtype=int),
                       np.array(slopes["factor"], dtype=float).reshape(-1, 3))  # fmt: skip
        self.measures, self.observation = data["measures"], data["observation"]

    # ------------------------------------------------------------------ the fitted function

    def leaf(self, theta):
        """Return the index of the box that contains one theta (s,)."""
        bounds, children = self.roots
        for (lower, upper), child in zip(bounds, children, strict=True):
            if not ((lower <= theta).all() and (theta <= upper).all()):
                continue
            while child >= 0:
                axis, cut, (below, above) = self.nodes[child]
                child = above if theta[axis] >= cut else below
            if child < -1:
                return -2 - child
        raise ValueError(f"theta = {theta} lies outside the region of the model")

    def columns(self, theta, rates, seconds):
        """Return the fitted columns along a motion of theta (N, s): f and its first two rates (N, t), and df/dtheta."""
        found = np.zeros((3, len(theta), self.polynomials.shape[1]))
        gradient = np.zeros((len(theta), self.s, self.polynomials.shape[1]))
        boxes = np.array([self.leaf(point) for point in theta], dtype=int)
        for box in np.unique(boxes):
            here = boxes == box
            first, count = self.leaves[box]
            degrees, scale = self.degrees[:count], self.scales[box]
            xi, turn, bend = (theta[here] - self.centers[box]) * scale, rates[here] * scale, seconds[here] * scale
            T, dT, ddT = self.chebyshev(xi)
            # (N, s, terms): factor of each term along each coordinate, and its rates along the motion
            along = [np.stack([t[:, i, degrees[:, i]] for i in range(self.s)], axis=1) for t in (T, dT, ddT)]
            moving = [(along[0][:, i], along[1][:, i] * turn[:, i, None],
                       along[2][:, i] * turn[:, i, None] ** 2 + along[1][:, i] * bend[:, i, None])
                      for i in range(self.s)]  # fmt: skip
            terms = (np.ones((here.sum(), count)), np.zeros((here.sum(), count)), np.zeros((here.sum(), count)))
            for item in moving:
                terms = product(terms, item)
            rows = self.polynomials[first : first + count]
            found[:, here] = np.stack(terms) @ rows
            for i in range(self.s):
                others = np.prod([along[0][:, j] for j in range(self.s) if j != i], axis=0)
                gradient[here, i] = (scale[i] * along[1][:, i] * others) @ rows
        return found, gradient

    def chebyshev(self, xi):
        """Return T_k(xi) and its first and second derivative, (N, s, highest degree + 1) each."""
        top = max(1, int(self.degrees.max(initial=1)))
        T, dT, ddT = np.zeros((3, *xi.shape, top + 1))
        T[..., 0], T[..., 1], dT[..., 1] = 1.0, xi, 1.0
        for k in range(2, top + 1):
            T[..., k] = 2.0 * xi * T[..., k - 1] - T[..., k - 2]
            dT[..., k] = 2.0 * (T[..., k - 1] + xi * dT[..., k - 1]) - dT[..., k - 2]
            ddT[..., k] = 2.0 * (2.0 * dT[..., k - 1] + xi * ddT[..., k - 1]) - ddT[..., k - 2]
        return T, dT, ddT

    # ------------------------------------------------------------------ coefficients

    def coefficients(self, theta, delta=None):
        """Return all coefficients by name; M and its derivatives are those at theta and delta."""
        eta, single = self.state(theta, delta)
        found = self.fill_coefficients(eta)
        return {name: value[0] for name, value in found.items()} if single else found

    def fill_coefficients(self, eta):
        """Return all coefficients by name for a batch (N, n)."""
        still = np.zeros((len(eta), self.s))
        (values, _, _), gradient = self.columns(eta[:, : self.s], still, still)
        row = np.tile(self.template, (len(eta), 1))
        row[:, self.values[1]] = values[:, self.values[0]]
        source, target, factor = self.slopes
        row[:, target] = (gradient.reshape(len(eta), -1)[:, source] * factor).sum(axis=-1)
        row[:, self.copies[1]] = row[:, self.copies[0]]
        found, start = {}, 0
        for name, shape in self.shapes.items():
            width = int(np.prod(shape))
            found[name] = row[:, start : start + width].reshape(len(eta), *shape)
            start += width
        if self.bent:
            self.deform(found, eta[:, self.s :])
        return found

    def deform(self, found, delta):
        """Return the coefficients with M, dM/dtheta and dM/ddelta at delta."""
        s = self.s
        found["M"] = found["M"] + np.einsum("nija,na->nij", whole_slope(found["mass_slope"]), delta)
        found["mass_gradient"] = found["mass_gradient"] + np.einsum(
            "nkija,na->nkij", whole_slope(found["mass_slope_gradient"]), delta
        )
        if self.curved:
            bent = np.einsum("nijab,nb->nija", found["mass_curvature"], delta)
            found["M"][:, :s, :s] += 0.5 * np.einsum("nija,na->nij", bent, delta)
            found["mass_slope"] = found["mass_slope"].copy()
            found["mass_slope"][:, :s, :s] += bent
            turned = np.einsum("nkijab,na,nb->nkij", found["mass_curvature_gradient"], delta, delta)
            found["mass_gradient"][:, :, :s, :s] += 0.5 * turned

    # ------------------------------------------------------------------ dynamics

    def forward(self, theta, rates=None, inputs=None, delta=None):
        """Return accelerations (n,) or (N, n)."""
        eta, single = self.state(theta, delta)
        v, u = self.given(rates, self.n, len(eta)), self.given(inputs, len(self.input_names), len(eta))
        c = self.fill_coefficients(eta)
        found = np.linalg.solve(c["M"], self.forces(c, eta, v, u)[..., None])[..., 0]
        return found[0] if single and len(found) == 1 else found

    def inverse(self, theta, rates=None, accelerations=None, delta=None):
        """Return the generalized forces (n,) or (N, n) that the inputs must supply."""
        eta, single = self.state(theta, delta)
        v, a = self.given(rates, self.n, len(eta)), self.given(accelerations, self.n, len(eta))
        c = self.fill_coefficients(eta)
        found = np.einsum("nij,nj->ni", c["M"], a) - self.forces(c, eta, v, None)
        return found[0] if single and len(found) == 1 else found

    def forces(self, c, eta, v, u):
        """Return all forces except M a: p + B u - Gamma[v, v] - D v - K eta - dry friction, (N, n)."""
        s, delta = self.s, eta[:, self.s :]
        f = c["force"] - np.einsum("nij,nj->ni", c["damping"], v) - np.einsum("nij,nj->ni", c["K"], eta)
        f = f - self.contract_christoffel(c, v)
        if u is not None:
            f += np.einsum("nia,na->ni", c["input_map"], u)
        f[:, :s] += np.einsum("nkd,nd->nk", c["force_slope"], delta)
        f[:, :s] -= 0.5 * np.einsum("nkde,nd,ne->nk", c["stiffness_slope"], delta, delta)
        return f - np.einsum("nfi,nf->ni", c["friction_map"], self.drag(c, v))

    def contract_christoffel(self, c, v):
        """Return Gamma[v, v] (N, n)."""
        if not self.bent:
            return np.einsum("nijk,nj,nk->ni", c["christoffel"], v, v)
        change = np.concatenate([np.moveaxis(c["mass_gradient"], 1, -1), whole_slope(c["mass_slope"])], axis=-1)
        return np.einsum("nijk,nj,nk->ni", change, v, v) - 0.5 * np.einsum("njki,nj,nk->ni", change, v, v)

    def drag(self, c, v):
        """Return the forces of dry friction (N, joints)."""
        slip = np.einsum("nfi,ni->nf", c["friction_map"], v)
        return self.friction_forces * np.tanh(slip / max(self.friction_speed, 1e-300))

    def energy(self, theta, rates=None, delta=None):
        """Return kinetic and potential energy, J."""
        eta, single = self.state(theta, delta)
        v, c, d = self.given(rates, self.n, len(eta)), self.fill_coefficients(eta), eta[:, self.s :]
        kinetic = 0.5 * np.einsum("ni,nij,nj->n", v, c["M"], v)
        potential = c["potential"][:, 0] - np.einsum("nd,nd->n", c["force"][:, self.s :], d)
        potential = potential + 0.5 * np.einsum("ni,nij,nj->n", eta, c["K"], eta)
        return (kinetic[0], potential[0]) if single and len(kinetic) == 1 else (kinetic, potential)

    # ------------------------------------------------------------------ outputs

    def outputs(self, theta, rates=None, accelerations=None, inputs=None, delta=None):
        """Return sensor outputs, (outputs,) or (N, outputs). Default accelerations follow from the inputs."""
        eta, single = self.state(theta, delta)
        v, u = self.given(rates, self.n, len(eta)), self.given(inputs, len(self.input_names), len(eta))
        c = self.fill_coefficients(eta)
        if accelerations is None:
            a = np.linalg.solve(c["M"], self.forces(c, eta, v, u)[..., None])[..., 0]
        else:
            a = self.given(accelerations, self.n, len(eta))
        x = self.observe_quantities(c, eta, v, a, u)
        found = np.zeros((len(eta), len(self.output_names)))
        for o, form in enumerate(self.observation["outputs"].values()):
            for weight, *factors in form:
                part = np.full(len(eta), weight)
                for number, order in factors:
                    part = part * x[order, :, number]
                found[:, o] += part
        return found[0] if single and len(found) == 1 else found

    def observe_quantities(self, c, eta, v, a, u):
        """Return the quantities of the outputs: measures with their rates, then internal forces, (3, N, both)."""
        s, k = self.s, len(self.observation["measures"])
        columns, _ = self.columns(eta[:, :s], v[:, :s], a[:, :s])

        def part(name, fitted, width):
            found = np.zeros((3, len(eta), width))
            given = self.measures[name]
            if fitted and given:
                return columns[:, :, given[0] : given[1]]
            found[0] = np.array(given, dtype=float) if given else 0.0
            return found

        d = self.n - s
        rho = part("values", self.measures["fitted"][0], k).copy()
        modes = part("modes", self.measures["fitted"][1], k * d).reshape(3, len(eta), k, d)
        delta, rate, second = eta[:, s:], v[:, s:], a[:, s:]
        rho[0] += np.einsum("nkd,nd->nk", modes[0], delta)
        rho[1] += np.einsum("nkd,nd->nk", modes[1], delta) + np.einsum("nkd,nd->nk", modes[0], rate)
        rho[2] += np.einsum("nkd,nd->nk", modes[2], delta) + np.einsum("nkd,nd->nk", modes[0], second)
        rho[2] += 2.0 * np.einsum("nkd,nd->nk", modes[1], rate)
        if not self.observation["efforts"]:
            return rho
        pairs = [v[:, j] * v[:, i] for j in range(s) for i in range(j, self.n)]
        turned = np.stack(pairs, axis=-1) if pairs else np.zeros((len(eta), 0))
        factors = np.concatenate([np.ones((len(eta), 1)), delta, u, a, v, turned, self.drag(c, v)], axis=-1)
        forces = np.zeros((3, len(eta), len(self.observation["efforts"])))
        forces[0] = np.einsum("nek,nk->ne", c["efforts"], factors)
        return np.concatenate([rho, forces], axis=-1)

    # ------------------------------------------------------------------ time integration

    def derivative(self, x, inputs=None):
        """Return the derivative of the state x = (eta, v), (2 n,) or (N, 2 n)."""
        x = np.asarray(x, dtype=float)
        eta, v = x[..., : self.n], x[..., self.n :]
        return np.concatenate([v, self.forward(eta[..., : self.s], v, inputs, eta[..., self.s :])], axis=-1)

    def step(self, x, inputs, h):
        """Return the state after one Runge-Kutta step of order four of h seconds, with constant inputs.

        Steps are stable while h times the highest natural frequency, rad/s, is below 2.8.
        """
        x = np.asarray(x, dtype=float)
        a = self.derivative(x, inputs)
        b = self.derivative(x + 0.5 * h * a, inputs)
        c = self.derivative(x + 0.5 * h * b, inputs)
        d = self.derivative(x + h * c, inputs)
        return x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)

    # ------------------------------------------------------------------ arguments

    def state(self, theta, delta):
        """Return eta (N, n), and True if theta was a single state."""
        theta = np.asarray(theta, dtype=float)
        points = np.atleast_2d(theta)
        if points.ndim != 2 or points.shape[1] != self.s:
            raise ValueError(f"theta must have {self.s} coordinates (got {points.shape[-1]})")
        more = self.given(delta, self.n - self.s, len(points))
        if len(points) == 1 and len(more) > 1:
            points = np.repeat(points, len(more), axis=0)
        return np.hstack([points, more]), theta.ndim == 1

    def given(self, values, width, count):
        """Return values as an array (N, width); zeros if they are None."""
        if values is None:
            return np.zeros((count, width))
        found = np.atleast_2d(np.asarray(values, dtype=float))
        if found.shape[-1] != width:
            raise ValueError(f"expected {width} values (got {found.shape[-1]})")
        return np.repeat(found, count, axis=0) if len(found) == 1 and count > 1 else found
