/** Frequency responses at one posture: the lowest modes as they vibrate, the others as they answer at 0 Hz.
 *
 *     H(ω) = Σ_r (g_o φ_r)(g_i φ_r) / (ω_r² - ω² + i d_r(ω)) + g_o (K⁻¹ g_iᵀ - Σ_r φ_r (g_i φ_r) / ω_r²)
 *
 * (docs/theory/frequency-response.md, 7-10; actuators locked). d_r is 2 ζ_r ω_r ω, η ω_r² or (α + β ω_r²) ω; by a loss
 * factor or β the second part is over 1 + iη or 1 + iβω.
 */

import type { Modes } from "./modes";

export interface DampingLaw {
  kind: "modal" | "structural" | "rayleigh";
  /** ζ, η, or α and β. */
  values: number[];
}

export interface Receptance {
  real: Float64Array;
  imag: Float64Array;
}

/** What a row of forces moves without the modes: K⁻¹ applied to what is left of it, by repeated shifted responses. */
export function residual(modes: Modes, row: Float64Array): Float64Array {
  const { response: A, shapes, count } = modes, n = row.length;
  const force = Float64Array.from(row), step = new Float64Array(n), Mz = new Float64Array(n), moved = new Float64Array(n);
  const clear = (v: Float64Array) => { // M-orthogonal to the modes
    A.mass(v, 0, Mz, 0);
    for (let k = 0; k < count; k++) {
      let share = 0;
      for (let c = 0; c < n; c++) share += Mz[c] * shapes[k * n + c];
      for (let c = 0; c < n; c++) v[c] -= share * shapes[k * n + c];
    }
  };
  let largest = 0;
  for (let turn = 0; turn < 60; turn++) { // z = A (f + s M z): z ← z + A(f), f ← s M step
    A.respond(force, step);
    clear(step);
    let size = 0;
    for (let c = 0; c < n; c++) {
      moved[c] += step[c];
      size = Math.max(size, Math.abs(step[c]));
    }
    largest = Math.max(largest, size);
    if (size <= 1e-12 * largest) break;
    A.mass(step, 0, Mz, 0);
    for (let c = 0; c < n; c++) force[c] = A.shift * Mz[c];
  }
  return moved;
}

export function receptance(modes: Modes, input: Float64Array, output: Float64Array, hertz: Float64Array, law: DampingLaw): Receptance {
  const n = input.length, real = new Float64Array(hertz.length), imag = new Float64Array(hertz.length);
  let still = 0;
  const rest = residual(modes, input);
  for (let c = 0; c < n; c++) still += output[c] * rest[c];
  const shares = new Float64Array(modes.count), omega = new Float64Array(modes.count);
  for (let k = 0; k < modes.count; k++) {
    let a = 0, b = 0;
    for (let c = 0; c < n; c++) {
      a += input[c] * modes.shapes[k * n + c];
      b += output[c] * modes.shapes[k * n + c];
    }
    shares[k] = a * b;
    omega[k] = 2 * Math.PI * modes.frequencies[k];
  }
  for (let l = 0; l < hertz.length; l++) {
    const w = 2 * Math.PI * hertz[l];
    const behind = follows(law, w), size = 1 + behind * behind;
    let x = still / size, y = (-behind * still) / size;
    for (let k = 0; k < modes.count; k++) {
      const loss = lost(law, omega[k], w), gap = omega[k] * omega[k] - w * w, square = gap * gap + loss * loss;
      x += (shares[k] * gap) / square;
      y -= (shares[k] * loss) / square;
    }
    real[l] = x;
    imag[l] = y;
  }
  return { real, imag };
}

/** How far what follows statically lags behind, K (1 + i ·). */
function follows(law: DampingLaw, w: number): number {
  return law.kind === "structural" ? law.values[0] : law.kind === "rayleigh" ? law.values[1] * w : 0;
}

function lost(law: DampingLaw, omega: number, w: number): number {
  if (law.kind === "modal") return 2 * law.values[0] * omega * w;
  if (law.kind === "structural") return law.values[0] * omega * omega;
  return (law.values[0] + law.values[1] * omega * omega) * w;
}
