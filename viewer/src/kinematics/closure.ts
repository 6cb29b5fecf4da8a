/** Closing the loops: Newton's method along the straight segment from rest to θ (docs/theory/kinematics.md).
 *
 * A configuration is the one reached along that segment, so that it depends on θ alone. A step is accepted only if its
 * corrections decrease fast, no body moves far, the determinant keeps its sign, and the step is short relative to the
 * margin of the rows; otherwise it is halved. Below the shortest step, the mechanism is at a dead point. As
 * supple.kinematics.closure_kernel, with the same results.
 */

import type { Table } from "../data/encoded";
import { Elimination } from "./elimination";
import { moved } from "./motion";
import { INTEGERS, KIND, NONE, NUMBERS, SCALE, THEN, TURNS, type RowTable } from "./row_table";
import { continued, rowValue, value } from "./terms";

const CONTRACTION = 0.3, REACH = 0.7, SLOPE = 0.7, SHORTEST = 1e-7, CLOSED = 1e-9, ROUNDING = 1e-15, KEEP = 1e-3;
const ITERATIONS = 12, ANGLE = 3;

/** Start of closure: poses, measures, rigid modes and their derivatives, sign and margin of the rows at rest. */
export interface RestData {
  X: Table;
  w: Table;
  Psi: Table;
  dPsi: Table;
  sign: number;
  margin: number;
}

/** An assembled position: poses X (bodies + 1, 12), measures w (θ first), and the part of the segment that was followed. */
export interface Position {
  X: Float64Array;
  w: Float64Array;
  reached: number;
}

export class Closure {
  private readonly work: Elimination;
  private readonly rho: Float64Array;
  private readonly x: Float64Array;
  private readonly twist = new Float64Array(6);

  constructor(readonly rows: RowTable, readonly rest: RestData) {
    this.work = new Elimination(rows);
    this.rho = new Float64Array(rows.jointRows + rows.coordinates);
    this.x = new Float64Array((rows.bodies + 1) * rows.width);
  }

  /** The position at θ; reached is 1 if it is assembled. */
  close(theta: ArrayLike<number>): Position {
    const { rows, rest } = this, { jointRows: mc, coordinates: s } = rows;
    const X = Float64Array.from(rest.X.values), restW = rest.w.values, w = Float64Array.from(restW);
    if (s === 0) return { X, w, reached: 1 }; // nothing to move
    let done = 0, step = 1, { sign, margin } = rest, shortest = SHORTEST;
    for (let i = 0; i < s; i++) {
      if (rows.integers[INTEGERS * (mc + i) + KIND] !== ANGLE) continue;
      const turn = Math.abs(theta[i] - restW[i]);
      shortest = Math.min(shortest, SHORTEST / Math.max(turn, 1));
      while (turn * step > REACH) step *= 0.5;
    }
    const change = new Float64Array(s), target = new Float64Array(s), trial = new Float64Array(X.length);
    while (done < 1) {
      const next = Math.min(1, done + step);
      for (let i = 0; i < s; i++) {
        change[i] = next * (theta[i] - restW[i]);
        target[i] = restW[i] + change[i];
      }
      trial.set(X);
      const predicted = done === 0 ? this.predict(change, trial) : 0;
      const found = predicted <= REACH ? this.closeStep(target, w, sign, trial)
        : { closed: false, sign, margin, first: predicted };
      const size = Math.max(found.first, predicted);
      let closed = found.closed;
      if (done === 0 && found.first > CONTRACTION * Math.max(predicted, 0.1)) closed = false;
      if (margin + found.margin < SLOPE * size && size > CLOSED) closed = false;
      if (closed) {
        done = next;
        sign = found.sign;
        margin = found.margin;
        X.set(trial);
        for (let i = 0; i < w.length; i++) {
          if (rows.integers[INTEGERS * (mc + i) + TURNS] === i) {
            w[i] = continued(rows, mc + i, value(rows, mc + i, X), w);
          }
        }
        if (size < 0.5 * REACH) step *= 2;
      } else {
        step *= 0.5;
        if (step < shortest) break;
      }
    }
    const measured = new Float64Array(w.length);
    for (let i = 0; i < w.length; i++) measured[i] = rowValue(rows, mc + i, X, w);
    return { X, w: measured, reached: done };
  }

