/** The lowest modes under constraints and loads: (K + K_g) v = ω² M v, C v = 0.
 *
 * A block of p vectors is improved by the response A = (K + s M)⁻¹ on motions that satisfy the constraint rows,
 *
 *     v ← A ((ω² + s) M v - K_g v)                                      (docs/theory/elastic-rest.md, 7, 8, 14c)
 *
 * whose fixed points are the modes. The residual of a pass is measured by its energy in the span of these steps. A start
 * near the requested modes (those of the previous posture, in body axes) needs only one or two passes. Random vectors are
 * added for modes that are missing in the start. The block has the size that modes at rest need, so that it does not end
 * within a cluster; if residuals decrease too slowly, it is doubled (8a and below).
 */

import { symmetricEigen } from "../algebra/symmetric_eigen";
import type { GeometricStiffness } from "./loads";
import { Response, type Structure } from "./structure";

const STEPS = 3; // steps per pass
const PASSES = 40, EARLY = 4; // limit of passes per block, and passes before its convergence is judged
const PATIENCE = 12; // further passes that are accepted if residuals decrease
const FRESH = 2; // random vectors in a block
const SHAPES = 1e-6; // error of a shape; the error of its frequency is the square
const ROUNDING = 1e-15; // rounding error relative to the size of A, 1/s
const VANISHED = 1e-9; // remaining length below which a vector already lies in the space
const MOTION = 0.1; // remaining length above which a vector satisfies the constraint rows

export interface Modes {
  /** Frequencies, Hz, increasing; negative above the buckling load: -√|ω²| / 2π. */
  frequencies: Float64Array;
  /** ω², 1/s². */
  squares: Float64Array;
  /** vᵀK v without the stiffness of loads; equal to ω² without loads. */
  elastic: Float64Array;
  /** (count, n) over z, with unit modal mass. */
  shapes: Float64Array;
  count: number;
  /** True if the residuals are below the tolerance. */
  converged: boolean;
  passes: number;
  /** Number of vectors in the block that converged. */
  block: number;
  /** (p, n), start of the next search. */
  start: Float64Array;
  response: Response;
  /** Stiffness of loads; null if there is none. */
  loads: GeometricStiffness | null;
  /** True if loads act on an unsupported motion, so that their stiffness is omitted. */
  unheld: boolean;
}

/** Fill with pseudo-random numbers from a fixed seed. */
function scattered(out: Float64Array): void {
  let state = 12345;
  for (let i = 0; i < out.length; i++) {
    state = (1103515245 * state + 12345) % 2147483648;
    out[i] = state / 1073741824 - 1;
  }
}

/** Compute the lowest modes at poses X with measures w. start: vectors (k, n) near them. */
export function lowestModes(structure: Structure, X: Float64Array, w: Float64Array, start?: Float64Array): Modes {
  const n = structure.size, A = new Response(structure, X, structure.data.shift);
  const loads = structure.loads?.stiffness(X, w, A.poses, A.C) ?? null;
  const search = new Search(A, loads, structure.data.count);
  let p = Math.min(structure.data.block, n), V = search.begin(p, start, FRESH), found = search.block(V);
  let passes = found.passes;
  while (!found.converged && p < n) {
    p = Math.min(2 * p, n);
    V = search.begin(p, found.V, 0);
    found = search.block(V);
    passes += found.passes;
  }
  const count = Math.min(structure.data.count, found.size), squares = found.values.slice(0, count);
  return {
    frequencies: squares.map((x) => (Math.sign(x) * Math.sqrt(Math.abs(x))) / (2 * Math.PI)), squares,
    elastic: squares.map((_, k) => search.elastic(found.V, k)),
    shapes: found.V.slice(0, count * n), count, converged: found.converged, passes, block: p,
    start: found.V, response: A, loads, unheld: structure.loads !== null && loads === null,
  };
}

interface Found { V: Float64Array; values: Float64Array; size: number; converged: boolean; passes: number }

class Search {
  private readonly n: number;
  private readonly one: Float64Array;

  constructor(private readonly A: Response, private readonly loads: GeometricStiffness | null, private readonly wanted: number) {
    this.n = A.structure.size;
    this.one = new Float64Array(this.n);
  }

  /** A block (p, n) of motions that satisfy the constraint rows, from a start of any size; missing vectors and the last
   * `fresh` ones are random. */
  begin(p: number, start: Float64Array | undefined, fresh: number): Float64Array {
    const { A, n } = this, V = new Float64Array(p * n), kept = new Float64Array(p * n), stiffness = A.structure.stiffness;
    const given = start ? Math.max(0, Math.min(start.length / n, p - fresh)) : 0;
    scattered(V);
    for (let i = given * n; i < p * n; i++) V[i] *= stiffness[i % n] + A.shift; // A times this has similar shares of all motions
    for (let i = 0; i < given; i++) A.mass(start!, i * n, V, i * n);
    A.respond(V, kept, p);
    this.step(kept, new Float64Array(p), V, p);
    return V;
  }

  /** A ((ω² + s) M v - K_g v) of `count` vectors with their ω². */
  private step(V: Float64Array, squares: Float64Array, out: Float64Array, count: number): void {
    const { A, n, loads } = this, forces = new Float64Array(count * n);
    for (let i = 0; i < count; i++) {
      A.mass(V, i * n, forces, i * n);
      for (let c = i * n; c < (i + 1) * n; c++) forces[c] *= squares[i] + A.shift;
      loads?.add(V, i * n, -1, forces, i * n);
    }
    A.respond(forces, out, count);
  }

