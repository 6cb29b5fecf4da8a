/** Increasing eigenvalues and eigenvectors of a symmetric matrix: Householder tridiagonalization, then implicit QL. */

export interface Eigen {
  values: Float64Array;
  /** Row k is the eigenvector of values[k]. */
  vectors: Float64Array;
}

export function symmetricEigen(matrix: Float64Array, n: number): Eigen {
  const Q = Float64Array.from(matrix), diagonal = new Float64Array(n), beside = new Float64Array(n);
  tridiagonal(Q, n, diagonal, beside);
  implicitQL(Q, n, diagonal, beside);
  const order = Array.from(diagonal.keys()).sort((i, j) => diagonal[i] - diagonal[j]);
  const values = new Float64Array(n), vectors = new Float64Array(n * n);
  order.forEach((from, to) => {
    values[to] = diagonal[from];
    for (let i = 0; i < n; i++) vectors[to * n + i] = Q[from * n + i];
  });
  return { values, vectors };
}

/** Eigenvalues only, increasing. */
export function eigenvalues(matrix: Float64Array, n: number): Float64Array {
  const diagonal = new Float64Array(n), beside = new Float64Array(n);
  tridiagonal(Float64Array.from(matrix), n, diagonal, beside);
  implicitQL(null, n, diagonal, beside);
  return diagonal.sort();
}

/** A = Qᵀ T Q with T tridiagonal; on return row k of Q is the k-th basis vector. */
function tridiagonal(A: Float64Array, n: number, diagonal: Float64Array, beside: Float64Array): void {
  const reflections: { from: number; v: Float64Array; beta: number }[] = [];
  const p = new Float64Array(n);
  for (let k = 0; k < n - 2; k++) {
    let size = 0;
    for (let i = k + 1; i < n; i++) size += A[i * n + k] * A[i * n + k];
    const norm = Math.sqrt(size), head = A[(k + 1) * n + k];
    let tail = 0;
    for (let i = k + 2; i < n; i++) tail += A[i * n + k] * A[i * n + k];
    if (tail === 0) continue;
    const alpha = head > 0 ? -norm : norm, v = new Float64Array(n);
    for (let i = k + 1; i < n; i++) v[i] = A[i * n + k];
    v[k + 1] -= alpha;
    let square = 0;
    for (let i = k + 1; i < n; i++) square += v[i] * v[i];
    const beta = 2 / square;
    // A ← H A H with w = β A v - ½ β² (vᵀ A v) v
    let inner = 0;
    for (let i = k; i < n; i++) {
      let total = 0;
      for (let j = k + 1; j < n; j++) total += A[i * n + j] * v[j];
      p[i] = beta * total;
      inner += p[i] * v[i];
    }
    for (let i = k; i < n; i++) p[i] -= 0.5 * beta * inner * v[i];
    for (let i = k; i < n; i++) for (let j = k; j < n; j++) A[i * n + j] -= v[i] * p[j] + p[i] * v[j];
    reflections.push({ from: k + 1, v, beta });
  }
  for (let i = 0; i < n; i++) {
    diagonal[i] = A[i * n + i];
    beside[i] = i + 1 < n ? A[(i + 1) * n + i] : 0;
  }
  A.fill(0);
  for (let i = 0; i < n; i++) A[i * n + i] = 1;
  for (let r = reflections.length - 1; r >= 0; r--) { // rows of Q are columns of H₁ H₂ ...
    const { from, v, beta } = reflections[r];
    for (let i = from; i < n; i++) {
      let total = 0;
      for (let j = from; j < n; j++) total += A[i * n + j] * v[j];
      total *= beta;
      for (let j = from; j < n; j++) A[i * n + j] -= total * v[j];
    }
  }
}

function implicitQL(Q: Float64Array | null, n: number, d: Float64Array, e: Float64Array): void {
  for (let l = 0; l < n; l++) {
    for (let turn = 0; turn < 60; turn++) {
      let m = l;
      while (m < n - 1 && Math.abs(e[m]) > Number.EPSILON * (Math.abs(d[m]) + Math.abs(d[m + 1]))) m++;
      if (m === l) break;
      let g = (d[l + 1] - d[l]) / (2 * e[l]);
      const root = Math.hypot(g, 1);
      g = d[m] - d[l] + e[l] / (g + (g >= 0 ? root : -root));
      let s = 1, c = 1, p = 0, i = m - 1;
      for (; i >= l; i--) {
        const f = s * e[i], b = c * e[i], r = Math.hypot(f, g);
        e[i + 1] = r;
        if (r === 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        const one = i * n, two = (i + 1) * n;
        for (let k = 0; Q && k < n; k++) {
          const kept = Q[two + k];
          Q[two + k] = s * Q[one + k] + c * kept;
          Q[one + k] = c * Q[one + k] - s * kept;
        }
      }
      if (i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
  }
}