  /** Move X by a change of θ to second order from the rigid modes at rest; returns the largest scaled velocity. */
  private predict(change: Float64Array, X: Float64Array): number {
    const { rows, rest } = this, { width: d, coordinates: s, column, extent } = rows;
    const Psi = rest.Psi.values, dPsi = rest.dPsi.values, V = new Float64Array(6), dV = new Float64Array(6);
    let largest = 0;
    for (let b = 0; b < rows.bodies; b++) {
      V.fill(0);
      dV.fill(0);
      for (let c = 0; c < d; c++) {
        for (let j = 0; j < s; j++) {
          V[column[c]] += Psi[(b * d + c) * s + j] * change[j];
          for (let k = 0; k < s; k++) dV[column[c]] += dPsi[((b * d + c) * s + j) * s + k] * change[j] * change[k];
        }
      }
      const [v0, v1, v2, w0, w1, w2] = V;
      V[0] += 0.5 * (dV[0] + w1 * v2 - w2 * v1);
      V[1] += 0.5 * (dV[1] + w2 * v0 - w0 * v2);
      V[2] += 0.5 * (dV[2] + w0 * v1 - w1 * v0);
      for (let k = 0; k < 3; k++) {
        V[3 + k] += 0.5 * dV[3 + k];
        largest = Math.max(largest, Math.abs(V[3 + k]), Math.abs(V[k]) / extent);
      }
      moved(X, b, V);
    }
    return largest;
  }

  private closeStep(target: Float64Array, w: Float64Array, startSign: number, X: Float64Array) {
    const { rows, work, rho } = this, { jointRows: mc, coordinates: s, integers, numbers } = rows;
    const redundant = mc + s - rows.treeRows > rows.free;
    let before = 0, first = 0, sign = 0, margin = 0, reuse = false;
    for (let iteration = 0; iteration < ITERATIONS; iteration++) {
      if (!reuse) {
        const found = work.factor(X);
        sign = found.sign;
        if (!found.regular) return { closed: false, sign, margin: 0, first };
        margin = work.margin();
      }
      for (let i = 0; i < mc + s; i++) {
        let total = 0;
        for (let term = i; term !== NONE; term = integers[INTEGERS * term + THEN]) {
          total += continued(rows, term, reuse ? value(rows, term, X) : work.values[term], w);
        }
        rho[i] = ((i >= mc ? target[i - mc] : 0) - total) / numbers[NUMBERS * i + SCALE];
      }
      work.solve(rho, this.x);
      const size = this.update(X);
      if (!(size <= REACH)) return { closed: false, sign, margin, first: size };
      if (iteration === 0) first = size;
      else if (size > CONTRACTION * before && size > CLOSED) return { closed: false, sign, margin, first };
      const shrinking = iteration > 0 ? size / before : 1;
      const rounding = iteration > 0 && !reuse && size > CONTRACTION * before && size <= CLOSED;
      if (rounding || size * (reuse ? shrinking : Math.max(size, shrinking * shrinking)) <= ROUNDING) {
        const crossed = sign !== startSign && !(redundant && margin > 10 * first);
        return { closed: !crossed, sign, margin, first };
      }
      reuse = size < KEEP && shrinking < CONTRACTION;
      before = size;
    }
    return { closed: false, sign: startSign, margin, first };
  }

  private update(X: Float64Array): number {
    const { bodies, width: d, column, extent } = this.rows, t = this.twist;
    let largest = 0;
    for (let b = 0; b < bodies; b++) {
      t.fill(0);
      for (let c = 0; c < d; c++) {
        const size = this.x[b * d + c];
        if (!(Math.abs(size) <= largest)) largest = Math.abs(size);
        t[column[c]] = column[c] < 3 ? size * extent : size;
      }
      moved(X, b, t);
    }
    return largest;
  }
}
