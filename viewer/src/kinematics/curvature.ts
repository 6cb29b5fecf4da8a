/** Second derivatives of one term for displacements (u, φ) of its two parts: translation by u, rotation by exp φ.
 *
 * In the axes of the parts (docs/theory/elastic-rest.md, 11). With u, v fixed in a, w in b, and Q(f, x) of (12):
 *
 *     u·(p_b - p_a):  (φ_a × u)·(u_b - u_a + φ_b × ρ_b) + ½ φ_aᵀQ(u, y)φ_a + ½ φ_bᵀQ(u, ρ_b)φ_b
 *     u·w:            likewise, with w in the place of ρ_b and y
 *     |p_b - p_a|:    |(1 - nnᵀ) δd|² / 2L + ½ φ_bᵀQ(n, ρ_b)φ_b - ½ φ_aᵀQ(n, ρ_a)φ_a
 *     atan2(v·w, u·w): from the derivatives of both products
 */

import { A, ALONG, B, DISTANCE, DOT, FACTOR, INTEGERS, KIND, NUMBERS, PA, PB, U, V, W } from "./row_table";
import type { Terms } from "./terms";

const SIZE = 12, dotU = new Float64Array(144), dotV = new Float64Array(144);

/** H (12, 12) += force D²φ of a term at the poses of the parts. */
export function addCurvature(terms: Terms, term: number, poses: Float64Array, force: number, H: Float64Array): void {
  const i = INTEGERS * term, f = NUMBERS * term, N = terms.numbers, kind = terms.integers[i + KIND];
  const a = terms.integers[i + A], b = terms.integers[i + B], factor = force * N[f + FACTOR];
  const turn = relative(poses, a, b);
  const from = (at: number) => [N[f + at], N[f + at + 1], N[f + at + 2]];
  if (kind === ALONG) {
    const u = from(U), rho = from(PB), seen = times(turn, rho);
    const y = inBody(poses, a, [0, 1, 2].map((k) => poses[12 * b + k] - poses[12 * a + k])).map((x, k) => x + seen[k]);
    armProduct(factor, u, y, 3, H);
    armProduct(factor, back(turn, u), rho, 9, H);
    for (let j = 0; j < 3; j++) { // φ_a·(u × (u_b - u_a))
      const k = (j + 1) % 3, l = (j + 2) % 3;
      add(H, 3 + j, k, factor * u[l]);
      add(H, 3 + j, l, -factor * u[k]);
      for (let e = 0; e < 3; e++) add(H, 3 + j, 6 + e, factor * (u[k] * turn[3 * l + e] - u[l] * turn[3 * k + e]));
    }
    turnedBoth(factor, u, rho, turn, H);
  } else if (kind === DOT) {
    product(factor, from(U), from(W), turn, H);
  } else if (kind === DISTANCE) {
    distance(factor, from(PA), from(PB), poses, a, b, H);
  } else {
    const u = from(U), v = from(V), w = times(turn, from(W));
    const c = inner(u, w), t = inner(v, w), q = 1 / (c * c + t * t);
    dotU.fill(0);
    dotV.fill(0);
    product(1, u, from(W), turn, dotU);
    product(1, v, from(W), turn, dotV);
    // Gradients of both products over φ_a and φ_b: φ_a·(u × w), φ_b·(w × u) in their own axes.
    const slope = (x: number[]) => {
      const here = cross(x, w), there = back(turn, here);
      return [...here, ...there.map((value) => -value)];
    };
    const gu = slope(u), gv = slope(v);
    for (let j = 0; j < SIZE * SIZE; j++) H[j] += factor * q * (c * dotV[j] - t * dotU[j]);
    const place = [3, 4, 5, 9, 10, 11];
    for (let j = 0; j < 6; j++) {
      for (let k = 0; k < 6; k++) {
        const one = (c * gu[j] + t * gv[j]) * (c * gv[k] - t * gu[k]), other = (c * gu[k] + t * gv[k]) * (c * gv[j] - t * gu[j]);
        H[SIZE * place[j] + place[k]] -= factor * q * q * (one + other);
      }
    }
  }
}

