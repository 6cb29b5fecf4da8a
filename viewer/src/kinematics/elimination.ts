/** Solves the joint and coordinate rows [Φ_q; A] x = ρ, with any redundancy.
 *
 * Body by body from the ground outwards, the rows of its tree joint determine as many of its velocities. The remaining
 * rows of loops and coordinates in the free columns are a small dense system. As supple.kinematics.elimination.
 */

import { householder, signOfSelected, solveDense } from "../algebra/householder";
import { A, B, CHILD_SIDE, FIRST_FREE, FIRST_ROW, INTEGERS, NONE, NUMBERS, PARENT, ROW_COUNT, SCALE, THEN, type RowTable } from "./row_table";
import { gradient } from "./terms";

export class Elimination {
  /** Terms of joint and coordinate rows: scaled gradients on their two sides, and values. */
  readonly J: Float64Array;
  readonly values: Float64Array;
  private readonly blocks: Float64Array;
  private readonly order: Int32Array;
  private readonly T: Float64Array;
  private readonly G: Float64Array;
  private readonly tau: Float64Array;
  private readonly pivots: Int32Array;
  private readonly g: Float64Array;
  private readonly others: number;

  constructor(private readonly rows: RowTable) {
    const { bodies, width, terms, free } = rows;
    this.others = rows.jointRows + rows.coordinates - rows.treeRows;
    this.J = new Float64Array(terms * 2 * width);
    this.values = new Float64Array(terms);
    this.blocks = new Float64Array(bodies * width * 3 * width);
    this.order = new Int32Array(bodies * width);
    this.T = new Float64Array((bodies + 1) * width * free);
    this.G = new Float64Array(this.others * free);
    this.tau = new Float64Array(free);
    this.pivots = new Int32Array(free);
    this.g = new Float64Array(Math.max(this.others, free));
  }

  /** Factorize at X; returns whether the rows have full rank, and the sign of their determinant. */
  factor(X: Float64Array): { regular: boolean; sign: number } {
    const { free, selected } = this.rows;
    this.scaledRows(X);
    let sign = this.eliminateTree();
    if (this.others > free) sign *= signOfSelected(this.G, selected, free);
    const found = householder(this.G, this.others, free, this.tau, this.pivots);
    if (this.others === free) sign *= found.sign;
    return { regular: found.rank === free, sign };
  }

  /** Last over first diagonal entry of R: a measure of the independence of the columns. */
  margin(): number {
    const n = this.rows.free;
    return n > 0 ? Math.abs(this.G[n * n - 1] / this.G[0]) : 1;
  }

  private scaledRows(X: Float64Array): void {
    const { width, column, integers, numbers, extent } = this.rows, J = this.J;
    const g = new Float64Array(13);
    for (let i = 0; i < this.rows.jointRows + this.rows.coordinates; i++) {
      const inverse = 1 / numbers[NUMBERS * i + SCALE];
      for (let term = i; term !== NONE; term = integers[INTEGERS * term + THEN]) {
        gradient(this.rows, term, X, g);
        this.values[term] = g[0];
        const at = term * 2 * width;
        for (let c = 0; c < width; c++) {
          const k = column[c], factor = k < 3 ? inverse * extent : inverse;
          J[at + c] = factor * g[1 + k];
          J[at + width + c] = factor * g[7 + k];
        }
        if (term !== i && i < this.rows.treeRows) { // all terms of a tree row are between the bodies of its joint
          const side = integers[INTEGERS * term + A] === integers[INTEGERS * i + A] ? 0 : 1, to = i * 2 * width;
          for (let c = 0; c < width; c++) {
            J[to + c] += J[at + side * width + c];
            J[to + width + c] += J[at + (1 - side) * width + c];
          }
          J.fill(0, at, at + 2 * width);
        }
      }
    }
  }

