/** The shortest x with least |A x - b|: singular values by one-sided Jacobi rotations, for few columns. */

const SWEEPS = 30;

/** A (m, n) row by row, b (m). Singular values below max(m, n) ε of the largest count as zero, as in numpy's lstsq. */
export function leastNorm(A: Float64Array, m: number, n: number, b: Float64Array): Float64Array {
  const U = Float64Array.from(A), V = new Float64Array(n * n); // A V = U, whose columns become orthogonal
  for (let i = 0; i < n; i++) V[i * n + i] = 1;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let still = true;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        let pp = 0, qq = 0, pq = 0;
        for (let i = 0; i < m; i++) {
          pp += U[i * n + p] * U[i * n + p];
          qq += U[i * n + q] * U[i * n + q];
          pq += U[i * n + p] * U[i * n + q];
        }
        if (Math.abs(pq) <= 1e-15 * Math.sqrt(pp * qq)) continue;
        still = false;
        const half = (qq - pp) / (2 * pq), t = (half >= 0 ? 1 : -1) / (Math.abs(half) + Math.hypot(half, 1));
        const c = 1 / Math.hypot(t, 1), s = c * t;
        turn(U, m, n, p, q, c, s);
        turn(V, n, n, p, q, c, s);
      }
    }
    if (still) break;
  }
  const square = Float64Array.from({ length: n }, (_, p) => {
    let total = 0;
    for (let i = 0; i < m; i++) total += U[i * n + p] * U[i * n + p];
    return total;
  });
  const least = (Math.max(m, n) * Number.EPSILON) ** 2 * Math.max(...square, 0), x = new Float64Array(n);
  for (let p = 0; p < n; p++) {
    if (!(square[p] > least)) continue;
    let share = 0;
    for (let i = 0; i < m; i++) share += U[i * n + p] * b[i];
    for (let j = 0; j < n; j++) x[j] += (V[j * n + p] * share) / square[p];
  }
  return x;
}

function turn(X: Float64Array, rows: number, n: number, p: number, q: number, c: number, s: number): void {
  for (let i = 0; i < rows; i++) {
    const a = X[i * n + p], b = X[i * n + q];
    X[i * n + p] = c * a - s * b;
    X[i * n + q] = s * a + c * b;
  }
}