/** u·w, u in a and w in b. */
function product(factor: number, u: number[], w: number[], turn: number[], H: Float64Array): void {
  armProduct(factor, u, times(turn, w), 3, H);
  armProduct(factor, back(turn, u), w, 9, H);
  turnedBoth(factor, u, w, turn, H);
}

/** (φ_a × u)·(φ_b × x), u in a and x in b. */
function turnedBoth(factor: number, u: number[], x: number[], turn: number[], H: Float64Array): void {
  const there = back(turn, u), seen = times(turn, x), along = inner(there, x);
  for (let i = 0; i < 3; i++) for (let e = 0; e < 3; e++) add(H, 3 + i, 9 + e, factor * (along * turn[3 * i + e] - seen[i] * there[e]));
}

function distance(factor: number, pa: number[], pb: number[], poses: Float64Array, a: number, b: number, H: Float64Array): void {
  const arm = (p: number, x: number[]) => [0, 1, 2].map((r) => poses[12 * p + 3 + 3 * r] * x[0] + poses[12 * p + 4 + 3 * r] * x[1] + poses[12 * p + 5 + 3 * r] * x[2]);
  const ra = arm(a, pa), rb = arm(b, pb), d = [0, 1, 2].map((k) => poses[12 * b + k] + rb[k] - poses[12 * a + k] - ra[k]);
  const length = Math.hypot(d[0], d[1], d[2]), n = d.map((x) => x / length);
  armProduct(-factor, inBody(poses, a, n), pa, 3, H);
  armProduct(factor, inBody(poses, b, n), pb, 9, H);
  const J = new Float64Array(3 * SIZE); // δd in the world
  for (const [p, at, x, sign] of [[a, 0, pa, -1], [b, 6, pb, 1]] as const) {
    for (let e = 0; e < 3; e++) {
      const unit = [0, 1, 2].map((k) => (k === e ? 1 : 0)), moved = arm(p, unit), turned = arm(p, cross(unit, x));
      for (let r = 0; r < 3; r++) {
        J[SIZE * r + at + e] = sign * moved[r];
        J[SIZE * r + at + 3 + e] = sign * turned[r];
      }
    }
  }
  const along = Array.from({ length: SIZE }, (_, j) => n[0] * J[j] + n[1] * J[SIZE + j] + n[2] * J[2 * SIZE + j]);
  for (let j = 0; j < SIZE; j++) {
    for (let k = 0; k < SIZE; k++) {
      const both = J[j] * J[k] + J[SIZE + j] * J[SIZE + k] + J[2 * SIZE + j] * J[2 * SIZE + k];
      H[SIZE * j + k] += (factor * (both - along[j] * along[k])) / length;
    }
  }
}

/** H at rows and columns `at` += factor Q(f, x), Q = ½(f xᵀ + x fᵀ) - (f·x) 1. */
function armProduct(factor: number, f: number[], x: number[], at: number, H: Float64Array): void {
  const along = inner(f, x);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) H[SIZE * (at + i) + at + j] += factor * 0.5 * (f[i] * x[j] + x[i] * f[j]);
    H[SIZE * (at + i) + at + i] -= factor * along;
  }
}

function add(H: Float64Array, i: number, j: number, value: number): void {
  H[SIZE * i + j] += value;
  H[SIZE * j + i] += value;
}

/** R_aᵀR_b: components in b to those in a. */
function relative(X: Float64Array, a: number, b: number): number[] {
  const P = 12 * a + 3, Q = 12 * b + 3;
  return [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => X[P + i] * X[Q + j] + X[P + 3 + i] * X[Q + 3 + j] + X[P + 6 + i] * X[Q + 6 + j]));
}

function inBody(X: Float64Array, body: number, x: number[]): number[] {
  const R = 12 * body + 3;
  return [0, 1, 2].map((k) => X[R + k] * x[0] + X[R + 3 + k] * x[1] + X[R + 6 + k] * x[2]);
}

function times(M: number[], x: number[]): number[] {
  return [0, 1, 2].map((i) => M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2]);
}

function back(M: number[], x: number[]): number[] {
  return [0, 1, 2].map((j) => M[j] * x[0] + M[3 + j] * x[1] + M[6 + j] * x[2]);
}

function inner(x: number[], y: number[]): number {
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

function cross(x: number[], y: number[]): number[] {
  return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
}