  private eliminateTree(): number {
    const { bodies, width: d, free: all, tree, reach, reachWidth, integers, treeRows } = this.rows;
    const { J, blocks, order, T, G } = this, wide = 3 * d;
    let sign = 1;
    for (let c = 0; c < bodies; c++) {
      const parent = tree[5 * c + PARENT], start = tree[5 * c + FIRST_ROW], r = tree[5 * c + ROW_COUNT];
      const free = tree[5 * c + FIRST_FREE], side = tree[5 * c + CHILD_SIDE];
      const last = parent === bodies ? d + r : 2 * d + r, here = c * d * wide, own = c * d;
      for (let i = 0; i < r; i++) {
        const row = here + i * wide, from = (start + i) * 2 * d;
        for (let q = 0; q < d; q++) {
          blocks[row + q] = J[from + side * d + q];
          blocks[row + d + r + q] = J[from + (1 - side) * d + q];
        }
        for (let q = d; q < d + r; q++) blocks[row + q] = 0;
        blocks[row + d + i] = 1;
      }
      for (let q = 0; q < d; q++) order[own + q] = q;
      for (let i = 0; i < r; i++) {
        let row = i, col = i, best = -1;
        for (let k = i; k < r; k++) {
          for (let q = i; q < d; q++) {
            const size = Math.abs(blocks[here + k * wide + q]);
            if (size > best) { best = size; row = k; col = q; }
          }
        }
        if (row !== i) {
          sign = -sign;
          for (let q = i; q < last; q++) {
            const kept = blocks[here + i * wide + q];
            blocks[here + i * wide + q] = blocks[here + row * wide + q];
            blocks[here + row * wide + q] = kept;
          }
        }
        if (col !== i) {
          sign = -sign;
          const kept = order[own + i];
          order[own + i] = order[own + col];
          order[own + col] = kept;
          for (let k = 0; k < r; k++) {
            const at = here + k * wide, other = blocks[at + i];
            blocks[at + i] = blocks[at + col];
            blocks[at + col] = other;
          }
        }
        const pivot = blocks[here + i * wide + i];
        if (pivot < 0) sign = -sign;
        for (let q = i + 1; q < last; q++) blocks[here + i * wide + q] /= pivot;
        for (let k = 0; k < r; k++) {
          const factor = blocks[here + k * wide + i];
          if (k === i || factor === 0) continue;
          for (let q = i + 1; q < last; q++) blocks[here + k * wide + q] -= factor * blocks[here + i * wide + q];
        }
      }
      const Tc = c * d * all;
      for (let k = 0; k < d - r; k++) {
        for (let q = r; q < d; q++) T[Tc + order[own + q] * all + free + k] = 0;
        T[Tc + order[own + r + k] * all + free + k] = 1;
        for (let i = 0; i < r; i++) T[Tc + order[own + i] * all + free + k] = -blocks[here + i * wide + r + k];
      }
      for (let n = 0; n < reach[parent * reachWidth]; n++) {
        const z = reach[parent * reachWidth + 1 + n];
        for (let q = r; q < d; q++) T[Tc + order[own + q] * all + z] = 0;
        for (let i = 0; i < r; i++) {
          let total = 0;
          for (let q = 0; q < d; q++) total += blocks[here + i * wide + d + r + q] * T[(parent * d + q) * all + z];
          T[Tc + order[own + i] * all + z] = -total;
        }
      }
    }
    for (let i = treeRows; i < this.rows.jointRows + this.rows.coordinates; i++) {
      const to = (i - treeRows) * all;
      G.fill(0, to, to + all);
      for (let term = i; term !== NONE; term = integers[INTEGERS * term + THEN]) {
        for (let side = 0; side < 2; side++) {
          const b = integers[INTEGERS * term + A + side], from = (term * 2 + side) * d;
          for (let n = 0; n < reach[b * reachWidth]; n++) {
            const z = reach[b * reachWidth + 1 + n];
            let total = 0;
            for (let q = 0; q < d; q++) total += J[from + q] * T[(b * d + q) * all + z];
            G[to + z] += total;
          }
        }
      }
    }
    return sign;
  }

  /** x (bodies + 1, d) with [Φ_q; A] x = ρ, both scaled. */
  solve(rho: Float64Array, x: Float64Array): void {
    const { bodies, width: d, free: all, tree, reach, reachWidth, integers, treeRows } = this.rows;
    const { J, blocks, order, T, g } = this, wide = 3 * d;
    x.fill(0);
    for (let b = 0; b < bodies; b++) {
      const parent = tree[5 * b + PARENT], start = tree[5 * b + FIRST_ROW], r = tree[5 * b + ROW_COUNT];
      for (let i = 0; i < r; i++) {
        const row = (b * d + i) * wide;
        let total = 0;
        for (let k = 0; k < r; k++) total += blocks[row + d + k] * rho[start + k];
        if (parent < bodies) for (let q = 0; q < d; q++) total -= blocks[row + d + r + q] * x[parent * d + q];
        x[b * d + order[b * d + i]] = total;
      }
    }
    for (let i = treeRows; i < this.rows.jointRows + this.rows.coordinates; i++) {
      let total = rho[i];
      for (let term = i; term !== NONE; term = integers[INTEGERS * term + THEN]) {
        const a = integers[INTEGERS * term + A] * d, b = integers[INTEGERS * term + B] * d, from = term * 2 * d;
        for (let q = 0; q < d; q++) total -= J[from + q] * x[a + q] + J[from + d + q] * x[b + q];
      }
      g[i - treeRows] = total;
    }
    solveDense(this.G, this.others, all, this.tau, this.pivots, g);
    for (let b = 0; b < bodies; b++) {
      for (let n = 0; n < reach[b * reachWidth]; n++) {
        const z = reach[b * reachWidth + 1 + n];
        for (let q = 0; q < d; q++) x[b * d + q] += T[(b * d + q) * all + z] * g[z];
      }
    }
  }
}
