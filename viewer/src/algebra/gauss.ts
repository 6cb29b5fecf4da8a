/** Gaussian elimination with row exchange, for systems of some hundred rows; as supple.formulations.elastic_rest.harmonic_response. */

/** B ← A⁻¹ B for `count` right-hand sides, B (n, count); A (n, n) is overwritten. Returns false if a pivot is not above `least`. */
export function solveGauss(A: Float64Array, n: number, B: Float64Array, count: number, least: number): boolean {
  for (let k = 0; k < n; k++) {
    let pivot = k, largest = 0;
    for (let i = k; i < n; i++) {
      const size = Math.abs(A[i * n + k]);
      if (size > largest) {
        pivot = i;
        largest = size;
      }
    }
    if (!(largest > least)) return false;
    if (pivot !== k) {
      exchange(A, k * n, pivot * n, n);
      exchange(B, k * count, pivot * count, count);
    }
    const inverse = 1 / A[k * n + k];
    for (let i = k + 1; i < n; i++) {
      const factor = A[i * n + k] * inverse;
      if (factor === 0) continue;
      for (let j = k + 1; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
      for (let j = 0; j < count; j++) B[i * count + j] -= factor * B[k * count + j];
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    for (let j = 0; j < count; j++) {
      let total = B[k * count + j];
      for (let i = k + 1; i < n; i++) total -= A[k * n + i] * B[i * count + j];
      B[k * count + j] = total / A[k * n + k];
    }
  }
  return true;
}

function exchange(x: Float64Array, one: number, other: number, length: number): void {
  for (let j = 0; j < length; j++) {
    const kept = x[one + j];
    x[one + j] = x[other + j];
    x[other + j] = kept;
  }
}
