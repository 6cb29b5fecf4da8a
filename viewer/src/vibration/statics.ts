/** Reactions of all rows to constant forces, actuators locked (docs/theory/elastic-rest.md, 5, 10).
 *
 *     Λ z + Cᵀλ = f,   C z = diag(c) λ
 *
 * Coordinates with a stiffness of their own are eliminated; rigid motions are solved with the rows, so that no division by
 * zero occurs. As in supple.formulations.elastic_rest.static_response, dependent ideal rows carry no force.
 */

import { solveGauss } from "../algebra/gauss";
import { pivotedCholesky, type Structure } from "./structure";

const VANISHED = 1e-15; // relative size below which a pivot is a rounding error

/** λ (count, held rows) for forces F (count, n); null if a force acts on an unsupported motion.
 *
 * C (held rows, n) at the posture; shift: small stiffness in the units of coordinates
 */
export function reactions(structure: Structure, C: Float64Array, F: Float64Array, count: number, shift: number): Float64Array | null {
  const n = structure.size, m = structure.held.length, compliance = structure.data.compliance.values, stiffness = structure.stiffness;
  const root = Float64Array.from(stiffness, (k) => Math.sqrt(k + shift));
  const hard = indices(m, (i) => !(compliance[i] > 0)), soft = indices(m, (i) => compliance[i] > 0);
  const length = new Float64Array(m), rows = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    let total = 0;
    for (let c = 0; c < n; c++) {
      rows[i * n + c] = C[i * n + c] / root[c];
      total += rows[i * n + c] * rows[i * n + c];
    }
    length[i] = total > 0 ? Math.sqrt(total) : 1;
    for (let c = 0; c < n; c++) rows[i * n + c] /= length[i];
  }
  const at = (i: number) => rows.subarray(i * n, (i + 1) * n);
  const h = hard.length, S = new Float64Array(h * h), order = new Int32Array(h);
  for (let i = 0; i < h; i++) for (let j = 0; j <= i; j++) S[i * h + j] = S[j * h + i] = product(at(hard[i]), at(hard[j]));
  const rank = pivotedCholesky(S, h, order, new Float64Array(h * h));
  const chosen = [...Array.from(order.subarray(0, rank), (i) => hard[i]), ...soft], k = chosen.length;
  const free = indices(n, (c) => stiffness[c] === 0), r = free.length, bound = indices(n, (c) => stiffness[c] !== 0);
  // For each row: a (C z) = b λ, where the larger of both is one.
  const a = new Float64Array(k).fill(1), b = new Float64Array(k);
  for (let i = rank; i < k; i++) {
    const kappa = (length[chosen[i]] ** 2) / compliance[chosen[i]];
    if (kappa > 1) b[i] = 1 / kappa;
    else {
      a[i] = kappa;
      b[i] = 1;
    }
  }
  const size = r + k, M = new Float64Array(size * size), R = new Float64Array(size * count);
  const over = Float64Array.from(bound, (c) => (root[c] * root[c]) / stiffness[c]); // 1 / D of the eliminated coordinates
  for (let i = 0; i < k; i++) {
    const row = at(chosen[i]);
    for (let j = 0; j < r; j++) {
      M[j * size + r + i] = row[free[j]];
      M[(r + i) * size + j] = a[i] * row[free[j]];
    }
    const used = indices(bound.length, (e) => row[bound[e]] !== 0);
    for (let j = 0; j <= i; j++) {
      const other = at(chosen[j]);
      let total = 0;
      for (const e of used) total += row[bound[e]] * over[e] * other[bound[e]];
      M[(r + i) * size + r + j] = -a[i] * total;
      M[(r + j) * size + r + i] = -a[j] * total;
    }
    M[(r + i) * size + r + i] -= b[i];
    for (let q = 0; q < count; q++) {
      let total = 0;
      for (const e of used) total += (row[bound[e]] * over[e] * F[q * n + bound[e]]) / root[bound[e]];
      R[(r + i) * count + q] = -a[i] * total;
    }
  }
  for (let j = 0; j < r; j++) for (let q = 0; q < count; q++) R[j * count + q] = F[q * n + free[j]] / root[free[j]];
  if (!solveGauss(M, size, R, count, VANISHED)) return null;
  const found = new Float64Array(count * m);
  for (let q = 0; q < count; q++) for (let i = 0; i < k; i++) found[q * m + chosen[i]] = R[(r + i) * count + q] / length[chosen[i]];
  return found.every(Number.isFinite) ? found : null;
}

function indices(count: number, wanted: (i: number) => boolean): number[] {
  return Array.from({ length: count }, (_, i) => i).filter(wanted);
}

function product(x: Float64Array, y: Float64Array): number {
  let total = 0;
  for (let c = 0; c < x.length; c++) total += x[c] * y[c];
  return total;
}
