/** QR factorization of small dense systems with column pivoting, possibly with more rows than unknowns. G (m × n) is stored row by row. */

const RANK = 1e-11; // smallest diagonal entry of R relative to the first

export interface Factors {
  rank: number;
  sign: number;
}

/** Factorize in place, with R on and above the diagonal; as supple.kinematics.elimination. */
export function householder(G: Float64Array, m: number, n: number, tau: Float64Array, pivots: Int32Array): Factors {
  let sign = 1, rank = 0, first = 0;
  const norms = new Float64Array(n), known = new Float64Array(n), totals = new Float64Array(n);
  for (let i = 0; i < m; i++) for (let q = 0; q < n; q++) norms[q] += G[i * n + q] * G[i * n + q];
  for (let j = 0; j < n; j++) {
    pivots[j] = j;
    known[j] = norms[j];
  }
  for (let j = 0; j < Math.min(m, n); j++) {
    let best = -1, col = j;
    for (let q = j; q < n; q++) {
      if (norms[q] < 1e-6 * known[q]) { // cancellation: recompute the sum
        let size = 0;
        for (let i = j; i < m; i++) size += G[i * n + q] * G[i * n + q];
        norms[q] = known[q] = size;
      }
      if (norms[q] > best * (1 + 1e-12)) {
        best = norms[q];
        col = q;
      }
    }
    if (col !== j) {
      sign = -sign;
      swap(pivots, j, col);
      swap(norms, j, col);
      swap(known, j, col);
      for (let i = 0; i < m; i++) swap(G, i * n + j, i * n + col);
    }
    let size = 0;
    for (let i = j; i < m; i++) size += G[i * n + j] * G[i * n + j];
    const norm = Math.sqrt(size);
    if (j === 0) first = norm;
    if (norm <= RANK * first) break;
    rank += 1;
    let alpha = G[j * n + j] > 0 ? -norm : norm;
    if (m - j > 1) {
      sign = -sign;
      const head = G[j * n + j] - alpha;
      for (let i = j + 1; i < m; i++) G[i * n + j] /= head;
      tau[j] = -head / alpha;
    } else {
      alpha = G[j * n + j];
      tau[j] = 0;
    }
    if (alpha < 0) sign = -sign;
    G[j * n + j] = alpha;
    for (let q = j + 1; q < n; q++) totals[q] = G[j * n + q];
    for (let i = j + 1; i < m; i++) {
      const v = G[i * n + j];
      for (let q = j + 1; q < n; q++) totals[q] += v * G[i * n + q];
    }
    for (let q = j + 1; q < n; q++) {
      totals[q] *= tau[j];
      G[j * n + q] -= totals[q];
      norms[q] -= G[j * n + q] * G[j * n + q];
    }
    for (let i = j + 1; i < m; i++) {
      const v = G[i * n + j];
      for (let q = j + 1; q < n; q++) G[i * n + q] -= v * totals[q];
    }
  }
  return { rank, sign };
}

function swap(x: Float64Array | Int32Array, i: number, j: number): void {
  const kept = x[i];
  x[i] = x[j];
  x[j] = kept;
}

/** z (n) with least |G z - g|; the first n entries of g (m) are overwritten with z. */
export function solveDense(G: Float64Array, m: number, n: number, tau: Float64Array, pivots: Int32Array, g: Float64Array): void {
  for (let j = 0; j < n; j++) {
    let total = g[j];
    for (let i = j + 1; i < m; i++) total += G[i * n + j] * g[i];
    total *= tau[j];
    g[j] -= total;
    for (let i = j + 1; i < m; i++) g[i] -= total * G[i * n + j];
  }
  const z = new Float64Array(n);
  for (let j = n - 1; j >= 0; j--) {
    let total = g[j];
    for (let q = j + 1; q < n; q++) total -= G[j * n + q] * g[q];
    g[j] = total / G[j * n + j];
  }
  for (let j = 0; j < n; j++) z[pivots[j]] = g[j];
  g.set(z);
}

/** Sign of the determinant of selected rows of G, as many as columns. */
export function signOfSelected(G: Float64Array, selected: Int32Array, n: number): number {
  const M = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) M[i * n + j] = G[selected[i] * n + j];
  let sign = 1;
  for (let j = 0; j < n; j++) {
    let best = -1, row = j;
    for (let i = j; i < n; i++) {
      if (Math.abs(M[i * n + j]) > best) {
        best = Math.abs(M[i * n + j]);
        row = i;
      }
    }
    if (best === 0) return 0;
    if (row !== j) {
      sign = -sign;
      for (let q = j; q < n; q++) swap(M, j * n + q, row * n + q);
    }
    if (M[j * n + j] < 0) sign = -sign;
    for (let i = j + 1; i < n; i++) {
      const factor = M[i * n + j] / M[j * n + j];
      for (let q = j + 1; q < n; q++) M[i * n + q] -= factor * M[j * n + q];
    }
  }
  return sign;
}