  elastic(V: Float64Array, k: number): number {
    const { A, n, one } = this;
    A.stiff(V, k * n, one, 0);
    let total = 0;
    for (let c = 0; c < n; c++) total += one[c] * V[k * n + c];
    return total;
  }

  /** Increasing ω² and vectors (kept, n) in the span of Q (size, n), orthonormal in M: at most p. */
  private ritz(Q: Float64Array, size: number, p: number): { values: Float64Array; V: Float64Array; kept: number } {
    const { A, n, one } = this, H = new Float64Array(size * size);
    for (let i = 0; i < size; i++) {
      A.stiff(Q, i * n, one, 0);
      this.loads?.add(Q, i * n, 1, one, 0);
      for (let j = 0; j <= i; j++) {
        let total = 0;
        for (let c = 0; c < n; c++) total += one[c] * Q[j * n + c];
        H[i * size + j] = H[j * size + i] = total;
      }
    }
    const { values, vectors } = symmetricEigen(H, size), kept = Math.min(p, size), V = new Float64Array(p * n);
    for (let k = 0; k < kept; k++) {
      for (let i = 0; i < size; i++) {
        const share = vectors[k * size + i];
        for (let c = 0; c < n; c++) V[k * n + c] += share * Q[i * n + c];
      }
    }
    return { values: values.slice(0, kept), V, kept };
  }

  /** Modes in a block that is extended by STEPS of (14c) and truncated to p vectors in every pass. */
  block(start: Float64Array): Found {
    const { n } = this, p = start.length / n, most = Math.min((1 + STEPS) * p, n), Q = new Float64Array(most * n);
    let { values, V, kept } = this.ritz(Q, this.extend(Q, 0, start, p, most), p), before = Infinity;
    let block = new Float64Array(p * n), next = new Float64Array(p * n);
    for (let pass = 0; ; pass++) {
      this.step(V, values, block, kept);
      const now = this.excess(V, block, values, kept, kept < p, (1 + pass) * ROUNDING);
      if (now <= 1 || kept === 0) return { V: V.slice(0, kept * n), values, size: kept, converged: kept > 0, passes: pass };
      const slow = pass >= EARLY && now > (now / before) ** -PATIENCE;
      if (slow || pass >= PASSES) return { V: V.slice(0, kept * n), values, size: kept, converged: false, passes: pass };
      before = now;
      let size = this.extend(Q, 0, V, kept, most);
      for (let step = 1; step <= STEPS; step++) {
        size = this.extend(Q, size, block, kept, most);
        if (step === STEPS) break;
        this.step(block, values, next, kept);
        [block, next] = [next, block];
      }
      ({ values, V, kept } = this.ritz(Q, size, p));
    }
  }

  /** Largest error of the requested shapes relative to the tolerance.
   *
   * A residual v - A(...) contains (ω_p² + s)/(ω_p² - ω²) of itself from modes outside the block, where ω_p is the last
   * one inside (8a). all: the block contains all modes.
   */
  private excess(V: Float64Array, stepped: Float64Array, values: Float64Array, kept: number, all: boolean, rounding: number): number {
    const { n, A, wanted } = this, last = values[kept - 1];
    let worst = 0;
    for (let k = 0; k < Math.min(wanted, kept); k++) {
      let total = 0;
      for (let c = k * n; c < (k + 1) * n; c++) total += (V[c] - stepped[c]) ** 2;
      const gap = all ? 1 : Math.min(1, (2 * (last - values[k])) / (last + A.shift));
      worst = Math.max(worst, Math.sqrt(total) / (SHAPES * gap + rounding * Math.abs(values[k] / A.shift + 1)));
    }
    return worst;
  }

  /** Orthonormalize the rows of W against Q[:size] and each other in the inner product of M, and append them. */
  private extend(Q: Float64Array, size: number, W: Float64Array, p: number, most: number): number {
    const { A, n } = this, v = new Float64Array(n);
    for (let i = 0; i < p && size < most; i++) {
      for (let c = 0; c < n; c++) v[c] = W[i * n + c];
      if (!(this.orthogonal(v, Q, 0, 0) > 0) || !(this.orthogonal(v, Q, size, 1) > VANISHED)) continue;
      A.keepRows(v);
      if (!(this.orthogonal(v, Q, size, 2) > MOTION)) continue; // rounding errors, not a motion
      Q.set(v, size * n);
      size += 1;
    }
    return size;
  }

  /** Make v orthogonal to Q[:size] and of unit length; return its length before normalization. */
  private orthogonal(v: Float64Array, Q: Float64Array, size: number, turns: number): number {
    const { A, n, one: Mv } = this;
    for (let turn = 0; turn < turns; turn++) {
      A.mass(v, 0, Mv, 0);
      for (let k = 0; k < size; k++) {
        let share = 0;
        for (let c = 0; c < n; c++) share += Mv[c] * Q[k * n + c];
        for (let c = 0; c < n; c++) v[c] -= share * Q[k * n + c];
      }
    }
    A.mass(v, 0, Mv, 0);
    let total = 0;
    for (let c = 0; c < n; c++) total += v[c] * Mv[c];
    const length = Math.sqrt(total);
    if (length > 0) for (let c = 0; c < n; c++) v[c] /= length;
    return length;
  }
}
