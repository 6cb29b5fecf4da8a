/** Frequency responses at one posture: the lowest modes as they vibrate, the others as they answer at 0 Hz.
 *
 *     H(ω) = Σ_r (g_o φ_r)(g_i φ_r) / (ω_r² - ω² + i d_r(ω)) + g_o (K⁻¹ g_iᵀ - Σ_r φ_r (g_i φ_r) / ω_r²)
 *
 * (docs/theory/frequency-response.md, 7-10; actuators locked), K with the stiffness of loads where the page has it.
 * Damping is that of the deformation: d_r is 2 ζ √U_r ω, η U_r or (α + β U_r) ω, U_r = φ_rᵀKφ_r without that stiffness,
 * ω_r² where there is none. By a loss factor or β the second part is over 1 + iη or 1 + iβω.
 */

import type { Modes } from "./modes";

const TURNS = 200, SETTLED = 1e-22; // of conjugate gradients: at most, and of the energy of their first step

export interface DampingLaw {
  kind: "modal" | "structural" | "rayleigh";
  /** ζ, η, or α and β. */
  values: number[];
}

export interface Receptance {
  real: Float64Array;
  imag: Float64Array;
}

/** What a row of forces moves without the modes: (K + K_g)⁻¹ applied to what is left of it, by conjugate gradients.
 *
 * The response A is their preconditioner: it keeps the rows, and is nearly the inverse above the lowest modes.
 */
export function residual(modes: Modes, row: Float64Array): Float64Array {
  const { response: A, shapes, count, loads } = modes, n = row.length;
  const force = Float64Array.from(row), step = new Float64Array(n), Mz = new Float64Array(n), moved = new Float64Array(n);
  const clear = (v: Float64Array) => { // M-orthogonal to the modes
    A.mass(v, 0, Mz, 0);
    for (let k = 0; k < count; k++) {
      const share = product(Mz, shapes.subarray(k * n, (k + 1) * n));
      for (let c = 0; c < n; c++) v[c] -= share * shapes[k * n + c];
    }
  };
  for (let k = 0; k < count; k++) { // what the modes carry
    const shape = shapes.subarray(k * n, (k + 1) * n), share = product(row, shape);
    A.mass(shape, 0, Mz, 0);
    for (let c = 0; c < n; c++) force[c] -= share * Mz[c];
  }
  const toward = new Float64Array(n), pull = new Float64Array(n);
  let before = 0, first = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    A.respond(force, step);
    clear(step);
    const now = product(force, step);
    if (turn === 0) first = now;
    if (!(now > SETTLED * first)) break;
    for (let c = 0; c < n; c++) toward[c] = step[c] + (turn === 0 ? 0 : now / before) * toward[c];
    A.stiff(toward, 0, pull, 0);
    loads?.add(toward, 0, 1, pull, 0);
    const length = now / product(toward, pull);
    for (let c = 0; c < n; c++) {
      moved[c] += length * toward[c];
      force[c] -= length * pull[c];
    }
    before = now;
  }
  return moved;
}

function product(x: Float64Array, y: Float64Array): number {
  let total = 0;
  for (let c = 0; c < x.length; c++) total += x[c] * y[c];
  return total;
}

export function receptance(modes: Modes, input: Float64Array, output: Float64Array, hertz: Float64Array, law: DampingLaw): Receptance {
  const n = input.length, real = new Float64Array(hertz.length), imag = new Float64Array(hertz.length);
  let still = 0;
  const rest = residual(modes, input);
  for (let c = 0; c < n; c++) still += output[c] * rest[c];
  const shares = new Float64Array(modes.count);
  for (let k = 0; k < modes.count; k++) {
    let a = 0, b = 0;
    for (let c = 0; c < n; c++) {
      a += input[c] * modes.shapes[k * n + c];
      b += output[c] * modes.shapes[k * n + c];
    }
    shares[k] = a * b;
  }
  for (let l = 0; l < hertz.length; l++) {
    const w = 2 * Math.PI * hertz[l];
    const behind = follows(law, w), size = 1 + behind * behind;
    let x = still / size, y = (-behind * still) / size;
    for (let k = 0; k < modes.count; k++) {
      const loss = lost(law, modes.elastic[k], w), gap = modes.squares[k] - w * w, square = gap * gap + loss * loss;
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

function lost(law: DampingLaw, elastic: number, w: number): number {
  if (law.kind === "modal") return 2 * law.values[0] * Math.sqrt(Math.max(elastic, 0)) * w;
  if (law.kind === "structural") return law.values[0] * elastic;
  return (law.values[0] + law.values[1] * elastic) * w;
}
