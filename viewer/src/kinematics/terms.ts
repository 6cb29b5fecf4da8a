/** Value and gradient of one term: its factor times one of the four measures (kinematics, 1-4, 7-8).
 *
 * X holds twelve numbers per body, position and rotation row by row; the ground is the last. Gradients are with respect
 * to the twists (v, ω) of both bodies, in their own axes.
 */

import { A, ALONG, B, DISTANCE, DOT, FACTOR, INTEGERS, KIND, NONE, NUMBERS, OFFSET, PA, PB, THEN, TURNS, U, V, W, ZERO } from "./row_table";

/** Terms in arrays, for rows of the mechanism and rows between parts. */
export interface Terms {
  integers: Int32Array;
  numbers: Float64Array;
}

const u = new Float64Array(3), v = new Float64Array(3), w = new Float64Array(3), d = new Float64Array(3);
const n = new Float64Array(3), m = new Float64Array(3);

/** R x of a vector of the term that is fixed in a body. */
function turned(X: Float64Array, body: number, f: Float64Array, at: number, out: Float64Array): void {
  const R = 12 * body + 3, x = f[at], y = f[at + 1], z = f[at + 2];
  out[0] = X[R] * x + X[R + 1] * y + X[R + 2] * z;
  out[1] = X[R + 3] * x + X[R + 4] * y + X[R + 5] * z;
  out[2] = X[R + 6] * x + X[R + 7] * y + X[R + 8] * z;
}

/** d = p_b - p_a. */
function separation(X: Float64Array, a: number, b: number, f: Float64Array, at: number): void {
  turned(X, a, f, at + PA, n);
  turned(X, b, f, at + PB, m);
  for (let k = 0; k < 3; k++) d[k] = X[12 * b + k] + m[k] - X[12 * a + k] - n[k];
}

function dot(x: Float64Array, y: Float64Array): number {
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/** g[at..] = factor Rᵀ x. */
function putInBody(X: Float64Array, body: number, x: Float64Array, factor: number, g: Float64Array, at: number): void {
  const R = 12 * body + 3;
  for (let k = 0; k < 3; k++) g[at + k] = factor * (X[R + k] * x[0] + X[R + 3 + k] * x[1] + X[R + 6 + k] * x[2]);
}

/** g[at..] = a × g[from..], with a from the term. */
function putMoment(f: Float64Array, a: number, g: Float64Array, from: number, at: number): void {
  const x = f[a], y = f[a + 1], z = f[a + 2], p = g[from], q = g[from + 1], r = g[from + 2];
  g[at] = y * r - z * q;
  g[at + 1] = z * p - x * r;
  g[at + 2] = x * q - y * p;
}

function cross(x: Float64Array, y: Float64Array, out: Float64Array): void {
  const a = x[1] * y[2] - x[2] * y[1], b = x[2] * y[0] - x[0] * y[2], c = x[0] * y[1] - x[1] * y[0];
  out[0] = a; out[1] = b; out[2] = c;
}

/** Value of a single term; angles within one turn. */
export function value(terms: Terms, term: number, X: Float64Array): number {
  const i = INTEGERS * term, f = NUMBERS * term, N = terms.numbers;
  const kind = terms.integers[i + KIND], a = terms.integers[i + A], b = terms.integers[i + B];
  let phi: number;
  if (kind === ALONG) {
    separation(X, a, b, N, f);
    turned(X, a, N, f + U, u);
    phi = dot(u, d);
  } else if (kind === DISTANCE) {
    separation(X, a, b, N, f);
    phi = Math.sqrt(dot(d, d));
  } else {
    turned(X, a, N, f + U, u);
    turned(X, b, N, f + W, w);
    phi = dot(u, w);
    if (kind !== DOT) {
      turned(X, a, N, f + V, v);
      phi = Math.atan2(dot(v, w), phi);
    }
  }
  return N[f + FACTOR] * phi + N[f + OFFSET];
}

/** g = (value, ∂/∂v_a, ∂/∂ω_a, ∂/∂v_b, ∂/∂ω_b), thirteen numbers. */
export function gradient(terms: Terms, term: number, X: Float64Array, g: Float64Array): void {
  const i = INTEGERS * term, f = NUMBERS * term, N = terms.numbers;
  const kind = terms.integers[i + KIND], a = terms.integers[i + A], b = terms.integers[i + B];
  const factor = N[f + FACTOR];
  g.fill(0);
  if (kind === ALONG) {
    separation(X, a, b, N, f);
    turned(X, a, N, f + U, u);
    g[0] = factor * dot(u, d);
    for (let k = 0; k < 3; k++) g[1 + k] = -factor * N[f + U + k];
    putInBody(X, a, d, 1, g, 4); // arm of the direction about the body's origin
    for (let k = 0; k < 3; k++) g[4 + k] += N[f + PA + k];
    const x = g[4], y = g[5], z = g[6], p = N[f + U], q = N[f + U + 1], r = N[f + U + 2];
    g[4] = factor * (q * z - r * y);
    g[5] = factor * (r * x - p * z);
    g[6] = factor * (p * y - q * x);
    putInBody(X, b, u, factor, g, 7);
    putMoment(N, f + PB, g, 7, 10);
  } else if (kind === DISTANCE) {
    separation(X, a, b, N, f);
    const length = Math.sqrt(dot(d, d));
    g[0] = factor * length;
    for (let k = 0; k < 3; k++) n[k] = d[k] / length;
    putInBody(X, a, n, -factor, g, 1);
    putMoment(N, f + PA, g, 1, 4);
    putInBody(X, b, n, factor, g, 7);
    putMoment(N, f + PB, g, 7, 10);
  } else {
    turned(X, a, N, f + U, u);
    turned(X, b, N, f + W, w);
    const c = dot(u, w);
    cross(u, w, n);
    if (kind === DOT) {
      g[0] = factor * c;
    } else {
      turned(X, a, N, f + V, v);
      const t = dot(v, w), q = 1 / (c * c + t * t);
      g[0] = factor * Math.atan2(t, c);
      cross(v, w, m);
      for (let k = 0; k < 3; k++) n[k] = q * (c * m[k] - t * n[k]);
    }
    putInBody(X, a, n, factor, g, 4);
    putInBody(X, b, n, -factor, g, 10);
  }
  g[0] += N[f + OFFSET];
}

/** Value of a term with full turns added, closest to the value from the followed measures (kinematics, 14). */
export function continued(terms: Terms, term: number, within: number, measures: Float64Array): number {
  const followed = terms.integers[INTEGERS * term + TURNS], f = NUMBERS * term, N = terms.numbers;
  if (followed === NONE) return within;
  const near = N[f + FACTOR] * (measures[followed] - N[f + ZERO]) + N[f + OFFSET];
  const turn = 2 * Math.PI * N[f + FACTOR];
  return within + turn * Math.round((near - within) / turn);
}

/** Value of a row, the sum of its terms. */
export function rowValue(terms: Terms, row: number, X: Float64Array, measures: Float64Array): number {
  let total = 0;
  for (let term = row; term !== NONE; term = terms.integers[INTEGERS * term + THEN]) {
    total += continued(terms, term, value(terms, term, X), measures);
  }
  return total;
}
