/** Geometric stiffness of the loads at rest (docs/theory/elastic-rest.md, 10-14b).
 *
 *     K_g = Σ_bodies Σ_c w_c(θ) K_c + Σ_pairs Gᵀ (Σ λ_i D²φ_i) G
 *
 * K_c over z of the body is constant for each unit load w_c: weight, a force at a place, or a constraint force on a part.
 * The constraint forces λ follow from statics at θ, with θ held by the actuators.
 */

import { leastNorm } from "../algebra/least_norm";
import type { Table } from "../data/encoded";
import { addCurvature } from "../kinematics/curvature";
import { A, B, INTEGERS, NONE, THEN } from "../kinematics/row_table";
import { gradient } from "../kinematics/terms";
import { reactions } from "./statics";
import type { Structure } from "./structure";

export interface LoadData {
  /** (loads, 4) body, its first coordinate, their number, 1 if the load rotates with the body. */
  place: Table;
  /** (loads, widest, 6) force over z of the body for each component. */
  maps: Table;
  /** (loads, 6) force and moment, in world or body axes. */
  wrenches: Table;
  /** (k, 3) load, component, and start of its matrix in `forms`. */
  of_loads: Table;
  /** (k, 3) the same for constraint forces on a part. */
  of_parts: Table;
  /** Upper triangles, row by row. */
  forms: Table;
  /** (k, 2) row and measure along which springs and constant forces act. */
  acted: Table;
  /** (k, 2) force at zero measure, and slope. */
  along: Table;
  /** Rows along which actuators act, if these are not the coordinates. */
  pushed: Table;
  /** First row of θ, and number of rows. */
  theta: [number, number];
  /** Unit of stiffness in the statics. */
  shift: number;
}

/** K_g of one body (equal row and column), or between two. */
interface Block { row: number; rows: number; column: number; columns: number; values: Float64Array }

/** K_g at one posture. */
export class GeometricStiffness {
  private readonly blocks = new Map<number, Block>();

  constructor(private readonly size: number) {}

  /** The block of coordinates from `row` and from `column` on; created on first use. */
  block(row: number, rows: number, column: number, columns: number): Float64Array {
    const key = row * this.size + column;
    let found = this.blocks.get(key);
    if (!found) this.blocks.set(key, (found = { row, rows, column, columns, values: new Float64Array(rows * columns) }));
    return found.values;
  }

  /** out += factor K_g v of one vector. */
  add(V: Float64Array, from: number, factor: number, out: Float64Array, to: number): void {
    for (const { row, rows, column, columns, values } of this.blocks.values()) {
      for (let i = 0; i < rows; i++) {
        let total = 0;
        for (let j = 0; j < columns; j++) total += values[i * columns + j] * V[from + column + j];
        out[to + row + i] += factor * total;
      }
    }
  }
}

export class Loads {
  private readonly place: Int32Array;
  private readonly acted: Int32Array;
  private readonly pushed: Int32Array;

  constructor(private readonly structure: Structure, private readonly data: LoadData) {
    this.place = Int32Array.from(data.place.values);
    this.acted = Int32Array.from(data.acted.values);
    this.pushed = Int32Array.from(data.pushed.values);
  }

  /** K_g at poses X with measures w, C (held rows, n); null if the loads are not supported. */
  stiffness(X: Float64Array, w: Float64Array, poses: Float64Array, C: Float64Array): GeometricStiffness | null {
    const wrenches = this.wrenches(X), forces = this.rowForces(wrenches, w, poses, C);
    if (!forces) return null;
    const K = new GeometricStiffness(this.structure.size), pushes = this.addCurvatures(K, forces, poses);
    const { of_loads, of_parts } = this.data, { part } = this.structure;
    for (let k = 0; k < of_loads.values.length; k += 3) {
      const [i, c, at] = of_loads.values.subarray(k, k + 3);
      this.addForm(K, wrenches[6 * i + c], at, this.place[4 * i + 1], this.place[4 * i + 2]);
    }
    for (let k = 0; k < of_parts.values.length; k += 3) {
      const [p, c, at] = of_parts.values.subarray(k, k + 3);
      this.addForm(K, pushes[6 * p + c], at, part[3 * p + 1], part[3 * p + 2]);
    }
    return K;
  }

  private addForm(K: GeometricStiffness, force: number, at: number, first: number, width: number): void {
    if (force === 0) return;
    const block = K.block(first, width, first, width), forms = this.data.forms.values;
    for (let i = 0; i < width; i++) {
      for (let j = i; j < width; j++) {
        const value = force * forms[at++];
        block[i * width + j] += value;
        if (j > i) block[j * width + i] += value;
      }
    }
  }

  /** All loads (loads, 6), in the axes of their bodies. */
  private wrenches(X: Float64Array): Float64Array {
    const found = Float64Array.from(this.data.wrenches.values), given = this.data.wrenches.values;
    for (let i = 0; i < this.place.length / 4; i++) {
      if (this.place[4 * i + 3]) continue;
      const R = 12 * this.place[4 * i] + 3;
      for (let at = 6 * i; at < 6 * i + 6; at += 3) {
        for (let k = 0; k < 3; k++) found[at + k] = X[R + k] * given[at] + X[R + 3 + k] * given[at + 1] + X[R + 6 + k] * given[at + 2];
      }
    }
    return found;
  }

