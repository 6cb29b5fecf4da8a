/** A reduced model on the page: its coefficients at a posture, and its frequencies with θ locked. */

import { symmetricEigen } from "../algebra/symmetric_eigen";
import type { ModelData } from "../data/page_data";
import { Piecewise } from "./piecewise";

export interface Column { coefficient: string; place: number; label: string; unit: string }

export class ReducedModel {
  readonly fitted: Piecewise;
  readonly columns: Column[];
  private readonly places: number[];

  /** names: coordinates of the mechanism. */
  constructor(readonly data: ModelData, names: string[]) {
    this.fitted = new Piecewise(data.function);
    this.columns = data.function.columns;
    this.places = data.coordinates.map((name) => names.indexOf(name));
  }

  /** True if its coordinates are among those of the mechanism; along a path they are not. */
  get placed(): boolean {
    return this.places.every((place) => place >= 0);
  }

  /** Coefficients at θ of the mechanism, in the order of `columns`; null outside the region. */
  evaluate(theta: ArrayLike<number>): Float64Array | null {
    return this.placed ? this.fitted.evaluate(this.places.map((place) => theta[place])) : null;
  }

  /** Frequencies, Hz, increasing, of K_δδ φ = ω² M_δδ φ; empty for a rigid model. */
  frequencies(values: Float64Array): number[] {
    const { size: n, theta: s } = this.data.function, d = n - s;
    if (d === 0) return [];
    const [M, K] = [this.block("M", values), this.block("K", values)];
    const L = new Float64Array(d * d); // M = L Lᵀ
    for (let i = 0; i < d; i++) {
      for (let j = 0; j <= i; j++) {
        let total = M[i * d + j];
        for (let k = 0; k < j; k++) total -= L[i * d + k] * L[j * d + k];
        if (i === j && !(total > 0)) return [];
        L[i * d + j] = i === j ? Math.sqrt(total) : total / L[j * d + j];
      }
    }
    const half = K.slice(); // L⁻¹ K, then L⁻¹ (L⁻¹ K)ᵀ
    for (let turn = 0; turn < 2; turn++) {
      for (let c = 0; c < d; c++) {
        for (let i = 0; i < d; i++) {
          let total = half[i * d + c];
          for (let k = 0; k < i; k++) total -= L[i * d + k] * half[k * d + c];
          half[i * d + c] = total / L[i * d + i];
        }
      }
      for (let i = 0; i < d; i++) for (let j = 0; j < i; j++) [half[i * d + j], half[j * d + i]] = [half[j * d + i], half[i * d + j]];
    }
    return Array.from(symmetricEigen(half, d).values, (square) => (Math.sign(square) * Math.sqrt(Math.abs(square))) / (2 * Math.PI));
  }

  /** δδ block of a symmetric matrix that is stored as its upper triangle. */
  private block(name: "M" | "K", values: Float64Array): Float64Array {
    const { size: n, theta: s, constants } = this.data.function, d = n - s, out = new Float64Array(d * d);
    const at = this.columns.findIndex(({ coefficient, place }) => coefficient === name && place === 0);
    const packed = at >= 0 ? (place: number) => values[at + place] : (place: number) => constants[name]?.[place] ?? 0;
    let place = 0;
    for (let i = 0; i < n; i++) {
      for (let j = i; j < n; j++, place++) {
        if (i >= s) out[(i - s) * d + j - s] = out[(j - s) * d + i - s] = packed(place);
      }
    }
    return out;
  }
}
