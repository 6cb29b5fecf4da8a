/** A function on a tree of boxes, a polynomial on each leaf: f = Σ_k c_lk T_{α_k}(ξ), ξ = (x - c_l) / h_l.
 *
 * As in supple.approximation.piecewise: a child is a node (index from 0), leaf l (as -2 - l), or -1 if nothing was fitted.
 */

import type { Table } from "../data/encoded";

export interface PiecewiseData {
  roots_f: Table; roots_i: Table; nodes_i: Table; nodes_f: Table; leaves_i: Table; leaves_f: Table; indices: Table; coefficients: Table;
}

export class Piecewise {
  readonly dimension: number;
  readonly columns: number;

  constructor(private readonly data: PiecewiseData) {
    this.dimension = data.roots_f.shape[2];
    this.columns = data.coefficients.shape[1];
  }

  /** Index of the leaf that contains x, or -1. */
  locate(x: ArrayLike<number>): number {
    const { roots_f, roots_i, nodes_i, nodes_f } = this.data, s = this.dimension;
    for (let r = 0; r < roots_i.values.length; r++) {
      let inside = true;
      for (let i = 0; i < s; i++) inside &&= x[i] >= roots_f.values[2 * r * s + i] && x[i] <= roots_f.values[(2 * r + 1) * s + i];
      if (!inside) continue;
      let child = roots_i.values[r];
      while (child >= 0) child = nodes_i.values[3 * child + (x[nodes_i.values[3 * child]] < nodes_f.values[child] ? 1 : 2)];
      if (child <= -2) return -2 - child;
    }
    return -1;
  }

  /** All columns at x, or null outside the region. */
  evaluate(x: ArrayLike<number>): Float64Array | null {
    const leaf = this.locate(x), { leaves_i, leaves_f, indices, coefficients } = this.data, s = this.dimension, t = this.columns;
    if (leaf < 0) return null;
    const first = leaves_i.values[3 * leaf], terms = leaves_i.values[3 * leaf + 1], degree = leaves_i.values[3 * leaf + 2];
    const T = new Float64Array(s * (degree + 1)), out = new Float64Array(t);
    for (let i = 0; i < s; i++) {
      const xi = (x[i] - leaves_f.values[2 * leaf * s + i]) * leaves_f.values[(2 * leaf + 1) * s + i], at = i * (degree + 1);
      T[at] = 1;
      if (degree > 0) T[at + 1] = xi;
      for (let k = 2; k <= degree; k++) T[at + k] = 2 * xi * T[at + k - 1] - T[at + k - 2];
    }
    for (let k = 0; k < terms; k++) {
      let term = 1;
      for (let i = 0; i < s; i++) term *= T[i * (degree + 1) + indices.values[k * s + i]];
      const row = (first + k) * t;
      for (let c = 0; c < t; c++) out[c] += term * coefficients.values[row + c];
    }
    return out;
  }
}
