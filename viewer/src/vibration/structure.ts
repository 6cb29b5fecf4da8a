/** Linear elastodynamics of a mechanism at one posture: bodies in z, constraint rows between them (docs/theory/elastic-rest.md).
 *
 * Bodies do not depend on θ: unit mass, stiffness Λ. Only the rows C(θ) do. With D = (Λ + s)⁻¹ and
 * S = C D Cᵀ + diag(c) = L Lᵀ, the response to forces F is z = A F, A = D - BᵀB, B = L⁻¹ C D (eq. 6). Dependent rows are
 * removed by pivoting. For small pivots B is refined once (eq. 6a).
 */

import type { Table } from "../data/encoded";
import { A, INTEGERS, KIND, NONE, THEN } from "../kinematics/row_table";
import { gradient, type Terms } from "../kinematics/terms";
import { Loads, type LoadData } from "./loads";

const DEPENDENT = 1e-11; // remaining squared length of a row, relative to its own, below which it depends on others
const ROUGH = 1e-5; // pivot of S below which B is refined

export interface StructureData {
  size: number;
  stiffness: Table;
  part_i: Table;
  part_x: Table;
  shapes: Table;
  column: Table;
  rows_i: Table;
  rows_f: Table;
  held: Table;
  compliance: Table;
  motors: Table;
  inertia: Table;
  tables: { of_row: Table; coordinate: Table; first: Table; at: Table; stiffness: Table; slope: Table; reference: Table; middle: (number | null)[] };
  shift: number;
  count: number;
  /** Number of vectors for the search of these modes; chosen at rest so that it does not end within a cluster of modes. */
  block: number;
  loads: LoadData | null;
}

export class Structure implements Terms {
  readonly size: number;
  readonly stiffness: Float64Array;
  readonly integers: Int32Array;
  readonly numbers: Float64Array;
  readonly held: Int32Array;
  readonly motors: Int32Array;
  readonly parts: number;
  readonly widest: number;
  readonly columns: Int32Array;
  /** For each part: its body, the body's first coordinate, and their number. */
  readonly part: Int32Array;
  readonly loads: Loads | null;
  private readonly of_row: Int32Array;

  constructor(readonly data: StructureData) {
    this.size = data.size;
    this.stiffness = data.stiffness.values;
    this.integers = Int32Array.from(data.rows_i.values);
    this.numbers = data.rows_f.values;
    this.held = Int32Array.from(data.held.values);
    this.motors = Int32Array.from(data.motors.values);
    this.parts = data.part_i.shape[0];
    this.widest = data.shapes.shape[2];
    this.columns = Int32Array.from(data.column.values);
    this.part = Int32Array.from(data.part_i.values);
    this.of_row = Int32Array.from(data.tables.of_row.values);
    this.loads = data.loads ? new Loads(this, data.loads) : null;
  }

  /** Poses (parts + 1, 12) of the parts of bodies that rows connect, the ground last. */
  poses(X: Float64Array): Float64Array {
    const found = new Float64Array((this.parts + 1) * 12), x = this.data.part_x.values;
    for (let p = 0; p < this.parts; p++) {
      const b = 12 * this.part[3 * p];
      for (let k = 0; k < 12; k++) found[12 * p + k] = X[b + k];
      for (let r = 0; r < 3; r++) {
        for (let c = 0; c < 3; c++) found[12 * p + r] += X[b + 3 + 3 * r + c] * x[3 * p + c];
      }
    }
    found.set(X.subarray(X.length - 12), this.parts * 12);
    return found;
  }

  /** Selected rows over z, (rows, n). */
  rows(chosen: Int32Array, poses: Float64Array): Float64Array {
    const n = this.size, C = new Float64Array(chosen.length * n), g = new Float64Array(13);
    const shapes = this.data.shapes.values, d = this.columns.length, I = this.integers;
    for (let i = 0; i < chosen.length; i++) {
      for (let term = chosen[i]; term !== NONE; term = I[INTEGERS * term + THEN]) {
        gradient(this, term, poses, g);
        for (let side = 0; side < 2; side++) {
          const p = I[INTEGERS * term + A + side];
          if (p >= this.parts) continue;
          const first = this.part[3 * p + 1], width = this.part[3 * p + 2];
          for (let k = 0; k < d; k++) {
            const factor = g[1 + 6 * side + this.columns[k]], from = (p * d + k) * this.widest;
            if (factor !== 0) for (let c = 0; c < width; c++) C[i * n + first + c] += factor * shapes[from + c];
          }
        }
      }
      const scale = this.scale(chosen[i], poses, g);
      if (scale !== 1) for (let c = 0; c < n; c++) C[i * n + c] *= scale;
    }
    return C;
  }

