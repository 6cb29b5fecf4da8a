/** The lowest modes under constraints: block Krylov spaces of the response A, eigenvalues 1/(ω² + s).
 *
 * A start near the wanted modes (those of the posture before, in body axes) makes one or two passes enough; residuals
 * ‖A M v - μ v‖ tell when. Vectors without a pattern stand beside them, for modes that have no part in the start.
 */

import { symmetricEigen } from "../algebra/symmetric_eigen";
import { Response, type Structure } from "./structure";

const SPARE = 4, BLOCKS = 3, PASSES = 40;
const SHAPES = 1e-6; // residual in units of a mode's eigenvalue; its frequency errs by the square
const NOTHING = 1e-13; // of the largest eigenvalue of A: rounding, not a motion

export interface Modes {
  /** Hz, rising. */
  frequencies: Float64Array;
  /** (count, n) over z, of unit modal mass. */
  shapes: Float64Array;
  count: number;
  /** Whether residuals fell below what is wanted. */
  converged: boolean;
  passes: number;
  /** (p, n), where the next search may begin. */
  start: Float64Array;
  response: Response;
}

/** Numbers without a pattern, the same every time. */
function scattered(out: Float64Array): void {
  let state = 12345;
  for (let i = 0; i < out.length; i++) {
    state = (1103515245 * state + 12345) % 2147483648;
    out[i] = state / 1073741824 - 1;
  }
}

export function lowestModes(structure: Structure, X: Float64Array, start?: Float64Array): Modes {
  const n = structure.size, wanted = structure.data.count, p = Math.min(wanted + SPARE, n);
  const A = new Response(structure, X, structure.data.shift);
  const V = new Float64Array(p * n);
  scattered(V);
  if (start) V.set(start.subarray(0, Math.max(0, p - 2) * n));
  const most = Math.min(BLOCKS * p, n), Q = new Float64Array(most * n), AQ = new Float64Array(most * n);
  let block = new Float64Array(p * n), next = new Float64Array(p * n);
  let frequencies = new Float64Array(0), count = 0, converged = false, size = 0, passes = 0;
  for (let pass = 0; pass < PASSES && !converged; pass++) {
    size = 0;
    passes = pass + 1;
    block.set(V);
    for (let b = 0; b < BLOCKS; b++) {
      A.step(block, next, p);
      [block, next] = [next, block];
      size = extend(A, Q, size, block, p, n, most);
    }
    if (size === 0) break;
    A.step(Q, AQ, size);
    // Ritz values μ of A M in the inner product of M, in which Q is orthonormal.
    const H = new Float64Array(size * size), MQ = new Float64Array(n);
    for (let i = 0; i < size; i++) {
      A.mass(Q, i * n, MQ, 0);
      for (let j = 0; j < size; j++) {
        let total = 0;
        for (let c = 0; c < n; c++) total += MQ[c] * AQ[j * n + c];
        H[i * size + j] = total;
      }
    }
    for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) H[i * size + j] = H[j * size + i] = 0.5 * (H[i * size + j] + H[j * size + i]);
    const { values, vectors } = symmetricEigen(H, size);
    const kept = Math.min(p, size);
    V.fill(0);
    count = 0;
    converged = true;
    const found: number[] = [], residual = new Float64Array(n);
    for (let k = 0; k < kept; k++) {
      const at = size - 1 - k, mu = values[at];
      residual.fill(0);
      for (let i = 0; i < size; i++) {
        const share = vectors[at * size + i];
        for (let c = 0; c < n; c++) {
          V[k * n + c] += share * Q[i * n + c];
          residual[c] += share * (AQ[i * n + c] - mu * Q[i * n + c]);
        }
      }
      if (mu * A.shift <= NOTHING) break;
      if (k < wanted) {
        count = k + 1;
        found.push(Math.sqrt(Math.max(1 / mu - A.shift, 0)) / (2 * Math.PI));
        let gap = 0;
        for (let c = 0; c < n; c++) gap += residual[c] * residual[c];
        if (!(Math.sqrt(gap) <= SHAPES * mu + (1e-15 * (1 + pass)) / A.shift)) converged = false;
      }
    }
    frequencies = Float64Array.from(found);
  }
  return { frequencies, shapes: V.slice(0, count * n), count, converged, passes, start: V, response: A };
}

/** Orthonormalise the rows of W against Q[:size] and each other in the inner product of M, and append them. */
function extend(A: Response, Q: Float64Array, size: number, W: Float64Array, p: number, n: number, most: number): number {
  const v = new Float64Array(n), Mv = new Float64Array(n);
  for (let i = 0; i < p && size < most; i++) {
    for (let c = 0; c < n; c++) v[c] = W[i * n + c];
    A.mass(v, 0, Mv, 0);
    let before = 0;
    for (let c = 0; c < n; c++) before += v[c] * Mv[c];
    if (!(before > 0)) continue;
    for (let turn = 0; turn < 2; turn++) {
      A.mass(v, 0, Mv, 0);
      for (let k = 0; k < size; k++) {
        let share = 0;
        for (let c = 0; c < n; c++) share += Mv[c] * Q[k * n + c];
        for (let c = 0; c < n; c++) v[c] -= share * Q[k * n + c];
      }
    }
    A.mass(v, 0, Mv, 0);
    let after = 0;
    for (let c = 0; c < n; c++) after += v[c] * Mv[c];
    if (!(after > 1e-18 * before)) continue;
    const inverse = 1 / Math.sqrt(after);
    for (let c = 0; c < n; c++) Q[size * n + c] = v[c] * inverse;
    size += 1;
  }
  return size;
}
