/** Frequency responses at one posture: the lowest modes dynamically, the others by their response at 0 Hz.
 *
 *     H(ω) = Σ_r (g_o φ_r)(g_i φ_r) / (ω_r² - ω² + i d_r(ω)) + g_o (K⁻¹ g_iᵀ - Σ_r φ_r (g_i φ_r) / ω_r²)
 *
 * (docs/theory/frequency-response.md, 7-10; actuators locked), where K includes the stiffness of loads if the page does.
 * d_r is 2 ζ ω_r ω, η ω_r² or (α + β ω_r²) ω; with a loss factor or β the second part is divided by 1 + iη or 1 + iβω.
 * Damping is that of the deformation: under loads, E = ΦᵀKΦ without load stiffness replaces ω_r² and couples the modes.
 */

import { solveGauss } from "../algebra/gauss";
import { symmetricEigen } from "../algebra/symmetric_eigen";
import type { Modes } from "./modes";

const TURNS = 200, SETTLED = 1e-22; // conjugate gradients: limit of iterations, and tolerance relative to the first energy

export interface DampingLaw {
  kind: "modal" | "structural" | "rayleigh";
  /** ζ, η, or α and β. */
  values: number[];
}

export interface Receptance {
  real: Float64Array;
  imag: Float64Array;
}

/** Static response without the modes: (K + K_g)⁻¹ times the rest of a force row, by conjugate gradients.
 *
 * The response A is the preconditioner: it satisfies the rows, and is nearly the inverse above the lowest modes.
 */
export function residual(modes: Modes, row: Float64Array): Float64Array {
  const { response: A, shapes, count, loads } = modes, n = row.length;
  const force = Float64Array.from(row), step = new Float64Array(n), Mz = new Float64Array(n), moved = new Float64Array(n);
  const clear = (v: Float64Array) => { // make v M-orthogonal to the modes
    A.mass(v, 0, Mz, 0);
    for (let k = 0; k < count; k++) {
      const share = product(Mz, shapes.subarray(k * n, (k + 1) * n));
      for (let c = 0; c < n; c++) v[c] -= share * shapes[k * n + c];
    }
  };
  for (let k = 0; k < count; k++) { // share of the modes
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
  const n = input.length, count = modes.count, real = new Float64Array(hertz.length), imag = new Float64Array(hertz.length);
  const still = product(output, residual(modes, input));
  const shape = (k: number) => modes.shapes.subarray(k * n, (k + 1) * n);
  const into = Float64Array.from({ length: count }, (_, k) => product(input, shape(k)));
  const from = Float64Array.from({ length: count }, (_, k) => product(output, shape(k)));
  const coupled = modes.loads ? coupledDamping(modes, law) : null;
  for (let l = 0; l < hertz.length; l++) {
    const w = 2 * Math.PI * hertz[l];
    const behind = follows(law, w), size = 1 + behind * behind;
    let x = still / size, y = (-behind * still) / size;
    if (coupled) {
      const q = coupledResponse(modes, coupled, law, w, into);
      for (let k = 0; k < count; k++) {
        x += from[k] * q[k];
        y += from[k] * q[count + k];
      }
    } else {
      for (let k = 0; k < count; k++) {
        const loss = lost(law, modes.squares[k], w), gap = modes.squares[k] - w * w, square = gap * gap + loss * loss;
        x += (from[k] * into[k] * gap) / square;
        y -= (from[k] * into[k] * loss) / square;
      }
    }
    real[l] = x;
    imag[l] = y;
  }
  return { real, imag };
}

/** Modal damping matrix with loads: E = ΦᵀKΦ without loads is not diagonal, and damping is a function of it. */
function coupledDamping(modes: Modes, law: DampingLaw): Float64Array {
  const { response: A, shapes, count } = modes, n = A.structure.size, E = new Float64Array(count * count), Kv = new Float64Array(n);
  for (let i = 0; i < count; i++) {
    A.stiff(shapes, i * n, Kv, 0);
    for (let j = 0; j < count; j++) E[i * count + j] = product(Kv, shapes.subarray(j * n, (j + 1) * n));
  }
  const { values, vectors } = symmetricEigen(E, count), found = new Float64Array(count * count);
  for (let k = 0; k < count; k++) {
    const loss = lost(law, values[k], 1); // at 1 rad/s
    for (let i = 0; i < count; i++) for (let j = 0; j < count; j++) found[i * count + j] += loss * vectors[k * count + i] * vectors[k * count + j];
  }
  return found;
}

/** q of (ω_r² - ω² + i D) q = b, real parts before imaginary parts. */
function coupledResponse({ squares, count }: Modes, damping: Float64Array, law: DampingLaw, w: number, b: Float64Array): Float64Array {
  const size = 2 * count, M = new Float64Array(size * size), q = new Float64Array(size), factor = law.kind === "structural" ? 1 : w;
  q.set(b);
  for (let i = 0; i < count; i++) {
    M[i * size + i] = M[(count + i) * size + count + i] = squares[i] - w * w;
    for (let j = 0; j < count; j++) {
      M[i * size + count + j] = -factor * damping[i * count + j];
      M[(count + i) * size + j] = factor * damping[i * count + j];
    }
  }
  solveGauss(M, size, q, 1, 0);
  return q;
}

/** Loss factor of the static part, K (1 + i ·). */
function follows(law: DampingLaw, w: number): number {
  return law.kind === "structural" ? law.values[0] : law.kind === "rayleigh" ? law.values[1] * w : 0;
}

function lost(law: DampingLaw, elastic: number, w: number): number {
  if (law.kind === "modal") return 2 * law.values[0] * Math.sqrt(Math.max(elastic, 0)) * w;
  if (law.kind === "structural") return law.values[0] * elastic;
  return (law.values[0] + law.values[1] * elastic) * w;
}