  /** s of a row whose stiffness depends on a coordinate, k = k_ref s² (eq. 5d); otherwise 1. */
  scale(row: number, poses: Float64Array, g: Float64Array): number {
    const t = this.of_row[row];
    if (t === undefined || t === NONE) return 1;
    const { coordinate, first, at, stiffness, slope, reference, middle } = this.data.tables;
    let q = 0;
    for (let term = coordinate.values[t]; term !== NONE; term = this.integers[INTEGERS * term + THEN]) {
      gradient(this, term, poses, g);
      q += g[0];
    }
    const centre = middle[t];
    if (centre !== null) q -= 2 * Math.PI * Math.floor((q - centre) / (2 * Math.PI) + 0.5);
    const begin = first.values[t], last = first.values[t + 1] - 1;
    let k = stiffness.values[begin];
    if (q >= at.values[last]) k = stiffness.values[last];
    else if (q > at.values[begin]) {
      let i = begin;
      while (q > at.values[i + 1]) i++;
      const h = at.values[i + 1] - at.values[i], u = (q - at.values[i]) / h;
      const rise = stiffness.values[i + 1] - stiffness.values[i];
      const one = slope.values[i] * h - rise, other = rise - slope.values[i + 1] * h;
      k = stiffness.values[i] + u * rise + u * (1 - u) * ((1 - u) * one + u * other);
    }
    return Math.sqrt(k / reference.values[t]);
  }

  /** True if a row is an angle, so that its force is a moment. */
  turns(row: number): boolean {
    return this.integers[INTEGERS * row + KIND] === 3;
  }
}

/** A of a structure at one posture, shifted by s; motors with a free coordinate add J cᵀc to the mass. */
export class Response {
  readonly D: Float64Array;
  readonly B: Float64Array;
  /** B corrected for the rounding error of S. */
  private readonly refined: Float64Array;
  readonly poses: Float64Array;
  readonly rank: number;
  /** Rows of motors over z, and their inertia. */
  readonly motorRows: Float64Array;
  readonly inertia: Float64Array;
  /** Held rows over z, and their compliance. */
  readonly C: Float64Array;
  readonly compliance: Float64Array;
  private readonly sparse: SparseRow[];
  /** Held rows with a compliance. */
  private readonly springs: number[];
  private readonly L: Float64Array;
  private readonly order: Int32Array;
  private readonly scale: Float64Array;

  constructor(readonly structure: Structure, X: Float64Array, readonly shift: number) {
    const n = structure.size, poses = structure.poses(X), held = structure.held;
    this.poses = poses;
    this.motorRows = structure.rows(structure.motors, poses);
    this.inertia = structure.data.inertia.values;
    const motors = this.inertia.length, m = held.length + motors;
    const C = new Float64Array(m * n), compliance = new Float64Array(m);
    C.set(structure.rows(held, poses));
    C.set(this.motorRows, held.length * n);
    compliance.set(structure.data.compliance.values);
    for (let i = 0; i < motors; i++) compliance[held.length + i] = 1 / (shift * this.inertia[i]); // K + s M
    this.C = C;
    this.compliance = compliance;
    this.sparse = sparseRows(C, m, n);
    this.springs = Array.from(held, (_, i) => i).filter((i) => compliance[i] > 0);
    this.D = new Float64Array(n);
    for (let c = 0; c < n; c++) this.D[c] = 1 / (structure.stiffness[c] + shift);
    const { S, CD } = this.schur(C, m, n);
    this.scale = new Float64Array(m);
    for (let i = 0; i < m; i++) {
      S[i * m + i] += compliance[i];
      this.scale[i] = S[i * m + i] > 0 ? 1 / Math.sqrt(S[i * m + i]) : 0;
    }
    for (let i = 0; i < m; i++) for (let j = 0; j < m; j++) S[i * m + j] *= this.scale[i] * this.scale[j];
    this.order = new Int32Array(m);
    this.L = new Float64Array(m * m);
    this.rank = pivotedCholesky(S, m, this.order, this.L);
    this.B = new Float64Array(this.rank * n);
    for (let i = 0; i < this.rank; i++) {
      const row = this.order[i], to = i * n;
      for (let c = 0; c < n; c++) this.B[to + c] = this.scale[row] * CD[row * n + c];
      for (let k = 0; k < i; k++) {
        const factor = this.L[i * m + k], from = k * n;
        if (factor !== 0) for (let c = 0; c < n; c++) this.B[to + c] -= factor * this.B[from + c];
      }
      const inverse = 1 / this.L[i * m + i];
      for (let c = 0; c < n; c++) this.B[to + c] *= inverse;
    }
    const last = this.rank - 1;
    this.refined = last >= 0 && this.L[last * m + last] ** 2 < ROUGH ? this.refinedRows(CD, m) : this.B;
  }

