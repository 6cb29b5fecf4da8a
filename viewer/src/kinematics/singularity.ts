/** Distance of a position from a dead point, and the coordinates that lock there.
 *
 * σ_min / σ_max of the joint and coordinate rows [Φ_q; A], lengths in extents. At a dead point forces λ exist that
 * balance without motion, [Φ_q; A]ᵀ λ = 0; coordinates with a nonzero entry in λ lock.
 */

import { eigenvalues, symmetricEigen } from "../algebra/symmetric_eigen";
import { A, INTEGERS, NONE, NUMBERS, SCALE, THEN, type RowTable } from "./row_table";
import { gradient } from "./terms";

export const DEAD = 0.02; // singularity below which an interrupted closure is at a dead point
const SHARE = 1e-2, TOGETHER = 30;

/** [Φ_q; A] (m + s, n), scaled. */
export function jacobian(rows: RowTable, X: Float64Array): Float64Array {
  const { bodies, width: d, column, integers, numbers, extent } = rows, n = bodies * d;
  const count = rows.jointRows + rows.coordinates, J = new Float64Array(count * n), g = new Float64Array(13);
  for (let i = 0; i < count; i++) {
    const inverse = 1 / numbers[NUMBERS * i + SCALE];
    for (let term = i; term !== NONE; term = integers[INTEGERS * term + THEN]) {
      gradient(rows, term, X, g);
      for (let side = 0; side < 2; side++) {
        const b = integers[INTEGERS * term + A + side];
        if (b >= bodies) continue;
        for (let c = 0; c < d; c++) {
          const k = column[c];
          J[i * n + b * d + c] += (k < 3 ? inverse * extent : inverse) * g[1 + 6 * side + k];
        }
      }
    }
  }
  return J;
}

/** JᵀJ (n, n); a row involves few bodies. */
function squared(J: Float64Array, count: number, n: number): Float64Array {
  const found = new Float64Array(n * n), at = new Int32Array(n);
  for (let i = 0; i < count; i++) {
    let used = 0;
    for (let c = 0; c < n; c++) if (J[i * n + c] !== 0) at[used++] = c;
    for (let p = 0; p < used; p++) {
      for (let q = 0; q < used; q++) found[at[p] * n + at[q]] += J[i * n + at[p]] * J[i * n + at[q]];
    }
  }
  return found;
}

/** Smallest over largest singular value; rank is their number in general position. */
export function singularity(rows: RowTable, X: Float64Array, rank: number): number {
  if (rank === 0) return 1;
  const n = rows.bodies * rows.width, J = jacobian(rows, X);
  const values = eigenvalues(squared(J, rows.jointRows + rows.coordinates, n), n);
  return Math.sqrt(Math.max(values[n - rank], 0) / values[n - 1]);
}

/** Indices of the coordinates that a (nearly) singular position locks. */
export function locked(rows: RowTable, X: Float64Array): number[] {
  const n = rows.bodies * rows.width, count = rows.jointRows + rows.coordinates, J = jacobian(rows, X);
  const { values, vectors } = symmetricEigen(squared(J, count, n), n);
  const smallest = Math.sqrt(Math.max(values[0], 0)), shares = new Float64Array(rows.coordinates);
  for (let k = 0; k < n && Math.sqrt(Math.max(values[k], 0)) <= TOGETHER * smallest; k++) {
    const size = Math.max(Math.sqrt(Math.max(values[k], 0)), 1e-300);
    for (let j = 0; j < rows.coordinates; j++) {
      let total = 0;
      for (let c = 0; c < n; c++) total += J[(rows.jointRows + j) * n + c] * vectors[k * n + c];
      shares[j] += (total / size) ** 2;
    }
  }
  return Array.from(shares.keys()).filter((j) => Math.sqrt(shares[j]) > SHARE);
}