  /** λ of all rows at rest, with θ held by actuator forces of least norm; null if the loads are not supported. */
  private rowForces(wrenches: Float64Array, w: Float64Array, poses: Float64Array, C: Float64Array): Float64Array | null {
    const { structure, pushed, acted } = this, n = structure.size, held = structure.held, count = 1 + pushed.length;
    const F = new Float64Array(count * n), widest = this.data.maps.shape[1], maps = this.data.maps.values;
    for (let i = 0; i < this.place.length / 4; i++) {
      const first = this.place[4 * i + 1], width = this.place[4 * i + 2];
      for (let c = 0; c < width; c++) for (let k = 0; k < 6; k++) F[first + c] += maps[(i * widest + c) * 6 + k] * wrenches[6 * i + k];
    }
    const found = new Float64Array(structure.integers.length / INTEGERS), rows = new Int32Array(acted.length / 2);
    for (let k = 0; k < rows.length; k++) {
      const [force, slope] = this.data.along.values.subarray(2 * k, 2 * k + 2);
      rows[k] = acted[2 * k];
      found[rows[k]] = -(force + slope * w[acted[2 * k + 1]]);
    }
    const along = structure.rows(rows, poses);
    for (let k = 0; k < rows.length; k++) for (let c = 0; c < n; c++) F[c] -= found[rows[k]] * along[k * n + c];
    F.set(structure.rows(pushed, poses), n);
    if (!F.some((force) => force !== 0)) return found; // no loads: support is not needed
    const every = reactions(structure, C, F, count, this.data.shift);
    if (!every) return null;
    const m = held.length, u = this.holding(every, m);
    for (let i = 0; i < m; i++) {
      let total = every[i];
      for (let q = 0; q < u.length; q++) total += u[q] * every[(1 + q) * m + i];
      found[held[i]] += total;
    }
    pushed.forEach((row, q) => (found[row] -= u[q]));
    return found;
  }

  /** Actuator forces for which the rows of θ carry no force. */
  private holding(every: Float64Array, m: number): Float64Array {
    const count = this.pushed.length, [first, size] = this.data.theta;
    if (!count) return new Float64Array(0);
    const at = Array.from({ length: size }, (_, j) => this.structure.held.indexOf(first + j));
    const M = new Float64Array(size * count), missing = new Float64Array(size);
    at.forEach((i, j) => {
      missing[j] = -every[i];
      for (let q = 0; q < count; q++) M[j * count + q] = every[(1 + q) * m + i];
    });
    return leastNorm(M, size, count, missing);
  }

  /** Curvature of rows, and constraint forces on parts (parts, 6). */
  private addCurvatures(K: GeometricStiffness, forces: Float64Array, poses: Float64Array): Float64Array {
    const { structure } = this, { integers: I, parts, part, columns, widest } = structure, d = columns.length;
    const pushes = new Float64Array((parts + 1) * 6), g = new Float64Array(13), bends = new Map<number, Float64Array>();
    forces.forEach((own, row) => {
      if (own === 0) return;
      const force = own * structure.scale(row, poses, g);
      for (let term = row; term !== NONE; term = I[INTEGERS * term + THEN]) {
        gradient(structure, term, poses, g);
        const a = I[INTEGERS * term + A], b = I[INTEGERS * term + B], key = a * (parts + 1) + b;
        for (let k = 0; k < 6; k++) {
          pushes[6 * a + k] -= force * g[1 + k];
          pushes[6 * b + k] -= force * g[7 + k];
        }
        let H = bends.get(key);
        if (!H) bends.set(key, (H = new Float64Array(144)));
        addCurvature(structure, term, poses, force, H);
      }
    });
    const shapes = structure.data.shapes.values;
    for (const [key, H] of bends) {
      const ends = [Math.floor(key / (parts + 1)), key % (parts + 1)];
      for (let one = 0; one < 2; one++) {
        for (let other = 0; other < 2; other++) {
          const p = ends[one], q = ends[other];
          if (p >= parts || q >= parts) continue; // the ground
          const rows = part[3 * p + 2], cols = part[3 * q + 2], half = new Float64Array(d * cols);
          for (let i = 0; i < d; i++) {
            for (let j = 0; j < d; j++) {
              const h = H[12 * (6 * one + columns[i]) + 6 * other + columns[j]], from = (q * d + j) * widest;
              if (h !== 0) for (let c = 0; c < cols; c++) half[i * cols + c] += h * shapes[from + c];
            }
          }
          const block = K.block(part[3 * p + 1], rows, part[3 * q + 1], cols);
          for (let i = 0; i < d; i++) {
            const from = (p * d + i) * widest;
            for (let r = 0; r < rows; r++) {
              const x = shapes[from + r];
              if (x !== 0) for (let c = 0; c < cols; c++) block[r * cols + c] += x * half[i * cols + c];
            }
          }
        }
      }
    }
    return pushes;
  }
}