  /** B + L⁻¹ (C D - (C Bᵀ + c L⁻ᵀ) B): rods that are stiff relative to the shift cause pivots of 1e-9 (eq. 6a). */
  private refinedRows(CD: Float64Array, m: number): Float64Array {
    const { B, C, L, order, rank, scale } = this, n = this.structure.size;
    const inverse = new Float64Array(rank * rank), P = new Float64Array(rank * rank), gap = new Float64Array(rank * n);
    for (let i = 0; i < rank; i++) {
      inverse[i * rank + i] = 1 / L[i * m + i];
      for (let k = 0; k < i; k++) {
        const factor = L[i * m + k] * inverse[i * rank + i];
        if (factor !== 0) for (let j = 0; j <= k; j++) inverse[i * rank + j] -= factor * inverse[k * rank + j];
      }
    }
    const used = new Int32Array(n);
    for (let i = 0; i < rank; i++) {
      const row = order[i] * n, s = scale[order[i]];
      let count = 0;
      for (let c = 0; c < n; c++) if (C[row + c] !== 0) used[count++] = c;
      for (let j = 0; j < rank; j++) {
        let total = 0;
        for (let k = 0; k < count; k++) total += C[row + used[k]] * B[j * n + used[k]];
        P[i * rank + j] = s * total;
      }
      const soft = this.compliance[order[i]] * s * s;
      if (soft > 0) for (let j = i; j < rank; j++) P[i * rank + j] += soft * inverse[j * rank + i];
      for (let c = 0; c < n; c++) gap[i * n + c] = s * CD[row + c];
      for (let j = 0; j < rank; j++) {
        const factor = P[i * rank + j];
        if (factor !== 0) for (let c = 0; c < n; c++) gap[i * n + c] -= factor * B[j * n + c];
      }
    }
    const found = Float64Array.from(B);
    for (let i = 0; i < rank; i++) {
      for (let k = 0; k <= i; k++) {
        const factor = inverse[i * rank + k];
        if (factor !== 0) for (let c = 0; c < n; c++) found[i * n + c] += factor * gap[k * n + c];
      }
    }
    return found;
  }

  /** C D and S = C D Cᵀ; rows involve few bodies, so that zeros are skipped. */
  private schur(C: Float64Array, m: number, n: number): { S: Float64Array; CD: Float64Array } {
    const CD = new Float64Array(m * n), S = new Float64Array(m * m), at = new Int32Array(n);
    for (let i = 0; i < m; i++) {
      let used = 0;
      for (let c = 0; c < n; c++) {
        if (C[i * n + c] === 0) continue;
        CD[i * n + c] = C[i * n + c] * this.D[c];
        at[used++] = c;
      }
      for (let j = 0; j <= i; j++) {
        let total = 0;
        for (let k = 0; k < used; k++) total += CD[i * n + at[k]] * C[j * n + at[k]];
        S[i * m + j] = S[j * m + i] = total;
      }
    }
    return { S, CD };
  }

  /** A F for `count` consecutive force vectors in V, into out; V and out must be different arrays. */
  respond(V: Float64Array, out: Float64Array, count = 1): void {
    const n = this.structure.size, { B, D, rank, refined } = this;
    for (let v = 0; v < count * n; v += n) for (let c = 0; c < n; c++) out[v + c] = V[v + c] * D[c];
    for (let i = 0; i < rank; i++) {
      const row = B.subarray(i * n, (i + 1) * n), seen = refined.subarray(i * n, (i + 1) * n); // read once for all vectors
      let v = 0;
      for (; v + 3 * n < count * n; v += 4 * n) { // four vectors at a time
        const p = v + n, q = v + 2 * n, r = v + 3 * n;
        let a = 0, b = 0, d = 0, e = 0;
        for (let c = 0; c < n; c++) {
          const x = seen[c];
          a += x * V[v + c];
          b += x * V[p + c];
          d += x * V[q + c];
          e += x * V[r + c];
        }
        for (let c = 0; c < n; c++) {
          const x = row[c];
          out[v + c] -= a * x;
          out[p + c] -= b * x;
          out[q + c] -= d * x;
          out[r + c] -= e * x;
        }
      }
      for (; v < count * n; v += n) {
        let total = 0;
        for (let c = 0; c < n; c++) total += seen[c] * V[v + c];
        for (let c = 0; c < n; c++) out[v + c] -= total * row[c];
      }
    }
  }

  /** K v of one vector: Λ v and the springs of compliant rows, without the stiffness of loads. */
  stiff(V: Float64Array, from: number, out: Float64Array, to: number): void {
    const n = this.structure.size, stiffness = this.structure.stiffness;
    for (let c = 0; c < n; c++) out[to + c] = stiffness[c] * V[from + c];
    for (const i of this.springs) {
      const { at, values } = this.sparse[i];
      let stretch = 0;
      for (let k = 0; k < at.length; k++) stretch += values[k] * V[from + at[k]];
      const force = stretch / this.compliance[i];
      for (let k = 0; k < at.length; k++) out[to + at[k]] += force * values[k];
    }
  }

  /** Remove from v its motion along ideal rows: v then satisfies them to rounding.
   *
   * If orthogonalization leaves only a small vector, the rounding error of A would be a large part of it.
   */
  keepRows(v: Float64Array): void {
    const { L, order, rank, scale, compliance, sparse, D } = this, m = scale.length, y = new Float64Array(rank);
    for (let i = 0; i < rank; i++) {
      const row = order[i];
      let total = 0;
      if (compliance[row] === 0) {
        const { at, values } = sparse[row];
        for (let k = 0; k < at.length; k++) total += values[k] * v[at[k]];
      }
      total *= scale[row];
      for (let k = 0; k < i; k++) total -= L[i * m + k] * y[k];
      y[i] = total / L[i * m + i];
    }
    for (let i = rank - 1; i >= 0; i--) {
      y[i] /= L[i * m + i];
      for (let k = 0; k < i; k++) y[k] -= L[i * m + k] * y[i];
      const { at, values } = sparse[order[i]], force = y[i] * scale[order[i]];
      for (let k = 0; k < at.length; k++) v[at[k]] -= D[at[k]] * force * values[k];
    }
  }

  /** M v of one vector. */
  mass(V: Float64Array, from: number, out: Float64Array, to: number): void {
    const n = this.structure.size;
    for (let c = 0; c < n; c++) out[to + c] = V[from + c];
    for (let i = 0; i < this.inertia.length; i++) {
      let total = 0;
      for (let c = 0; c < n; c++) total += this.motorRows[i * n + c] * V[from + c];
      for (let c = 0; c < n; c++) out[to + c] += this.inertia[i] * total * this.motorRows[i * n + c];
    }
  }
}

/** Nonzero entries of a row. */
interface SparseRow { at: Int32Array; values: Float64Array }

function sparseRows(C: Float64Array, m: number, n: number): SparseRow[] {
  const used = new Int32Array(n);
  return Array.from({ length: m }, (_, i) => {
    let count = 0;
    for (let c = 0; c < n; c++) if (C[i * n + c] !== 0) used[count++] = c;
    const at = used.slice(0, count);
    return { at, values: Float64Array.from(at, (c) => C[i * n + c]) };
  });
}

/** S[order][:, order] = L Lᵀ on its first `rank` rows; S has a unit diagonal. */
export function pivotedCholesky(S: Float64Array, m: number, order: Int32Array, L: Float64Array): number {
  const left = new Float64Array(m);
  for (let i = 0; i < m; i++) {
    order[i] = i;
    left[i] = S[i * m + i];
  }
  for (let r = 0; r < m; r++) {
    let best = r;
    for (let i = r + 1; i < m; i++) if (left[order[i]] > left[order[best]]) best = i;
    const kept = order[r];
    order[r] = order[best];
    order[best] = kept;
    for (let k = 0; k < r; k++) {
      const other = L[r * m + k];
      L[r * m + k] = L[best * m + k];
      L[best * m + k] = other;
    }
    const pivot = left[order[r]];
    if (!(pivot > DEPENDENT)) return r;
    L[r * m + r] = Math.sqrt(pivot);
    const inverse = 1 / L[r * m + r], row = order[r] * m;
    for (let i = r + 1; i < m; i++) {
      let total = S[row + order[i]];
      for (let k = 0; k < r; k++) total -= L[i * m + k] * L[r * m + k];
      L[i * m + r] = total * inverse;
      left[order[i]] -= L[i * m + r] * L[i * m + r];
    }
  }
  return m;
}
